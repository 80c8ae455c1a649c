"""A file server with rates, cuts and refusals that the test chooses. The same seed gives the same files."""

from __future__ import annotations

import random
import re
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Resource:
    content: bytes
    # Bytes per second for each connection; None: no limit.
    rate: float | None = None
    # The first responses, one for each number, are cut off after that many bytes.
    cuts: tuple[int, ...] = ()
    # The first responses have these statuses and no bytes of the file.
    refusals: tuple[int, ...] = ()
    # The response has no length in its head, as with generated pages.
    is_chunked: bool = False
    has_etag: bool = True


def random_bytes(seed: int, count: int) -> bytes:
    return random.Random(seed).randbytes(count)


class Origin:
    """Serves resources by their paths until the end of the `with` block.

    port: 0 for a free one.
    """

    def __init__(self, port: int = 0) -> None:
        self.resources: dict[str, Resource] = {}
        # Whether rates are applied.
        self.is_slow = True
        self._requests: dict[str, int] = {}
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), _handler(self))
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Origin:
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def take(self, path: str) -> tuple[Resource | None, int]:
        """The resource, and the number of this request for it, from 0."""
        with self._lock:
            number = self._requests.get(path, 0)
            self._requests[path] = number + 1
        return self.resources.get(path), number


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignores the lost connection of a killed client."""


def _handler(origin: Origin) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            resource, number = origin.take(self.path)
            if resource is None or number < len(resource.refusals):
                self._refuse(resource.refusals[number] if resource else 404)
                return
            asked = self._range(resource)
            first, last = asked or (0, len(resource.content) - 1)
            if first > last and asked:
                self._refuse(416, f"bytes */{len(resource.content)}")
                return
            body = memoryview(resource.content)[first : last + 1]
            answers = number - len(resource.refusals)
            cut = resource.cuts[answers] if answers < len(resource.cuts) else None
            self._send_head(resource, f"bytes {first}-{last}/{len(resource.content)}" if asked else None, len(body))
            if cut is not None and cut < len(body):
                self._send_body(resource, body[:cut])
                self.close_connection = True
                return
            self._send_body(resource, body)
            if resource.is_chunked:
                self.wfile.write(b"0\r\n\r\n")

        def _refuse(self, status: int, content_range: str | None = None) -> None:
            self.send_response(status)
            if content_range:
                self.send_header("Content-Range", content_range)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def _range(self, resource: Resource) -> tuple[int, int] | None:
            """The first and the last requested byte; None: the whole file."""
            asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
            condition = self.headers.get("If-Range")
            if resource.is_chunked or not asked or condition not in (None, self._etag(resource)):
                return None
            last = len(resource.content) - 1
            return int(asked[1]), min(last, int(asked[2])) if asked[2] else last

        def _etag(self, resource: Resource) -> str:
            return f'"{len(resource.content)}-{self.path.strip("/")}"'

        def _send_head(self, resource: Resource, content_range: str | None, count: int) -> None:
            self.send_response(206 if content_range else 200)
            if content_range:
                self.send_header("Content-Range", content_range)
            if resource.is_chunked:
                self.send_header("Transfer-Encoding", "chunked")
            else:
                self.send_header("Content-Length", str(count))
                self.send_header("Accept-Ranges", "bytes")
            if resource.has_etag:
                self.send_header("ETag", self._etag(resource))
            self.end_headers()

        def _send_body(self, resource: Resource, body: memoryview) -> None:
            """Sends the body. With a rate, it sends a piece every twentieth of a second."""
            sent, began = 0, time.monotonic()
            while sent < len(body):
                rate = resource.rate if origin.is_slow else None
                size = max(int(rate / 20), 1) if rate else 1 << 18
                piece = body[sent : sent + size]
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece) if resource.is_chunked else piece)
                sent += len(piece)
                if rate and sent < len(body):
                    time.sleep(max(0.0, min(sent / rate - (time.monotonic() - began), 0.05)))

        def log_message(self, *words: object) -> None:
            pass

    return Handler
