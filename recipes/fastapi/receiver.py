"""Receives signed notifications with FastAPI: verifies the raw body, appends it to a journal, and answers 200.

Start it with `python3 receiver.py`. Environment: WEBHOOK_SECRET and WEBHOOK_API_KEY (at least one of
them; the other check is off), PORT (3000), HOST (127.0.0.1), WEBHOOK_JOURNAL (journal.ndjson).
Run one process only: the known ids are in memory. For several, use a database with a unique key on the id.
"""

import base64
import hashlib
import hmac
import json
import os
import socket
import sys

import uvicorn
from fastapi import FastAPI, HTTPException, Request
from fastapi.concurrency import run_in_threadpool
from journal import Journal, notification_id
from limited_protocol import LimitedProtocol
from starlette.requests import ClientDisconnect

SECRET, API_KEY = os.environ.get("WEBHOOK_SECRET", ""), os.environ.get("WEBHOOK_API_KEY", "")
# During a rotation, the previous secret is also valid.
SECRETS = [secret for secret in (SECRET, os.environ.get("WEBHOOK_PREVIOUS_SECRET")) if secret]
HOST, PORT = os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "3000"))
MAX_BODY_BYTES = 1024 * 1024

app = FastAPI(openapi_url=None)


def is_authentic(headers, body):
    def is_same(name, expected):
        """Requires exactly one such header and compares in constant time. httptools keeps the spaces around a value."""
        received = [value.strip(" \t").encode() for value in headers.getlist(name)]
        return len(received) == 1 and hmac.compare_digest(received[0], expected)

    signatures = [base64.b64encode(hmac.new(secret.encode(), body, hashlib.sha256).digest()) for secret in SECRETS]
    matches = [is_same("X-Service-Signature", signature) for signature in signatures]
    is_key_valid = not API_KEY or is_same("X-API-Key", API_KEY.encode())
    return is_key_valid and (not SECRETS or any(matches))


@app.post("/hooks")
async def receive(request: Request):
    body = bytearray()  # += does not copy the existing bytes
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                raise HTTPException(413)
    except ClientDisconnect:
        raise HTTPException(400)  # The client is gone.
    body = bytes(body)
    if not is_authentic(request.headers, body):
        raise HTTPException(401)
    try:
        await run_in_threadpool(app.state.journal.store, notification_id(body), body)
    except ValueError:
        raise HTTPException(400, "not a notification")
    except OSError as error:
        print("not stored:", error, file=sys.stderr)
        raise HTTPException(503, "not stored")  # The sender can deliver it again.
    return {"message": "ok"}


if __name__ == "__main__":
    if not SECRET and not API_KEY:
        sys.exit("Set WEBHOOK_SECRET, WEBHOOK_API_KEY or both: without them anyone could post notifications.")
    try:
        app.state.journal = Journal(os.environ.get("WEBHOOK_JOURNAL", "journal.ndjson"))
    except OSError as error:
        sys.exit(str(error))
    listener = socket.create_server((HOST, PORT))
    print(f"listening on http://{HOST}:{PORT}/hooks", flush=True)
    # uvicorn answers 503 above limit_concurrency, but LimitedProtocol closes connections before that.
    config = uvicorn.Config(app, http=LimitedProtocol, limit_concurrency=1000)
    uvicorn.Server(config).run(sockets=[listener])
