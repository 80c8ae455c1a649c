"""A receiver that stores requests as they are."""

from __future__ import annotations

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from .environment import LOOPBACK
from .signatures import Signed


class Recorder:
    def __init__(self) -> None:
        self.requests: list[Signed] = []
        self._lock = threading.Lock()
        recorder = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                fields = [self.headers[f"webhook-{name}"] for name in ("id", "timestamp", "signature")]
                with recorder._lock:
                    recorder.requests.append(Signed(*fields, body, now=int(time.time())))
                self.send_response(204)
                self.end_headers()

            def log_message(self, format: str, *arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer((LOOPBACK, 0), Handler)
        self.port = self._server.server_port

    def __enter__(self) -> Recorder:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
