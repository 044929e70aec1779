"""A right receiver with an effects window. HOOKPROOF_SECRET, HOOKPROOF_API_KEY and HOOKPROOF_EFFECTS_TOKEN are in the
environment; prints its port, which serves the window too, at /effects."""
import base64
import hashlib
import hmac
import json
import os
import queue
import threading
from decimal import Context, Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

SECRET = os.environ["HOOKPROOF_SECRET"].encode()
API_KEY = os.environ["HOOKPROOF_API_KEY"].encode()
TOKEN = os.environ["HOOKPROOF_EFFECTS_TOKEN"]
DECIMALS = {"NEO": 0, "GUSD": 2, "USDC": 6, "BTC": 8, "ETH": 18}
EXACT = Context(prec=400)
RANKS = {"CREATED": 1, "PENDING": 2, "BLOCKCHAIN_ACCEPTED": 3, "CONFIRMED": 4, "COMPLETED": 4, "FAILED": 4}

lock = threading.Lock()
known = set()
handled = []
current = {}
work = queue.Queue()


def at(value, *path):
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else None


def values_of(payload):
    data = payload["data"]
    kind = payload["type"]
    if kind == "CAAS":
        kind = "CAAS_%s" % at(data, "type")
    chain = at(data, "metadata", "blockchainData", "blockchainTransactionId")
    deposit = at(data, "metadata", "blockchainTransactionId") or at(data, "metadata", "blockchainTransctionId")
    status = at(data, "metadata", "orderStatus") or at(data, "metadata", "providerTransactionStatus")
    values = {
        "kind": kind,
        "status": status or at(data, "status"),
        "transaction": at(data, "transactionId") or at(data, "partnerTransactionId"),
        "hash": chain or deposit,
        "errorCode": at(data, "errorData", "code") or at(data, "errorCode"),
    }
    atomic, symbol = at(data, "metadata", "asset", "amount"), at(data, "metadata", "asset", "currency")
    if atomic and atomic.isdecimal() and len(atomic) < 300 and symbol in DECIMALS:
        values["amount"] = format(Decimal(atomic).scaleb(-DECIMALS[symbol], EXACT), "f")
    return values


def handle(payload):
    values = values_of(payload)
    with lock:
        handled.append({"notification": payload["id"], **values})
        transaction = values["transaction"]
        if transaction is None:
            return
        state = current.setdefault(transaction, {"status": None, "hash": None})
        if RANKS.get(values["status"], 4) >= RANKS.get(state["status"], 0):
            state["status"] = values["status"]
        state["hash"] = values["hash"] or state["hash"]


def run_worker():
    while True:
        handle(work.get())


def read_notification(body):
    try:
        value = json.loads(body.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    is_complete = (
        isinstance(value, dict)
        and isinstance(value.get("id"), str)
        and isinstance(value.get("type"), str)
        and isinstance(value.get("data"), dict)
    )
    return value if is_complete and value["id"] else None


def answer_query(query):
    name, _, given = query.partition("=")
    with lock:
        answer = {"total": len(handled)}
        if name == "transaction":
            answer["handled"] = [one for one in handled if one["transaction"] == unquote(given)]
            answer["current"] = current.get(unquote(given))
        else:
            ids = {unquote(one) for one in given.split(",")}
            answer["handled"] = [one for one in handled if one["notification"] in ids]
        return json.dumps(answer)


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 20

    def answer(self, status, text=""):
        body = text.encode("utf-8", "surrogatepass")
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def chunked_body(self):
        body = b""
        while size := int(self.rfile.readline(100).split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline(100)
        while self.rfile.readline(1000).strip():
            pass
        return body

    def read_body(self):
        if self.headers.defects:
            raise ValueError("a line that is not a header")
        lengths = self.headers.get_all("Content-Length", [])
        if "Transfer-Encoding" in self.headers:
            if lengths:
                raise ValueError("two lengths")
            return self.chunked_body()
        if len(lengths) > 1 or not all(length.isdigit() for length in lengths):
            raise ValueError("no length")
        return self.rfile.read(int(lengths[0])) if lengths else b""

    def only(self, name):
        values = self.headers.get_all(name, [])
        return values[0].strip().encode("latin-1") if len(values) == 1 else b""

    def do_GET(self):
        self.close_connection = self.headers.get("Content-Length", "0") != "0" or "Transfer-Encoding" in self.headers
        path, _, query = self.path.partition("?")
        if path != "/effects":
            return self.answer(405)
        if not hmac.compare_digest(self.only("Authorization"), b"Bearer " + TOKEN.encode()):
            return self.answer(401)
        return self.answer(200, answer_query(query))

    def do_POST(self):
        try:
            body = self.read_body()
        except ValueError:
            self.close_connection = True
            return self.answer(400)
        due = base64.b64encode(hmac.new(SECRET, body, hashlib.sha256).digest())
        signed = hmac.compare_digest(self.only("X-Service-Signature"), due)
        keyed = hmac.compare_digest(self.only("X-API-Key"), API_KEY)
        if not signed or not keyed:
            return self.answer(401)
        payload = read_notification(body)
        if payload is None:
            return self.answer(400)
        with lock:
            is_new = payload["id"] not in known
            known.add(payload["id"])
        if is_new:
            work.put(payload)
        return self.answer(200)

    def log_message(self, *arguments):
        pass


class Server(ThreadingHTTPServer):
    request_queue_size = 128

    def handle_error(self, request, client_address):
        pass


threading.Thread(target=run_worker, daemon=True).start()
server = Server(("127.0.0.1", 0), Receiver)
print(server.server_address[1], flush=True)
server.serve_forever()
