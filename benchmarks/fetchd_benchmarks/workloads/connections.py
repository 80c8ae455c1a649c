"""One file over several connections, from an origin that limits each connection."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from .. import aria2, files
from ..bench import Bench
from ..fetchd import fetchd
from ..nginx import LIMIT_MIB, nginx
from ..results import Sample, compared
from ..stopwatch import Stopwatch
from ..workload import Measured, Workload
from .large_file import METRICS, run_verified

SEVERAL = 8


def measure(bench: Bench) -> Measured:
    mib = bench.amount(128, 32)
    path = "limited/limited.bin"
    with bench.folder() as folder:
        digests = files.make_files(folder / "files", {path: mib << 20})
        with nginx(folder / "origin", folder / "files") as origin:
            url = f"{origin.url}/{path}"
            contenders = bench.fetchds(partial(run_fetchd, url, SEVERAL), f", {SEVERAL} connections")
            contenders[f"aria2c, {SEVERAL} connections"] = partial(run_aria2, url, SEVERAL)
            contenders |= bench.fetchds(partial(run_fetchd, url, 1), ", one")
            contenders["aria2c, one"] = partial(run_aria2, url, 1)
            verified = {name: partial(run_verified, run, digests) for name, run in contenders.items()}
            samples = bench.take_turns("several connections", verified, rounds=min(bench.pairs, 3))
    title = f"One file of {mib} MiB, at most {LIMIT_MIB} MiB/s over each connection"
    return [compared(title, METRICS, samples, f"fetchd, {SEVERAL} connections", "-")], []


def run_fetchd(url: str, connections: int, program: Path, folder: Path) -> Sample:
    with fetchd(program, folder) as service:
        watch = Stopwatch(service.pid)
        service.api.bytes("POST", "/v1/jobs", {"url": url, "connections": connections})
        service.wait_for("succeeded", 1, watch)
        return watch.stop(on_disk=True)


def run_aria2(url: str, connections: int, folder: Path) -> Sample:
    with aria2.aria2(folder, connections=connections) as peer:
        watch = Stopwatch(peer.pid)
        peer.add([url], 1)
        peer.wait_for_stopped(1, watch)
        return watch.stop(on_disk=True)


NOTES = """\
At most three rounds, as the origin sets the time."""

WORKLOAD = Workload("connections", "Several connections", NOTES, measure)
