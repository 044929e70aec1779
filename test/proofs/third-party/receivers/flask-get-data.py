import base64
import hashlib
import hmac

from flask import Flask, abort, request
from start import API_KEY, PORT, SECRET

app = Flask(__name__)


def verify_webhook(data, hmac_header):
    digest = hmac.new(SECRET.encode("utf-8"), data, digestmod=hashlib.sha256).digest()
    return hmac.compare_digest(base64.b64encode(digest), hmac_header.encode("utf-8"))


@app.route("/hooks", methods=["POST"])
def handle_webhook():
    if request.headers.get("X-API-Key") != API_KEY:
        abort(401)
    data = request.get_data()
    if not verify_webhook(data, request.headers.get("X-Service-Signature")):
        abort(401)
    return ("", 200)


app.run(port=PORT)
