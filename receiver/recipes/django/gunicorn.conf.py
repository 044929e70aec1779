"""Settings of gunicorn. One process, because the known ids are in memory; its threads share them."""

import os

_address = f"{os.environ.get('HOST', '127.0.0.1')}:{os.environ.get('PORT', '3000')}"
bind = _address
workers = 1
threads = 16


def post_worker_init(worker):
    print(f"listening on http://{_address}/hooks", flush=True)
