"""curl as a client of fetchd behind a proxy."""

from __future__ import annotations

import contextlib
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .environment import ENVIRONMENT, LOOPBACK, Failure, require

TOKEN = "correct-horse"


@dataclass(frozen=True)
class Client:
    """curl, as a client of one of the two hosts of a proxy."""

    port: int
    authority: Path
    name: str
    prefix: str
    options: tuple[str, ...] = ()
    token: str = TOKEN

    def command(self, path: str, *options: str) -> list[str]:
        return [
            "curl", "--silent", "--show-error", "--noproxy", "*", "--cacert", str(self.authority), "--resolve",
            f"{self.name}:{self.port}:{LOOPBACK}", "--header", f"Authorization: Bearer {self.token}", "--max-time", "100",
            *self.options, *options, f"https://{self.name}:{self.port}{self.prefix}{path}",
        ]  # fmt: skip

    def ask(self, path: str, *options: str, body: bytes = b"") -> tuple[int, dict[str, str], bytes]:
        done = subprocess.run(self.command(path, "--include", *options), input=body, capture_output=True, env=ENVIRONMENT)
        if done.returncode:
            raise Failure(f"curl {path} ended with {done.returncode}: {done.stderr.decode(errors='replace').strip()}")
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        while head.startswith(b"HTTP/1.1 100"):
            head, _, content = content.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        version = "HTTP/2 " if "--http2" in self.options else "HTTP/1.1 "
        require(lines[0].startswith(version), f"{path} was answered with {lines[0]}")
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        return int(lines[0].split()[1]), fields, content


@contextlib.contextmanager
def events(client: Client, path: str) -> Iterator[subprocess.Popen]:
    command = client.command(path, "--no-buffer", "--header", "Accept: text/event-stream")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def require_line(process: subprocess.Popen, wanted: str, patience: float) -> None:
    """A line of the stream. A timer ends curl, so that reading cannot take longer."""
    timer = threading.Timer(patience, process.kill)
    timer.start()
    try:
        for line in process.stdout:
            if line.strip() == wanted:
                return
        errors = process.stderr.read().strip()
        raise Failure(f"{wanted!r} did not arrive within {patience:g} s. {errors}")
    finally:
        timer.cancel()
