"""A client with one persistent connection."""

from __future__ import annotations

import http.client
import json
from typing import Any

from .environment import LOOPBACK, fail


class Client:
    def __init__(self, port: int, timeout: float = 3600):
        self._connection = http.client.HTTPConnection(LOOPBACK, port, timeout=timeout)

    def json(self, method: str, path: str, body: object = None) -> Any:
        return json.loads(self.bytes(method, path, body))

    def bytes(self, method: str, path: str, body: object = None, fields: dict[str, str] | None = None) -> bytes:
        """The content of the answer. `body` is a document, or the bytes of one."""
        status, _, content = self.exchange(method, path, body, fields)
        if status >= 300:
            fail(f"{method} {path}: {status} {content[:500].decode(errors='replace')}")
        return content

    def status(self, method: str, path: str) -> int | None:
        """None when there is no answer."""
        try:
            return self.exchange(method, path)[0]
        except (OSError, http.client.HTTPException):
            return None

    def exchange(
        self, method: str, path: str, body: object = None, fields: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"content-type": "application/json"} if content else {}
        try:
            self._connection.request(method, path, content, headers | (fields or {}))
            response = self._connection.getresponse()
            return response.status, dict(response.headers.items()), response.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            raise

    def close(self) -> None:
        self._connection.close()
