"""Programs that transfer files and end: curl, and the bare libcurl loop."""

from __future__ import annotations

import hashlib
import os
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from .environment import ENVIRONMENT, NATIVE, ROOT, fail
from .processes import peak_mib
from .results import Sample


def run_command(command: Sequence[str | Path], log: Path) -> Sample:
    """The time includes the start of the program."""
    os.sync()
    with log.open("wb") as output:
        started = time.monotonic()
        process = subprocess.Popen(
            [str(word) for word in command], env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        peak = PeakMemory(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        fail(f"{command[0]} exited with {process.returncode}: {log.read_text(errors='replace')[-2000:]}")
    os.sync()
    on_disk = time.monotonic() - started
    return Sample(wall=wall, cpu=usage.ru_utime + usage.ru_stime, peak=peak.mib(), on_disk=on_disk)


class PeakMemory:
    """The peak memory of a program, sampled while it runs. Its ru_maxrss would include this process before the
    exec."""

    def __init__(self, pid: int):
        self._peak = 0.0
        self._thread = threading.Thread(target=self._watch, args=(pid,))
        self._thread.start()

    def mib(self) -> float:
        self._thread.join()
        return self._peak

    def _watch(self, pid: int) -> None:
        while peak := peak_mib(pid):
            self._peak = peak
            time.sleep(0.005)


def run_curl(urls: Sequence[str], folder: Path, concurrency: int = 1) -> Sample:
    downloads = folder / "downloads"
    downloads.mkdir()
    transfers = folder / "curl.config"
    transfers.write_text("".join(f'url = "{url}"\noutput = "{downloads / url.rsplit("/", 1)[1]}"\n' for url in urls))
    command = ["curl", "-q", "--silent", "--show-error", "--fail", "--config", transfers]
    if concurrency > 1:
        command += ["--parallel", "--parallel-max", str(concurrency)]
    return run_command(command, folder / "curl.log")


def run_floor(url: str, folder: Path, syncs: bool) -> Sample:
    """The bare loop of native/floor.c: one connection, one file."""
    downloads = folder / "downloads"
    downloads.mkdir()
    file = downloads / url.rsplit("/", 1)[1]
    return run_command([compiled("floor.c", "-lcurl"), "sync" if syncs else "no-sync", url, file], folder / "floor.log")


def run_jobs_floor(urls: Sequence[str], folder: Path) -> Sample:
    """The jobs of native/jobs_floor.c: small files with the promises of a durable service."""
    downloads = folder / "downloads"
    downloads.mkdir()
    jobs = folder / "jobs"
    jobs.write_text("".join(f"{url} {url.rsplit('/', 1)[1]}\n" for url in urls))
    return run_command([compiled("jobs_floor.c", "-lcurl", "-lcrypto"), jobs, downloads], folder / "floor.log")


def compiled(name: str, *arguments: str) -> Path:
    """Compiles a file of benchmarks/native into the build folder, unless this version of it exists."""
    source = NATIVE / name
    version = hashlib.sha256(source.read_bytes() + (NATIVE / "loop.h").read_bytes()).hexdigest()[:16]
    shared = ["-shared", "-fPIC"] if name == "counting.c" else []
    program = ROOT / ".build/benchmarks" / f"{source.stem}-{version}{'.so' if shared else ''}"
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        fresh = program.with_suffix(f".{os.getpid()}")
        flags = ["-O2", "-Wall", "-Wextra", *shared]
        subprocess.run(["cc", *flags, "-o", fresh, source, *arguments], check=True)
        fresh.rename(program)
    return program
