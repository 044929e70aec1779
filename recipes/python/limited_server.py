"""http.server with limits for unauthenticated clients, because credentials are checked later."""

import contextlib
import socket
import sys
import threading
import time
from http.client import LineTooLong
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_HEAD_BYTES = 16 * 1024
MAX_CONNECTIONS = 256  # each has a thread, and can hold one body
MAX_SECONDS = 30  # for the head and the body of a request


class LimitedServer(ThreadingHTTPServer):
    """Closes connections that are not answered in time, and the oldest ones when there are too many."""

    request_queue_size = 128  # connections that wait to be accepted

    def __init__(self, address, handler):
        self.mutex = threading.Lock()
        self.waiting = {}  # when each connection was opened or answered; the longest waiting one is first
        super().__init__(address, handler)

    def process_request(self, connection, address):
        self.wait_for(connection)
        self.close_oldest(lambda _: len(self.waiting) > MAX_CONNECTIONS)
        super().process_request(connection, address)

    def service_actions(self):
        """Called twice a second."""
        self.close_oldest(lambda since: time.monotonic() - since > MAX_SECONDS)

    def wait_for(self, connection):
        with self.mutex:
            self.waiting.pop(connection, None)
            self.waiting[connection] = time.monotonic()

    def close_oldest(self, is_over):
        with self.mutex:
            while self.waiting and is_over(next(iter(self.waiting.values()))):
                connection = next(iter(self.waiting))
                del self.waiting[connection]
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)  # Its thread reads the end of the stream.

    def shutdown_request(self, connection):
        with self.mutex:
            self.waiting.pop(connection, None)
        super().shutdown_request(connection)

    def handle_error(self, _connection, _address):
        print("connection failed:", sys.exc_info()[1], file=sys.stderr)


class LimitedHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = MAX_SECONDS  # maximum silence of a connection
    wbufsize = -1  # the whole answer in one packet

    def parse_request(self):
        stream, self.rfile = self.rfile, Head(self.rfile)
        try:
            return super().parse_request()
        finally:
            self.rfile = stream

    def handle_one_request(self):
        super().handle_one_request()
        if not self.close_connection:
            self.server.wait_for(self.connection)


class Head:
    """Limits the lines of a head. http.server itself allows a hundred lines of 64 KiB."""

    def __init__(self, stream):
        self.stream, self.left = stream, MAX_HEAD_BYTES

    def readline(self, limit):
        line = self.stream.readline(min(limit, self.left))
        self.left -= len(line)
        if self.left == 0:
            raise LineTooLong("head")  # http.server answers it with 431.
        return line
