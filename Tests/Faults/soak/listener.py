"""A port on the loopback interface that can be closed and opened again, and the HTTP requests that come to it."""

from __future__ import annotations

import random
import socket
import struct
import threading
from dataclasses import dataclass
from typing import Callable

LOOPBACK = "127.0.0.1"


def free_port() -> int:
    """A port outside the range that the system hands out by itself. A client that asks again and again for a port
    inside that range, while nothing listens there, may in the end be connected to itself."""
    while True:
        port = random.SystemRandom().randrange(20_000, 30_000)
        with socket.socket() as candidate:
            try:
                candidate.bind((LOOPBACK, port))
                return port
            except OSError:
                continue


class Reset(Exception):
    """The conversation ends with a TCP reset."""


@dataclass(frozen=True)
class Request:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes


class Conversation:
    """One connection, as its thread sees it."""

    def __init__(self, connection: socket.socket):
        connection.settimeout(60)
        self._connection = connection
        self._reader = connection.makefile("rb")
        self._is_cut = threading.Event()

    def request(self) -> Request | None:
        """The next request; None if the client has closed the connection, or the port was closed."""
        line = self._reader.readline(65_536).decode("latin-1").split()
        if len(line) < 2:
            return None
        headers: dict[str, str] = {}
        while field := self._reader.readline(65_536).decode("latin-1").strip():
            name, _, value = field.partition(":")
            headers[name.strip().lower()] = value.strip()
        return Request(line[0], line[1], headers, self._reader.read(int(headers.get("content-length", 0))))

    def send(self, content: bytes | memoryview) -> None:
        """Sends bytes. Raises `Reset` if the port was closed, so that a cut-off answer never looks complete."""
        if self._is_cut.is_set():
            raise Reset
        self._connection.sendall(content)

    def be_silent(self, seconds: float) -> None:
        """Waits until the client closes the connection, at most for this time."""
        self._connection.settimeout(seconds)
        try:
            self._connection.recv(1)
        except TimeoutError:
            pass

    def cut(self) -> None:
        """Called by another thread. Ends the connection at its next send, or at once if it waits for a request."""
        self._is_cut.set()
        try:
            self._connection.shutdown(socket.SHUT_RD)
        except OSError:
            pass

    def close(self, with_reset: bool = False) -> None:
        if with_reset:
            self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._reader.close()
        self._connection.close()


class Listener:
    """Serves each connection in a thread of its own. While it is closed, connections are refused, and the port stays
    reserved: a second socket is bound to it that never listens."""

    def __init__(self, converse: Callable[[Conversation], None]):
        self._converse = converse
        self._lock = threading.Lock()
        self._conversations: set[Conversation] = set()
        self._socket: socket.socket | None = None
        self.port = free_port()
        self._reservation = self._bound()
        self.open()

    def open(self) -> None:
        with self._lock:
            if self._socket:
                return
            self._socket = self._bound()
            self._socket.listen(256)
            threading.Thread(target=self._accept, args=(self._socket,), daemon=True).start()

    def close(self) -> None:
        """Refuses new connections and ends the existing ones."""
        with self._lock:
            listening, self._socket = self._socket, None
            conversations = list(self._conversations)
        if listening:
            listening.shutdown(socket.SHUT_RDWR)
            listening.close()
        for conversation in conversations:
            conversation.cut()

    def _bound(self) -> socket.socket:
        bound = socket.socket()
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        # Every address of 127.0.0.0/8 leads here.
        bound.bind(("0.0.0.0", self.port))
        return bound

    def _accept(self, listening: socket.socket) -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        """Serves a connection. If the conversation does not end normally, it ends with a reset."""
        conversation, is_reset = Conversation(connection), True
        with self._lock:
            self._conversations.add(conversation)
        try:
            self._converse(conversation)
            is_reset = False
        except (Reset, OSError, ValueError):
            pass
        finally:
            with self._lock:
                self._conversations.discard(conversation)
            conversation.close(with_reset=is_reset)


def head(status: str, fields: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
    return "\r\n".join(lines).encode()
