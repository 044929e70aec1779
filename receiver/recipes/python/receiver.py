"""Receives signed notifications with the standard library: verifies the raw body, appends it to a journal, answers 200.

Start it with `python3 receiver.py` (3.9 or later). Environment: WEBHOOK_SECRET and WEBHOOK_API_KEY (at least one of
them; the other check is off), PORT (3000), HOST (127.0.0.1), WEBHOOK_JOURNAL (journal.ndjson).
One process only: the known ids are in memory. For several, use a database with a unique key on the id.
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import threading
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET, API_KEY = os.environ.get("WEBHOOK_SECRET", ""), os.environ.get("WEBHOOK_API_KEY", "")
HOST, PORT = os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "3000"))
MAX_BODY_BYTES = 1024 * 1024


class Journal:
    """A file with one line of JSON per notification, each of them on disk before `store` returns."""

    def __init__(self, path):
        self.file = open(path, "a+b", buffering=0)
        self.file.seek(0)
        content = self.file.read()
        # A last line without its end was being written when the process was killed.
        self.file.truncate(content.rfind(b"\n") + 1)
        self.ids = {json.loads(line)["id"] for line in content.split(b"\n")[:-1]}
        self.lock = threading.Lock()

    def store(self, id, body):
        """Raises OSError when the notification cannot be stored. A copy adds no line."""
        entry = {"id": id, "receivedAt": datetime.now(timezone.utc).isoformat(), "body": body.decode()}
        line = json.dumps(entry).encode() + b"\n"
        with self.lock:
            if id in self.ids:
                return
            size = os.fstat(self.file.fileno()).st_size
            try:
                if self.file.write(line) != len(line):
                    raise OSError("the disk is full")
                os.fsync(self.file.fileno())
            except OSError:
                self.file.truncate(size)
                raise
            self.ids.add(id)


def is_authentic(headers, body):
    def is_same(name, expected):
        """Exactly one such header, compared in constant time. http.server keeps the blanks around a value."""
        received = [value.strip(" \t").encode() for value in headers.get_all(name, [])]
        return len(received) == 1 and hmac.compare_digest(received[0], expected)

    signature = base64.b64encode(hmac.new(SECRET.encode(), body, hashlib.sha256).digest())
    is_key_valid = not API_KEY or is_same("X-API-Key", API_KEY.encode())
    return is_key_valid and (not SECRET or is_same("X-Service-Signature", signature))


def notification_id(body):
    """The id of a notification. Raises ValueError when the body is not one; unknown types and fields are accepted."""
    try:
        # Texts instead of numbers: Python raises on integers with more than 4,300 digits, and accepts NaN.
        notification = json.loads(body.decode("utf-8"), parse_int=str, parse_constant=int)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(notification, dict) or not isinstance(notification.get("data"), dict):
        raise ValueError("not a notification")
    id, type = notification.get("id"), notification.get("type")
    if not isinstance(type, str) or not isinstance(id, str) or not 0 < len(id) <= 200 or not id.isprintable():
        raise ValueError("not a notification")
    return id


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30  # seconds that a connection may be silent
    wbufsize = -1  # the whole answer in one packet

    def do_POST(self):
        if self.path.partition("?")[0] != "/hooks":
            return self.answer(404, "not found", close=True)
        lengths = self.headers.get_all("Content-Length", [])
        if len(lengths) != 1 or not lengths[0].isdecimal() or "Transfer-Encoding" in self.headers:
            return self.answer(411, "length required", close=True)  # http.server does not decode chunks.
        length = int(lengths[0])
        if length > MAX_BODY_BYTES:
            for at in range(0, min(length, 16 * MAX_BODY_BYTES), 65536):
                self.rfile.read(min(65536, length - at))  # Otherwise the sender sees a reset and no answer.
            return self.answer(413, "body too large", close=True)
        body = self.rfile.read(length)
        if not is_authentic(self.headers, body):
            return self.answer(401, "unauthorized")
        try:
            self.server.journal.store(notification_id(body), body)
        except ValueError:
            return self.answer(400, "not a notification")
        except OSError as error:
            self.log_error("not stored: %s", error)
            return self.answer(503, "not stored")  # The sender may deliver it again.
        self.answer(200, "ok")

    def refuse(self):
        self.answer(405 if self.path.partition("?")[0] == "/hooks" else 404, "not accepted", close=True)

    do_GET = do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = refuse

    def answer(self, status, message, close=False):
        body = json.dumps({"message": message}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if close:  # The rest of the body was not read.
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


if __name__ == "__main__":
    if not SECRET and not API_KEY:
        sys.exit("Set WEBHOOK_SECRET, WEBHOOK_API_KEY or both: without them anyone could post notifications.")
    ThreadingHTTPServer.request_queue_size = 128  # connections that wait to be accepted
    with ThreadingHTTPServer((HOST, PORT), Handler) as server:
        server.journal = Journal(os.environ.get("WEBHOOK_JOURNAL", "journal.ndjson"))
        print(f"listening on http://{HOST}:{PORT}/hooks", flush=True)
        server.serve_forever()
