"""A fetchd with its own folders, which can be killed and started again."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any

from .environment import ENVIRONMENT, LOOPBACK, free_port
from .outcomes import Failure
from .processes import is_open, stop, until

SESSION = "interop"


class Fetchd:
    def __init__(
        self, program: Path, folder: Path, *options: str, token: str | None = None,
        settings: dict[str, str] | None = None,
    ):  # fmt: skip
        self.port = free_port()
        self.folder = folder
        self._token = token
        self._environment = ENVIRONMENT | (settings or {}) | ({"FETCHD_TOKEN": token} if token else {})
        self.downloads = folder / "downloads"
        self._command = [
            program, "serve", "--listen", f"{LOOPBACK}:{self.port}", "--data-dir", folder / "data", "--downloads-dir",
            self.downloads, "--allow-network", "127.0.0.0/8", "--enable-rehearsals", *options,
        ]  # fmt: skip
        self._process: subprocess.Popen | None = None

    def __enter__(self) -> Fetchd:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process:
            stop(self._process)

    def start(self) -> None:
        log = self.folder / "fetchd.log"
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [str(word) for word in self._command], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                env=self._environment,
            )  # fmt: skip
        process = self._process
        until("fetchd accepts connections", lambda: is_open(self.port, process, log))
        until("fetchd is ready", lambda: self.exchange("GET", "/readyz")[0] == 200)

    def kill(self) -> None:
        """SIGKILL, as the kernel sends it when memory runs out."""
        assert self._process
        self._process.kill()
        self._process.wait()

    def exchange(
        self, method: str, path: str, body: object = None, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=60)
        try:
            content = None if body is None else json.dumps(body).encode()
            fields = {"Content-Type": "application/json"} if content else {}
            if self._token:
                fields["Authorization"] = f"Bearer {self._token}"
            connection.request(method, path, content, fields | (headers or {}))
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.headers.items()}, answer.read()
        finally:
            connection.close()

    def json(self, method: str, path: str, body: object = None) -> Any:
        status, _, content = self.exchange(method, path, body)
        if status >= 300:
            raise Failure(f"{method} {path} answered {status}: {content[:300].decode(errors='replace')}")
        return json.loads(content) if content else None

    def declare(self, configuration: dict) -> None:
        self.json("PUT", f"/v1/sessions/{SESSION}", {"finish_delay_seconds": 0} | configuration)

    def submit(self, url: str, **members: object) -> str:
        return self.json("POST", "/v1/jobs", {"url": url, "session": SESSION} | members)["id"]

    def job(self, id: str) -> dict:
        return self.json("GET", f"/v1/jobs/{id}")

    def wait_for(self, id: str, *states: str, patience: float = 60) -> dict:
        """The job as soon as it is in one of these states. Any other final state has failed."""
        final = {"succeeded", "failed", "cancelled"}

        def reached() -> dict | None:
            job = self.job(id)
            if job["state"] in states:
                return job
            if job["state"] in final or (job["state"] == "waiting" and job["reason"] in ("credentials", "url")):
                raise Failure(f"the job is {described(job)}")
            return None

        return until(f"the job is {' or '.join(states)}", reached, patience)

    def wait_for_bytes(self, id: str, count: int) -> None:
        def arrived() -> bool:
            job = self.job(id)
            if job["state"] in ("succeeded", "failed"):
                raise Failure(f"the job is {described(job)} before it could be stopped")
            return job["progress"]["bytes_received"] >= count

        until(f"{count} bytes have arrived", arrived)

    def download(self, url: str, patience: float = 60, **members: object) -> dict:
        return self.wait_for(self.submit(url, **members), "succeeded", patience=patience)

    def path(self, job: dict) -> Path:
        return self.downloads / job["file"]["path"]


def described(job: dict) -> str:
    if failure := job["failure"]:
        return f"{job['state']} ({failure['code']}: {failure['message']})"
    return f"{job['state']} ({job['reason']})" if job["reason"] else job["state"]


def default_program(root: Path) -> Path:
    return Path(os.environ.get("FETCHD_BIN") or root / ".build/debug/fetchd").resolve()
