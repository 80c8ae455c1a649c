"""A local origin that allows a number of requests a second. It runs on its own threads.

It answers 429 without `Retry-After` beyond that number, and after some refusals 403 for a while, as the limits of public archives
do."""

from __future__ import annotations

import threading
import time
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

from .environment import LOOPBACK

ALLOWED = 10  # requests in each second
PATIENCE = 20  # refusals, after which it is closed
CLOSED_FOR = 60.0  # seconds
BODY = bytes(1024)


class LimitedOrigin:
    def __init__(self) -> None:
        self.counts = {200: 0, 403: 0, 429: 0}
        self._recent: deque[float] = deque()
        self._refusals = 0
        self._closed_until = 0.0
        self._lock = threading.Lock()
        origin = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                status = origin.judge(time.monotonic())
                body = BODY if status == 200 else b""
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer((LOOPBACK, 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self._server.server_port}"

    def judge(self, now: float) -> int:
        with self._lock:
            status = self._status(now)
            self.counts[status] += 1
            return status

    def _status(self, now: float) -> int:
        if now < self._closed_until:
            return 403
        while self._recent and self._recent[0] <= now - 1:
            self._recent.popleft()
        if len(self._recent) < ALLOWED:
            self._recent.append(now)
            return 200
        self._refusals += 1
        if self._refusals >= PATIENCE:
            self._refusals, self._closed_until = 0, now + CLOSED_FOR
        return 429

    def __enter__(self) -> LimitedOrigin:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
