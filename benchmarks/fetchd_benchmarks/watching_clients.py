"""Clients that watch: long polls and event streams over real sockets, all on one thread."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass

from .environment import LOOPBACK, fail


def head(method: str, path: str, length: int = 0, *fields: str) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"Host: {LOOPBACK}", *fields]
    if length:
        lines += ["Content-Type: application/json", f"Content-Length: {length}"]
    return "\r\n".join([*lines, "", ""]).encode()


@dataclass(frozen=True)
class Watch:
    """A request, and the text that its answer has when the change has happened. A long poll repeats the request after
    each answer before that."""

    request: bytes
    wanted: bytes
    repeats: bool = True


class Watcher(asyncio.Protocol):
    def __init__(self, watch: Watch):
        self._watch = watch
        self.transport: asyncio.Transport | None = None
        self.is_lost = False
        self.found: float | None = None
        self._tail = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        transport.write(self._watch.request)

    def data_received(self, data: bytes) -> None:
        if self.found is not None:
            return
        if self._watch.wanted in self._tail + data:
            self.found = time.monotonic()
            return
        self._tail = data[1 - len(self._watch.wanted) :]
        if self._watch.repeats and self.transport:
            self.transport.write(self._watch.request)

    def connection_lost(self, error: Exception | None) -> None:
        self.is_lost = True


async def connect(port: int, watches: list[Watch]) -> list[Watcher]:
    loop, watchers = asyncio.get_running_loop(), []
    for start in range(0, len(watches), 200):
        some = [Watcher(watch) for watch in watches[start : start + 200]]
        await asyncio.gather(*(loop.create_connection(lambda it=watcher: it, LOOPBACK, port) for watcher in some))
        watchers += some
    return watchers


def disconnect(watchers: list[Watcher]) -> None:
    """Without notice to the service."""
    for watcher in watchers:
        if watcher.transport:
            watcher.transport.abort()


async def arrivals(watchers: list[Watcher], begin: float, patience: float = 30) -> list[float]:
    """The seconds from `begin` until each watcher has received the expected text, in order."""
    while missing := sum(watcher.found is None for watcher in watchers):
        if time.monotonic() > begin + patience:
            fail(f"{missing} watchers have not received the change")
        await asyncio.sleep(0.01)
    return sorted(watcher.found - begin for watcher in watchers if watcher.found is not None)


async def request(port: int, method: str, path: str, body: object = None) -> tuple[int, dict]:
    """One request over a new connection."""
    reader, writer = await asyncio.open_connection(LOOPBACK, port)
    try:
        payload = b"" if body is None else json.dumps(body).encode()
        writer.write(head(method, path, len(payload), "Connection: close") + payload)
        answer = await reader.read()
    finally:
        writer.close()
    status, _, content = answer.partition(b"\r\n\r\n")
    return int(status.split()[1]), json.loads(content) if content else {}
