"""A webhook receiver with at most one deliberate fault, chosen with --fault NAME."""
import argparse
import base64
import binascii
import collections
import hashlib
import hmac
import http.server
import json
import os
import sqlite3
import threading
import unicodedata

LIMIT = 12 * 1024 * 1024

FAULTS = {
    "truncated_mac": (
        "must",
        "A signature that is only the first 8 or more bytes of the correct HMAC is accepted, because the expected"
        " value is cut to the length of the given one.",
    ),
    "sticky_connection": (
        "must",
        "After one accepted delivery, every later request on the same keep-alive connection is accepted without "
        "credentials, because the handler object remembers the result.",
    ),
    "undrained_body": (
        "must",
        "With a wrong or missing API key, 401 is sent before the body is read and the connection is kept open, so"
        " the body is taken for the start of the next request.",
    ),
    "chunked_skips_check": (
        "must",
        "The signature is checked only when a Content-Length header is present, so a chunked request with the API"
        " key needs no signature.",
    ),
    "bad_base64_passes": (
        "must",
        "A signature header that is not valid Base64 raises an exception that is swallowed, and the request is "
        "accepted.",
    ),
    "undecodable_dropped": (
        "must",
        "The body is decoded as UTF-8 with errors ignored and this cleaned text is verified and parsed, so bytes "
        "that are not UTF-8 can be added to a signed body.",
    ),
    "unicode_normalised": (
        "must",
        "The body text is brought into Unicode form NFC before the HMAC, so a correctly signed body with "
        "decomposed characters gets 401.",
    ),
    "key_wildcard": (
        "must",
        "The API key is looked up in a database with LIKE, so the key % (and other patterns, and the key in "
        "another letter case) is accepted.",
    ),
    "percent_in_text": (
        "must",
        "The body is used as a printf-style template of the log line, so an accepted body with a percent sign "
        "ends in 500.",
    ),
    "lock_after_bad_payload": (
        "must",
        "A lock is not released when a signed payload is malformed, so every later delivery hangs.",
    ),
    "one_per_transaction": (
        "must",
        "Duplicates are found by transactionId instead of notification id, so a second, different notification of"
        " the same transaction gets 409.",
    ),
    "idle_connection_blocks": (
        "must",
        "The server has a single thread, so one open idle connection keeps every other delivery waiting.",
    ),
    "failures_block_transaction": (
        "must",
        "Three requests with failed credentials that name a transactionId block all genuine deliveries of that "
        "transaction, from any address, with 403.",
    ),
    "unknown_type_early": (
        "must",
        "A body whose type is not one of the known five is acknowledged with 200 before key and signature are "
        "checked.",
    ),
    "superscript_amount": (
        "must",
        "The deposit amount is tested with isdigit() and converted with int(), so digits such as superscript two,"
        " or more than 4300 digits, end in 500.",
    ),
    "charset_refused": (
        "should",
        "Content-Type is compared with application/json as a whole, so a charset parameter gets 415.",
    ),
    "noted_before_check": (
        "blind",
        "The notification id is noted as seen before the credentials are checked, so a forged request makes the "
        "genuine one be answered 200 but not stored.",
    ),
}

KNOWN_TYPES = {"CAAS", "PAYMENT_METHOD", "REFUND", "CAAS_BLOCKCHAIN", "WALLET"}
FAULT = "none"
SECRET = os.environ.get("BLIND_SECRET", "")
API_KEY = os.environ.get("BLIND_API_KEY", "")

LOCK = threading.Lock()
SEEN = set()
STORED = []
AUDIT = []
OWNER_OF_TRANSACTION = {}
FAILURES = collections.Counter()


class BadPayload(Exception):
    """The payload is not a usable notification."""


class BadFraming(Exception):
    """The body cannot be read; holds the status to answer."""


def check(condition):
    if not condition:
        raise BadPayload()


def check_text(holder, names):
    """Each named field is there, and is text or null."""
    for name in names:
        check(name in holder)
        check(holder[name] is None or isinstance(holder[name], str))


def check_optional_text(holder, names):
    check_text(holder, [name for name in names if name in holder])


def no_constant(_text):
    raise BadPayload()


def parse(raw):
    try:
        note = json.loads(raw.decode("utf-8"), parse_constant=no_constant)
    except (ValueError, RecursionError):
        raise BadPayload() from None
    validate(note)
    return note


def validate(note):
    check(isinstance(note, dict))
    check(isinstance(note.get("id"), str) and note["id"])
    check(isinstance(note.get("type"), str) and note["type"])
    at = note.get("at")
    number = isinstance(at, int) and not isinstance(at, bool)
    data = note.get("data")
    check(isinstance(data, dict))
    kind = note["type"]
    if kind in ("CAAS", "PAYMENT_METHOD", "REFUND"):
        check(number)
    elif kind in ("WALLET", "CAAS_BLOCKCHAIN"):
        check(isinstance(at, str) and at)
    else:
        check(number or isinstance(at, str))
    if kind == "CAAS":
        validate_caas(data)
    elif kind == "PAYMENT_METHOD":
        check_text(data, ["status", "paymentMethodId", "accountId"])
        check_optional_text(data, ["errorCode"])
    elif kind == "REFUND":
        check_text(data, ["providerId", "transactionId", "status"])
        metadata = data.get("metadata")
        check(metadata is None or isinstance(metadata, dict))
        check_optional_text(metadata or {}, ["blockchainTransactionId", "amount", "currency", "walletAddress"])
        validate_error(data)
    elif kind == "WALLET":
        check_text(data, ["operation", "customerId", "walletAddress", "assetId", "chain"])
    elif kind == "CAAS_BLOCKCHAIN":
        validate_deposit(data)


def validate_error(data):
    error = data.get("errorData")
    check(error is None or isinstance(error, dict))
    if error is not None:
        check_optional_text(error, ["code", "message"])


def validate_caas(data):
    check_text(data, ["type", "providerId", "transactionId"])
    metadata = data.get("metadata")
    check(isinstance(metadata, dict))
    validate_error(data)
    if data["type"] in ("BUY", "SELL"):
        check_text(metadata, ["orderStatus"])
        chain_data = metadata.get("blockchainData")
        check(chain_data is None or isinstance(chain_data, dict))
        check_optional_text(chain_data or {}, ["targetWalletAddress", "blockchainTransactionId", "blockchainMemo",
                                               "currency", "chain", "refundWalletAddress", "sourceWalletAddress"])
    elif data["type"] == "ORDER_TRACKING":
        check_text(metadata, ["orderType", "providerTransactionStatus"])
        check_optional_text(metadata, ["providerTransactionId", "providerTransactionRef", "trackingStateDescription"])


def validate_deposit(data):
    check_text(data, ["type", "status", "partnerTransactionId", "customerId"])
    metadata = data.get("metadata")
    check(isinstance(metadata, dict))
    check_text(metadata, ["sourceAddress", "destinationAddress"])
    check_optional_text(metadata, ["blockchainTransactionId", "blockchainTransctionId"])
    asset = metadata.get("asset")
    check(isinstance(asset, dict))
    check_text(asset, ["amount", "currency"])
    if FAULT == "superscript_amount" and asset["amount"] is not None:
        check(asset["amount"].isdigit())
        check(int(asset["amount"]) >= 0)


def unchecked_field(raw, *path):
    """A text field of a body that is not verified yet, or None."""
    try:
        value = json.loads(raw)
        for name in path:
            value = value[name]
    except (ValueError, RecursionError, KeyError, TypeError, IndexError):
        return None
    return value if isinstance(value, str) else None


def key_matches(given):
    if FAULT == "key_wildcard":
        database = sqlite3.connect(":memory:")
        database.execute("CREATE TABLE partner (api_key TEXT)")
        database.execute("INSERT INTO partner VALUES (?)", (API_KEY,))
        row = database.execute("SELECT 1 FROM partner WHERE api_key LIKE ?", (given,)).fetchone()
        database.close()
        return row is not None
    return hmac.compare_digest(given.encode("utf-8"), API_KEY.encode("utf-8"))


def signature_matches(given, raw):
    if FAULT == "unicode_normalised":
        raw = unicodedata.normalize("NFC", raw.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    digest = hmac.new(SECRET.encode("utf-8"), raw, hashlib.sha256).digest()
    if FAULT == "truncated_mac":
        try:
            part = base64.b64decode(given.encode("utf-8"), validate=True)
        except binascii.Error:
            return False
        return len(part) >= 8 and hmac.compare_digest(part, digest[:len(part)])
    if FAULT == "bad_base64_passes":
        try:
            decoded = base64.b64decode(given.encode("utf-8"), validate=True)
        except binascii.Error as problem:
            AUDIT.append("signature not readable: %s" % problem)
            return True
        return hmac.compare_digest(decoded, digest) and given == base64.b64encode(digest).decode("ascii")
    return hmac.compare_digest(given.encode("utf-8"), base64.b64encode(digest))


def write_audit(template, *values):
    AUDIT.append(template % values)
    del AUDIT[:-100]


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    trusted = False

    def log_message(self, *_arguments):
        pass

    def answer(self, status, close=False):
        body = json.dumps({"status": status}).encode("ascii")
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if close:
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def refuse_method(self):
        self.answer(405, close=True)

    do_GET = do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = refuse_method

    def do_POST(self):
        try:
            self.receive()
        except BadFraming as problem:
            self.answer(problem.args[0], close=True)
        except (ConnectionError, TimeoutError):
            self.close_connection = True
        except Exception:
            self.answer(500, close=True)

    def read_exactly(self, count):
        block = self.rfile.read(count)
        if len(block) != count:
            raise BadFraming(400)
        return block

    def read_body(self):
        lengths = self.headers.get_all("Content-Length") or []
        codings = self.headers.get_all("Transfer-Encoding") or []
        if codings:
            if lengths:
                raise BadFraming(400)
            if len(codings) != 1 or codings[0].strip().lower() != "chunked":
                raise BadFraming(501)
            return self.read_chunks()
        if not lengths:
            return b""
        text = lengths[0].strip()
        if len(set(lengths)) != 1 or not (text.isascii() and text.isdigit()) or len(text) > 15:
            raise BadFraming(400)
        if int(text) > LIMIT:
            self.skip(int(text))
            raise BadFraming(413)
        return self.read_exactly(int(text))

    def skip(self, count):
        """Read a part of a body that is too large, so that the answer is not lost in a reset."""
        count = min(count, 2 * LIMIT)
        while count > 0:
            block = self.rfile.read(min(count, 65536))
            if not block:
                return
            count -= len(block)

    def read_chunks(self):
        parts, total = [], 0
        while True:
            size = self.rfile.readline(1026).split(b";")[0].strip()
            if not size or len(size) > 8 or size.strip(b"0123456789abcdefABCDEF"):
                raise BadFraming(400)
            count = int(size, 16)
            if count == 0:
                break
            total += count
            if total > LIMIT:
                raise BadFraming(413)
            parts.append(self.read_exactly(count))
            if self.rfile.readline(3).strip(b"\r\n"):
                raise BadFraming(400)
        for _ in range(100):
            if self.rfile.readline(8192) in (b"\r\n", b"\n", b""):
                return b"".join(parts)
        raise BadFraming(400)

    def single(self, name):
        """The header's value when it was sent exactly once, otherwise None."""
        values = self.headers.get_all(name) or []
        return str(values[0]).strip() if len(values) == 1 else None

    def authorised(self, raw):
        if FAULT == "sticky_connection" and self.trusted:
            return True
        key = self.single("X-API-KEY")
        key_good = key is not None and key_matches(key)
        signature = self.single("X-Service-Signature")
        if FAULT == "chunked_skips_check" and "Content-Length" not in self.headers:
            signature_good = True
        else:
            signature_good = signature is not None and signature_matches(signature, raw)
        self.trusted = key_good and signature_good
        return self.trusted

    def receive(self):
        if FAULT == "undrained_body":
            key = self.single("X-API-KEY")
            if key is None or not key_matches(key):
                return self.answer(401)
        raw = self.read_body()
        if self.path.split("?", 1)[0] != "/hooks":
            return self.answer(404)
        if FAULT == "undecodable_dropped":
            raw = raw.decode("utf-8", "ignore").encode("utf-8")
        if FAULT == "unknown_type_early":
            kind = unchecked_field(raw, "type")
            if kind is not None and kind not in KNOWN_TYPES:
                return self.answer(200)
        identifier = unchecked_field(raw, "id")
        repeated = identifier in SEEN
        if FAULT == "noted_before_check" and identifier is not None:
            SEEN.add(identifier)
        transaction = unchecked_field(raw, "data", "transactionId")
        if not self.authorised(raw):
            if FAULT == "failures_block_transaction" and transaction is not None:
                FAILURES[transaction] += 1
            return self.answer(401)
        if FAULT == "failures_block_transaction" and FAILURES[transaction] >= 3:
            return self.answer(403)
        if FAULT == "charset_refused" and self.headers.get("Content-Type") != "application/json":
            return self.answer(415)
        if FAULT == "lock_after_bad_payload":
            LOCK.acquire()
        try:
            note = parse(raw)
        except BadPayload:
            return self.answer(400)
        if FAULT == "percent_in_text":
            write_audit("accepted " + raw.decode("utf-8"))
        else:
            write_audit("accepted %s", note["id"])
        if FAULT == "one_per_transaction" and transaction is not None:
            if OWNER_OF_TRANSACTION.setdefault(transaction, note["id"]) != note["id"]:
                return self.answer(409)
        if not repeated:
            SEEN.add(note["id"])
            STORED.append((note["id"], note["type"]))
        if FAULT == "lock_after_bad_payload":
            LOCK.release()
        return self.answer(200)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


class SingleServer(http.server.HTTPServer):
    request_queue_size = 64


def main():
    global FAULT
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--fault", default="none", choices=["none", *FAULTS])
    parser.add_argument("--port", type=int, default=8080)
    options = parser.parse_args()
    if options.list:
        for name, (label, what) in FAULTS.items():
            print(name, label, what, sep="\t")
        return
    FAULT = options.fault
    kind = SingleServer if FAULT == "idle_connection_blocks" else Server
    server = kind(("127.0.0.1", options.port), Receiver)
    print("listening", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
