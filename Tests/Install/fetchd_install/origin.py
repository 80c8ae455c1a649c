"""A server of files on 127.0.0.1, with ranges and validators. It can send slowly, so that a download can be interrupted."""

from __future__ import annotations

import hashlib
import random
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SLICE = 64 * 1024


class Origin:
    """Serves /NAME, and /slow/NAME at about 2 MiB per second until `hurry` is set."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.hurry = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def add(self, name: str, size: int) -> str:
        """Adds a file of random bytes, and returns its sha-256."""
        self.files[name] = random.Random(name).randbytes(size)
        return hashlib.sha256(self.files[name]).hexdigest()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/{path}"


def _handler(origin: Origin) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            name = self.path.lstrip("/").removeprefix("slow/")
            content = origin.files.get(name)
            if content is None:
                self.send_error(404)
                return
            found = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
            start = int(found[1]) if found else 0
            self.send_response(206 if found else 200)
            self.send_header("ETag", f'"{name}"')
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("Content-Length", str(len(content) - start))
            if found:
                self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
            self.end_headers()
            try:
                for offset in range(start, len(content), SLICE):
                    self.wfile.write(content[offset : min(offset + SLICE, len(content))])
                    if self.path.startswith("/slow/") and not origin.hurry.is_set():
                        time.sleep(SLICE / (2 << 20))
            except OSError:
                self.close_connection = True

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    return Handler
