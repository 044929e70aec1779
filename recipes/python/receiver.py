"""Receives signed notifications with the standard library: verifies the raw body, journals it, and answers 200.

Start it with `python3 receiver.py` (3.9 or later). Environment: WEBHOOK_SECRET and WEBHOOK_API_KEY (at least one of
them; the other check is off), PORT (3000), HOST (127.0.0.1), WEBHOOK_JOURNAL (journal.ndjson).
Run one process only: the known ids are in memory. For several, use a database with a unique key on the id.
"""

import base64
import hashlib
import hmac
import json
import os
import re
import sys

from journal import Journal, notification_id
from limited_server import LimitedHandler, LimitedServer

SECRET, API_KEY = os.environ.get("WEBHOOK_SECRET", ""), os.environ.get("WEBHOOK_API_KEY", "")
# During a rotation, the previous secret is also valid.
SECRETS = [secret for secret in (SECRET, os.environ.get("WEBHOOK_PREVIOUS_SECRET")) if secret]
HOST, PORT = os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "3000"))
MAX_BODY_BYTES = 1024 * 1024


def is_authentic(headers, body):
    def is_same(name, expected):
        """Requires one such header and compares in constant time. http.server keeps the spaces around a value."""
        received = [value.strip(" \t").encode() for value in headers.get_all(name, [])]
        return len(received) == 1 and hmac.compare_digest(received[0], expected)

    signatures = [base64.b64encode(hmac.new(secret.encode(), body, hashlib.sha256).digest()) for secret in SECRETS]
    matches = [is_same("X-Service-Signature", signature) for signature in signatures]
    is_key_valid = not API_KEY or is_same("X-API-Key", API_KEY.encode())
    return is_key_valid and (not SECRETS or any(matches))


class Handler(LimitedHandler):
    def do_POST(self):
        if self.path.partition("?")[0] != "/hooks":
            return self.answer(404, "not found", close=True)
        lengths = self.headers.get_all("Content-Length", [])
        if len(lengths) != 1 or not re.fullmatch("[0-9]{1,20}", lengths[0]) or "Transfer-Encoding" in self.headers:
            return self.answer(411, "length required", close=True)  # http.server does not decode chunks.
        length = int(lengths[0])
        if length > MAX_BODY_BYTES:
            for at in range(0, min(length, 16 * MAX_BODY_BYTES), 65536):
                self.rfile.read(min(65536, length - at))  # Otherwise the sender would see a reset.
            return self.answer(413, "body too large", close=True)
        body = self.rfile.read(length)
        if len(body) < length:
            self.close_connection = True
            return
        if not is_authentic(self.headers, body):
            return self.answer(401, "unauthorized")
        try:
            journal.store(notification_id(body), body)
        except ValueError:
            return self.answer(400, "not a notification")
        except OSError as error:
            self.log_error("not stored: %s", error)
            return self.answer(503, "not stored")  # The sender can deliver it again.
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
    try:
        journal = Journal(os.environ.get("WEBHOOK_JOURNAL", "journal.ndjson"))
    except OSError as error:
        sys.exit(str(error))
    with LimitedServer((HOST, PORT), Handler) as server:
        print(f"listening on http://{HOST}:{PORT}/hooks", flush=True)
        server.serve_forever()
