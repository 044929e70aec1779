"""A right receiver in another language, with nothing but Python's standard library.

Configuration comes from the environment: HOOKPROOF_SECRET and HOOKPROOF_API_KEY. It prints the port that it got.
"""
import base64
import hashlib
import hmac
import json
import os
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["HOOKPROOF_SECRET"].encode("utf-8")
API_KEY = os.environ["HOOKPROOF_API_KEY"].encode("utf-8")
LIMIT = 12 * 1024 * 1024
MAX_NESTING = 500
SEEN = set()


def nesting(text):
    depth = deepest = 0
    for character in re.sub(r'"(?:[^"\\]|\\.)*"', "", text):
        depth += (character in "[{") - (character in "]}")
        deepest = max(deepest, depth)
    return deepest


def valid(notification):
    if not isinstance(notification, dict):
        return False
    identifier, kind = notification.get("id"), notification.get("type")
    if not isinstance(identifier, str) or not 0 < len(identifier) <= 200 or not identifier.isprintable():
        return False
    at = notification.get("at")
    if isinstance(at, bool) or not isinstance(at, (int, float, str)) or at == "":
        return False
    return isinstance(kind, str) and kind != "" and isinstance(notification.get("data"), dict)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "receiver"
    sys_version = ""
    # Head and body are two writes; without this the second waits for the acknowledgement of the first.
    disable_nagle_algorithm = True
    timeout = 20

    def answer(self, status, close=False):
        body = b"{}"
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status == 405:
            self.send_header("Allow", "POST")
        if close:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def send_error(self, code, message=None, explain=None):
        # http.server answers what it cannot parse with 4xx or 501; keep the status, never explain.
        self.answer(400 if code == 501 else code, close=True)

    def chunks(self):
        body = b""
        while True:
            size = int(self.rfile.readline(32).split(b";")[0].strip(), 16)
            if size == 0:
                while self.rfile.readline(1024).strip():
                    pass
                return body
            body += self.rfile.read(size)
            if len(body) > LIMIT:
                return None
            self.rfile.readline(4)

    def body(self):
        lengths = self.headers.get_all("Content-Length", [])
        encoding = self.headers.get("Transfer-Encoding")
        if encoding is not None and (lengths or encoding.lower() != "chunked"):
            raise ValueError("conflicting lengths")
        if encoding is not None:
            return self.chunks()
        if len(lengths) != 1 or not lengths[0].isdigit():
            if not lengths:
                return b""
            raise ValueError("bad length")
        return None if int(lengths[0]) > LIMIT else self.rfile.read(int(lengths[0]))

    def one_header(self, name):
        values = self.headers.get_all(name, [])
        return values[0].strip().encode("latin-1", "replace") if len(values) == 1 else b""

    def do_POST(self):
        try:
            body = self.body()
        except (ValueError, IndexError):
            return self.answer(400, close=True)
        if body is None:
            return self.answer(413, close=True)
        expected = base64.b64encode(hmac.new(SECRET, body, hashlib.sha256).digest())
        keyed = hmac.compare_digest(self.one_header("X-API-Key"), API_KEY)
        signed = hmac.compare_digest(self.one_header("X-Service-Signature"), expected)
        if not (keyed and signed):
            return self.answer(401)
        media = (self.headers.get("Content-Type") or "").split(";")[0].strip().lower()
        if media != "application/json":
            return self.answer(415)
        try:
            text = body.decode("utf-8")
            if nesting(text) > MAX_NESTING:
                return self.answer(400)
            notification = json.loads(text)
        except (ValueError, RecursionError):
            return self.answer(400)
        if not valid(notification):
            return self.answer(400)
        SEEN.add(notification["id"])
        return self.answer(200)

    def refuse(self):
        length = self.headers.get("Content-Length", "0")
        if length.isdigit():
            self.rfile.read(min(int(length), LIMIT))
        self.answer(405)

    do_GET = do_HEAD = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = refuse

    def log_message(self, *arguments):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True

    def handle_error(self, request, client_address):
        # A client that hangs up in the middle is no error of the receiver.
        pass


server = Server(("127.0.0.1", 0), Receiver)
print(server.server_address[1], flush=True)
server.serve_forever()
