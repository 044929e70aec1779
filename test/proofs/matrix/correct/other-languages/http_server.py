"""A right receiver with http.server. HOOKPROOF_SECRET and HOOKPROOF_API_KEY are in the environment; prints its port."""
import base64
import hashlib
import hmac
import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["HOOKPROOF_SECRET"].encode()
API_KEY = os.environ["HOOKPROOF_API_KEY"].encode()


def is_notification(body):
    try:
        value = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and isinstance(value.get("id"), str) and isinstance(value.get("data"), dict)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 20

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def chunked_body(self):
        body = b""
        while size := int(self.rfile.readline(100).split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline(100)
        while self.rfile.readline(1000).strip():
            pass
        return body

    def read_body(self):
        # HTTP tells servers to refuse a space before the colon; http.server notes it and goes on.
        if self.headers.defects:
            raise ValueError("a line that is not a header")
        lengths = self.headers.get_all("Content-Length", [])
        if "Transfer-Encoding" in self.headers:
            if lengths:
                raise ValueError("two lengths")
            return self.chunked_body()
        if len(lengths) > 1 or not all(length.isdigit() for length in lengths):
            raise ValueError("no length")
        return self.rfile.read(int(lengths[0])) if lengths else b""

    def only(self, name):
        values = self.headers.get_all(name, [])
        return values[0].strip().encode("latin-1") if len(values) == 1 else b""

    def do_POST(self):
        try:
            body = self.read_body()
        except ValueError:
            self.close_connection = True
            return self.answer(400)
        due = base64.b64encode(hmac.new(SECRET, body, hashlib.sha256).digest())
        signed = hmac.compare_digest(self.only("X-Service-Signature"), due)
        keyed = hmac.compare_digest(self.only("X-API-Key"), API_KEY)
        if not signed or not keyed:
            return self.answer(401)
        return self.answer(200 if is_notification(body) else 400)

    def log_message(self, *arguments):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass


server = Server(("127.0.0.1", 0), Receiver)
print(server.server_address[1], flush=True)
server.serve_forever()
