"""What all modules share: paths, ports, the environment of child processes."""

from __future__ import annotations

import os
import random
import shutil
import socket
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
LOOPBACK = "127.0.0.1"

# Environment variables for proxies or for another fetchd must not affect the runs.
ENVIRONMENT = {
    name: value
    for name, value in os.environ.items()
    if not name.lower().endswith("_proxy") and not name.startswith("FETCHD_")
}
ENVIRONMENT["PATH"] = os.environ.get("PATH", "") + ":/usr/sbin"


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


def program(name: str) -> str | None:
    return shutil.which(name, path=ENVIRONMENT["PATH"])
