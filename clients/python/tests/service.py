"""A real service, and a server whose files it downloads."""

from __future__ import annotations

import http.server
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from typing import Dict, List, Optional

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = os.environ.get("FETCHD_BIN", str(ROOT / ".build/debug/fetchd"))


class Service:
    """The service keeps its port and its folders over restarts."""

    def __init__(self, *arguments: str) -> None:
        self.folder = tempfile.TemporaryDirectory()
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.arguments = arguments
        self.process: Optional["subprocess.Popen[bytes]"] = None
        self.start()

    def start(self) -> None:
        command: List[str] = [PROGRAM, "serve", "--listen", f"127.0.0.1:{self.port}", "--allow-network", "127.0.0.0/8"]
        command += ["--data-dir", f"{self.folder.name}/data", "--downloads-dir", f"{self.folder.name}/downloads"]
        with open(f"{self.folder.name}/log", "ab") as log:
            self.process = subprocess.Popen([*command, *self.arguments], stdout=log, stderr=log)
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{self.url}/readyz").close()
                return
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.05)
        raise RuntimeError(Path(f"{self.folder.name}/log").read_text())

    def kill(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self) -> None:
        self.kill()
        self.folder.cleanup()


class Files:
    """Serves bytes. A file with a gate waits in its middle until the gate is opened. Ranges continue it."""

    def __init__(self) -> None:
        self.files: Dict[str, bytes] = {}
        self.gates: Dict[str, threading.Event] = {}
        files = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                files.answer(self)

            def log_message(self, *arguments: object) -> None:
                pass

        class Server(http.server.ThreadingHTTPServer):
            def handle_error(self, request: object, address: object) -> None:
                """A service that is killed resets its connections."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def answer(self, request: http.server.BaseHTTPRequestHandler) -> None:
        body = self.files.get(request.path)
        if body is None:
            request.send_error(404)
            return
        match = re.match(r"bytes=(\d+)-", request.headers.get("Range", ""))
        start = int(match[1]) if match else 0
        request.send_response(206 if match else 200)
        request.send_header("ETag", '"1"')
        request.send_header("Content-Length", str(len(body) - start))
        if match:
            request.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
        request.end_headers()
        try:
            gate = self.gates.get(request.path)
            if gate is not None and not gate.is_set():
                middle = max(start, len(body) // 2)
                request.wfile.write(body[start:middle])
                request.wfile.flush()
                gate.wait(60)
                start = middle
            request.wfile.write(body[start:])
        except OSError:
            pass

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
