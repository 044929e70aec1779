"""HTTP for uvicorn, with limits for unauthenticated clients, because credentials are checked later.

It uses httptools, because the pure Python parser h11 is so slow on chunks of one byte that nothing else is answered.
"""

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_CONNECTIONS = 256  # each can hold one body
MAX_SECONDS = 30  # for the head and the body of a request
MAX_HEAD_BYTES = 16 * 1024  # also limits the lines between chunks
MAX_CHUNKS = 10_000  # each costs time, however small it is

timers = {}  # by connection; the one that has waited longest for an answer is the first


class LimitedProtocol(HttpToolsProtocol):
    head_bytes = chunks = 0

    def connection_made(self, transport):
        super().connection_made(transport)
        self.start_timer()
        if len(timers) > MAX_CONNECTIONS:
            oldest = next(iter(timers))
            oldest.stop_timer()
            oldest.transport.abort()

    def data_received(self, data):
        self.head_bytes += len(data)
        super().data_received(data)
        if self.head_bytes > MAX_HEAD_BYTES:
            self.transport.abort()

    def on_header(self, name, value):
        if b" " in name:
            raise ValueError("a blank in the name of a header")  # httptools before 0.2 accepts it
        super().on_header(name, value)

    def on_headers_complete(self):
        self.head_bytes = 0
        super().on_headers_complete()

    def on_body(self, body):
        self.head_bytes = 0
        self.chunks += 1
        if self.chunks > MAX_CHUNKS:
            raise ValueError("too many chunks")  # ends the connection
        super().on_body(body)

    def on_response_complete(self):
        self.chunks = 0
        self.stop_timer()
        self.start_timer()
        super().on_response_complete()

    def connection_lost(self, exc):
        self.stop_timer()
        super().connection_lost(exc)

    def start_timer(self):
        if not self.transport.is_closing():
            timers[self] = asyncio.get_running_loop().call_later(MAX_SECONDS, self.transport.abort)

    def stop_timer(self):
        if self in timers:
            timers.pop(self).cancel()
