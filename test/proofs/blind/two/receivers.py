"""Webhook receivers with one fault each, Python standard library only.

    python3 receivers.py --list
    python3 receivers.py --fault NAME --port N      (NAME: none or one of the list)
"""
import argparse
import base64
import hashlib
import hmac
import json
import os
import queue
import re
import socket
import sqlite3
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer

SECRET = os.environ.get("BLIND_SECRET", "")
API_KEY = os.environ.get("BLIND_API_KEY", "")
LIMIT = 12 * 1024 * 1024
SECONDS_TYPES = ("CAAS", "PAYMENT_METHOD", "REFUND")
TEXT_TIME_TYPES = ("WALLET", "CAAS_BLOCKCHAIN")


class Malformed(Exception):
    """The payload is not a notification: 400."""


class Framing(Exception):
    """The body cannot be read: the status is answered and the connection closed."""

    def __init__(self, status):
        super().__init__(status)
        self.status = status


def digest(body):
    return base64.b64encode(hmac.new(SECRET.encode(), body, hashlib.sha256).digest()).decode()


def same_text(given, expected):
    return hmac.compare_digest((given or "").encode("utf-8", "replace"), expected.encode("utf-8"))


def refuse_constant(name):
    raise ValueError(name)


# ---------------------------------------------------------------- the shape of a payload

def is_text(value):
    return value is None or isinstance(value, str)


def is_amount(value):
    return value is None or (isinstance(value, str) and re.fullmatch(r"[0-9]+(\.[0-9]+)?", value) is not None)


def object_at(parent, name, required=False):
    value = parent.get(name)
    if value is None and not required:
        return {}
    if not isinstance(value, dict):
        raise Malformed(name)
    return value


def texts(parent, *names):
    for name in names:
        if not is_text(parent.get(name)):
            raise Malformed(name)


def amount(parent):
    if not is_amount(parent.get("amount")):
        raise Malformed("amount")


def check_data(kind, data):
    if kind == "CAAS":
        if not isinstance(data.get("type"), str):
            raise Malformed("data.type")
        texts(data, "providerId", "transactionId")
        texts(object_at(data, "errorData"), "code", "message")
        metadata = object_at(data, "metadata", required=True)
        if data["type"] == "ORDER_TRACKING":
            texts(metadata, "orderType", "providerTransactionId", "providerTransactionRef",
                  "providerTransactionStatus", "trackingStateDescription")
        elif data["type"] in ("BUY", "SELL"):
            texts(metadata, "orderStatus")
            texts(object_at(metadata, "blockchainData"), "targetWalletAddress", "blockchainTransactionId",
                  "blockchainMemo", "currency", "chain", "refundWalletAddress", "sourceWalletAddress")
    elif kind == "REFUND":
        texts(data, "providerId", "transactionId", "status")
        texts(object_at(data, "errorData"), "code", "message")
        metadata = object_at(data, "metadata")
        texts(metadata, "blockchainTransactionId", "currency", "walletAddress")
        amount(metadata)
    elif kind == "PAYMENT_METHOD":
        texts(data, "status", "paymentMethodId", "accountId", "errorCode")
    elif kind == "WALLET":
        texts(data, "operation", "customerId", "walletAddress", "assetId", "chain")
    elif kind == "CAAS_BLOCKCHAIN":
        texts(data, "type", "status", "partnerTransactionId", "customerId")
        metadata = object_at(data, "metadata")
        texts(metadata, "sourceAddress", "destinationAddress", "blockchainTransactionId", "blockchainTransctionId")
        asset = object_at(metadata, "asset")
        texts(asset, "currency")
        amount(asset)


def check_payload(payload):
    if not isinstance(payload, dict) or not isinstance(payload.get("id"), str) or not payload["id"]:
        raise Malformed("id")
    kind, at = payload.get("type"), payload.get("at")
    if not isinstance(kind, str) or not isinstance(payload.get("data"), dict):
        raise Malformed("type or data")
    whole = isinstance(at, int) and not isinstance(at, bool)
    if not whole and not isinstance(at, str):
        raise Malformed("at")
    if (kind in SECONDS_TYPES and not whole) or (kind in TEXT_TIME_TYPES and whole):
        raise Malformed("at")
    check_data(kind, payload["data"])


# ---------------------------------------------------------------- the correct receiver

class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_class = ThreadingHTTPServer
    wbufsize = -1
    timeout = 40
    seen = {}
    lock = threading.Lock()

    def log_message(self, *arguments):
        pass

    def reply(self, status, text=None, close=False):
        words = {200: "ok", 400: "malformed", 401: "unauthorized", 413: "too large"}
        body = json.dumps(text or {"status": words.get(status, "refused")}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if close:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()
        if close:
            self.linger()

    def linger(self):
        """Take what is still on its way, so that the answer is not lost by a reset."""
        self.close_connection = True
        try:
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(1)
            until = time.monotonic() + 3
            while time.monotonic() < until and self.connection.recv(65536):
                pass
        except OSError:
            pass

    def content_length(self):
        values = set(self.headers.get_all("Content-Length") or [])
        if not values:
            return 0
        value = values.pop()
        if values or not re.fullmatch(r"[0-9]{1,15}", value):
            raise Framing(400)
        return int(value)

    def read_exactly(self, size):
        data = self.rfile.read(size)
        if len(data) != size:
            raise ConnectionError("short body")
        return data

    def read_chunks(self):
        parts, total = [], 0
        while True:
            line = self.rfile.readline(1024)
            match = re.fullmatch(rb"([0-9A-Fa-f]{1,8})[ \t]*(;[^\r\n]*)?\r?\n", line)
            if not match:
                raise Framing(400)
            size = int(match.group(1), 16)
            if size == 0:
                break
            total += size
            if total > LIMIT:
                raise Framing(413)
            parts.append(self.read_exactly(size))
            if self.rfile.readline(3).strip(b"\r\n"):
                raise Framing(400)
        for _ in range(100):
            if self.rfile.readline(8192).strip(b"\r\n") == b"":
                return b"".join(parts)
        raise Framing(400)

    def read_body(self):
        encoding = self.headers.get("Transfer-Encoding")
        if encoding is None:
            length = self.content_length()
            if length > LIMIT:
                raise Framing(413)
            return self.read_exactly(length)
        if self.headers.get("Content-Length") is not None:
            raise Framing(400)
        if encoding.strip().lower() != "chunked":
            raise Framing(501)
        return self.read_chunks()

    def key_matches(self):
        return same_text(self.headers.get("X-API-KEY"), API_KEY)

    def signature_matches(self, body):
        return same_text(self.headers.get("X-Service-Signature"), digest(body))

    def credentials_good(self, body):
        key_good = self.key_matches()
        return self.signature_matches(body) and key_good

    def to_text(self, body):
        return body.decode("utf-8")

    def parse(self, body):
        try:
            return json.loads(self.to_text(body), parse_constant=refuse_constant)
        except (ValueError, RecursionError) as error:
            raise Malformed("json") from error

    def check(self, payload):
        check_payload(payload)

    def store(self, payload, body):
        with self.lock:
            if len(self.seen) > 10000:
                self.seen.clear()
            self.seen[payload["id"]] = payload["type"]

    def decide(self, body):
        if not self.credentials_good(body):
            return 401
        try:
            payload = self.parse(body)
            self.check(payload)
        except Malformed:
            return 400
        return self.store(payload, body) or 200

    def serve(self):
        body = self.read_body()
        if self.path.split("?")[0] != "/hooks":
            self.reply(404)
        elif self.command != "POST":
            self.reply(405)
        else:
            self.reply(self.decide(body))

    def do_POST(self):
        try:
            self.serve()
        except Framing as error:
            self.reply(error.status, close=True)
        except OSError:
            self.close_connection = True
        except Exception:
            self.reply(500, close=True)

    do_GET = do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_POST


# ---------------------------------------------------------------- the faults

FAULTS = {}


def fault(name, label, what):
    def keep(receiver):
        FAULTS[name] = (label, what, receiver)
        return receiver
    return keep


@fault("py-zip-compare", "must",
       "The hand-made constant-time comparison uses zip(), so every beginning of the signature, also none, passes.")
class ZipCompare(Receiver):
    def signature_matches(self, body):
        given = self.headers.get("X-Service-Signature")
        if given is None:
            return False
        difference = 0
        for left, right in zip(given, digest(body)):
            difference |= ord(left) ^ ord(right)
        return difference == 0


@fault("py-compare-text", "must",
       "compare_digest() gets texts instead of bytes: a signature with a non-ASCII character raises, answer 500.")
class CompareText(Receiver):
    def signature_matches(self, body):
        return hmac.compare_digest(self.headers.get("X-Service-Signature") or "", digest(body))


@fault("py-key-like", "must",
       "The API key is looked up in a database with LIKE, so \"%\" is a good key.")
class KeyLike(Receiver):
    base = sqlite3.connect(":memory:", check_same_thread=False)
    base.execute("CREATE TABLE partner (api_key TEXT)")
    base.execute("INSERT INTO partner VALUES (?)", (API_KEY,))

    def key_matches(self):
        given = self.headers.get("X-API-KEY") or ""
        if not 0 < len(given) <= 200:
            return False
        with self.lock:
            row = self.base.execute("SELECT 1 FROM partner WHERE api_key LIKE ?", (given,)).fetchone()
        return row is not None


@fault("py-quote-in-sql", "must",
       "The body is written into the text of an INSERT, so an apostrophe in any field ends in 500.")
class QuoteInSql(Receiver):
    base = sqlite3.connect(":memory:", check_same_thread=False)
    base.execute("CREATE TABLE inbox (body TEXT)")

    def store(self, payload, body):
        with self.lock:
            self.base.execute("INSERT INTO inbox (body) VALUES ('%s')" % body.decode("utf-8"))


@fault("py-lone-surrogate", "must",
       "The payload is archived as UTF-8 text; a lone surrogate escape in a string cannot be encoded, answer 500.")
class LoneSurrogate(Receiver):
    def store(self, payload, body):
        archive = json.dumps(payload, ensure_ascii=False).encode("utf-8")
        with self.lock:
            self.seen[payload["id"]] = len(archive)


@fault("py-deep-json", "must",
       "Only ValueError of the JSON reader is caught; deeply nested JSON raises RecursionError, answer 500.")
class DeepJson(Receiver):
    def parse(self, body):
        try:
            return json.loads(self.to_text(body), parse_constant=refuse_constant)
        except ValueError as error:
            raise Malformed("json") from error


@fault("py-unhashable-type", "must",
       "The type is looked up in a table before its own kind is checked: a list or object as type ends in 500.")
class UnhashableType(Receiver):
    tables = {"CAAS": "orders", "REFUND": "refunds", "PAYMENT_METHOD": "methods", "WALLET": "wallets"}

    def check(self, payload):
        if isinstance(payload, dict) and self.tables.get(payload.get("type")) is None:
            self.log_message("no table for this type")
        check_payload(payload)


@fault("py-null-error-data", "must",
       "errorData is read with a default for a missing key only, so errorData null in a CAAS notification ends in 500.")
class NullErrorData(Receiver):
    def store(self, payload, body):
        if payload["type"] == "CAAS":
            code = payload["data"].get("errorData", {}).get("code")
            with self.lock:
                self.seen[payload["id"]] = code


@fault("py-deposit-needs-hash", "must",
       "A deposit without blockchain transaction id (in either spelling) is refused with 400, also an internal one.")
class DepositNeedsHash(Receiver):
    def check(self, payload):
        check_payload(payload)
        if payload["type"] == "CAAS_BLOCKCHAIN":
            metadata = payload["data"].get("metadata") or {}
            if "blockchainTransactionId" not in metadata and "blockchainTransctionId" not in metadata:
                raise Malformed("blockchainTransactionId")


@fault("py-charset-of-sender", "must",
       "The body is decoded with the charset of Content-Type; an unknown charset raises LookupError, answer 500.")
class CharsetOfSender(Receiver):
    def to_text(self, body):
        return body.decode(self.headers.get_content_charset() or "utf-8")


@fault("py-stripped-body", "must",
       "White space around the body is removed before the HMAC, so the signature does not cover the exact bytes.")
class StrippedBody(Receiver):
    def signature_matches(self, body):
        return same_text(self.headers.get("X-Service-Signature"), digest(body.strip()))


@fault("py-trusted-connection", "must",
       "After one good delivery the connection is trusted, later requests on it are not checked.")
class TrustedConnection(Receiver):
    trusted = False

    def credentials_good(self, body):
        if not self.trusted:
            self.trusted = super().credentials_good(body)
        return self.trusted


@fault("py-body-left-unread", "must",
       "With a wrong API key the 401 is sent before the body is read, the rest is taken for the next request.")
class BodyLeftUnread(Receiver):
    def serve(self):
        if self.command == "POST" and not self.key_matches():
            self.reply(401)
        else:
            super().serve()


@fault("py-one-at-a-time", "must",
       "The server has one thread and keeps connections open, so an idle connection blocks all other senders.")
class OneAtATime(Receiver):
    server_class = HTTPServer


@fault("py-check-by-length", "must",
       "Credentials are checked only when Content-Length says that there is a body: a chunked body is not checked.")
class CheckByLength(Receiver):
    def credentials_good(self, body):
        return self.content_length() == 0 or super().credentials_good(body)


@fault("py-slot-not-returned", "must",
       "A processing slot is taken per request and not returned after a 401: after eight of them everything hangs.")
class SlotNotReturned(Receiver):
    slots = threading.Semaphore(8)

    def decide(self, body):
        self.slots.acquire()
        if not self.credentials_good(body):
            return 401
        try:
            payload = self.parse(body)
            self.check(payload)
            self.store(payload, body)
        except Malformed:
            self.slots.release()
            return 400
        except Exception:
            self.slots.release()
            raise
        self.slots.release()
        return 200


@fault("py-dead-worker", "must",
       "An unknown type ends the worker behind a queue of 16 places; when the queue is full, deliveries hang.")
class DeadWorker(Receiver):
    waiting = queue.Queue(maxsize=16)
    tables = {"CAAS": [], "REFUND": [], "PAYMENT_METHOD": [], "WALLET": [], "CAAS_BLOCKCHAIN": []}

    @classmethod
    def work(cls):
        while True:
            payload = cls.waiting.get()
            cls.tables[payload["type"]].append(payload["id"])

    @classmethod
    def prepare(cls):
        threading.excepthook = lambda *arguments: None
        threading.Thread(target=cls.work, daemon=True).start()

    def store(self, payload, body):
        self.waiting.put(payload)


@fault("py-transaction-once", "must",
       "One notification per transaction is expected: the second one, with a new id and status, gets 409.")
class TransactionOnce(Receiver):
    orders = {}

    def store(self, payload, body):
        transaction = payload["data"].get("transactionId")
        if payload["type"] != "CAAS" or transaction is None:
            return None
        with self.lock:
            first = self.orders.setdefault(transaction, payload["id"])
        return None if first == payload["id"] else 409


@fault("py-slow-refund", "should",
       "A refund is booked in the ledger before the answer, which takes six seconds.")
class SlowRefund(Receiver):
    def store(self, payload, body):
        if payload["type"] == "REFUND":
            time.sleep(6)


@fault("py-headers-in-log", "blind",
       "All request headers, with the API key and the signature, are written to the log of the process.")
class HeadersInLog(Receiver):
    def decide(self, body):
        print("delivery", dict(self.headers.items()), file=sys.stderr, flush=True)
        return super().decide(body)


# ---------------------------------------------------------------- command line

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--fault", default="none", choices=["none", *FAULTS])
    parser.add_argument("--port", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.list:
        for name, (label, what, _) in FAULTS.items():
            print(name, label, what, sep="\t")
        return
    receiver = FAULTS[arguments.fault][2] if arguments.fault != "none" else Receiver
    if hasattr(receiver, "prepare"):
        receiver.prepare()
    receiver.server_class.request_queue_size = 128
    receiver.server_class.daemon_threads = True
    with receiver.server_class(("127.0.0.1", arguments.port), receiver) as server:
        print("listening", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
