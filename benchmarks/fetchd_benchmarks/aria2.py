"""An aria2c that is controlled over JSON-RPC."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from .environment import chunks, free_port
from .http_client import Client
from .processes import Process, running, wait_until_ready
from .stopwatch import Stopwatch


class Aria2:
    def __init__(self, process: Process, port: int, folder: Path, seconds_to_ready: float):
        self.process, self.port, self.seconds_to_ready = process, port, seconds_to_ready
        self.downloads = folder / "downloads"
        self._rpc = Client(port)

    @property
    def pid(self) -> int:
        return self.process.pid

    def call(self, method: str, parameters: Sequence[object] = ()) -> Any:
        return self._rpc.json("POST", "/jsonrpc", request(method, parameters))["result"]

    def add(self, urls: Sequence[str], batch: int, **options: str) -> list[str]:
        """The identifiers of the downloads, in the order of the addresses."""
        gids: list[str] = []
        for some in chunks(urls, batch):
            calls = [{"methodName": "aria2.addUri", "params": [[url], options]} for url in some]
            gids += [answer[0] for answer in self.call("system.multicall", [calls])]
        return gids

    def wait_for_stopped(self, count: int, watch: Stopwatch) -> None:
        while int(self.call("aria2.getGlobalStat")["numStopped"]) < count:
            watch.pause()


def request(method: str, parameters: Sequence[object] = ()) -> dict:
    return {"jsonrpc": "2.0", "id": "1", "method": method, "params": list(parameters)}


@contextlib.contextmanager
def aria2(folder: Path, *arguments: str, jobs: int = 16, connections: int = 1, results: int = 1000) -> Iterator[Aria2]:
    """`results` is the number of ended downloads that it remembers. fetchd remembers all."""
    port = free_port()
    log = folder / "aria2.log"
    command = [
        "aria2c", "--no-conf", "--enable-rpc", f"--rpc-listen-port={port}", "--rpc-max-request-size=64M",
        f"--dir={folder / 'downloads'}", f"--max-concurrent-downloads={jobs}",
        f"--split={connections}", f"--max-connection-per-server={connections}", "--min-split-size=1M",
        # The fastest way to allocate files. The default writes zeros on some file systems.
        "--file-allocation=falloc",
        f"--max-download-result={results}",
        "--quiet",
        *arguments,
    ]  # fmt: skip
    probe = Client(port)
    begin = time.monotonic()
    with running(command, log) as process:
        wait_until_ready(lambda: probe.status("GET", "/") is not None, process, log)
        probe.close()
        yield Aria2(process, port, folder, time.monotonic() - begin)
