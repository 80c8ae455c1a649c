"""fetchd as a process that can be killed and started again in the same folders."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Protocol

# The timeout, in seconds, for conditions that should hold at once, on a busy machine.
PATIENCE = 60


class Unreachable(Exception):
    """There was no answer: the process has ended, or the connection was lost."""


class Overdue(Exception):
    """The condition did not become true in time."""


def until(what: str, condition: Callable[[], Any], patience: float = PATIENCE) -> Any:
    """Waits for a condition. The error names the condition that did not become true."""
    deadline = time.monotonic() + patience
    while True:
        if value := condition():
            return value
        if time.monotonic() > deadline:
            raise Overdue(f"waited {patience:.0f} s in vain until {what}")
        time.sleep(0.03)


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    document: Any


class Surroundings(Protocol):
    """The library that is preloaded into the process, and its environment variables."""

    @property
    def environment(self) -> dict[str, str]: ...


class Service:
    """fetchd in a folder with `data`, `downloads` and, by default, the log. Only one process at a time runs in a
    folder.

    port: 0: the system chooses a port at each start.
    downloads: another folder for the files.
    """

    def __init__(
        self, program: Path, folder: Path, faults: Surroundings | None = None, arguments: tuple[str, ...] = (),
        log: Path | None = None, port: int = 0, downloads: Path | None = None,
    ):  # fmt: skip
        self.folder = folder
        self.data = folder / "data"
        self.downloads = downloads or folder / "downloads"
        self.log = log or folder / "fetchd.log"
        self.starts = 0
        self._command = [
            str(program), "serve", "--listen", f"127.0.0.1:{port}", "--data-dir", str(self.data),
            "--downloads-dir", str(self.downloads), "--allow-network", "127.0.0.0/8", *arguments,
        ]  # fmt: skip
        self._faults = faults
        self._process: subprocess.Popen[bytes] | None = None
        self._announced = 0
        self._port: int | None = None

    def start(self) -> None:
        """Starts the process and returns at once. `is_ready` says when it answers."""
        self._announced = self.log.stat().st_size if self.log.exists() else 0
        self._port = None
        self.starts += 1
        environment = {k: v for k, v in os.environ.items() if not k.startswith("FETCHD_")}
        environment |= self._faults.environment if self._faults else {}
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    @property
    def is_ready(self) -> bool:
        return self.port is not None

    @property
    def port(self) -> int | None:
        """The port that the system has chosen, from the log."""
        if self._port is None and self.log.exists():
            with self.log.open("rb") as log:
                log.seek(self._announced)
                found = re.search(rb" is ready at http://127\.0\.0\.1:(\d+)", log.read())
            self._port = int(found.group(1)) if found else None
        return self._port

    @property
    def pid(self) -> int | None:
        """The process id of the present or the last process."""
        return self._process.pid if self._process else None

    @property
    def status(self) -> int | None:
        """The exit status of the process, negative for a signal; None while it runs."""
        assert self._process
        return self._process.poll()

    def signal(self, number: signal.Signals) -> None:
        assert self._process
        if self._process.poll() is None:
            self._process.send_signal(number)

    def kill(self) -> None:
        """Sends SIGKILL and waits for the end of the process."""
        if self._process and self._process.poll() is None:
            self._process.kill()
            self._process.wait(PATIENCE)

    def terminate(self, patience: float) -> int | None:
        """Sends SIGTERM and returns the exit status; None if the process did not end within the time."""
        self.signal(signal.SIGTERM)
        return self.wait(patience)

    def wait(self, patience: float) -> int | None:
        assert self._process
        try:
            return self._process.wait(patience)
        except subprocess.TimeoutExpired:
            return None

    def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None, patience: float = 30
    ) -> Answer:
        """Returns the answer, whatever its status. Raises `Unreachable` if there is none."""
        if self.port is None:
            raise Unreachable("not started")
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=patience)
        try:
            content = None if body is None else json.dumps(body)
            fields = (headers or {}) | ({} if body is None else {"Content-Type": "application/json"})
            connection.request(method, path, content, fields)
            response = connection.getresponse()
            text = response.read()
            is_json = "json" in (response.headers.get_content_type() if text else "")
            names = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, names, json.loads(text) if is_json else text)
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"{method} {path}: {error!r}") from error
        finally:
            connection.close()
