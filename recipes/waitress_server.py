"""Serves a WSGI application with waitress, which reads requests without a thread for each client.

gunicorn's own workers read on a thread, without a time limit: as many silent clients as there are threads stop them.
Limits for strangers, because credentials are checked later: 256 connections with 16 KiB of head and about 1 MiB of body
each, and 30 seconds for both.
"""

from waitress.server import TcpWSGIServer

MAX_CONNECTIONS = 256
MAX_SECONDS = 30
MAX_WIRE_BYTES = 1280 * 1024  # of a body; the lines between its chunks count


class Server(TcpWSGIServer):
    def handle_accept(self):
        """Closes the connection that has been silent for longest when there are too many."""
        channels = self.active_channels.values()
        waiting = [channel for channel in channels if not channel.requests and not channel.will_close]
        if len(waiting) >= MAX_CONNECTIONS:
            min(waiting, key=lambda channel: channel.last_activity).will_close = True
        super().handle_accept()

    def maintenance(self, now):
        """Closes connections that are silent, as waitress does, and those whose request takes too long to arrive."""
        super().maintenance(now)
        for channel in self.active_channels.values():
            request = channel.request  # one that is not complete
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
        connection_limit=4 * MAX_CONNECTIONS,  # Beyond it, waitress accepts none at all.
        inbuf_overflow=2 * MAX_WIRE_BYTES,  # in memory, not in temporary files
        max_request_body_size=MAX_WIRE_BYTES,
        max_request_header_size=16 * 1024,
    )
    print(f"listening on http://{host}:{port}/hooks", flush=True)
    server.run()
