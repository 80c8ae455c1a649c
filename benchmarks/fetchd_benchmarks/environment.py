"""What all modules share: paths, the environment of child processes, messages."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import socket
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn, TypeVar

ROOT = Path(__file__).resolve().parents[2]
NATIVE = ROOT / "benchmarks/native"
LOOPBACK = "127.0.0.1"
DESCRIPTORS = 65_536  # enough for 10,000 downloads with their files, and 11,000 clients

Item = TypeVar("Item")

# Environment variables for proxies, for another fetchd or for another PostgreSQL must not affect the runs.
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if not name.lower().endswith("_proxy") and not name.startswith(("FETCHD_", "PG"))
}
ENVIRONMENT["PATH"] = os.environ.get("PATH", "") + ":/usr/sbin"


def progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def fail(why: str) -> NoReturn:
    sys.exit(f"{Path(sys.argv[0]).name}: {why}")


def free_port() -> int:
    """A port outside the range that the system hands out by itself, so that no other program gets it before its server."""
    while True:
        port = random.SystemRandom().randrange(20_000, 30_000)
        with socket.socket() as probe:
            try:
                probe.bind((LOOPBACK, port))
                return port
            except OSError:
                continue


def chunks(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def allow_descriptors() -> int:
    """Sets the limit of open files to the highest possible value, for this process and all that it starts. As root, it
    is raised where the system allows that. Returns the limit."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    for limit in (max(hard, DESCRIPTORS), hard):
        with contextlib.suppress(ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
            return limit
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
