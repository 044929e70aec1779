"""Receives deliveries of Standard Webhooks with Flask: verifies the raw body, appends it to a journal, answers 200.

Start it with `python3 receiver.py`. Environment: WEBHOOK_SECRET (`whsec_` and Base64), WEBHOOK_PREVIOUS_SECRET,
PORT (3000), HOST (127.0.0.1), WEBHOOK_JOURNAL (journal.ndjson).
Run one process only: the known ids are in memory. For several, use a database with a unique key on the id.
"""

import base64
import hashlib
import hmac
import json
import os
import re
import sys
import time

from flask import Flask, request
from journal import Journal
from waitress_server import serve
from werkzeug.exceptions import HTTPException

MAX_BODY_BYTES = 1024 * 1024
TOLERANCE_SECONDS = 300
HOST, PORT = os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "3000"))


def key_of(name):
    """Decodes a secret strictly: b64decode alone also accepts unused bits that are set."""
    secret = os.environ.get(name, "")
    try:
        key = base64.b64decode(secret[6:], validate=True)
    except ValueError:
        key = b""
    if not key or secret != "whsec_" + base64.b64encode(key).decode():
        sys.exit(f"{name} must be whsec_ followed by Base64 with padding.")
    return key


# During a rotation, the previous secret is also valid.
KEYS = [key_of("WEBHOOK_SECRET")]
if os.environ.get("WEBHOOK_PREVIOUS_SECRET"):
    KEYS.append(key_of("WEBHOOK_PREVIOUS_SECRET"))

app = Flask(__name__)

try:
    journal = Journal(os.environ.get("WEBHOOK_JOURNAL", "journal.ndjson"))
except OSError as error:
    sys.exit(str(error))


def authentic_id(headers, body):
    """Returns the id of a delivery that is signed and recent; None otherwise.

    waitress joins repeated headers with a comma, which neither an id nor the end of a signature may contain.
    """
    id, timestamp, signatures = (headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not re.fullmatch(r"[!-+\--~]{1,200}", id) or not re.fullmatch(r"[0-9]{1,12}", timestamp):
        return None
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return None
    if not re.fullmatch(r"[^ ,]+,[^ ,]+( [^ ,]+,[^ ,]+)*", signatures):
        return None
    signed = f"{id}.{timestamp}.".encode() + body
    digests = [base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()) for key in KEYS]
    received = [signature.encode() for signature in signatures.split(" ")]
    matches = [hmac.compare_digest(one, b"v1," + digest) for one in received for digest in digests]
    return id if any(matches) else None


@app.post("/hooks", provide_automatic_options=False)
def receive():
    body = request.stream.read(MAX_BODY_BYTES + 1)  # must come before request.json or request.form
    if len(body) > MAX_BODY_BYTES:
        return {"message": "body too large"}, 413
    id = authentic_id(request.headers, body)
    if id is None:
        return {"message": "unauthorized"}, 401
    try:
        # Numbers are not parsed: Python raises on integers with more than 4,300 digits, and accepts NaN.
        json.loads(body.decode(), parse_int=lambda _: None, parse_constant=int)
        journal.store(id, body)
    except (ValueError, RecursionError):
        return {"message": "not JSON"}, 400
    except OSError:
        app.logger.exception("not stored")
        return {"message": "not stored"}, 503  # The sender can deliver it again.
    return {"message": "ok"}


@app.errorhandler(HTTPException)
def fail(error):
    return {"message": error.name}, error.code


if __name__ == "__main__":
    serve(app, HOST, PORT)
