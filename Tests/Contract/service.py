"""A fetchd of its own, on a free port, with folders of its own; and what it needs of the world."""

from __future__ import annotations

import json
import re
import secrets
import subprocess
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Callable

# Seconds, for what should be there at once.
PATIENCE = 60


def until(what: str, condition: Callable[[], Any]) -> Any:
    """Waits for a condition, and says in the end which one never came true."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.05)
    raise TimeoutError(f"waited {PATIENCE} s in vain until {what}")


class Service:
    """fetchd with a token and rehearsals, as a process that ends with the `with` block."""

    def __init__(self, program: Path, folder: Path, *options: str):
        self.token = secrets.token_urlsafe(24)
        self.log = folder / "fetchd.log"
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [
                    program, "serve", "--listen", "127.0.0.1:0", "--data-dir", folder / "data",
                    "--downloads-dir", folder / "downloads", "--enable-rehearsals", "--webhook-retry-delays", "0,3600",
                    # Room for those that run all the time, and for those that come: all rehearsals are of one host.
                    "--max-concurrent-jobs", "64", "--max-connections-per-host", "64",
                    *options,
                ],
                env={"FETCHD_TOKEN": self.token},
                stderr=log,
            )  # fmt: skip

    def __enter__(self) -> Service:
        try:
            self.url = until("fetchd says where it is", self._announced)
        except BaseException:
            self._process.kill()
            raise
        return self

    def __exit__(self, *failure: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(PATIENCE)
        finally:
            self._process.kill()

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def _announced(self) -> str | None:
        if not self.is_running:
            raise ChildProcessError(f"fetchd has ended: {self.log.read_text()}")
        found = re.search(r" is ready at (http://\S+)", self.log.read_text())
        return found.group(1).rstrip("/") if found else None

    @property
    def dashboard(self) -> str:
        """The folder of the dashboard's files."""
        with urllib.request.urlopen(self.url) as page:
            return re.search(r'src="dashboard/([0-9a-f]+)/', page.read().decode())[1]

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The answer's document; None where it has none."""
        request = urllib.request.Request(self.url + path, method=method)
        request.add_header("Authorization", f"Bearer {self.token}")
        if body is not None:
            request.add_header("Content-Type", "application/json")
            request.data = json.dumps(body).encode()
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                content = answer.read()
        except urllib.error.HTTPError as refusal:
            raise ValueError(f"{method} {path}: {refusal.read().decode()}") from refusal
        return json.loads(content) if content else None


class Consumer:
    """Takes what webhooks are posted, and writes it down; what comes to /failing it refuses."""

    def __init__(self, exchanges: Path):
        class Answer(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                status = 500 if self.path == "/failing" else 204
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()
                exchange = {
                    "is_posted": True, "method": "POST", "path": self.path, "status": status,
                    "request": {"headers": self.headers.items(), "body": body},
                    "response": {"headers": [], "body": None},
                }  # fmt: skip
                # One line is one write, which schemathesis' lines, appended to the same file, do not come between.
                with exchanges.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(exchange) + "\n")

            def log_message(self, *words: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Consumer:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._server.shutdown()
        self._server.server_close()
