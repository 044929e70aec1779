#!/usr/bin/env python3
"""Webhook receiver with switchable faults.

    receivers.py --list
    receivers.py --fault NAME --port N      (NAME `none`: the correct receiver)

Environment: BLIND_SECRET (HMAC secret, text), BLIND_API_KEY.
"""
import argparse
import asyncio
import base64
import binascii
import collections
import hashlib
import hmac
import json
import os
import re
import sqlite3
import sys
import time
from datetime import datetime
from decimal import Decimal, InvalidOperation

FAULTS = [
    ("early-401", "must",
     "a missing credential is answered 401 before the body is read, and the kept connection then reads the body as a "
     "request"),
    ("unknown-type-open", "must",
     "credentials are checked by the handlers of the known types; any other type is answered 200 without a check"),
    ("zip-compare", "must",
     "the signature is compared over the shorter of the two texts, so a truncated or lengthened one passes"),
    ("ignore-bad-bytes", "must",
     "the HMAC is computed over the body after bytes that are not UTF-8 have been dropped"),
    ("id-cache-first", "must",
     "a notification id that was accepted before is answered 200 before the credentials are looked at"),
    ("surrogate-store", "must",
     "a lone surrogate escape in a stored text ends in 500 because the database cannot encode it"),
    ("ledger-pair", "must",
     "deposits without a hash are distinguished by their two addresses only, and the second one is refused with 409"),
    ("nano-time", "must",
     "text timestamps are parsed with two fixed formats: nanoseconds or an offset of +00:00 are refused"),
    ("substring-key", "must",
     "the API key is looked for in a text instead of a list, so every part of the key passes, the empty one too"),
    ("nonascii-key", "must",
     "a byte above 127 in the API key header makes the comparison raise and ends in 500"),
    ("percent-log", "must",
     "the error message of a failed order is used as a format text of the log, and a percent sign ends in 500"),
    ("no-length-400", "must",
     "the answer 400 has no Content-Length on a kept connection, so the sender waits for its end for ever"),
    ("null-text", "should",
     "null in a field that is a text according to the specification is refused with 400"),
    ("quantize", "must",
     "refund amounts are rounded to 18 decimals in 28 digits of precision: large ones end in 500"),
    ("lock-while-reading", "must",
     "one lock is held while a body is being read, without a time limit: one stalled upload stops all deliveries"),
    ("fail-open-base64", "must",
     "a signature that is not decodable Base64 raises inside the check, is logged, and the delivery goes on"),
]

MAX_BODY = 10 * 1024 * 1024 + 64 * 1024
MAX_DRAIN = 64 * 1024 * 1024
MAX_LINE = 32 * 1024
MAX_HEADERS = 200
STALL = 8.0
IDLE = 90.0

REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 405: "Method Not Allowed",
           408: "Request Timeout", 409: "Conflict", 413: "Content Too Large", 415: "Unsupported Media Type",
           417: "Expectation Failed", 431: "Request Header Fields Too Large", 500: "Internal Server Error",
           501: "Not Implemented", 505: "HTTP Version Not Supported"}

TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
TYPES = ("CAAS", "PAYMENT_METHOD", "REFUND", "CAAS_BLOCKCHAIN", "WALLET")
CHAIN_FIELDS = ("targetWalletAddress", "blockchainTransactionId", "blockchainMemo", "currency", "chain",
                "refundWalletAddress", "sourceWalletAddress")
TRACKING_FIELDS = ("orderType", "providerTransactionId", "providerTransactionRef", "providerTransactionStatus",
                   "trackingStateDescription")


class Refused(Exception):
    """A request that is answered with a status."""

    def __init__(self, status, text, close=False):
        super().__init__(text)
        self.status, self.text, self.close = status, text, close


def malformed(text):
    return Refused(400, text)


# ---------------------------------------------------------------------------------------------- payload

def take(holder, name, required=False):
    if name not in holder:
        if required:
            raise malformed("a field is missing")
        return None
    return holder[name]


class Payload:
    """Reads one notification; refuses what is malformed, accepts what is merely unknown."""

    def __init__(self, null_ok=True):
        self.null_ok = null_ok

    def text(self, holder, name, required=False):
        value = take(holder, name, required)
        if value is None:
            if name in holder and not self.null_ok:
                raise malformed("a field must be a text")
            return None
        if not isinstance(value, str):
            raise malformed("a field must be a text")
        return value

    def part(self, holder, name, required=False):
        value = take(holder, name, required)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise malformed("a field must be an object")
        return value

    def error(self, data):
        error = self.part(data, "errorData")
        self.text(error, "code")
        self.text(error, "message")

    def check(self, doc):
        if not isinstance(doc, dict):
            raise malformed("not a notification")
        self.text(doc, "id", True)
        kind = self.text(doc, "type", True)
        at = take(doc, "at", True)
        if isinstance(at, bool) or not isinstance(at, (int, str, type(None))):
            raise malformed("at is neither a number nor a text")
        data = doc.get("data")
        if not isinstance(data, dict):
            raise malformed("data is not an object")
        if kind in TYPES:
            getattr(self, "check_" + kind.lower())(data)

    def check_caas(self, data):
        kind = self.text(data, "type", True)
        self.text(data, "providerId")
        self.text(data, "transactionId", True)
        meta = self.part(data, "metadata")
        self.error(data)
        if kind in ("BUY", "SELL"):
            self.text(meta, "orderStatus")
            chain = self.part(meta, "blockchainData")
            for name in CHAIN_FIELDS:
                self.text(chain, name)
        elif kind == "ORDER_TRACKING":
            for name in TRACKING_FIELDS:
                self.text(meta, name)

    def check_refund(self, data):
        self.text(data, "providerId")
        self.text(data, "transactionId", True)
        self.text(data, "status", True)
        meta = self.part(data, "metadata")
        for name in ("blockchainTransactionId", "amount", "currency", "walletAddress"):
            self.text(meta, name)
        self.error(data)

    def check_payment_method(self, data):
        self.text(data, "status", True)
        self.text(data, "paymentMethodId", True)
        self.text(data, "accountId")
        self.text(data, "errorCode")

    def check_wallet(self, data):
        self.text(data, "walletAddress", True)
        for name in ("operation", "customerId", "assetId", "chain"):
            self.text(data, name)

    def check_caas_blockchain(self, data):
        self.text(data, "type", True)
        for name in ("status", "partnerTransactionId", "customerId"):
            self.text(data, name)
        meta = self.part(data, "metadata")
        for name in ("sourceAddress", "destinationAddress", "blockchainTransactionId", "blockchainTransctionId"):
            self.text(meta, name)
        asset = self.part(meta, "asset")
        self.text(asset, "amount")
        self.text(asset, "currency")


def no_constant(name):
    raise ValueError("not JSON: " + name)


def parse(body):
    try:
        return json.loads(body.decode("utf-8"), parse_constant=no_constant)
    except (ValueError, RecursionError):
        raise malformed("the body is not JSON in UTF-8") from None


# --------------------------------------------------------------------------------------------- receiver

class Receiver:
    def __init__(self, fault, secret, key):
        self.fault = fault
        self.secret = secret.encode("utf-8", "surrogateescape")
        self.key = key.encode("utf-8", "surrogateescape")
        self.payload = Payload(null_ok=fault != "null-text")
        self.lines = collections.deque(maxlen=200)
        self.seen = collections.OrderedDict()
        self.store = sqlite3.connect(":memory:", isolation_level=None)
        self.store.execute("CREATE TABLE event (id BLOB PRIMARY KEY, type BLOB, at INTEGER)")
        self.store.execute("CREATE TABLE note (subject TEXT, remark TEXT)")
        self.store.execute("CREATE TABLE deposit (pair BLOB PRIMARY KEY, id BLOB)")

    def log(self, text, *args):
        self.lines.append(text % args)

    # ------------------------------------------------------------------ credentials

    @staticmethod
    def single(headers, name):
        values = [value for key, value in headers if key == name]
        return values[0] if len(values) == 1 else None

    def key_ok(self, headers):
        given = self.single(headers, b"x-api-key")
        if given is None:
            return False
        if self.fault == "substring-key":
            valid_keys = self.key
            return given in valid_keys
        if self.fault == "nonascii-key":
            return hmac.compare_digest(given.decode("latin-1"), self.key.decode("latin-1"))
        return hmac.compare_digest(given, self.key)

    def signature_ok(self, headers, body):
        given = self.single(headers, b"x-service-signature")
        if given is None:
            return False
        if self.fault == "ignore-bad-bytes":
            body = body.decode("utf-8", "ignore").encode("utf-8")
        digest = hmac.new(self.secret, body, hashlib.sha256).digest()
        expected = base64.b64encode(digest)
        if self.fault == "zip-compare":
            different = 0
            for ours, theirs in zip(expected, given):
                different |= ours ^ theirs
            return different == 0
        if self.fault == "fail-open-base64":
            verified = True
            try:
                base64.b64decode(given, validate=True)
                verified = hmac.compare_digest(given, expected)
            except binascii.Error:
                self.log("signature could not be decoded")
            return verified
        return hmac.compare_digest(given, expected)

    def authorize(self, headers, body):
        key, signature = self.key_ok(headers), self.signature_ok(headers, body)
        if not (key and signature):
            raise Refused(401, "signature or key is not valid")

    # -------------------------------------------------------------------- delivery

    @staticmethod
    def peek(body):
        try:
            doc = json.loads(body.decode("utf-8"))
        except (ValueError, RecursionError):
            return {}
        return doc if isinstance(doc, dict) else {}

    def deliver(self, headers, body):
        if self.fault == "unknown-type-open":
            kind = self.peek(body).get("type")
            if isinstance(kind, str) and kind not in TYPES:
                return "ignored"
        if self.fault == "id-cache-first":
            number = self.peek(body).get("id")
            if isinstance(number, str) and number in self.seen:
                return "duplicate"
        self.authorize(headers, body)
        content = self.single(headers, b"content-type") or b""
        if content.split(b";")[0].strip().lower() != b"application/json":
            raise Refused(415, "Content-Type must be application/json")
        coding = self.single(headers, b"content-encoding") or b"identity"
        if coding.strip().lower() not in (b"identity", b""):
            raise Refused(415, "no Content-Encoding is supported")
        if self.fault == "ignore-bad-bytes":
            body = body.decode("utf-8", "ignore").encode("utf-8")
        doc = parse(body)
        self.payload.check(doc)
        return self.process(doc)

    def process(self, doc):
        number, kind, data = doc["id"], doc["type"], doc["data"]
        self.faulty_steps(doc, number, kind, data)
        if number is None:
            return "ok"
        self.seen[number] = True
        if len(self.seen) > 200000:
            self.seen.popitem(last=False)
        done = self.store.execute("INSERT OR IGNORE INTO event VALUES (?, ?, ?)", (
            number.encode("utf-8", "surrogatepass"), (kind or "").encode("utf-8", "surrogatepass"), int(time.time())))
        return "ok" if done.rowcount else "duplicate"

    def faulty_steps(self, doc, number, kind, data):
        if self.fault == "surrogate-store" and kind in ("CAAS", "REFUND"):
            remark = (data.get("errorData") or {}).get("message")
            remark = remark or (data.get("metadata") or {}).get("trackingStateDescription")
            self.store.execute("INSERT INTO note VALUES (?, ?)", (data["transactionId"], remark))
        elif self.fault == "percent-log" and kind in ("CAAS", "REFUND"):
            message = (data.get("errorData") or {}).get("message")
            if message:
                self.log("order %s failed: " + message, data["transactionId"])
        elif self.fault == "nano-time" and kind in ("WALLET", "CAAS_BLOCKCHAIN"):
            if isinstance(doc["at"], str):
                self.text_time(doc["at"])
        elif self.fault == "quantize" and kind == "REFUND":
            amount = (data.get("metadata") or {}).get("amount")
            if amount is not None:
                try:
                    value = Decimal(amount)
                except InvalidOperation:
                    raise malformed("the amount is not a number") from None
                value.quantize(Decimal("1e-18"))
        elif self.fault == "ledger-pair" and kind == "CAAS_BLOCKCHAIN":
            meta = data.get("metadata") or {}
            if not (meta.get("blockchainTransactionId") or meta.get("blockchainTransctionId")):
                self.ledger_deposit(number, meta)

    @staticmethod
    def text_time(text):
        for form in ("%Y-%m-%dT%H:%M:%S.%fZ", "%Y-%m-%dT%H:%M:%SZ"):
            try:
                return datetime.strptime(text, form)
            except ValueError:
                continue
        raise malformed("at is not a timestamp")

    def ledger_deposit(self, number, meta):
        pair = "%s>%s" % (meta.get("sourceAddress"), meta.get("destinationAddress"))
        pair, number = pair.encode("utf-8", "surrogatepass"), (number or "").encode("utf-8", "surrogatepass")
        row = self.store.execute("SELECT id FROM deposit WHERE pair = ?", (pair,)).fetchone()
        if row is None:
            self.store.execute("INSERT INTO deposit VALUES (?, ?)", (pair, number))
        elif row[0] != number:
            raise Refused(409, "this deposit is booked already")


# ------------------------------------------------------------------------------------------------- HTTP

class Connection:
    def __init__(self, receiver, lock, reader, writer):
        self.receiver, self.lock, self.reader, self.writer = receiver, lock, reader, writer
        self.fault = receiver.fault
        self.head_only = False

    async def line(self, limit):
        try:
            line = await asyncio.wait_for(self.reader.readline(), limit)
        except ValueError:
            raise Refused(431, "a header line is too long", True) from None
        except asyncio.TimeoutError:
            raise Refused(408, "the request is not complete", True) from None
        if not line:
            raise ConnectionResetError
        if not line.endswith(b"\r\n"):
            raise Refused(400, "line ends must be CRLF", True)
        return line[:-2]

    async def head(self):
        first = b""
        for _ in range(4):
            try:
                first = await self.line(IDLE)
            except Refused as refused:
                if refused.status == 408:
                    raise ConnectionResetError from None
                raise
            if first:
                break
        parts = first.split(b" ")
        if len(parts) != 3 or not TOKEN.match(parts[0]) or not parts[1]:
            raise Refused(400, "not a request", True)
        if not re.match(rb"HTTP/\d\.\d\Z", parts[2]):
            raise Refused(400, "not a request", True)
        if parts[2] not in (b"HTTP/1.0", b"HTTP/1.1"):
            raise Refused(505, "HTTP/1.1 only", True)
        headers = []
        while True:
            line = await self.line(STALL)
            if not line:
                break
            name, colon, value = line.partition(b":")
            value = value.strip(b" \t")
            if not colon or not TOKEN.match(name) or b"\r" in value or b"\0" in value or b"\n" in value:
                raise Refused(400, "a header line is not valid", True)
            headers.append((name.lower(), value))
            if len(headers) > MAX_HEADERS:
                raise Refused(431, "too many header lines", True)
        return parts[0], parts[1], parts[2], headers

    @staticmethod
    def framing(version, headers):
        coding = [v.lower() for k, v in headers if k == b"transfer-encoding"]
        length = {v for k, v in headers if k == b"content-length"}
        hosts = [v for k, v in headers if k == b"host"]
        if len(hosts) > 1 or (not hosts and version == b"HTTP/1.1"):
            raise Refused(400, "one Host header is needed", True)
        if coding:
            if length or version == b"HTTP/1.0":
                raise Refused(400, "the framing is ambiguous", True)
            if coding != [b"chunked"]:
                raise Refused(501, "this Transfer-Encoding is not supported", True)
            return None
        if not length:
            return 0
        if len(length) > 1:
            raise Refused(400, "the framing is ambiguous", True)
        text = length.pop()
        if not re.match(rb"[0-9]{1,18}\Z", text):
            raise Refused(400, "Content-Length is not a number", True)
        return int(text)

    async def some(self, count, limit=STALL):
        try:
            data = await asyncio.wait_for(self.reader.read(min(count, 262144)), limit)
        except asyncio.TimeoutError:
            raise Refused(408, "the body is not complete", True) from None
        if not data:
            raise Refused(400, "the body is not complete", True)
        return data

    async def body(self, length, limit=STALL):
        """The body; above the limit it is drained as far as is reasonable, then refused."""
        if length is None:
            return await self.chunks(limit)
        if length > MAX_DRAIN:
            raise Refused(413, "the body is too large", True)
        data, rest, keep = bytearray(), length, length <= MAX_BODY
        while rest:
            piece = await self.some(rest, limit)
            rest -= len(piece)
            if keep:
                data += piece
        if not keep:
            raise Refused(413, "the body is too large")
        return bytes(data)

    async def chunks(self, limit):
        data, total = bytearray(), 0
        while True:
            line = await self.line(limit)
            size = line.split(b";")[0].strip(b" \t")
            if not re.match(rb"[0-9A-Fa-f]{1,12}\Z", size):
                raise Refused(400, "a chunk is not valid", True)
            rest = int(size, 16)
            if not rest:
                break
            total += rest
            if total > MAX_DRAIN:
                raise Refused(413, "the body is too large", True)
            while rest:
                piece = await self.some(rest, limit)
                rest -= len(piece)
                if total <= MAX_BODY:
                    data += piece
            if await self.line(limit):
                raise Refused(400, "a chunk is not valid", True)
        for _ in range(MAX_HEADERS):
            if not await self.line(limit):
                break
        else:
            raise Refused(431, "too many trailer lines", True)
        if total > MAX_BODY:
            raise Refused(413, "the body is too large")
        return bytes(data)

    def answer(self, status, text, close, extra="", length=True):
        body = json.dumps({"status": text} if status == 200 else {"error": text}).encode()
        lines = ["HTTP/1.1 %d %s" % (status, REASONS.get(status, "Status")), "Content-Type: application/json"]
        if length:
            lines.append("Content-Length: %d" % len(body))
        lines.append("Connection: " + ("close" if close else "keep-alive"))
        if extra:
            lines.append(extra)
        head = "\r\n".join(lines).encode() + b"\r\n\r\n"
        self.writer.write(head if self.head_only else head + body)

    async def exchange(self):
        """One request and its answer; tells whether the connection goes on."""
        self.head_only = False
        method, target, version, headers = await self.head()
        self.head_only = method == b"HEAD"
        wish = b",".join(v for k, v in headers if k == b"connection").lower()
        close = b"close" in wish or (version == b"HTTP/1.0" and b"keep-alive" not in wish)
        length = self.framing(version, headers)
        expect = b",".join(v for k, v in headers if k == b"expect").lower()
        if expect:
            if expect != b"100-continue":
                raise Refused(417, "this expectation is not supported", True)
            if length is not None and length > MAX_BODY:
                raise Refused(413, "the body is too large", True)
            if version == b"HTTP/1.1":
                self.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        target = re.sub(rb"\Ahttps?://[^/?#]*", b"", target, flags=re.I)
        try:
            if target.split(b"?")[0] != b"/hooks":
                await self.body(length)
                self.answer(404, "nothing here", close)
            elif method != b"POST":
                await self.body(length)
                self.answer(405, "POST only", close, "Allow: POST")
            elif self.fault == "early-401" and not {b"x-api-key", b"x-service-signature"} <= {k for k, _ in headers}:
                self.answer(401, "signature or key is not valid", close)
            elif self.fault == "lock-while-reading":
                async with self.lock:
                    body = await self.body(length, 3600.0)
                    self.answer(200, self.receiver.deliver(headers, body), close)
            else:
                body = await self.body(length)
                self.answer(200, self.receiver.deliver(headers, body), close)
        except Refused as refused:
            close = close or refused.close
            bare = self.fault == "no-length-400" and refused.status == 400
            self.answer(refused.status, str(refused), close, length=not bare)
        await self.writer.drain()
        return not close

    async def linger(self):
        """Lets the other side read the last answer before the connection is gone."""
        try:
            self.writer.write_eof()
            end = time.monotonic() + 1.0
            while time.monotonic() < end:
                if not await asyncio.wait_for(self.reader.read(262144), end - time.monotonic()):
                    return
        except (OSError, asyncio.TimeoutError, RuntimeError, ValueError):
            pass

    async def run(self):
        try:
            going = True
            while going:
                try:
                    going = await self.exchange()
                except Refused as refused:
                    self.answer(refused.status, str(refused), True)
                    await self.writer.drain()
                    going = False
                except (OSError, asyncio.CancelledError):
                    return
                except Exception:
                    self.answer(500, "internal error", False)
                    await self.writer.drain()
            await self.linger()
        except OSError:
            pass
        finally:
            self.writer.close()


async def serve(receiver, port):
    lock = asyncio.Lock()

    async def accept(reader, writer):
        await Connection(receiver, lock, reader, writer).run()

    server = await asyncio.start_server(accept, "127.0.0.1", port, limit=MAX_LINE, backlog=512)
    print("listening on http://127.0.0.1:%d/hooks" % port, flush=True)
    async with server:
        await server.serve_forever()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--fault", default="none")
    parser.add_argument("--port", type=int)
    options = parser.parse_args()
    if options.list:
        for fault in FAULTS:
            print("\t".join(fault))
        return 0
    if options.fault != "none" and options.fault not in [fault[0] for fault in FAULTS]:
        parser.error("no such fault: " + options.fault)
    secret, key = os.environ.get("BLIND_SECRET"), os.environ.get("BLIND_API_KEY")
    if not secret or not key or options.port is None:
        parser.error("--port, BLIND_SECRET and BLIND_API_KEY are needed")
    try:
        asyncio.run(serve(Receiver(options.fault, secret, key), options.port))
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
