"""What all modules share: paths, ports, the environment of child processes."""

from __future__ import annotations

import os
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
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return probe.getsockname()[1]


def program(name: str) -> str | None:
    return shutil.which(name, path=ENVIRONMENT["PATH"])
