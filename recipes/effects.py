"""Prints what the receiver stored, from its journal (WEBHOOK_JOURNAL). For test environments only.

`python3 effects.py notification=ID,ID` or `python3 effects.py transaction=ID`
"""

import json
import os
import re
import sys
from urllib.parse import unquote

DECIMALS = {"BTC": 8, "ETH": 18, "USDC": 6, "GUSD": 2, "NEO": 0}


def handling(line):
    # Numbers are not parsed: Python raises on integers with more than 4,300 digits.
    body = json.loads(json.loads(line)["body"], parse_int=lambda _: None)

    def first(*paths):
        return next(filter(None, (text_at(body["data"], path) for path in paths)), None)

    atomic = first("metadata.asset.amount")
    currency = first("metadata.asset.currency", "metadata.currency", "metadata.blockchainData.currency", "assetId")
    hashes = [
        first(f"metadata.blockchainData.{key}", f"metadata.{key}")
        for key in ("blockchainTransactionId", "blockchainTransctionId")
    ]
    values = {
        "notification": body["id"],
        "kind": f"CAAS_{first('type')}" if body["type"] == "CAAS" and first("type") else body["type"],
        "status": first("metadata.orderStatus", "metadata.providerTransactionStatus", "status"),
        "transaction": first("transactionId", "partnerTransactionId"),
        "customer": first("customerId", "accountId"),
        "paymentMethod": first("paymentMethodId"),
        "address": first("walletAddress"),
        "hash": hashes[0] or hashes[1],
        "amount": display_amount(atomic, currency) if atomic else first("metadata.amount"),
        "currency": currency,
        "errorCode": first("errorData.code", "errorCode"),
    }
    return {name: value for name, value in values.items() if value is not None}


def text_at(value, path):
    for key in path.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else None


def display_amount(atomic, currency):
    """Moves the decimal point in the string, because a float would lose digits. An asset without known decimals has no
    amount."""
    if currency not in DECIMALS or not re.fullmatch("[0-9]+", atomic):
        return None
    digits = atomic.zfill(DECIMALS[currency] + 1)
    point = len(digits) - DECIMALS[currency]
    return f"{digits[:point]}.{digits[point:]}".rstrip("0").rstrip(".")


query = re.fullmatch("(notification|transaction)=(.+)", " ".join(sys.argv[1:]))
if query is None:
    sys.exit("Give notification=ID,ID or transaction=ID.")
ids = [unquote(part) for part in query[2].split(",")]
with open(os.environ.get("WEBHOOK_JOURNAL", "journal.ndjson"), "rb") as journal:
    lines = journal.read().split(b"\n")
# An incomplete last line is still being written.
every = [handling(line) for line in lines[:-1]]
print(json.dumps({"total": len(every), "handled": [one for one in every if one.get(query[1]) in ids]}))
