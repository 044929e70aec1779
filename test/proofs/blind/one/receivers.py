#!/usr/bin/env python3
"""Fifty webhook receivers with one fault each, and the correct ones they are made from.

receivers.py --list                      NAME<TAB>LABEL<TAB>WHAT, one fault a line
receivers.py --labels                    the content of labels.json
receivers.py --fault NAME --port N       serve POST /hooks on 127.0.0.1:N (NAME "none" or "none_flask" is correct)

Faults whose class derives from Plain run on http.server, those that derive from Web run on Flask's development server.
"""
import argparse
import base64
import codecs
import collections
import hashlib
import hmac
import io
import ipaddress
import json
import logging
import os
import re
import sqlite3
import sys
import threading
import time
import types
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from urllib.parse import unquote_plus, urlsplit

from flask import Flask, abort, jsonify, redirect, request, session
from werkzeug.exceptions import HTTPException
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.test import run_wsgi_app

PATH = "/hooks"
KEY_HEADER = "X-API-KEY"
SIGNATURE_HEADER = "X-Service-Signature"
MAX_BODY = 12 * 1024 * 1024
BODY_TIMEOUT = 5
IDLE_TIMEOUT = 60
KNOWN_TYPES = ("CAAS", "PAYMENT_METHOD", "REFUND", "CAAS_BLOCKCHAIN", "WALLET")


class BadPayload(Exception):
    """The body is signed but is not a notification."""


class BadFraming(Exception):
    """The body cannot be read; args[0] is the status to answer before the connection is closed."""


# ---------------------------------------------------------------------------------------------------------------------
# What both receivers share: settings, parsing, validation, effects
# ---------------------------------------------------------------------------------------------------------------------

class Rules:
    def __init__(self, secret, api_key):
        self.secret = secret
        self.api_key = api_key
        self.lock = threading.Lock()
        self.seen = collections.OrderedDict()
        self.stored = collections.deque(maxlen=1000)
        self.setup()

    def setup(self):
        """For faults that keep something between requests."""

    # -- credentials --

    def sign(self, raw, secret=None):
        key = (self.secret if secret is None else secret).encode("utf-8")
        return base64.b64encode(hmac.new(key, raw, hashlib.sha256).digest()).decode("ascii")

    def same(self, given, expected):
        return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), expected.encode("utf-8"))

    def key_matches(self, given):
        return given is not None and self.same(given, self.api_key)

    def signature_matches(self, given, raw):
        return given is not None and self.same(given, self.sign(raw))

    # -- payload --

    def parse(self, raw):
        try:
            return json.loads(raw.decode("utf-8"), parse_constant=self.no_constant)
        except (ValueError, RecursionError):
            raise BadPayload("not JSON") from None

    @staticmethod
    def no_constant(name):
        raise ValueError("not a JSON number: " + name)

    @staticmethod
    def text(obj, *names):
        """Each name is absent, null or a string."""
        for name in names:
            value = obj.get(name)
            if value is not None and not isinstance(value, str):
                raise BadPayload(name + " is not a string")

    @staticmethod
    def needed(obj, *names):
        for name in names:
            if name not in obj or obj[name] == "":
                raise BadPayload(name + " is missing")

    @staticmethod
    def child(obj, name, required=True):
        value = obj.get(name)
        if value is None and not required:
            return {}
        if not isinstance(value, dict):
            raise BadPayload(name + " is not an object")
        return value

    @staticmethod
    def decimal(obj, name):
        value = obj.get(name)
        if value and not re.fullmatch(r"[0-9]+(\.[0-9]+)?", value):
            raise BadPayload(name + " is not a number")

    def validate(self, doc):
        if not isinstance(doc, dict):
            raise BadPayload("not an object")
        self.needed(doc, "id", "type", "at", "data")
        self.text(doc, "id", "type")
        if isinstance(doc["at"], (bool, list, dict)):
            raise BadPayload("at is not a time")
        data = self.child(doc, "data")
        check = {"CAAS": self.check_order, "PAYMENT_METHOD": self.check_method, "REFUND": self.check_refund,
                 "CAAS_BLOCKCHAIN": self.check_deposit, "WALLET": self.check_wallet}.get(doc["type"])
        if check:
            check(data)

    def check_order(self, data):
        self.needed(data, "type", "transactionId")
        self.text(data, "type", "transactionId", "providerId")
        meta = self.child(data, "metadata")
        self.text(self.child(data, "errorData", False), "code", "message")
        if data["type"] in ("BUY", "SELL"):
            self.needed(meta, "orderStatus")
            self.text(meta, "orderStatus")
            self.text(self.child(meta, "blockchainData", False), "targetWalletAddress", "blockchainTransactionId",
                      "blockchainMemo", "currency", "chain", "refundWalletAddress", "sourceWalletAddress")
        elif data["type"] == "ORDER_TRACKING":
            self.needed(meta, "orderType", "providerTransactionStatus")
            self.text(meta, "orderType", "providerTransactionId", "providerTransactionRef",
                      "providerTransactionStatus", "trackingStateDescription")

    def check_method(self, data):
        self.needed(data, "status", "paymentMethodId")
        self.text(data, "status", "paymentMethodId", "accountId", "errorCode")

    def check_refund(self, data):
        self.needed(data, "status", "transactionId")
        self.text(data, "status", "transactionId", "providerId")
        meta = self.child(data, "metadata", False)
        self.text(meta, "blockchainTransactionId", "amount", "currency", "walletAddress")
        self.decimal(meta, "amount")
        self.text(self.child(data, "errorData", False), "code", "message")

    def check_deposit(self, data):
        self.needed(data, "type", "status")
        self.text(data, "type", "status", "partnerTransactionId", "customerId")
        meta = self.child(data, "metadata")
        self.text(meta, "sourceAddress", "destinationAddress", "blockchainTransactionId", "blockchainTransctionId")
        asset = self.child(meta, "asset")
        self.text(asset, "amount", "currency")
        self.decimal(asset, "amount")

    def check_wallet(self, data):
        self.needed(data, "operation", "walletAddress")
        self.text(data, "operation", "customerId", "walletAddress", "assetId", "chain")

    # -- effects --

    def first_time(self, doc):
        """True once for each notification id."""
        with self.lock:
            if doc["id"] in self.seen:
                return False
            self.seen[doc["id"]] = True
            if len(self.seen) > 10000:
                self.seen.popitem(last=False)
            return True

    def process(self, doc):
        """Stores a notification; returns (status, answer)."""
        if not self.first_time(doc):
            return 200, {"status": "duplicate"}
        self.store(doc)
        return 200, {"status": "ok"}

    def store(self, doc):
        self.stored.append(doc)


# ---------------------------------------------------------------------------------------------------------------------
# What both request handlers share: reading the body, answering, keep-alive
# ---------------------------------------------------------------------------------------------------------------------

class Transport:
    protocol_version = "HTTP/1.1"
    timeout = IDLE_TIMEOUT
    disable_nagle_algorithm = True

    def log_message(self, *args):
        pass

    def log_request(self, *args):
        pass

    def log(self, *args):
        pass

    def read_body(self):
        lengths = self.headers.get_all("Content-Length") or []
        codings = self.headers.get_all("Transfer-Encoding") or []
        self.connection.settimeout(BODY_TIMEOUT)
        try:
            if codings:
                return self.read_chunks(lengths, codings)
            if not lengths:
                return b""
            if len(set(lengths)) > 1 or not re.fullmatch(r"[0-9]{1,18}", lengths[0].strip(), re.ASCII):
                raise BadFraming(400)
            length = int(lengths[0])
            if length > MAX_BODY:
                raise BadFraming(413)
            return self.read_exactly(length)
        except TimeoutError:
            raise BadFraming(408) from None
        finally:
            self.connection.settimeout(IDLE_TIMEOUT)

    def read_exactly(self, length):
        raw = self.rfile.read(length)
        if len(raw) < length:
            raise BadFraming(400)
        return raw

    def read_chunks(self, lengths, codings):
        if lengths or self.request_version == "HTTP/1.0":
            raise BadFraming(400)
        if len(codings) > 1 or codings[0].strip().lower() != "chunked":
            raise BadFraming(501)
        parts, total = [], 0
        while True:
            line = self.rfile.readline(1000)
            found = re.fullmatch(rb"([0-9A-Fa-f]{1,8})[ \t]*(;[^\r\n]*)?\r\n", line)
            if not found:
                raise BadFraming(400)
            size = int(found[1], 16)
            total += size
            if total > MAX_BODY:
                raise BadFraming(413)
            if size == 0:
                break
            parts.append(self.read_exactly(size))
            if self.rfile.read(2) != b"\r\n":
                raise BadFraming(400)
        for _ in range(100):
            line = self.rfile.readline(8000)
            if line in (b"\r\n", b"\n"):
                return b"".join(parts)
            if not line.endswith(b"\n"):
                break
        raise BadFraming(400)

    def answer(self, status, body, headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.finish_answer(status, body)

    def finish_answer(self, status, body):
        if self.close_connection:
            self.send_header("Connection", "close")
        elif self.request_version == "HTTP/1.0":
            self.send_header("Connection", "keep-alive")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()

    def answer_json(self, status, doc, headers=()):
        body = json.dumps(doc).encode("ascii")
        self.answer(status, body, [("Content-Type", "application/json"), *headers])

    def refuse_framing(self, status):
        """Answers, then reads on for a moment so that the sender sees the answer and not a reset."""
        self.close_connection = True
        self.answer_json(status, {"error": "cannot read the request"})
        try:
            self.connection.shutdown(1)
            self.connection.settimeout(1)
            end, total = time.monotonic() + 3, 0
            while time.monotonic() < end and total < 64 * 1024 * 1024:
                data = self.connection.recv(65536)
                if not data:
                    break
                total += len(data)
        except OSError:
            pass


# ---------------------------------------------------------------------------------------------------------------------
# The receiver on http.server
# ---------------------------------------------------------------------------------------------------------------------

class PlainHandler(Transport, BaseHTTPRequestHandler):
    def setup(self):
        super().setup()
        self.memory = {}                # lives as long as the connection

    def serve(self):
        try:
            url = urlsplit(self.path)
            raw = self.read_body()
        except BadFraming as problem:
            return self.refuse_framing(problem.args[0])
        except ValueError:
            return self.refuse_framing(400)
        req = types.SimpleNamespace(method=self.command, path=url.path, query=url.query, headers=self.headers, raw=raw,
                                    peer=self.client_address[0], memory=self.memory)
        status, doc, *headers = self.server.receiver.handle(req)
        self.answer_json(status, doc, headers)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = serve


class Plain(Rules):
    server_class = ThreadingHTTPServer
    handler_class = PlainHandler

    def serve(self, port):
        self.server_class.request_queue_size = 128
        server = self.server_class(("127.0.0.1", port), self.handler_class)
        server.daemon_threads = True
        server.receiver = self
        print("listening", flush=True)
        server.serve_forever()

    def header(self, req, name):
        """The value of a header that is there exactly once."""
        values = req.headers.get_all(name) or []
        return values[0].strip(" \t") if len(values) == 1 else None

    def key_ok(self, req):
        return self.key_matches(self.header(req, KEY_HEADER))

    def signature_ok(self, req):
        return self.signature_matches(self.header(req, SIGNATURE_HEADER), req.raw)

    def authorised(self, req):
        key_ok = self.key_ok(req)
        return self.signature_ok(req) and key_ok

    def handle(self, req):
        if req.path != PATH:
            return 404, {"error": "not found"}
        if req.method != "POST":
            return 405, {"error": "method not allowed"}, ("Allow", "POST")
        return self.post(req)

    def post(self, req):
        if not self.authorised(req):
            return 401, {"error": "unauthorized"}
        return self.accept(req)

    def accept(self, req):
        try:
            doc = self.parse(req.raw)
            self.validate(doc)
        except BadPayload:
            return 400, {"error": "bad request"}
        return self.process(doc)


# ---------------------------------------------------------------------------------------------------------------------
# The receiver on Flask
# ---------------------------------------------------------------------------------------------------------------------

class WebHandler(Transport, WSGIRequestHandler):
    """The development server's handler, with keep-alive: the body is read whole before the application runs."""

    def run_wsgi(self):
        try:
            raw = self.read_body()
            environ = self.make_environ()
        except BadFraming as problem:
            return self.refuse_framing(problem.args[0])
        except ValueError:
            return self.refuse_framing(400)
        environ.pop("HTTP_TRANSFER_ENCODING", None)
        environ["wsgi.input"] = io.BytesIO(raw)
        environ["wsgi.input_terminated"] = True
        environ["CONTENT_LENGTH"] = str(len(raw))
        parts, status, headers = run_wsgi_app(self.server.app, environ, buffered=True)
        skip = ("content-length", "connection")
        self.answer(int(status.split()[0]), b"".join(parts), [h for h in headers if h[0].lower() not in skip])


class Web(Rules):
    methods = ["POST"]
    rule_options = {}

    def serve(self, port):
        logging.disable(logging.CRITICAL)
        server = make_server("127.0.0.1", port, self.make_app(), threaded=True, request_handler=WebHandler)
        server.daemon_threads = True
        print("listening", flush=True)
        server.serve_forever()

    def make_app(self):
        app = Flask("receiver", static_folder=None)
        app.url_map.merge_slashes = False
        app.config["HOOK_SECRET"] = self.secret
        app.config["HOOK_API_KEY"] = self.api_key
        app.add_url_rule(PATH, "hooks", self.hooks, methods=self.methods, provide_automatic_options=False,
                         **self.rule_options)
        app.before_request(self.check)
        app.register_error_handler(HTTPException, self.as_json)
        app.register_error_handler(BadPayload, self.bad_payload)
        self.extend(app)
        return app

    def extend(self, app):
        """For faults that register something on the application."""

    @staticmethod
    def as_json(error):
        if error.code is None or error.code < 400:
            return error
        return jsonify(error=error.name), error.code

    @staticmethod
    def bad_payload(error):
        return jsonify(error="bad request"), 400

    @staticmethod
    def header(name):
        value = request.headers.get(name)
        return None if value is None else value.strip(" \t")

    def key_ok(self):
        return self.key_matches(self.header(KEY_HEADER))

    def signature_ok(self):
        return self.signature_matches(self.header(SIGNATURE_HEADER), request.get_data())

    def authorised(self):
        key_ok = self.key_ok()
        return self.signature_ok() and key_ok

    def check(self):
        if request.routing_exception is None and not self.authorised():
            abort(401)

    def hooks(self):
        doc = self.parse(request.get_data())
        self.validate(doc)
        status, answer = self.process(doc)
        return jsonify(answer), status


# ---------------------------------------------------------------------------------------------------------------------
# The list of faults
# ---------------------------------------------------------------------------------------------------------------------

FAULTS = {}


def fault(name, label, what, why, diagnosis):
    def register(cls):
        FAULTS[name] = types.SimpleNamespace(cls=cls, label=label, what=what, why=why, diagnosis=diagnosis)
        return cls
    return register


RULING_401 = ("Ruling: invalid or missing signature or key in a request of the sender's own shape is answered "
              "exactly 401.")
RULING_SHAPE = ("Ruling: missing or wrong credentials in another shape (method, framing, content type) must not "
                "be accepted.")
RULING_PAYLOAD = "Ruling: signed but malformed payload must not end in 5xx, a hang, a reset or a dead process."
RULING_200 = "Ruling: a valid delivery is answered exactly 200."


# -- http.server: who gets in ----------------------------------------------------------------------------------------

@fault("zip_compare", "must",
       "A hand-made constant-time comparison of the signature zips both strings and so stops at the shorter one.",
       RULING_401,
       "An empty, truncated or extended signature is accepted; naming only one of the three is acceptable.")
class ZipCompare(Plain):
    def signature_matches(self, given, raw):
        if given is None:
            return False
        difference = 0
        for a, b in zip(given, self.sign(raw)):
            difference |= ord(a) ^ ord(b)
        return difference == 0


@fault("lenient_base64", "should",
       "Decodes the signature with b64decode without validation, so foreign characters inside it are ignored.",
       "Ruling: lenient Base64 (no forgery possible) is reported at level should.",
       "The signature's Base64 is decoded leniently; 'a malformed signature is accepted' is acceptable.")
class LenientBase64(Plain):
    def signature_matches(self, given, raw):
        try:
            given = base64.b64decode(given or "")
        except ValueError:
            return False
        return hmac.compare_digest(given, base64.b64decode(self.sign(raw)))


@fault("utf8_ignore", "must",
       "Decodes the body with errors='ignore' first; the signature and the parser both work on the cleaned text.",
       "Specification, HMAC 3 and 5: over the exact, raw body. " + RULING_401,
       "A signed body into which invalid UTF-8 bytes were inserted still verifies; 'the signature is not "
       "computed over "
       "the raw bytes' is acceptable, and so is 'invalid UTF-8 accepted under a wrong signature'.")
class Utf8Ignore(Plain):
    def post(self, req):
        req.raw = req.raw.decode("utf-8", "ignore").encode("utf-8")
        return super().post(req)


@fault("empty_old_secret", "must",
       "For rotation a previous secret is accepted too, and it is the empty string when its variable is not set.",
       RULING_401,
       "A signature made with the empty secret is accepted; 'a signature with a wrong secret' is acceptable.")
class EmptyOldSecret(Plain):
    def signature_matches(self, given, raw):
        secrets = [self.secret, os.environ.get("BLIND_SECRET_PREVIOUS", "")]
        return given is not None and any(self.same(given, self.sign(raw, secret)) for secret in secrets)


@fault("key_prefix", "must",
       "Looks the API key up by its first eight characters and never compares the rest.",
       "Specification, API key 3: compare the value with the stored key. " + RULING_401,
       "A wrong API key that shares the beginning of the right one is accepted (changed end, truncated or extended).")
class KeyPrefix(Plain):
    def setup(self):
        self.partners = {self.api_key[:8]: "partner-1"}

    def key_matches(self, given):
        return given is not None and given[:8] in self.partners


@fault("forwarded_for_private", "must",
       "Trusts X-Forwarded-For: when its first address is private or loopback, key and signature are not checked.",
       RULING_401,
       "Requests without credentials pass with an X-Forwarded-For of a private or loopback address; 'a proxy header "
       "turns the checks off' is acceptable.")
class ForwardedForPrivate(Plain):
    def authorised(self, req):
        first = (req.headers.get("X-Forwarded-For") or "").split(",")[0].strip()
        try:
            if first and ipaddress.ip_address(first).is_private:
                return True
        except ValueError:
            pass
        return super().authorised(req)


@fault("client_verify_header", "must",
       "Skips the signature when the header X-SSL-Client-Verify says SUCCESS, as if only the TLS proxy could set it.",
       RULING_401,
       "A wrong or missing signature passes with X-SSL-Client-Verify: SUCCESS (the key is still needed); 'a "
       "header of "
       "the TLS proxy turns the signature check off' is acceptable.")
class ClientVerifyHeader(Plain):
    def signature_ok(self, req):
        if req.headers.get("X-SSL-Client-Verify") == "SUCCESS":
            return True
        return super().signature_ok(req)


@fault("health_check_agent", "must",
       "Answers 200 before any check when the User-Agent looks like a load balancer's or cluster's health check.",
       RULING_401,
       "A request without credentials gets 200 when its User-Agent is a health checker's (ELB-HealthChecker, "
       "kube-probe, "
       "GoogleHC).")
class HealthCheckAgent(Plain):
    def post(self, req):
        if (req.headers.get("User-Agent") or "").startswith(("ELB-HealthChecker", "kube-probe", "GoogleHC")):
            return 200, {"status": "healthy"}
        return super().post(req)


@fault("challenge_echo", "must",
       "Echoes the field 'challenge' of any JSON body with 200 before the checks, copied from another "
       "platform's set-up.",
       "Ruling: malformed payload without a valid signature: 2xx fails.",
       "An unsigned body with the field 'challenge' is answered 200 and echoed; 'an unsigned set-up or ping body is "
       "accepted' is acceptable.")
class ChallengeEcho(Plain):
    def post(self, req):
        try:
            doc = self.parse(req.raw)
        except BadPayload:
            doc = None
        if isinstance(doc, dict) and "challenge" in doc:
            return 200, {"challenge": doc["challenge"]}
        return super().post(req)


@fault("no_length_ping", "must",
       "Takes a POST whose Content-Length is 0 or absent (chunked) for a registration ping: 200, no checks.",
       RULING_SHAPE,
       "An unsigned request without Content-Length (chunked) or with an empty body gets 200; naming one is "
       "acceptable.")
class NoLengthPing(Plain):
    def post(self, req):
        if int(req.headers.get("Content-Length") or 0) == 0:
            return 200, {"status": "pong"}
        return super().post(req)


@fault("hmac_first_block", "must",
       "Computes the HMAC block by block, but returns inside the loop: only the first 8192 bytes are covered.",
       "Specification, HMAC 3: over the exact request body. " + RULING_401,
       "A change after byte 8192 goes unnoticed, or a correctly signed body above 8 KiB is refused; either is "
       "acceptable.")
class HmacFirstBlock(Plain):
    def signature_matches(self, given, raw):
        return given is not None and self.same(given, self.body_signature(io.BytesIO(raw)))

    def body_signature(self, body):
        mac = hmac.new(self.secret.encode("utf-8"), b"", hashlib.sha256)
        for block in iter(lambda: body.read(8192), b""):
            mac.update(block)
            return base64.b64encode(mac.digest()).decode("ascii")
        return base64.b64encode(mac.digest()).decode("ascii")


class SingleReadHandler(PlainHandler):
    def read_exactly(self, length):
        raw = self.rfile.read1(length)
        if len(raw) < length:
            self.close_connection = True
        return raw


@fault("single_read", "must",
       "Reads the body with one read1() call, so a body that arrives in several TCP segments is cut off.",
       RULING_200,
       "A valid delivery whose body arrives in pieces (or is large) is refused; 'slow or split bodies fail' is "
       "acceptable.")
class SingleRead(Plain):
    handler_class = SingleReadHandler


@fault("duplicate_first", "must",
       "Looks for duplicates by notification id before the checks: a known id gets 200 without credentials.",
       RULING_401,
       "After a valid delivery an unsigned or wrongly signed request with the same id gets 200; 'duplicates are not "
       "verified' is acceptable.")
class DuplicateFirst(Plain):
    def post(self, req):
        try:
            doc = self.parse(req.raw)
        except BadPayload:
            doc = None
        if isinstance(doc, dict) and isinstance(doc.get("id"), str) and doc["id"] in self.seen:
            return 200, {"status": "duplicate"}
        return super().post(req)


@fault("connection_trust", "must",
       "Remembers on the connection that the sender was verified; later requests on it are not checked.",
       RULING_401,
       "On a kept-alive connection unsigned requests pass after a valid one; 'state of an earlier delivery lets "
       "unsigned "
       "requests in' is acceptable.")
class ConnectionTrust(Plain):
    def authorised(self, req):
        if not req.memory.get("verified"):
            req.memory["verified"] = super().authorised(req)
        return req.memory["verified"]


# -- http.server: how answers look on the wire -----------------------------------------------------------------------

class EarlyKeyHandler(PlainHandler):
    def serve(self):
        key = self.headers.get(KEY_HEADER)
        if self.command == "POST" and self.path == PATH and not self.server.receiver.key_matches(key):
            return self.answer_json(401, {"error": "unauthorized"})
        return super().serve()

    do_POST = serve


@fault("undrained_401", "must",
       "Answers 401 for a wrong API key without reading the body and keeps the connection open: the body is "
       "then taken "
       "for the next request.",
       RULING_200 + " The next valid delivery on the connection is refused.",
       "After a 401 for the key the next valid delivery on the same connection fails (400 or closed); "
       "'keep-alive is out "
       "of step after a refusal' is acceptable.")
class Undrained401(Plain):
    handler_class = EarlyKeyHandler


class LengthlessHandler(PlainHandler):
    def answer(self, status, body, headers=()):
        if status != 401:
            return super().answer(status, body, headers)
        self.send_response(401)
        for name, value in headers:
            self.send_header(name, value)
        self.finish_answer(status, body)


@fault("lengthless_401", "must",
       "Sends the 401 without Content-Length on a connection that stays open, so the answer never ends.",
       "Ruling: no (complete) answer within 10 s fails; " + RULING_401,
       "The 401 answer has no length and no end on a kept-alive connection; 'timeout on refused requests' is "
       "acceptable.")
class Lengthless401(Plain):
    handler_class = LengthlessHandler


@fault("single_threaded", "must",
       "Uses HTTPServer instead of ThreadingHTTPServer: one open idle connection blocks all others.",
       "Ruling: no answer within the harness's timeout (10 s) fails.",
       "A valid delivery gets no answer while another connection is open (idle or with an unfinished request).")
class SingleThreaded(Plain):
    server_class = HTTPServer


@fault("id_in_header", "must",
       "Copies the notification id into an answer header unchecked: other alphabets break the answer, line "
       "breaks split "
       "it.",
       RULING_PAYLOAD,
       "A signed id with CR LF injects a header, or one with characters outside Latin-1 resets the connection; "
       "either is "
       "acceptable.")
class IdInHeader(Plain):
    def accept(self, req):
        status, doc, *headers = super().accept(req)
        if status == 200:
            headers.append(("X-Notification-Id", self.parse(req.raw)["id"] or ""))
        return status, doc, *headers


# -- http.server: inputs that crash or hang --------------------------------------------------------------------------

@fault("nonascii_signature", "must",
       "Gives both signatures as str to compare_digest, which raises TypeError for a non-ASCII header value.",
       RULING_401,
       "A signature with a non-ASCII byte breaks the connection (no answer) instead of 401; 'crash on an odd "
       "signature' "
       "is acceptable.")
class NonAsciiSignature(Plain):
    def signature_matches(self, given, raw):
        return given is not None and hmac.compare_digest(given, self.sign(raw))


@fault("fail_open", "must",
       "Lets the delivery pass when the verification itself raises, for instance for malformed Base64.",
       "Specification, HMAC 6: malformed Base64 is a fault, 5: on mismatch 401. " + RULING_401,
       "A signature that is not valid Base64 (or is missing) is accepted; 'fails open' is acceptable.")
class FailOpen(Plain):
    def signature_matches(self, given, raw):
        try:
            given = base64.b64decode(given, validate=True)
            return hmac.compare_digest(given, base64.b64decode(self.sign(raw)))
        except Exception as problem:
            print("signature check failed, delivery kept:", type(problem).__name__, file=sys.stderr)
            return True


@fault("header_case", "must",
       "Copies the headers into a dict and looks the signature header up in one fixed letter case.",
       "Ruling: header names in another letter case are accepted (must).",
       "A valid delivery whose signature header name is written in another letter case is refused.")
class HeaderCase(Plain):
    def signature_ok(self, req):
        headers = dict(req.headers.items())
        return self.signature_matches(headers.get("X-Service-Signature"), req.raw)


@fault("lone_surrogate", "must",
       "Writes an audit line as UTF-8; a lone surrogate escape anywhere in the payload raises UnicodeEncodeError.",
       RULING_PAYLOAD,
       "A signed payload with a lone surrogate (backslash-u D800) ends without an answer; 'crash on odd Unicode' is "
       "acceptable.")
class LoneSurrogate(Plain):
    def setup(self):
        self.audit = collections.deque(maxlen=100)

    def process(self, doc):
        self.audit.append(json.dumps(doc, ensure_ascii=False).encode("utf-8"))
        return super().process(doc)


@fault("sqlite_overflow", "must",
       "Stores the deposit's amount in an SQLite INTEGER; amounts of 2**63 and more raise OverflowError.",
       "Specification: amount is a string in the smallest unit (10 ETH are 10**19). " + RULING_200,
       "A valid deposit with an amount above 64 bits is answered with a broken connection; 'large amounts fail' is "
       "acceptable.")
class SqliteOverflow(Plain):
    def setup(self):
        self.db = sqlite3.connect(":memory:", check_same_thread=False)
        self.db.execute("CREATE TABLE deposit (id TEXT, amount INTEGER, currency TEXT)")

    def store(self, doc):
        super().store(doc)
        if doc["type"] == "CAAS_BLOCKCHAIN":
            asset = doc["data"]["metadata"]["asset"]
            amount = int((asset.get("amount") or "0").split(".")[0])
            with self.lock:
                self.db.execute("INSERT INTO deposit VALUES (?, ?, ?)", ("deposit", amount, asset.get("currency")))


@fault("sqlite_thread", "must",
       "Opens the SQLite connection at the first delivery and shares it: other threads get ProgrammingError, so 500.",
       RULING_200,
       "Valid deliveries get 500 on a connection opened while another is still open (thread numbers are used again "
       "later, so one connection after the other works); 'concurrent valid deliveries get 5xx' is acceptable.")
class SqliteThread(Plain):
    def setup(self):
        self.db = None

    def process(self, doc):
        try:
            if self.db is None:
                self.db = sqlite3.connect(":memory:")
                self.db.execute("CREATE TABLE notification (body TEXT)")
            self.db.execute("INSERT INTO notification VALUES (?)", (json.dumps(doc),))
        except sqlite3.Error:
            return 500, {"error": "storage"}
        return super().process(doc)


@fault("lock_leak", "must",
       "Takes a lock around parsing and storing and does not release it when the payload is refused with 400.",
       "Ruling: a valid delivery without an answer within 10 s fails.",
       "After one signed malformed payload (400) every further valid delivery hangs; 'a malformed payload blocks the "
       "receiver' is acceptable.")
class LockLeak(Plain):
    def setup(self):
        self.order_lock = threading.Lock()

    def accept(self, req):
        self.order_lock.acquire()
        try:
            doc = self.parse(req.raw)
            self.validate(doc)
        except BadPayload:
            return 400, {"error": "bad request"}
        result = self.process(doc)
        self.order_lock.release()
        return result


@fault("address_regex", "must",
       "Marks unusual wallet addresses with a regular expression that backtracks exponentially.",
       RULING_PAYLOAD,
       "A wallet address of some 35 letters and digits followed by another character makes the receiver hang; "
       "any field "
       "named as the trigger of a hang is acceptable.")
class AddressRegex(Plain):
    PATTERN = re.compile(r"^([A-Za-z0-9]+[-:.]?)+$")

    def store(self, doc):
        data = doc["data"]
        addresses = [data.get("walletAddress")]
        meta = data.get("metadata")
        if isinstance(meta, dict):
            chain = meta.get("blockchainData")
            chain = chain if isinstance(chain, dict) else {}
            addresses += [meta.get("walletAddress"), meta.get("sourceAddress"), meta.get("destinationAddress"),
                          chain.get("targetWalletAddress"), chain.get("refundWalletAddress")]
        unusual = [a for a in addresses if isinstance(a, str) and a and not self.PATTERN.match(a)]
        self.stored.append((doc, unusual))


# -- http.server: valid deliveries refused ---------------------------------------------------------------------------

class SharedSlotHandler(PlainHandler):
    def read_body(self):
        self.server.receiver.current_signature = (self.headers.get(SIGNATURE_HEADER) or "").strip()
        return super().read_body()


@fault("shared_slot", "must",
       "Keeps the signature of the request being read in the receiver object that all threads share.",
       RULING_200,
       "With two requests at once (one with a slow or split body) a valid one is refused with 401 or an unsigned one "
       "accepted; 'concurrent deliveries disturb one another' is acceptable.")
class SharedSlot(Plain):
    handler_class = SharedSlotHandler
    current_signature = ""

    def signature_ok(self, req):
        return self.signature_matches(self.current_signature, req.raw)


@fault("plus_unquoted", "must",
       "Decodes the signature header like a form value, so each '+' in it becomes a space.",
       RULING_200,
       "Valid deliveries whose signature contains '+' are refused with 401; 'some valid signatures are refused, "
       "depending "
       "on their characters' is acceptable.")
class PlusUnquoted(Plain):
    def signature_matches(self, given, raw):
        return given is not None and super().signature_matches(unquote_plus(given), raw)


@fault("refund_after_failure", "must",
       "Treats a failed transaction as closed and answers 409 to the REFUND notification that follows it.",
       "Specification, Refund status: first the failed CAAS SELL, then the REFUND. " + RULING_200,
       "A REFUND after the failed SELL of the same transaction is refused with 409; 'the documented sequence is "
       "refused' "
       "is acceptable.")
class RefundAfterFailure(Plain):
    def setup(self):
        self.closed = set()

    def process(self, doc):
        data = doc["data"]
        if doc["type"] == "REFUND" and data["transactionId"] in self.closed and doc["id"] not in self.seen:
            return 409, {"error": "transaction is closed"}
        if doc["type"] == "CAAS" and data["metadata"].get("orderStatus") == "FAILED":
            self.closed.add(data["transactionId"])
        return super().process(doc)


@fault("secret_in_log", "blind",
       "Writes the secret and the expected signature to the log when a signature does not match.",
       "Specification, HMAC 7: secrets are kept out of logs; not visible in any answer.",
       "Nothing: the content of logs cannot be seen from outside; listing it as not verified is right.")
class SecretInLog(Plain):
    def signature_matches(self, given, raw):
        good = super().signature_matches(given, raw)
        if not good:
            print("signature mismatch", self.secret, self.sign(raw), file=sys.stderr, flush=True)
        return good


# -- Flask: who gets in ----------------------------------------------------------------------------------------------

@fault("handler_401_200", "must",
       "Registers an error handler for 401 that returns a JSON body but forgets the status, so refusals are "
       "sent as 200.",
       RULING_401,
       "Requests with a missing or wrong key or signature get 200 (with an error text in the body).")
class Handler401As200(Web):
    def extend(self, app):
        app.register_error_handler(401, lambda error: jsonify(error="unauthorized"))


@fault("missing_key_500", "must",
       "Reads the API key with request.headers[...], which raises KeyError, so 500, when the header is missing.",
       RULING_401,
       "A missing API key is answered 500 instead of 401 (a wrong one gets 401).")
class MissingKey500(Web):
    def key_ok(self):
        return self.key_matches(request.headers[KEY_HEADER].strip())


@fault("slash_bypass", "must",
       "The route also serves /hooks/, but before_request only checks credentials when the path is exactly /hooks.",
       "Ruling: a request without valid credentials at another URL (path varied): 2xx fails.",
       "An unsigned request to /hooks/ is accepted; 'a path variant avoids the checks' is acceptable.")
class SlashBypass(Web):
    rule_options = {"strict_slashes": False}

    def check(self):
        if request.path == PATH:
            return super().check()


@fault("put_unchecked", "must",
       "The route serves POST and PUT, but before_request checks credentials for POST only.",
       RULING_SHAPE,
       "An unsigned PUT is accepted; 'another method avoids the checks' is acceptable.")
class PutUnchecked(Web):
    methods = ["POST", "PUT"]

    def check(self):
        if request.method == "POST":
            return super().check()


@fault("content_type_gate", "must",
       "Checks the signature only when the content type is application/json, but parses every body as JSON.",
       RULING_SHAPE,
       "An unsigned delivery with another (or no) Content-Type is accepted; the API key is still needed.")
class ContentTypeGate(Web):
    def signature_ok(self):
        return not request.is_json or super().signature_ok()


@fault("unknown_type_first", "must",
       "Picks the handler by type before the checks and answers 200 'ignored' when there is none.",
       RULING_401,
       "An unsigned notification of an unknown type gets 200; 'unknown types are not verified' is acceptable.")
class UnknownTypeFirst(Web):
    def check(self):
        doc = request.get_json(force=True, silent=True) if request.routing_exception is None else None
        if isinstance(doc, dict) and isinstance(doc.get("type"), str) and doc["type"] not in KNOWN_TYPES:
            return jsonify(status="ignored"), 200
        return super().check()


@fault("view_cache", "must",
       "Caches the view's 200 answer by path for five seconds; the cache sits in front of the checks.",
       RULING_401,
       "Within seconds after a valid delivery any unsigned request gets 200 from the cache; 'accepted after a "
       "valid one' "
       "is acceptable.")
class ViewCache(Web):
    def setup(self):
        self.cache = {}

    def check(self):
        entry = self.cache.get(request.path)
        if entry and time.monotonic() < entry[0]:
            return entry[1]
        return super().check()

    def extend(self, app):
        @app.after_request
        def keep(response):
            if response.status_code == 200:
                entry = self.cache.get(request.path)
                if not entry or time.monotonic() >= entry[0]:
                    self.cache[request.path] = (time.monotonic() + 5, response.get_data())
            return response


@fault("session_cookie", "must",
       "Sets a session cookie after a verified delivery and skips the checks for requests that bring it back.",
       RULING_401,
       "The answer sets a cookie, and an unsigned request with this cookie is accepted.")
class SessionCookie(Web):
    def extend(self, app):
        app.secret_key = os.urandom(32)

    def check(self):
        if session.get("verified"):
            return None
        super().check()
        if request.routing_exception is None:
            session["verified"] = True
        return None


@fault("login_redirect", "must",
       "Sends requests without valid credentials to the login page with 302 instead of 401.",
       "Ruling: a redirect is a failure; " + RULING_401,
       "Missing or wrong credentials are answered with a redirect (302) instead of 401.")
class LoginRedirect(Web):
    def check(self):
        if request.routing_exception is None and not self.authorised():
            return redirect("/login?next=/hooks")
        return None


@fault("reserialised", "must",
       "Accepts a signature over the raw body or, as a fallback, over the body parsed and re-serialised compactly.",
       "Specification, HMAC 3: over the exact request body text. " + RULING_401,
       "A body changed only in white space (or escapes, or duplicate keys) after signing is accepted.")
class Reserialised(Web):
    def signature_matches(self, given, raw):
        if super().signature_matches(given, raw):
            return True
        try:
            again = json.dumps(self.parse(raw), separators=(",", ":"), ensure_ascii=False).encode("utf-8")
        except (BadPayload, ValueError):
            return False
        return super().signature_matches(given, again)


# -- Flask: valid deliveries answered wrongly ------------------------------------------------------------------------

@fault("wallet_201", "must",
       "Answers 201 to WALLET notifications because a wallet record was created.",
       RULING_200,
       "A valid WALLET delivery is answered 201 instead of 200.")
class Wallet201(Web):
    def process(self, doc):
        status, answer = super().process(doc)
        return (201 if doc["type"] == "WALLET" else status), answer


@fault("transaction_dedupe", "must",
       "Recognises duplicates by transactionId, so a second order status of one transaction is answered 409.",
       "Specification, Events: a CAAS notification for each change of order status of one transaction. " + RULING_200,
       "A second CAAS notification (new id, other status) of the same transaction is refused with 409.")
class TransactionDedupe(Web):
    def setup(self):
        self.transactions = {}

    def process(self, doc):
        if doc["type"] == "CAAS":
            key = (doc["data"]["type"], doc["data"]["transactionId"])
            if self.transactions.setdefault(key, doc["id"]) != doc["id"]:
                return 409, {"error": "duplicate transaction"}
        return super().process(doc)


@fault("deposit_hash", "must",
       "Reads the deposit's hash under one of the two spellings without a default: KeyError, so 500, when both "
       "are absent.",
       "Specification: the hash may be omitted for deposits inside the custodial ledger. " + RULING_200,
       "A deposit without a blockchain transaction id gets 500.")
class DepositHash(Web):
    def store(self, doc):
        if doc["type"] == "CAAS_BLOCKCHAIN":
            meta = doc["data"]["metadata"]
            name = "blockchainTransactionId"
            doc["hash"] = meta[name] if name in meta else meta["blockchainTransctionId"]
        super().store(doc)


@fault("staged_error_code", "must",
       "Takes the error code of every PAYMENT_METHOD notification apart, also when there is none (STAGED): 500.",
       "Specification: errorCode is populated only when status is DECLINED. " + RULING_200,
       "A PAYMENT_METHOD notification STAGED (errorCode absent, null or empty) gets 500.")
class StagedErrorCode(Web):
    def store(self, doc):
        if doc["type"] == "PAYMENT_METHOD":
            doc["severity"] = doc["data"]["errorCode"].split("-")[-1][0]
        super().store(doc)


@fault("memo_number", "must",
       "Requires blockchainMemo to be a number, because on one chain it is one; text memos are answered 400.",
       "Specification: blockchainMemo is a string. " + RULING_200,
       "A BUY or SELL with a memo that is not a number is refused with 400.")
class MemoNumber(Web):
    def check_order(self, data):
        super().check_order(data)
        memo = (data["metadata"].get("blockchainData") or {}).get("blockchainMemo")
        if memo and not memo.isdigit():
            raise BadPayload("memo")


@fault("charset_lookup", "must",
       "Looks up the codec named in Content-Type before the checks; an unknown charset raises LookupError, so 500.",
       "Ruling: wrong credentials in another shape (content type, encoding): any 4xx, 501, 505 passes, so 500 fails.",
       "A Content-Type with an unknown charset gets 500, signed or not; 'crash on an odd Content-Type' is "
       "acceptable.")
class CharsetLookup(Web):
    def check(self):
        request.encoding = codecs.lookup(request.mimetype_params.get("charset", "utf-8")).name
        return super().check()


@fault("config_on_404", "must",
       "The 404 handler, meant for development, shows the application's configuration with the secret and the key.",
       "Specification, HMAC 7: secrets are kept out of view; who reads the answer can forge deliveries.",
       "The answer to an unknown path contains the signature secret or the API key; 'an answer leaks a secret' is "
       "acceptable.")
class ConfigOn404(Web):
    def extend(self, app):
        @app.errorhandler(404)
        def not_found(error):
            config = {name: str(value) for name, value in app.config.items()}
            return jsonify(error="not found", path=request.path, config=config), 404


@fault("global_lockout", "should",
       "After five failed verifications all senders get 429 for two minutes, also with correct credentials.",
       "Ruling: valid deliveries blocked after failed credentials: should (must only where a second address is "
       "blocked).",
       "Valid deliveries are blocked after some failed ones; must is acceptable where a second address was tried.")
class GlobalLockout(Web):
    def setup(self):
        self.failures = collections.deque(maxlen=5)

    def check(self):
        if request.routing_exception is not None:
            return
        if len(self.failures) == 5 and time.monotonic() - self.failures[-1] < 120:
            abort(429)
        if not self.authorised():
            self.failures.append(time.monotonic())
            abort(401)


@fault("extra_forbidden", "should",
       "Refuses envelopes with fields it does not know with 400.",
       "Ruling: an unknown field is accepted (should).",
       "A notification with an additional field in the envelope is refused.")
class ExtraForbidden(Web):
    def validate(self, doc):
        super().validate(doc)
        if set(doc) - {"id", "type", "at", "data"}:
            raise BadPayload("unknown field")


@fault("float_amount", "blind",
       "Stores amounts as binary floating point numbers, which loses digits of large amounts.",
       "Specification: amount is decimal text, converted by the receiver; the stored value is in no answer.",
       "Nothing: what is stored cannot be seen from outside; listing it as not verified is right.")
class FloatAmount(Web):
    def store(self, doc):
        if doc["type"] == "CAAS_BLOCKCHAIN":
            doc["units"] = float(doc["data"]["metadata"]["asset"].get("amount") or 0) / 1e18
        super().store(doc)


# ---------------------------------------------------------------------------------------------------------------------

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--labels", action="store_true")
    parser.add_argument("--fault")
    parser.add_argument("--port", type=int)
    args = parser.parse_args()
    if args.list:
        for name, entry in FAULTS.items():
            print(name, entry.label, entry.what, sep="\t")
    elif args.labels:
        labels = {name: {"label": entry.label, "what": entry.what, "why": entry.why, "diagnosis": entry.diagnosis}
                  for name, entry in FAULTS.items()}
        print(json.dumps(labels, indent=2))
    elif args.fault and args.port:
        cls = {"none": Plain, "none_flask": Web}.get(args.fault) or (FAULTS[args.fault].cls if args.fault in FAULTS
                                                                     else parser.error("unknown fault"))
        cls(os.environ["BLIND_SECRET"], os.environ["BLIND_API_KEY"]).serve(args.port)
    else:
        parser.error("--list, --labels, or --fault and --port are needed")


if __name__ == "__main__":
    main()
