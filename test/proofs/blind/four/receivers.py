"""Webhook receivers: one correct (--fault none) and others with exactly one fault each.

Usage: receivers.py --list
       receivers.py --fault NAME --port N     (BLIND_SECRET and BLIND_API_KEY in the environment)
"""
import argparse
import base64
import functools
import hashlib
import hmac
import http.cookies
import json
import os
import queue
import secrets
import sqlite3
import threading
import time
import unicodedata
import warnings
from decimal import Decimal, InvalidOperation
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer

PATH = "/hooks"
MAX_BODY = 12 * 1024 * 1024
REFUSED = (401, {"error": "unauthorized"}, {})
ACCEPTED = (200, {"received": True}, {})


class Malformed(ValueError):
    """The payload is signed but cannot be understood."""


class BadFraming(ValueError):
    """The body cannot be read; the connection has to be closed."""

    def __init__(self, status):
        super().__init__(status)
        self.status = status


def no_constant(name):
    raise ValueError("constant " + name)


class Receiver:
    """The correct receiver. A fault is a subclass that replaces one or two methods."""

    server_class = ThreadingHTTPServer

    def __init__(self, secret, api_key):
        self.secret = secret
        self.api_key = api_key

    # one request -----------------------------------------------------------------------------------------------

    def handle(self, request):
        body = request.read_body()
        request.reply(*self.respond(request, body))

    def respond(self, request, body):
        if not self.authentic(request, body):
            return REFUSED
        try:
            payload = self.parse(body)
            problems = self.problems_of(payload)
        except Malformed as problem:
            return 400, {"error": str(problem)}, {}
        if problems:
            return 400, {"error": problems[0]}, {}
        return self.process(request, payload) or ACCEPTED

    # credentials -----------------------------------------------------------------------------------------------

    def authentic(self, request, body):
        key_ok = self.key_ok(request)
        signature_ok = self.signature_ok(request, body)
        return key_ok and signature_ok

    def key_ok(self, request):
        given = request.only_header("X-API-KEY")
        return given is not None and hmac.compare_digest(given.encode("latin-1"), self.api_key.encode("utf-8"))

    def signature_ok(self, request, body):
        given = request.only_header("X-Service-Signature")
        return given is not None and hmac.compare_digest(given.encode("latin-1"), self.signature_of(body))

    def signature_of(self, body):
        return base64.b64encode(hmac.new(self.secret.encode("utf-8"), body, hashlib.sha256).digest())

    # payload ---------------------------------------------------------------------------------------------------

    def parse(self, body):
        try:
            return json.loads(body.decode("utf-8"), parse_constant=no_constant)
        except (ValueError, RecursionError):
            raise Malformed("not JSON") from None

    def problems_of(self, payload):
        found = []
        self.collect_problems(payload, found)
        return found

    def text_ok(self, value):
        return value is None or isinstance(value, str)

    def collect_problems(self, payload, found):
        def text(where, owner, name, required=False):
            if name not in owner:
                if required:
                    found.append(where + name + " is missing")
            elif not self.text_ok(owner[name]):
                found.append(where + name + " is not text")

        def part(where, owner, name, required=False):
            value = owner.get(name)
            if isinstance(value, dict):
                return value
            if required or value is not None:
                found.append(where + name + " is not an object")
            return {}

        if not isinstance(payload, dict):
            found.append("the payload is not an object")
            return
        text("", payload, "id", required=True)
        text("", payload, "type", required=True)
        at = payload.get("at")
        if isinstance(at, bool) or not isinstance(at, (int, str, type(None))):
            found.append("at is neither a number nor text")
        data = part("", payload, "data", required=True)
        if found:
            return
        if payload["type"] == "CAAS":
            for name in ("type", "transactionId"):
                text("data.", data, name, required=True)
            text("data.", data, "providerId")
            metadata = part("data.", data, "metadata", required=True)
            for name in ("orderStatus", "orderType", "providerTransactionId", "providerTransactionRef",
                         "providerTransactionStatus", "trackingStateDescription"):
                text("data.metadata.", metadata, name)
            chain_data = part("data.metadata.", metadata, "blockchainData")
            for name in ("targetWalletAddress", "blockchainTransactionId", "blockchainMemo", "currency", "chain",
                         "refundWalletAddress", "sourceWalletAddress"):
                text("data.metadata.blockchainData.", chain_data, name)
        elif payload["type"] == "REFUND":
            for name in ("transactionId", "status"):
                text("data.", data, name, required=True)
            text("data.", data, "providerId")
            metadata = part("data.", data, "metadata")
            for name in ("blockchainTransactionId", "amount", "currency", "walletAddress"):
                text("data.metadata.", metadata, name)
        elif payload["type"] == "PAYMENT_METHOD":
            for name in ("status", "paymentMethodId"):
                text("data.", data, name, required=True)
            for name in ("accountId", "errorCode"):
                text("data.", data, name)
        elif payload["type"] == "WALLET":
            for name in ("customerId", "walletAddress"):
                text("data.", data, name, required=True)
            for name in ("operation", "assetId", "chain"):
                text("data.", data, name)
        elif payload["type"] == "CAAS_BLOCKCHAIN":
            text("data.", data, "type", required=True)
            for name in ("status", "partnerTransactionId", "customerId"):
                text("data.", data, name)
            metadata = part("data.", data, "metadata", required=True)
            for name in ("sourceAddress", "destinationAddress", "blockchainTransactionId", "blockchainTransctionId"):
                text("data.metadata.", metadata, name)
            asset = part("data.metadata.", metadata, "asset", required=True)
            for name in ("amount", "currency"):
                text("data.metadata.asset.", asset, name)
        else:
            return
        error = part("data.", data, "errorData")
        for name in ("code", "message"):
            text("data.errorData.", error, name)

    def process(self, request, payload):
        """Effects of an accepted notification; may return another answer."""


# faults --------------------------------------------------------------------------------------------------------

FAULTS = {}


def fault(name, label, what):
    def register(receiver_class):
        FAULTS[name] = (label, what, receiver_class)
        return receiver_class
    return register


@fault("key-kept-on-connection", "must",
       "The handler object of a connection keeps the API key of an earlier request, so a later request without a key "
       "is taken as having it.")
class KeyKeptOnConnection(Receiver):
    def key_ok(self, request):
        given = request.only_header("X-API-KEY")
        if given is not None:
            request.api_key = given
        return hmac.compare_digest(request.api_key.encode("latin-1"), self.api_key.encode("utf-8"))


@fault("second-answer-after-refusal", "must",
       "The return after the 401 answer is missing, so a second answer (200) for the same request follows on the "
       "connection.")
class SecondAnswerAfterRefusal(Receiver):
    def handle(self, request):
        body = request.read_body()
        if not self.authentic(request, body):
            request.reply(*REFUSED)
        try:
            if self.problems_of(self.parse(body)):
                raise Malformed("invalid")
        except Malformed as problem:
            request.reply(400, {"error": str(problem)}, {})
            return
        request.reply(*ACCEPTED)


@fault("body-left-on-connection", "must",
       "A wrong API key is answered before the body is read, and the unread body is taken as the next request of the "
       "connection.")
class BodyLeftOnConnection(Receiver):
    def handle(self, request):
        if not self.key_ok(request):
            request.reply(*REFUSED)
            return
        super().handle(request)


@fault("key-by-like", "must",
       "The API key is looked up in a table with LIKE, so percent signs, underscores and another letter case match.")
class KeyByLike(Receiver):
    def __init__(self, secret, api_key):
        super().__init__(secret, api_key)
        self.lock = threading.Lock()
        self.table = sqlite3.connect(":memory:", check_same_thread=False)
        self.table.execute("CREATE TABLE clients (name TEXT, api_key TEXT)")
        self.table.execute("INSERT INTO clients VALUES ('platform', ?)", (api_key,))

    def key_ok(self, request):
        given = request.only_header("X-API-KEY")
        if given is None or len(given) > 1000:
            return False
        with self.lock:
            row = self.table.execute("SELECT name FROM clients WHERE api_key LIKE ?", (given,)).fetchone()
        return row is not None


@fault("check-memorised-by-body", "must",
       "The result of the signature check is memorised with the body as the only key; the signature is read from the "
       "current request.")
class CheckMemorisedByBody(Receiver):
    current = threading.local()

    def signature_ok(self, request, body):
        self.current.request = request
        return self.check(body)

    @functools.lru_cache(maxsize=512)
    def check(self, body):
        return Receiver.signature_ok(self, self.current.request, body)


@fault("no-usable-signature-left", "must",
       "The header may list several signatures; those of another length are dropped, and all() over the empty rest is "
       "true.")
class NoUsableSignatureLeft(Receiver):
    def signature_ok(self, request, body):
        header = request.only_header("X-Service-Signature")
        if not header:
            return False
        expected = self.signature_of(body)
        signatures = [part.strip().encode("latin-1") for part in header.split(",")]
        usable = [signature for signature in signatures if len(signature) == len(expected)]
        return all(hmac.compare_digest(signature, expected) for signature in usable)


@fault("refund-amount-precision", "must",
       "The refund amount is quantised to 18 decimals in the default decimal context of 28 digits, which raises for "
       "amounts of 11 and more integer digits.")
class RefundAmountPrecision(Receiver):
    def process(self, request, payload):
        if payload["type"] != "REFUND":
            return None
        amount = (payload["data"].get("metadata") or {}).get("amount")
        try:
            value = Decimal(amount or "0")
        except InvalidOperation:
            return 400, {"error": "amount"}, {}
        self.refunded = value.quantize(Decimal("1E-18"))
        return None


@fault("one-row-per-transaction", "must",
       "The table of orders has a UNIQUE transaction id, so the second notification of a transaction raises an "
       "integrity error (500).")
class OneRowPerTransaction(Receiver):
    def __init__(self, secret, api_key):
        super().__init__(secret, api_key)
        self.lock = threading.Lock()
        self.table = sqlite3.connect(":memory:", check_same_thread=False)
        self.table.execute("CREATE TABLE seen (id TEXT PRIMARY KEY)")
        self.table.execute("CREATE TABLE orders (transaction_id TEXT UNIQUE, status TEXT)")

    def process(self, request, payload):
        if payload["type"] != "CAAS" or payload["data"]["type"] not in ("BUY", "SELL"):
            return
        with self.lock, self.table:
            if self.table.execute("INSERT OR IGNORE INTO seen VALUES (?)", (ascii(payload["id"]),)).rowcount == 0:
                return
            self.table.execute("INSERT INTO orders VALUES (?, ?)", (
                ascii(payload["data"]["transactionId"]), ascii(payload["data"]["metadata"].get("orderStatus"))))


@fault("times-of-mixed-kinds", "must",
       "To count late notifications, 'at' is compared with the one before, which raises (500) when a text time follows "
       "a number or the other way round.")
class TimesOfMixedKinds(Receiver):
    newest = None
    out_of_order = 0

    def process(self, request, payload):
        at = payload.get("at")
        previous, self.newest = self.newest, at
        if at is not None and previous is not None and at < previous:
            self.out_of_order += 1


@fault("one-connection-at-a-time", "must",
       "The server handles one connection at a time, so an idle kept-alive connection blocks all other senders.")
class OneConnectionAtATime(Receiver):
    server_class = HTTPServer


@fault("delay-doubles-with-failures", "must",
       "Each refused request in a row doubles the delay before the 401 answer without a useful upper bound.")
class DelayDoublesWithFailures(Receiver):
    failures = 0

    def authentic(self, request, body):
        if super().authentic(request, body):
            self.failures = 0
            return True
        self.failures += 1
        time.sleep(min(0.1 * 2 ** self.failures, 600))
        return False


@fault("worker-dies-queue-fills", "must",
       "The only worker thread ends with an exception on a refund whose amount is null or not a number; after that the "
       "bounded queue fills and every request blocks.")
class WorkerDiesQueueFills(Receiver):
    def __init__(self, secret, api_key):
        super().__init__(secret, api_key)
        self.jobs = queue.Queue(maxsize=20)
        threading.excepthook = lambda details: None
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        total = Decimal(0)
        while True:
            payload = self.jobs.get()
            if payload["type"] == "REFUND":
                total += Decimal((payload["data"].get("metadata") or {}).get("amount", "0"))

    def process(self, request, payload):
        self.jobs.put(payload)


@fault("session-cookie-replaces-credentials", "must",
       "An accepted delivery gets a session cookie, and a request with that cookie needs neither key nor signature.")
class SessionCookieReplacesCredentials(Receiver):
    def __init__(self, secret, api_key):
        super().__init__(secret, api_key)
        self.sessions = set()

    def authentic(self, request, body):
        try:
            cookie = http.cookies.SimpleCookie(request.headers.get("Cookie", "")).get("session")
        except http.cookies.CookieError:
            cookie = None
        if cookie is not None and cookie.value in self.sessions:
            return True
        return super().authentic(request, body)

    def process(self, request, payload):
        token = secrets.token_hex(16)
        self.sessions.add(token)
        return 200, {"received": True}, {"Set-Cookie": "session=" + token + "; Path=/; HttpOnly"}


@fault("normalised-before-check", "must",
       "A text filter puts the body into Unicode form NFC before the signature is computed, so bodies with decomposed "
       "characters are refused.")
class NormalisedBeforeCheck(Receiver):
    def signature_ok(self, request, body):
        try:
            body = unicodedata.normalize("NFC", body.decode("utf-8")).encode("utf-8")
        except UnicodeDecodeError:
            pass
        return super().signature_ok(request, body)


@fault("answer-kept-by-id", "must",
       "The answer to a notification id is kept and given again before the credentials are checked, also when it was "
       "401.")
class AnswerKeptById(Receiver):
    def __init__(self, secret, api_key):
        super().__init__(secret, api_key)
        self.answers = {}

    def respond(self, request, body):
        try:
            identifier = str(self.parse(body)["id"])
        except (Malformed, TypeError, KeyError):
            return super().respond(request, body)
        if identifier not in self.answers:
            self.answers[identifier] = super().respond(request, body)
        return self.answers[identifier]


@fault("problems-in-default-argument", "must",
       "The list of validation problems is a mutable default argument, so after one malformed payload every later "
       "payload is refused.")
class ProblemsInDefaultArgument(Receiver):
    def problems_of(self, payload, found=[]):
        self.collect_problems(payload, found)
        return found


@fault("no-secret-during-reload", "must",
       "The secret is reloaded at every 40th signature check; that check sees no secret and takes signatures as "
       "switched off.")
class NoSecretDuringReload(Receiver):
    def __init__(self, secret, api_key):
        super().__init__(secret, api_key)
        self.checks = 0

    def configured_secret(self):
        self.checks += 1
        if self.checks % 40 == 0:
            self.secret = os.environ["BLIND_SECRET"]
            return None  # the fresh value counts from the next request on
        return self.secret

    def signature_ok(self, request, body):
        if self.configured_secret() is None:
            return True
        return super().signature_ok(request, body)


@fault("secret-set-by-handshake", "must",
       "The handshake of another provider was copied: a request with X-Hook-Secret is answered 200 without check and "
       "its value becomes the signature secret.")
class SecretSetByHandshake(Receiver):
    def respond(self, request, body):
        offered = request.only_header("X-Hook-Secret")
        if offered:
            self.secret = offered
            return 200, {}, {"X-Hook-Secret": offered}
        return super().respond(request, body)


@fault("unknown-charset", "must",
       "The body is decoded for the access log with the charset of the Content-Type; a charset unknown to "
       "Python (utf8mb4) raises LookupError (500) before any check.")
class UnknownCharset(Receiver):
    def respond(self, request, body):
        charset = "utf-8"
        for parameter in request.headers.get("Content-Type", "").split(";")[1:]:
            name, _, value = parameter.partition("=")
            if name.strip().lower() == "charset":
                charset = value.strip()
        self.last_logged = body.decode(charset, errors="replace")[:200]
        return super().respond(request, body)


@fault("key-hashed-with-old-crypt", "must",
       "The API key is stored as a traditional crypt() hash, which looks only at the first eight characters.")
class KeyHashedWithOldCrypt(Receiver):
    def __init__(self, secret, api_key):
        super().__init__(secret, api_key)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import crypt
        self.crypt = crypt.crypt
        self.stored = self.crypt(api_key, "k7")

    def key_ok(self, request):
        given = request.only_header("X-API-KEY")
        return given is not None and hmac.compare_digest(self.crypt(given, "k7") or "", self.stored)


@fault("null-refused", "should",
       "A null where the documentation says text is refused with 400.")
class NullRefused(Receiver):
    def text_ok(self, value):
        return isinstance(value, str)


@fault("later-events-of-transaction-dropped", "blind",
       "Duplicates are recognised by the transaction id, so later notifications of the transaction are answered 200 "
       "and dropped.")
class LaterEventsOfTransactionDropped(Receiver):
    def __init__(self, secret, api_key):
        super().__init__(secret, api_key)
        self.seen = set()
        self.stored = []

    def process(self, request, payload):
        transaction = payload["data"].get("transactionId")
        if transaction is not None and str(transaction) in self.seen:
            return
        self.seen.add(str(transaction))
        self.stored = (self.stored + [payload])[-100:]


# server --------------------------------------------------------------------------------------------------------

class Request(BaseHTTPRequestHandler):
    """One connection; http.server calls do_POST for each request on it."""

    protocol_version = "HTTP/1.1"
    server_version = "receiver"
    sys_version = ""
    default_request_version = "HTTP/1.0"
    disable_nagle_algorithm = True
    timeout = 30
    receiver = None
    api_key = ""

    def only_header(self, name):
        values = self.headers.get_all(name, [])
        return values[0] if len(values) == 1 else None

    def read_body(self):
        length = self.headers.get_all("Content-Length", [])
        coding = self.headers.get_all("Transfer-Encoding", [])
        if coding:
            if length or [value.strip().lower() for value in coding] != ["chunked"]:
                raise BadFraming(400)
            return self.read_chunks()
        if not length:
            return b""
        if len(set(length)) != 1 or not (length[0].isascii() and length[0].isdigit()):
            raise BadFraming(400)
        if len(length[0]) > 12 or int(length[0]) > MAX_BODY:
            self.discard(int(length[0][:12]))
            raise BadFraming(413)
        return self.read_exactly(int(length[0]))

    def discard(self, count):
        """Read and forget a body that is too large, within reason, so that the sender can read the answer."""
        if count > 4 * MAX_BODY:
            return
        while count > 0 and (data := self.rfile.read(min(count, 65536))):
            count -= len(data)

    def read_exactly(self, count):
        data = self.rfile.read(count)
        if len(data) < count:
            raise BadFraming(400)
        return data

    def read_chunks(self):
        parts, total = [], 0
        while True:
            size = self.rfile.readline(1000).partition(b";")[0].strip()
            if not size or len(size) > 8 or size.strip(b"0123456789abcdefABCDEF"):
                raise BadFraming(400)
            count = int(size, 16)
            if count == 0:
                break
            total += count
            if total > 4 * MAX_BODY:
                raise BadFraming(413)
            part = self.read_exactly(count)
            if total <= MAX_BODY:
                parts.append(part)
            if self.rfile.readline(3) not in (b"\r\n", b"\n"):
                raise BadFraming(400)
        for _ in range(100):
            if self.rfile.readline(8000) in (b"\r\n", b"\n", b""):
                if total > MAX_BODY:
                    raise BadFraming(413)
                return b"".join(parts)
        raise BadFraming(400)

    def reply(self, status, document, headers=None, close=False):
        text = json.dumps(document).encode("utf-8")
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if close:
            self.send_header("Connection", "close")
        self._headers_buffer.append(b"\r\n")
        if self.command != "HEAD":
            self._headers_buffer.append(text)
        self.flush_headers()

    def other_path(self):
        return self.path.partition("?")[0] != PATH

    def do_POST(self):
        try:
            if self.other_path():
                self.read_body()
                self.reply(404, {"error": "not found"})
            else:
                self.receiver.handle(self)
        except BadFraming as problem:
            self.reply(problem.status, {"error": "bad request"}, close=True)
        except TimeoutError:
            self.reply(408, {"error": "timeout"}, close=True)
        except ConnectionError:
            self.close_connection = True
        except Exception:
            self.reply(500, {"error": "internal"})

    def refuse_method(self):
        try:
            self.read_body()
            self.reply(404 if self.other_path() else 405, {"error": "not allowed"}, {"Allow": "POST"})
        except BadFraming as problem:
            self.reply(problem.status, {"error": "bad request"}, close=True)
        except OSError:
            self.close_connection = True

    do_GET = do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = refuse_method

    def log_message(self, *_):
        pass


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--list", action="store_true")
    arguments.add_argument("--fault", default="none")
    arguments.add_argument("--port", type=int, default=0)
    options = arguments.parse_args()
    if options.list:
        for name, (label, what, _) in FAULTS.items():
            print(name, label, what, sep="\t")
        return
    receiver_class = Receiver if options.fault == "none" else FAULTS[options.fault][2]
    Request.receiver = receiver_class(os.environ["BLIND_SECRET"], os.environ["BLIND_API_KEY"])
    server_class = receiver_class.server_class
    server_class.request_queue_size = 128
    server_class.daemon_threads = True
    server_class.handle_error = lambda *_: None
    server = server_class(("127.0.0.1", options.port), Request)
    print("listening", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
