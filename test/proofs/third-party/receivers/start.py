"""What every receiver in Python is started with: `--port N`, and secret and key from the environment."""
import base64
import hashlib
import hmac
import os
import sys

PORT = int(sys.argv[sys.argv.index("--port") + 1])
SECRET = os.environ["RECEIVER_SECRET"]
API_KEY = os.environ.get("RECEIVER_API_KEY", "")


def is_signed(body: bytes, signature: str) -> bool:
    """The comparison that most samples show."""
    digest = hmac.new(SECRET.encode("utf-8"), body, digestmod=hashlib.sha256).digest()
    return hmac.compare_digest(base64.b64encode(digest).decode(), signature)
