"""A reverse proxy as the checks see it: it serves fetchd below a path."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from .environment import LOOPBACK, program
from .outcomes import NotOffered
from .server import Place

PREFIX = "/downloads"


@dataclass
class Gateway:
    url: str
    # The path under which fetchd is; empty for a proxy that cannot remove a prefix.
    prefix: str = PREFIX
    lacks: dict[str, str] = field(default_factory=dict)
    context: ssl.SSLContext | None = None

    def require_offered(self, feature: str) -> None:
        if feature in self.lacks:
            raise NotOffered(self.lacks[feature])

    def open(
        self, method: str, path: str, headers: dict[str, str] | None = None, body: bytes | None = None
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """The caller closes the connection."""
        port = urlsplit(self.url).port
        connection: http.client.HTTPConnection
        if self.context:
            connection = http.client.HTTPSConnection(LOOPBACK, port, timeout=60, context=self.context)
        else:
            connection = http.client.HTTPConnection(LOOPBACK, port, timeout=60)
        connection.request(method, self.prefix + path, body, headers or {})
        return connection, connection.getresponse()

    def ask(
        self, method: str, path: str, headers: dict[str, str] | None = None, body: bytes | None = None
    ) -> tuple[http.client.HTTPResponse, bytes]:
        connection, answer = self.open(method, path, headers, body)
        try:
            return answer, answer.read()
        finally:
            connection.close()


@dataclass(frozen=True)
class GatewayServer:
    name: str
    programs: tuple[str, ...]
    # The port is that of fetchd.
    start: Callable[[Place, int], AbstractContextManager[Gateway]]
    is_short: bool = False

    @property
    def missing(self) -> list[str]:
        return [name for name in self.programs if program(name) is None]
