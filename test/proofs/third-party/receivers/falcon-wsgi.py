from wsgiref.simple_server import make_server

import falcon
from start import PORT, is_signed


class Hooks:
    def on_post(self, req, resp):
        body = req.bounded_stream.read()
        if not is_signed(body, req.get_header("X-Service-Signature", default="")):
            raise falcon.HTTPUnauthorized()
        resp.media = {"received": True}


app = falcon.App()
app.add_route("/hooks", Hooks())
make_server("127.0.0.1", PORT, app).serve_forever()
