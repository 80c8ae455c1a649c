"""Many small files from a server that allows ten requests a second."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from .. import aria2
from ..bench import Bench
from ..environment import ENVIRONMENT
from ..fetchd import fetchd
from ..limited_origin import ALLOWED, BODY, LimitedOrigin
from ..results import Metric, Sample, Table
from ..stopwatch import Stopwatch
from ..workload import Measured, Workload

METRICS = [
    Metric("done", "files", 0),
    Metric("failed", "failed", 0),
    Metric("refused", "429", 0),
    Metric("forbidden", "403", 0),
    Metric("wall", "wall, s", 1, has_range=True),
]


def measure(bench: Bench) -> Measured:
    count = bench.amount(2000, 50)
    contenders: dict[str, Callable[[Path], Sample]] = {}
    for note, arguments in (("", ()), (", with a rule", ("--hosts", f"127.0.0.1 requests_per_second={ALLOWED}"))):
        contenders |= bench.fetchds(partial(run_fetchd, arguments, count), note)
    contenders["aria2c"] = partial(run_aria2, count, ())
    contenders["aria2c, one at a time"] = partial(run_aria2, count, ("--max-concurrent-downloads=1",))
    contenders["wget2"] = partial(run_wget2, count, ())
    contenders["wget2, one at a time, with --wait=0.1"] = partial(run_wget2, count, ("--max-threads=1", "--wait=0.1"))
    title = f"{count:,} files of 1 KiB from a server that allows {ALLOWED} requests a second"
    return [Table(title, METRICS, bench.take_turns(title, contenders, rounds=1))], []


def names(count: int) -> list[str]:
    return [f"{number}.bin" for number in range(count)]


def sample(origin: LimitedOrigin, downloads: Path, count: int, wall: float) -> Sample:
    done = sum(1 for name in names(count) if (downloads / name).is_file() and (downloads / name).read_bytes() == BODY)
    return Sample(
        done=done, failed=count - done, refused=origin.counts[429], forbidden=origin.counts[403], wall=wall
    )  # fmt: skip


def run_fetchd(arguments: tuple[str, ...], count: int, program: Path, folder: Path) -> Sample:
    with LimitedOrigin() as origin, fetchd(program, folder, *arguments) as service:
        begin = time.monotonic()
        service.submit([{"url": f"{origin.url}/{name}"} for name in names(count)])
        while (counts := service.counts())["succeeded"] + counts["failed"] < count:
            time.sleep(0.1)
        return sample(origin, service.downloads, count, time.monotonic() - begin)


def run_aria2(count: int, arguments: tuple[str, ...], folder: Path) -> Sample:
    options = ("--max-tries=20", "--retry-wait=1", *arguments)
    with LimitedOrigin() as origin, aria2.aria2(folder, *options, results=count + 1) as peer:
        watch = Stopwatch(peer.pid)
        begin = time.monotonic()
        peer.add([f"{origin.url}/{name}" for name in names(count)], count)
        peer.wait_for_stopped(count, watch)
        return sample(origin, peer.downloads, count, time.monotonic() - begin)


def run_wget2(count: int, arguments: tuple[str, ...], folder: Path) -> Sample:
    downloads = folder / "downloads"
    downloads.mkdir()
    with LimitedOrigin() as origin:
        (folder / "urls").write_text("".join(f"{origin.url}/{name}\n" for name in names(count)))
        command = [
            "wget2", "--no-config", "--quiet", "--tries=20", "--waitretry=10", f"--input-file={folder / 'urls'}",
            *arguments,
        ]  # fmt: skip
        begin = time.monotonic()
        subprocess.run(command, cwd=downloads, env=ENVIRONMENT, check=False, stdin=subprocess.DEVNULL)
        return sample(origin, downloads, count, time.monotonic() - begin)


NOTES = f"""\
The server answers 429 beyond {ALLOWED} requests in a second, and after twenty of these 403 for a minute. It names no time. In
the best case, the files take {2000 // ALLOWED} s. fetchd without a rule learns the rate, and retries what was refused, with one
attempt for each job. aria2c (`--max-tries=20 --retry-wait=1`) and wget2 (`--tries=20 --waitretry=10`) take 429 and 403 for
final. A user who knows the limit can have wget2 pause between requests, of one program."""

WORKLOAD = Workload("limited-host", "A server that limits requests", NOTES, measure)
