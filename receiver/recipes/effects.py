"""The effects window, for test environments only: what the receiver stored, by its journal. `python3 effects.py`

Environment: WEBHOOK_EFFECTS_TOKEN (16 characters or more), WEBHOOK_EFFECTS_PORT (3001), WEBHOOK_JOURNAL.
"""

import hmac
import json
import os
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

TOKEN, PORT = os.environ.get("WEBHOOK_EFFECTS_TOKEN", ""), int(os.environ.get("WEBHOOK_EFFECTS_PORT", "3001"))
JOURNAL = os.environ.get("WEBHOOK_JOURNAL", "journal.ndjson")
DECIMALS = {"BTC": 8, "ETH": 18, "USDC": 6, "GUSD": 2, "NEO": 0}
HASH_KEYS = ("blockchainTransactionId", "blockchainTransctionId")
# Where `data` has a value: the first place that is filled.
PLACES = {
    "status": ("metadata.orderStatus", "metadata.providerTransactionStatus", "status"),
    "transaction": ("transactionId", "partnerTransactionId"),
    "hash": [f"metadata.{at}{key}" for key in HASH_KEYS for at in ("blockchainData.", "")],
    "amount": ("metadata.asset.amount", "metadata.amount"),
    "currency": ("metadata.asset.currency", "metadata.currency", "metadata.blockchainData.currency"),
    "errorCode": ("errorData.code", "errorCode"),
}


def handling(line):
    # Without numbers: Python raises on integers with more than 4,300 digits.
    notification = json.loads(json.loads(line)["body"], parse_int=lambda _: None)
    one = {"notification": notification["id"], "kind": notification["type"]}
    if one["kind"] == "CAAS" and filled(notification["data"], "type"):
        one["kind"] += "_" + notification["data"]["type"]
    for name, places in PLACES.items():
        one[name] = next(filter(None, (filled(notification["data"], place) for place in places)), None)
    if filled(notification["data"], PLACES["amount"][0]):
        one["amount"] = display_amount(one["amount"], DECIMALS.get(one["currency"]))
    return {name: value for name, value in one.items() if value is not None}


def filled(value, path):
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) and value else None


def display_amount(atomic, decimals):
    """Moves the point in the text: a float would lose digits. An unknown asset, or what is no number, has no amount."""
    if decimals is None or not re.fullmatch("[0-9]+", atomic):
        return None
    digits = atomic.zfill(decimals + 1)
    point = len(digits) - decimals
    return f"{digits[:point]}.{digits[point:]}".rstrip("0").rstrip(".")


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        received = self.headers.get("Authorization", "").encode()
        if not hmac.compare_digest(received, f"Bearer {TOKEN}".encode()):
            return self.answer(401, {"error": "unauthorized"})
        query = re.fullmatch(r"/effects\?(notification|transaction)=([^&=]+)", self.path)
        ids = [unquote(id) for id in query[2].split(",")] if query else []
        if not 0 < len(ids) <= 50:
            return self.answer(400, {"error": "not a query"})
        journal = b""
        if os.path.exists(JOURNAL):
            with open(JOURNAL, "rb") as file:
                journal = file.read()
        # What follows the last line is being written.
        every = [handling(line) for line in journal.split(b"\n")[:-1]]
        self.answer(200, {"total": len(every), "handled": [one for one in every if one.get(query[1]) in ids]})

    def answer(self, status, answer):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())


if len(TOKEN) < 16:
    sys.exit("Set WEBHOOK_EFFECTS_TOKEN to 16 characters or more.")
with ThreadingHTTPServer(("127.0.0.1", PORT), Handler) as server:
    print(f"effects on http://127.0.0.1:{PORT}/effects", flush=True)
    server.serve_forever()
