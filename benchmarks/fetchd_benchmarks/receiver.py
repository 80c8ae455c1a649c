"""A local receiver of webhooks. It runs on its own thread, and notes the arrival of each event."""

from __future__ import annotations

import asyncio
import re
import socket
import threading
import time
from types import TracebackType

from .environment import LOOPBACK, fail

ANSWER = b"HTTP/1.1 204 No Content\r\n\r\n"
EVENT = re.compile(rb'"event":(\d+)')
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class Receiver:
    def __init__(self) -> None:
        self.events: dict[str, list[int]] = {}  # by the path of the endpoint, in the order of their arrival
        self.last_arrival = 0.0
        self._loop = asyncio.new_event_loop()
        self._socket = socket.create_server((LOOPBACK, 0), backlog=1024)
        self._thread = threading.Thread(target=self._run, daemon=True)

    def url(self, endpoint: str) -> str:
        return f"http://{LOOPBACK}:{self._socket.getsockname()[1]}/{endpoint}"

    @property
    def count(self) -> int:
        """The events that have arrived, each counted once for each endpoint."""
        return sum(len(events) for events in list(self.events.values()))

    def inversions(self) -> int:
        """Events that arrived after a later one, of all endpoints."""
        return sum(sum(a > b for a, b in zip(events, events[1:])) for events in self.events.values())

    def wait_for(self, count: int, patience: float = 600) -> None:
        deadline = time.monotonic() + patience
        while self.count < count:
            if time.monotonic() > deadline:
                fail(f"only {self.count} of {count} events have arrived at the receiver")
            time.sleep(0.005)

    def note(self, path: str, body: bytes) -> None:
        if found := EVENT.search(body):
            self.events.setdefault(path, []).append(int(found[1]))
            self.last_arrival = time.monotonic()

    def __enter__(self) -> Receiver:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._loop.create_server(lambda: Connection(self), sock=self._socket))
        self._loop.run_forever()
        self._loop.close()


class Connection(asyncio.Protocol):
    """One connection of the service, with one request after another."""

    def __init__(self, receiver: Receiver):
        self._receiver = receiver
        self._buffer = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = self._buffer[: end + 2]
            length = LENGTH.search(head)
            size = end + 4 + (int(length[1]) if length else 0)
            if len(self._buffer) < size:
                return
            body, self._buffer = self._buffer[end + 4 : size], self._buffer[size:]
            self._receiver.note(head.split(b" ", 2)[1].decode(), body)
            if self._transport:
                self._transport.write(ANSWER)
