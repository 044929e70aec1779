"""Receives signed notifications with Flask: verifies the raw body, appends it to a journal, answers 200.

Start it with `gunicorn receiver:app`. Environment: WEBHOOK_SECRET and WEBHOOK_API_KEY (at least one of
them; the other check is off), PORT (3000), HOST (127.0.0.1), WEBHOOK_JOURNAL (journal.ndjson).
One process only: the known ids are in memory. For several, use a database with a unique key on the id.
"""

import base64
import hashlib
import hmac
import json
import os
import threading
from datetime import datetime, timezone

from flask import Flask, request
from werkzeug.exceptions import HTTPException

SECRET, API_KEY = os.environ.get("WEBHOOK_SECRET", ""), os.environ.get("WEBHOOK_API_KEY", "")
if not SECRET and not API_KEY:
    raise RuntimeError("Set WEBHOOK_SECRET, WEBHOOK_API_KEY or both: without them anyone could post notifications.")

app = Flask(__name__)
app.config["MAX_CONTENT_LENGTH"] = 1024 * 1024


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


journal = Journal(os.environ.get("WEBHOOK_JOURNAL", "journal.ndjson"))


def is_authentic(headers, body):
    def is_same(name, expected):
        """In constant time. Repeated headers are joined with a comma, so they never match."""
        return hmac.compare_digest(headers.get(name, "").strip(" \t").encode(), expected)

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


@app.post("/hooks", provide_automatic_options=False)
def receive():
    body = request.get_data()  # before anything touches request.json or request.form
    if not is_authentic(request.headers, body):
        return {"message": "unauthorized"}, 401
    try:
        journal.store(notification_id(body), body)
    except ValueError:
        return {"message": "not a notification"}, 400
    except OSError:
        app.logger.exception("not stored")
        return {"message": "not stored"}, 503  # The sender may deliver it again.
    return {"message": "ok"}


@app.errorhandler(HTTPException)
def fail(error):
    return {"message": error.name}, error.code


@app.errorhandler(OSError)
def fail_to_read(_error):
    return {"message": "bad request"}, 400  # the framing of the body, from gunicorn
