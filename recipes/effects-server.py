"""Serves the effects window over HTTP, for test environments only: runs a command with the query of each request.

`python3 effects-server.py python3 effects.py`
Environment: WEBHOOK_EFFECTS_TOKEN (16 characters or more), WEBHOOK_EFFECTS_PORT (3001).
"""

import hmac
import os
import re
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOKEN, PORT = os.environ.get("WEBHOOK_EFFECTS_TOKEN", ""), int(os.environ.get("WEBHOOK_EFFECTS_PORT", "3001"))
COMMAND = sys.argv[1:]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        received = self.headers.get("Authorization", "").encode()
        if not hmac.compare_digest(received, f"Bearer {TOKEN}".encode()):
            return self.answer(401, b'{"error":"unauthorized"}')
        # Percent-encoded, without shell metacharacters, because ssh starts a shell on the other machine.
        query = re.fullmatch(r"/effects\?((?:notification|transaction)=[A-Za-z0-9_.%,-]+)", self.path)
        if query is None or query[1].count(",") >= 50:
            return self.answer(400, b'{"error":"not a query"}')
        done = subprocess.run([*COMMAND, query[1]], stdout=subprocess.PIPE)
        if done.returncode != 0:
            return self.answer(500, b'{"error":"the command failed"}')
        self.answer(200, done.stdout)

    def answer(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)


if len(TOKEN) < 16:
    sys.exit("Set WEBHOOK_EFFECTS_TOKEN to 16 characters or more.")
if not COMMAND:
    sys.exit("Give the command that answers: python3 effects-server.py python3 effects.py")
with ThreadingHTTPServer(("127.0.0.1", PORT), Handler) as server:
    print(f"effects on http://127.0.0.1:{PORT}/effects", flush=True)
    server.serve_forever()
