"""Receives signed notifications with Django: verifies the raw body, appends it to a journal, and answers 200.

Start it with `python3 receiver.py`. Environment: WEBHOOK_SECRET and WEBHOOK_API_KEY (at least one of
them; the other check is off), PORT (3000), HOST (127.0.0.1), WEBHOOK_JOURNAL (journal.ndjson).
Run one process only: the known ids are in memory. For several, use a database with a unique key on the id.
"""

import base64
import hashlib
import hmac
import json
import logging
import os
import sys

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.wsgi import get_wsgi_application
from django.http import JsonResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from journal import Journal, notification_id
from waitress_server import serve

SECRET, API_KEY = os.environ.get("WEBHOOK_SECRET", ""), os.environ.get("WEBHOOK_API_KEY", "")
# During a rotation, the previous secret is also valid.
SECRETS = [secret for secret in (SECRET, os.environ.get("WEBHOOK_PREVIOUS_SECRET")) if secret]
HOST, PORT = os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "3000"))
if not SECRET and not API_KEY:
    sys.exit("Set WEBHOOK_SECRET, WEBHOOK_API_KEY or both: without them anyone could post notifications.")

settings.configure(
    ROOT_URLCONF=__name__,
    ALLOWED_HOSTS=["*"],
    DATA_UPLOAD_MAX_MEMORY_SIZE=1024 * 1024,
    MIDDLEWARE=["django.middleware.common.CommonMiddleware"],  # sets Content-Length
    LOGGING_CONFIG=None,  # The default sends an email about each 5xx.
)

try:
    journal = Journal(os.environ.get("WEBHOOK_JOURNAL", "journal.ndjson"))
except OSError as error:
    sys.exit(str(error))


def is_authentic(headers, body):
    def is_same(name, expected):
        """Compares in constant time. Repeated headers are joined with a comma, so they never match."""
        return hmac.compare_digest(headers.get(name, "").strip(" \t").encode(), expected)

    signatures = [base64.b64encode(hmac.new(secret.encode(), body, hashlib.sha256).digest()) for secret in SECRETS]
    matches = [is_same("X-Service-Signature", signature) for signature in signatures]
    is_key_valid = not API_KEY or is_same("X-API-Key", API_KEY.encode())
    return is_key_valid and (not SECRETS or any(matches))


def answer(status, message):
    return JsonResponse({"message": message}, status=status)


@csrf_exempt
@require_POST
def receive(request):
    try:
        body = request.body  # must come before any access to request.POST
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
        return answer(503, "not stored")  # The sender can deliver it again.
    return answer(200, "ok")


urlpatterns = [path("hooks", receive)]
application = get_wsgi_application()

if __name__ == "__main__":
    serve(application, HOST, PORT)
