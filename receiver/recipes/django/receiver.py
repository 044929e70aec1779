"""Receives signed notifications with Django: verifies the raw body, appends it to a journal, answers 200.

Start it with `gunicorn receiver:application`. Environment: WEBHOOK_SECRET and WEBHOOK_API_KEY (at least one of
them; the other check is off), PORT (3000), HOST (127.0.0.1), WEBHOOK_JOURNAL (journal.ndjson).
One process only: the known ids are in memory. For several, use a database with a unique key on the id.
"""

import base64
import hashlib
import hmac
import json
import logging
import os
import threading
from datetime import datetime, timezone

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.wsgi import get_wsgi_application
from django.http import JsonResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

SECRET, API_KEY = os.environ.get("WEBHOOK_SECRET", ""), os.environ.get("WEBHOOK_API_KEY", "")
if not SECRET and not API_KEY:
    raise RuntimeError("Set WEBHOOK_SECRET, WEBHOOK_API_KEY or both: without them anyone could post notifications.")

settings.configure(
    ROOT_URLCONF=__name__,
    ALLOWED_HOSTS=["*"],
    DATA_UPLOAD_MAX_MEMORY_SIZE=1024 * 1024,
    LOGGING_CONFIG=None,  # The default sends mail about each 5xx.
)


class Journal:
    """A file with one line of JSON per notification, each of them on disk before `store` returns."""

    def __init__(self, path):
        self.file = open(path, "a+b", buffering=0)
        self.file.seek(0)
        content = self.file.read()
        # A last line without its end was being written when the process was killed.
        self.file.truncate(content.rfind(b"\n") + 1)
        self.ids = {json.loads(line)["id"] for line in content.split(b"\n")[:-1]}
        self.lock = threading.Lock()

    def store(self, id, body):
        """Raises OSError when the notification cannot be stored. A copy adds no line."""
        entry = {"id": id, "receivedAt": datetime.now(timezone.utc).isoformat(), "body": body.decode()}
        line = json.dumps(entry).encode() + b"\n"
        with self.lock:
            if id in self.ids:
                return
            size = os.fstat(self.file.fileno()).st_size
            try:
                if self.file.write(line) != len(line):
                    raise OSError("the disk is full")
                os.fsync(self.file.fileno())
            except OSError:
                self.file.truncate(size)
                raise
            self.ids.add(id)


journal = Journal(os.environ.get("WEBHOOK_JOURNAL", "journal.ndjson"))


def is_authentic(headers, body):
    def is_same(name, expected):
        """In constant time. Repeated headers are joined with a comma, so they never match."""
        return hmac.compare_digest(headers.get(name, "").strip(" \t").encode(), expected)

    signature = base64.b64encode(hmac.new(SECRET.encode(), body, hashlib.sha256).digest())
    is_key_valid = not API_KEY or is_same("X-API-Key", API_KEY.encode())
    return is_key_valid and (not SECRET or is_same("X-Service-Signature", signature))


def notification_id(body):
    """The id of a notification. Raises ValueError when the body is not one; unknown types and fields are accepted."""
    try:
        # Texts instead of numbers: Python raises on integers with more than 4,300 digits, and accepts NaN.
        notification = json.loads(body.decode("utf-8"), parse_int=str, parse_constant=int)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(notification, dict) or not isinstance(notification.get("data"), dict):
        raise ValueError("not a notification")
    id, type = notification.get("id"), notification.get("type")
    if not isinstance(type, str) or not isinstance(id, str) or not 0 < len(id) <= 200 or not id.isprintable():
        raise ValueError("not a notification")
    return id


def answer(status, message):
    return JsonResponse({"message": message}, status=status)


@csrf_exempt
@require_POST
def receive(request):
    if "Transfer-Encoding" in request.headers:
        return answer(411, "length required")  # Django reads the body of a chunked request as empty.
    try:
        body = request.body  # before anything touches request.POST
    except RequestDataTooBig:
        return answer(413, "body too large")
    if not is_authentic(request.headers, body):
        return answer(401, "unauthorized")
    try:
        journal.store(notification_id(body), body)
    except ValueError:
        return answer(400, "not a notification")
    except OSError:
        logging.getLogger(__name__).exception("not stored")
        return answer(503, "not stored")  # The sender may deliver it again.
    return answer(200, "ok")


urlpatterns = [path("hooks", receive)]
application = get_wsgi_application()
