"""Receives signed notifications with Flask: verifies the raw body, appends it to a journal, and answers 200.

Start it with `python3 receiver.py`. Environment: WEBHOOK_SECRET and WEBHOOK_API_KEY (at least one of
them; the other check is off), PORT (3000), HOST (127.0.0.1), WEBHOOK_JOURNAL (journal.ndjson).
Run one process only: the known ids are in memory. For several, use a database with a unique key on the id.
"""

import base64
import hashlib
import hmac
import json
import os
import sys

from flask import Flask, request
from journal import Journal, notification_id
from waitress_server import serve
from werkzeug.exceptions import HTTPException

SECRET, API_KEY = os.environ.get("WEBHOOK_SECRET", ""), os.environ.get("WEBHOOK_API_KEY", "")
# During a rotation, the previous secret is also valid.
SECRETS = [secret for secret in (SECRET, os.environ.get("WEBHOOK_PREVIOUS_SECRET")) if secret]
HOST, PORT = os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "3000"))
if not SECRET and not API_KEY:
    sys.exit("Set WEBHOOK_SECRET, WEBHOOK_API_KEY or both: without them anyone could post notifications.")

MAX_BODY_BYTES = 1024 * 1024

app = Flask(__name__)

try:
    journal = Journal(os.environ.get("WEBHOOK_JOURNAL", "journal.ndjson"))
except OSError as error:
    sys.exit(str(error))


def is_authentic(headers, body):
    def is_same(name, expected):
        """Compares in constant time. Repeated headers are joined with a comma, so they never match."""
        return hmac.compare_digest(headers.get(name, "").strip(" \t").encode(), expected)

    signatures = [base64.b64encode(hmac.new(secret.encode(), body, hashlib.sha256).digest()) for secret in SECRETS]
    matches = [is_same("X-Service-Signature", signature) for signature in signatures]
    is_key_valid = not API_KEY or is_same("X-API-Key", API_KEY.encode())
    return is_key_valid and (not SECRETS or any(matches))


@app.post("/hooks", provide_automatic_options=False)
def receive():
    body = request.stream.read(MAX_BODY_BYTES + 1)  # must come before request.json or request.form
    if len(body) > MAX_BODY_BYTES:
        return {"message": "body too large"}, 413
    if not is_authentic(request.headers, body):
        return {"message": "unauthorized"}, 401
    try:
        journal.store(notification_id(body), body)
    except ValueError:
        return {"message": "not a notification"}, 400
    except OSError:
        app.logger.exception("not stored")
        return {"message": "not stored"}, 503  # The sender can deliver it again.
    return {"message": "ok"}


@app.errorhandler(HTTPException)
def fail(error):
    return {"message": error.name}, error.code


if __name__ == "__main__":
    serve(app, HOST, PORT)
