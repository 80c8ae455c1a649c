"""A fetchd with its own empty folders."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from .environment import LOOPBACK, chunks, fail, free_port
from .http_client import Client
from .processes import Process, running, wait_until_ready
from .stopwatch import Stopwatch

LARGEST_BATCH = 10_000
NEVER = "2999-01-01T00:00:00Z"
OUTSTANDING = ("queued", "running", "waiting", "paused")


class Fetchd:
    def __init__(self, process: Process, port: int, folder: Path, seconds_to_ready: float):
        self.process, self.port, self.folder = process, port, folder
        self.seconds_to_ready = seconds_to_ready
        self.api = Client(port)

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def downloads(self) -> Path:
        return self.folder / "downloads"

    def client(self) -> Client:
        """Another connection."""
        return Client(self.port)

    def submit(self, jobs: Sequence[dict], batch: int = LARGEST_BATCH) -> list[dict]:
        created = []
        for some in chunks(jobs, batch):
            created += self.api.json("POST", "/v1/jobs/batch", {"jobs": some})["jobs"]
        return created

    def submit_queued(self, count: int, session: str = "default", name: str = "file") -> None:
        """Jobs that do not start. Their addresses differ."""
        for numbers in chunks(range(count), LARGEST_BATCH):
            self.api.bytes("POST", "/v1/jobs/batch", {"jobs": [queued_job(session, f"{name}-{n}") for n in numbers]})

    def counts(self, session: str = "default") -> dict[str, int]:
        return self.api.json("GET", f"/v1/sessions/{session}")["counts"]

    def wait_for(self, state: str, count: int, watch: Stopwatch, session: str = "default") -> None:
        """Returns when the session has that many jobs in that state."""
        bad = {"failed", "cancelled"} - {state}
        while True:
            counts = self.counts(session)
            if any(counts[name] for name in bad):
                ended = self.api.json("GET", f"/v1/jobs?session={session}&state=failed&limit=3")["jobs"]
                causes = [job["failure"] for job in ended]
                log = (self.folder / "fetchd.log").read_text(errors="replace")[-2000:]
                fail(f"fetchd: {counts}; {causes}; {log}")
            if counts[state] == count:
                return
            watch.pause()

    def metric(self, name: str) -> float | None:
        for line in self.api.bytes("GET", "/metrics").decode().splitlines():
            if line.startswith(f"{name} "):
                return float(line.split()[1])
        return None


def queued_job(session: str, name: str) -> dict:
    return {"url": f"http://{LOOPBACK}:9/{name}", "session": session, "not_before": NEVER}


@contextlib.contextmanager
def fetchd(
    program: Path, folder: Path, *arguments: str, jobs: int = 16, connections: int | None = None, is_node: bool = False,
    runner: Sequence[str] = (), environment: dict[str, str] | None = None,
) -> Iterator[Fetchd]:  # fmt: skip
    """Starts the program in the folder. A second start in the same folder finds the data of the first.

    `jobs` run at a time, with as many connections to a host, or `connections`. The other services of its database
    reach a node at its address. `runner` is a command that runs the program, such as valgrind."""
    port = free_port()
    command = [
        *runner, str(program), "serve",
        "--listen", f"{LOOPBACK}:{port}",
        "--data-dir", str(folder / "data"),
        "--downloads-dir", str(folder / "downloads"),
        "--max-concurrent-jobs", str(jobs),
        "--max-connections-per-host", str(connections or jobs),
        "--allow-network", "127.0.0.0/8",
        "--log-level", "warning",
        *(["--node-url", f"http://{LOOPBACK}:{port}"] if is_node else []),
        *arguments,
    ]  # fmt: skip
    log = folder / "fetchd.log"
    probe = Client(port)
    begin = time.monotonic()
    with running(command, log, environment) as process:
        wait_until_ready(lambda: probe.status("GET", "/readyz") == 200, process, log, patience=300)
        probe.close()
        yield Fetchd(process, port, folder, time.monotonic() - begin)
