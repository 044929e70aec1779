from aiohttp import web
from start import PORT, is_signed


async def receive(request):
    body = await request.read()
    if not is_signed(body, request.headers["X-Service-Signature"]):
        return web.Response(status=401)
    notification = await request.json()
    return web.json_response({"id": notification["id"]})


app = web.Application()
app.add_routes([web.post("/hooks", receive)])
web.run_app(app, host="127.0.0.1", port=PORT, print=None)
