import json

from flask import Flask, abort, request
from start import PORT, is_signed

app = Flask(__name__)


@app.route("/hooks", methods=["POST"])
def handle_webhook():
    body = json.dumps(request.json, separators=(",", ":")).encode("utf-8")
    if not is_signed(body, request.headers.get("X-Service-Signature", "")):
        abort(401)
    return "success", 200


app.run(port=PORT)
