"""A webhook endpoint that records the posts it receives."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Callable


@dataclass(frozen=True)
class Post:
    """One attempt at one delivery, in the order of arrival."""

    webhook_id: str
    event: int
    type: str
    session: str
    job: str | None
    is_accepted: bool
    # The time of arrival, before the answer, in nanoseconds of the monotonic clock.
    time: int


class Receiver:
    """Accepts posts until the end of the `with` block.

    refuses: returns, for the number of a post (from 0), whether it is answered with 500.
    port: 0 for a free one.
    """

    def __init__(self, refuses: Callable[[int], bool] = lambda number: False, port: int = 0):
        self.refuses = refuses
        self._lock = threading.Lock()
        self._posts: list[Post] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                is_accepted = receiver._take(self.headers["webhook-id"], json.loads(body))
                self.send_response(204 if is_accepted else 500)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *words: object) -> None:
                pass

        self._server = _Server(("127.0.0.1", port), Handler)
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}/"

    def __enter__(self) -> Receiver:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def posts(self) -> list[Post]:
        with self._lock:
            return list(self._posts)

    def _take(self, webhook_id: str, body: dict) -> bool:
        data = body["data"]
        with self._lock:
            is_accepted = not self.refuses(len(self._posts))
            self._posts.append(
                Post(
                    webhook_id, data["event"], body["type"], data["session"], data.get("job"), is_accepted,
                    time.monotonic_ns(),
                )
            )  # fmt: skip
        return is_accepted


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignores the lost connection of a killed client."""
