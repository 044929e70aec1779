"""Webhook receivers with one fault each: python3 receivers.py --fault NAME --port N, or --list."""
import argparse
import base64
import datetime
import hashlib
import hmac
import json
import os
import re
import socket
import sqlite3
import sys
import threading
import traceback
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

FAULTS = {
    "comma-only-signature-list-never-compared": (
        "must", "The signature header is split at commas for rotation and empty parts are skipped, so a header of "
        "only commas is never compared and passes."),
    "retry-of-known-id-skips-signature": (
        "must", "A body whose id was accepted before counts as a retry, and its signature is not checked again."),
    "api-key-searched-in-table-with-like": (
        "must", "The API key is looked up in the database with LIKE, so % and _ wildcards and another letter case "
        "match."),
    "retention-date-crashes-on-leap-day": (
        "must", "The retention date is the notification's date with the year replaced, which raises on 29 February "
        "and ends in 500."),
    "memo-formatted-into-sql-text": (
        "must", "The blockchain memo is formatted into the SQL text, so an apostrophe in it breaks the statement and "
        "ends in 500."),
    "unknown-tenant-host-has-no-credentials": (
        "must", "The tenant's credentials are chosen by the Host header, and for a host without an entry nothing is "
        "checked."),
    "feature-flag-bucket-skips-signature": (
        "must", "A gradual rollout by checksum of the notification id leaves a quarter of all ids on a path without "
        "the signature check."),
    "previous-secret-defaults-to-empty-key": (
        "must", "For rotation a previous secret is accepted too, and as it is not configured it is the empty string."),
    "tls-proxy-client-verify-header-trusted": (
        "must", "The header with which a TLS proxy reports a verified client certificate is believed from anybody and "
        "replaces the signature and key."),
    "put-handler-stores-without-credentials": (
        "must", "A PUT handler for manual corrections stores the notification and answers 200 without any check."),
    "line-endings-normalised-before-hmac": (
        "must", "CRLF in the body is replaced by LF before the HMAC is computed, so a signed body with CRLF is "
        "refused."),
    "follow-up-of-same-transaction-refused-409": (
        "must", "Duplicates are detected by transactionId instead of id, so the next status of a transaction gets "
        "409."),
    "headers-copied-into-case-sensitive-dict": (
        "must", "The headers are copied into a plain dict, so header names in another letter case are not found."),
    "traceback-with-local-variables-in-400": (
        "must", "The 400 answer for a malformed payload contains the traceback with local variables, among them the "
        "secret and API key."),
    "null-in-blockchain-data-refused": (
        "should", "The model declares all fields of blockchainData as plain strings, so null in one of them gets 400."),
    "refund-amount-stored-as-binary-float": (
        "blind", "The refunded amount is converted to a binary float before it is stored, and loses digits."),
}

FAULT = "none"
MAX_BODY = 12 * 1024 * 1024
SETTINGS = {}
AMOUNT = re.compile(r"(\d+(\.\d+)?)?", re.ASCII)
ATOMIC = re.compile(r"\d*", re.ASCII)
ISO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?", re.ASCII)


class Refused(Exception):
    """An answer other than 200, with an optional wish to close the connection."""

    def __init__(self, status, text, close=False):
        super().__init__(text)
        self.status, self.text, self.close = status, text, close


# ---------------------------------------------------------------- storage

class Store:
    """A small database in memory; all values are cut and escaped before they are stored."""

    def __init__(self, api_key):
        self.lock = threading.Lock()
        self.database = sqlite3.connect(":memory:", check_same_thread=False)
        self.database.execute("CREATE TABLE api_keys (value TEXT)")
        self.database.execute("INSERT INTO api_keys VALUES (?)", (api_key,))
        self.database.execute("CREATE TABLE notifications (id TEXT PRIMARY KEY, kind TEXT, memo TEXT, amount)")
        self.ids = {}
        self.transactions = {}

    def key_known(self, sent):
        with self.lock:
            found = self.database.execute("SELECT 1 FROM api_keys WHERE value LIKE ?", (sent,)).fetchone()
        return found is not None

    def save(self, envelope):
        data = envelope["data"]
        metadata = data.get("metadata") or {}
        chain_data = metadata.get("blockchainData") or {} if isinstance(metadata, dict) else {}
        memo = plain(chain_data.get("blockchainMemo") if isinstance(chain_data, dict) else None)
        amount = plain(metadata.get("amount") if isinstance(metadata, dict) else None)
        number, kind = plain(envelope["id"]), plain(envelope["type"])
        if FAULT == "refund-amount-stored-as-binary-float" and envelope["type"] == "REFUND" and amount:
            amount = float(amount)
        with self.lock:
            if FAULT == "memo-formatted-into-sql-text":
                self.database.execute("INSERT OR REPLACE INTO notifications VALUES (?, ?, '%s', ?)" % memo,
                                      (number, kind, amount))
            else:
                self.database.execute("INSERT OR REPLACE INTO notifications VALUES (?, ?, ?, ?)",
                                      (number, kind, memo, amount))

    def remember_id(self, number):
        if isinstance(number, str) and len(self.ids) < 10000:
            self.ids[number] = True

    def is_follow_up(self, envelope):
        """True when the transaction was seen in a notification with another id."""
        transaction, number = envelope["data"].get("transactionId"), envelope["id"]
        if not isinstance(transaction, str):
            return False
        with self.lock:
            return self.transactions.setdefault(transaction, number) != number


def plain(value):
    if not isinstance(value, str):
        return ""
    return value[:200].encode("ascii", "backslashreplace").decode("ascii")


# ---------------------------------------------------------------- credentials

def signature_of(body, secret):
    digest = hmac.new(secret.encode("utf-8"), body, hashlib.sha256).digest()
    return base64.b64encode(digest).decode("ascii")


def same(left, right):
    return hmac.compare_digest(left.encode("utf-8", "surrogateescape"), right.encode("utf-8", "surrogateescape"))


def header(headers, name):
    """The only value of a header, or None when it is missing or sent more than once."""
    if FAULT == "headers-copied-into-case-sensitive-dict":
        return dict(headers.items()).get(name)
    values = headers.get_all(name) or []
    return str(values[0]).strip() if len(values) == 1 else None


def signature_valid(body, sent, secret):
    if not sent:
        return False
    if FAULT == "line-endings-normalised-before-hmac":
        body = body.replace(b"\r\n", b"\n")
    expected = signature_of(body, secret)
    if FAULT == "comma-only-signature-list-never-compared":
        for part in sent.split(","):
            part = part.strip()
            if part and not same(part, expected):
                return False
        return True
    if FAULT == "previous-secret-defaults-to-empty-key":
        previous = signature_of(body, os.environ.get("BLIND_SECRET_PREVIOUS", ""))
        return same(sent, expected) | same(sent, previous)
    return same(sent, expected)


def early_id(body):
    """The id of a body that was not verified yet (used by faults only)."""
    try:
        number = json.loads(body.decode("utf-8")).get("id")
    except (ValueError, AttributeError, RecursionError):
        return None
    return number if isinstance(number, str) else None


def key_valid(sent, api_key, store):
    if sent is None:
        return False
    if FAULT == "api-key-searched-in-table-with-like":
        return store.key_known(sent)
    return same(sent, api_key)


def authorised(headers, body, settings, store):
    if FAULT == "tls-proxy-client-verify-header-trusted":
        for name in ("X-SSL-Client-Verify", "X-Client-Verify", "SSL-Client-Verify"):
            if headers.get(name) == "SUCCESS":
                return True
    if FAULT == "unknown-tenant-host-has-no-credentials":
        host = (headers.get("Host") or "127.0.0.1").rsplit(":", 1)[0].lower()
        tenants = {"127.0.0.1": settings, "localhost": settings}
        if tenants.get(host) is None:
            return True
    key_good = key_valid(header(headers, "X-API-KEY"), settings["api_key"], store)
    signature_good = signature_valid(body, header(headers, "X-Service-Signature"), settings["secret"])
    if FAULT == "retry-of-known-id-skips-signature" and early_id(body) in store.ids:
        signature_good = True
    if FAULT == "feature-flag-bucket-skips-signature":
        number = early_id(body)
        if number and zlib.crc32(number.encode("utf-8", "replace")) % 100 < 25:
            signature_good = True
    return key_good & signature_good


# ---------------------------------------------------------------- payload

def reject_constant(name):
    raise ValueError("not JSON: " + name)


def text(parent, name, required=True, pattern=None):
    """A string or null; null is tolerated."""
    if name not in parent:
        if required:
            raise ValueError("missing field " + name)
        return
    value = parent[name]
    if value is not None and not isinstance(value, str):
        raise ValueError("not a string: " + name)
    if value is not None and pattern and not pattern.fullmatch(value):
        raise ValueError("bad text: " + name)


def part(parent, name, required=True):
    value = parent.get(name)
    if value is None and not required:
        return {}
    if not isinstance(value, dict):
        raise ValueError("not an object: " + name)
    return value


def check_caas(data):
    for name in ("providerId", "transactionId", "type"):
        text(data, name)
    metadata = part(data, "metadata")
    if data["type"] in ("BUY", "SELL"):
        text(metadata, "orderStatus")
        chain_data = part(metadata, "blockchainData", required=False)
        for name in ("targetWalletAddress", "blockchainTransactionId", "blockchainMemo", "currency", "chain",
                     "refundWalletAddress", "sourceWalletAddress"):
            text(chain_data, name, required=False)
            if FAULT == "null-in-blockchain-data-refused" and chain_data.get(name, "") is None:
                raise ValueError("not a string: " + name)
    elif data["type"] == "ORDER_TRACKING":
        for name in ("orderType", "providerTransactionStatus"):
            text(metadata, name)
        for name in ("providerTransactionId", "providerTransactionRef", "trackingStateDescription"):
            text(metadata, name, required=False)


def check_refund(data):
    for name in ("providerId", "transactionId", "status"):
        text(data, name)
    metadata = part(data, "metadata", required=False)
    text(metadata, "amount", required=False, pattern=AMOUNT)
    for name in ("blockchainTransactionId", "currency", "walletAddress"):
        text(metadata, name, required=False)


def check_payment_method(data):
    for name in ("status", "paymentMethodId", "accountId"):
        text(data, name)
    text(data, "errorCode", required=False)


def check_wallet(data):
    for name in ("operation", "customerId", "walletAddress", "assetId", "chain"):
        text(data, name)


def check_deposit(data):
    for name in ("type", "status", "partnerTransactionId", "customerId"):
        text(data, name)
    metadata = part(data, "metadata")
    asset = part(metadata, "asset")
    text(asset, "amount", pattern=ATOMIC)
    text(asset, "currency")
    for name in ("sourceAddress", "destinationAddress"):
        text(metadata, name)
    for name in ("blockchainTransactionId", "blockchainTransctionId"):
        text(metadata, name, required=False)


CHECKS = {"CAAS": check_caas, "REFUND": check_refund, "PAYMENT_METHOD": check_payment_method, "WALLET": check_wallet,
          "CAAS_BLOCKCHAIN": check_deposit}


def parse(body, settings):
    """The envelope; ValueError when it is malformed. Unknown types, statuses and fields pass."""
    limit = settings["max_body"]
    if len(body) > limit:
        raise ValueError("too long")
    envelope = json.loads(body.decode("utf-8"), parse_constant=reject_constant)
    if not isinstance(envelope, dict):
        raise ValueError("not an object")
    text(envelope, "id")
    text(envelope, "type")
    if "at" not in envelope:
        raise ValueError("missing field at")
    data, kind, at = part(envelope, "data"), envelope["type"], envelope["at"]
    if kind in ("CAAS", "PAYMENT_METHOD", "REFUND"):
        if not isinstance(at, int) or isinstance(at, bool):
            raise ValueError("at is not an integer")
    elif kind in ("WALLET", "CAAS_BLOCKCHAIN"):
        text(envelope, "at", pattern=ISO_TIME)
    if kind in CHECKS:
        CHECKS[kind](data)
        if kind in ("CAAS", "REFUND"):
            error = part(data, "errorData", required=False)
            text(error, "code", required=False)
            text(error, "message", required=False)
    return envelope


def retention_date(at):
    """The date until which the notification is kept: seven years on."""
    try:
        if isinstance(at, str):
            day = datetime.date.fromisoformat(at[:10])
        else:
            day = datetime.datetime.fromtimestamp(at, datetime.timezone.utc).date()
    except (ValueError, OverflowError, OSError, TypeError):
        return None
    if day.year > 9990:
        return None
    if FAULT == "retention-date-crashes-on-leap-day":
        return day.replace(year=day.year + 7)
    return day + datetime.timedelta(days=7 * 365 + 2)


# ---------------------------------------------------------------- server

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "receiver", ""
    timeout = 60
    wbufsize = 64 * 1024
    disable_nagle_algorithm = True

    def handle_expect_100(self):
        super().handle_expect_100()
        self.wfile.flush()
        return True

    def log_message(self, *arguments):
        pass

    def exactly(self, count):
        block = self.rfile.read(count)
        if len(block) != count:
            raise Refused(400, "incomplete body", True)
        return block

    def chunked_body(self):
        blocks, total = [], 0
        while True:
            size_text = self.rfile.readline(4097).split(b";")[0].strip()
            if not re.fullmatch(rb"[0-9A-Fa-f]{1,8}", size_text):
                raise Refused(400, "bad chunk", True)
            size = int(size_text, 16)
            total += size
            if total > MAX_BODY:
                raise Refused(413, "too large", True)
            if size == 0:
                break
            blocks.append(self.exactly(size))
            if self.exactly(2) != b"\r\n":
                raise Refused(400, "bad chunk", True)
        for _ in range(100):
            if self.rfile.readline(4097) in (b"\r\n", b"\n", b""):
                return b"".join(blocks)
        raise Refused(400, "too many trailers", True)

    def read_body(self):
        lengths = self.headers.get_all("Content-Length") or []
        encodings = self.headers.get_all("Transfer-Encoding") or []
        self.connection.settimeout(8)
        try:
            if encodings:
                if lengths or self.request_version == "HTTP/1.0":
                    raise Refused(400, "ambiguous framing", True)
                if [value.strip().lower() for value in encodings] != ["chunked"]:
                    raise Refused(501, "unknown transfer encoding", True)
                return self.chunked_body()
            if not lengths:
                return b""
            if len(set(lengths)) != 1 or not re.fullmatch(r"[0-9]{1,18}", lengths[0].strip()):
                raise Refused(400, "bad length", True)
            if int(lengths[0]) > MAX_BODY:
                raise Refused(413, "too large", True)
            return self.exactly(int(lengths[0]))
        except socket.timeout:
            raise Refused(408, "body too slow", True) from None
        finally:
            self.connection.settimeout(self.timeout)

    def accept(self, body):
        store = self.server.store
        if FAULT == "put-handler-stores-without-credentials" and self.command == "PUT":
            return
        if self.command != "POST":
            raise Refused(405, "method not allowed")
        if not authorised(self.headers, body, SETTINGS, store):
            raise Refused(401, "unauthorised")
        try:
            envelope = parse(body, SETTINGS)
        except (ValueError, RecursionError) as error:
            if FAULT == "traceback-with-local-variables-in-400":
                report = traceback.TracebackException.from_exception(error, capture_locals=True)
                lines = "".join(report.format()).splitlines()
                raise Refused(400, "\n".join(line[:2000] for line in lines)) from None
            raise Refused(400, "malformed payload") from None
        retention_date(envelope["at"])
        if FAULT == "follow-up-of-same-transaction-refused-409" and store.is_follow_up(envelope):
            raise Refused(409, "transaction already processed")
        store.save(envelope)
        store.remember_id(envelope["id"])

    def serve(self):
        status, message = 200, "received"
        try:
            body = self.read_body()
            try:
                path = urlsplit(self.path).path
            except ValueError:
                raise Refused(400, "bad target") from None
            if path != "/hooks":
                raise Refused(404, "not found")
            self.accept(body)
        except Refused as refusal:
            status, message = refusal.status, refusal.text
            self.close_connection = self.close_connection or refusal.close
        except Exception as error:  # the last resort of every framework
            print("unexpected error: %s" % type(error).__name__, file=sys.stderr)
            status, message = 500, "internal error"
        answer = json.dumps({"message": message}).encode("ascii")
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        if status == 405:
            self.send_header("Allow", "POST")
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer)

    do_POST = do_GET = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = serve


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass


def main():
    global FAULT
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--fault", default="none", choices=["none"] + list(FAULTS))
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    if options.list:
        for name, (label, what) in FAULTS.items():
            print(name, label, what, sep="\t")
        return
    FAULT = options.fault
    SETTINGS.update(secret=os.environ["BLIND_SECRET"], api_key=os.environ["BLIND_API_KEY"], max_body=MAX_BODY)
    server = Server(("127.0.0.1", options.port), Handler)
    server.store = Store(SETTINGS["api_key"])
    print("listening", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
