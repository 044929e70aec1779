import json

from django.conf import settings
from django.core.management import execute_from_command_line
from django.http import HttpResponse, HttpResponseForbidden
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from start import PORT, is_signed

settings.configure(DEBUG=False, ALLOWED_HOSTS=["*"], ROOT_URLCONF=__name__, SECRET_KEY="not-used", LOGGING_CONFIG=None)


@csrf_exempt
@require_POST
def receive(request):
    signature = request.headers.get("X-Service-Signature")
    if signature is None or not is_signed(request.body, signature):
        return HttpResponseForbidden("Permission denied.")
    json.loads(request.body)
    return HttpResponse("OK")


urlpatterns = [path("hooks", receive)]
execute_from_command_line(["manage", "runserver", "--noreload", f"127.0.0.1:{PORT}"])
