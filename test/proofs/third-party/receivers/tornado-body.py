import asyncio

import tornado.web
from start import PORT, is_signed


class Hooks(tornado.web.RequestHandler):
    def post(self):
        if not is_signed(self.request.body, self.request.headers.get("X-Service-Signature", "")):
            raise tornado.web.HTTPError(401)
        tornado.escape.json_decode(self.request.body)
        self.write({"received": True})


async def main():
    tornado.web.Application([("/hooks", Hooks)]).listen(PORT, "127.0.0.1")
    await asyncio.Event().wait()


asyncio.run(main())
