"""Serves a WSGI application with waitress, which does not use a thread per client to read requests.

gunicorn's own workers read on a thread without a time limit, so one silent client per thread is enough to block them.
Credentials are checked later, so unauthenticated clients are limited: 256 connections, each with 16 KiB of head and
about 1 MiB of body, and 30 seconds for both.
"""

from waitress.server import TcpWSGIServer

MAX_CONNECTIONS = 256
MAX_SECONDS = 30
MAX_WIRE_BYTES = 1280 * 1024  # per body, including the lines between its chunks


class Server(TcpWSGIServer):
    def handle_accept(self):
        """Closes the connection that has been silent for the longest time when there are too many."""
        channels = self.active_channels.values()
        waiting = [channel for channel in channels if not channel.requests and not channel.will_close]
        if len(waiting) >= MAX_CONNECTIONS:
            min(waiting, key=lambda channel: channel.last_activity).will_close = True
        super().handle_accept()

    def maintenance(self, now):
        """Closes silent connections, as waitress does, and those whose request takes too long to arrive."""
        super().maintenance(now)
        for channel in self.active_channels.values():
            request = channel.request  # set while it is incomplete
            if request is not None and now - vars(request).setdefault("seen_at", now) > MAX_SECONDS:
                channel.will_close = True


def serve(application, host, port):
    server = Server(
        application,
        host=host,
        port=port,
        asyncore_use_poll=True,
        channel_timeout=MAX_SECONDS,
        cleanup_interval=1,
        connection_limit=4 * MAX_CONNECTIONS,  # At this limit, waitress accepts no connections at all.
        inbuf_overflow=2 * MAX_WIRE_BYTES,  # in memory, not in temporary files
        max_request_body_size=MAX_WIRE_BYTES,
        max_request_header_size=16 * 1024,
    )
    print(f"listening on http://{host}:{port}/hooks", flush=True)
    server.run()
