from bottle import HTTPResponse, post, request, run
from start import PORT, is_signed


@post("/hooks")
def receive():
    if not is_signed(request.body.read(), request.get_header("X-Service-Signature", "")):
        return HTTPResponse(status=401)
    notification = request.json
    return {"id": notification["id"]}


run(host="127.0.0.1", port=PORT, quiet=True)
