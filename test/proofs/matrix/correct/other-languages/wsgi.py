"""A correct receiver as a WSGI application. It prints its port.

HOOKPROOF_SECRET and HOOKPROOF_API_KEY are in the environment.
"""
import hashlib
import hmac
import json
import os
from base64 import b64encode
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

SECRET = os.environ["HOOKPROOF_SECRET"].encode()
API_KEY = os.environ["HOOKPROOF_API_KEY"].encode()
MAX_BODY_BYTES = 12 * 1024 * 1024


def status_of(environ):
    if environ["REQUEST_METHOD"] != "POST":
        return "405 Method Not Allowed"
    # wsgiref does not read chunks.
    if "HTTP_TRANSFER_ENCODING" in environ or not environ.get("CONTENT_LENGTH"):
        return "411 Length Required"
    try:
        length = int(environ["CONTENT_LENGTH"])
        # read() allocates what is announced.
        if length > MAX_BODY_BYTES:
            return "413 Content Too Large"
        body = environ["wsgi.input"].read(max(0, length))
    except ValueError:
        return "400 Bad Request"
    given = environ.get("HTTP_X_SERVICE_SIGNATURE", "").encode("latin-1")
    key = environ.get("HTTP_X_API_KEY", "").encode("latin-1")
    right = hmac.compare_digest(given, b64encode(hmac.new(SECRET, body, hashlib.sha256).digest()))
    if not hmac.compare_digest(key, API_KEY) or not right:
        return "401 Unauthorized"
    try:
        notification = json.loads(body)
    except (ValueError, RecursionError):
        return "400 Bad Request"
    return "200 OK" if isinstance(notification, dict) and "id" in notification else "422 Unprocessable Entity"


def application(environ, start_response):
    start_response(status_of(environ), [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", "0")])
    return []


class Handler(WSGIRequestHandler):
    timeout = 20

    def parse_request(self):
        if not super().parse_request():
            return False
        # HTTP tells servers to refuse these; http.server notes them and goes on.
        if self.headers.defects or len(self.headers.get_all("Content-Length", [])) > 1:
            self.send_error(400)
            return False
        return True

    def log_message(self, *arguments):
        pass


class Server(WSGIServer):
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass


server = Server(("127.0.0.1", 0), Handler)
server.set_app(application)
print(server.server_port, flush=True)
server.serve_forever()
