"""The journal of a receiver: a file with one line of JSON per notification, on disk before it is acknowledged.

Only one process can own it, because the known ids are in memory. It requires Linux or macOS: Windows has no `fcntl`.
"""

import fcntl
import json
import os
import stat
import threading
from datetime import datetime, timezone

MAX_LINE_BYTES = 16 * 1024 * 1024


class Journal:
    def __init__(self, path):
        """Raises OSError with a message for the operator. A file that is not a journal is not changed."""
        self.path, self.mutex = path, threading.Lock()
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self.file = os.fdopen(descriptor, "r+b", buffering=0)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path} is not a regular file")
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # until the process ends
        except BlockingIOError:
            raise OSError(f"{path} is in use by another process") from None
        self.ids, self.size = read_ids(descriptor, path)
        self.file.truncate(self.size)  # The process was killed while it wrote the last line.
        self.check()

    def store(self, id, body):
        """Raises OSError when the notification cannot be stored; the sender can retry. A duplicate adds no line."""
        entry = {"id": id, "receivedAt": datetime.now(timezone.utc).isoformat(), "body": body.decode()}
        line = json.dumps(entry).encode() + b"\n"
        with self.mutex:
            self.check()
            if id in self.ids:
                return
            before = self.size
            try:
                if self.file.write(line) != len(line):
                    raise OSError("the disk is full")
                os.fsync(self.file.fileno())
                self.size += len(line)
                self.check()
            except OSError:
                self.size = before
                self.file.truncate(before)
                raise
            self.ids.add(id)

    def check(self):
        """Raises OSError when the path now names another file, or another program has written to the file."""
        opened = os.fstat(self.file.fileno())
        if not os.path.exists(self.path) or not os.path.samestat(opened, os.stat(self.path)):
            raise OSError(f"{self.path} was removed or replaced")
        if opened.st_size != self.size:
            raise OSError(f"{self.path} was changed by another program")


def read_ids(descriptor, path):
    """Returns the ids in the file and the size of its complete lines, in bytes."""
    ids, size = set(), 0
    with open(descriptor, "rb", closefd=False) as file:
        for number, line in enumerate(iter(lambda: file.readline(MAX_LINE_BYTES), b""), 1):
            if not line.endswith(b"\n") and line.startswith(b'{"id":') and len(line) < MAX_LINE_BYTES:
                break
            try:
                id = json.loads(line.decode())["id"] if line.endswith(b"\n") else None
            except (ValueError, LookupError, TypeError, RecursionError):
                id = None
            if not isinstance(id, str):
                raise OSError(f"{path} line {number} is not a line of a journal")
            ids.add(id)
            size += len(line)
    return ids, size


def notification_id(body):
    """Returns the id. Raises ValueError when the body is not a notification; unknown types and fields are accepted."""
    try:
        # Numbers are not parsed: Python raises on integers with more than 4,300 digits, and accepts NaN.
        notification = json.loads(body.decode("utf-8"), parse_int=lambda _: None, parse_constant=int)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(notification, dict) or not isinstance(notification.get("data"), dict):
        raise ValueError("not a notification")
    id, type = notification.get("id"), notification.get("type")
    if not isinstance(type, str) or not isinstance(id, str) or not 0 < len(id) <= 200 or not id.isprintable():
        raise ValueError("not a notification")
    return id
