"""A network and mounts of this process alone (unshare(2)), so that a check uses the real port and changes nothing else."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

CLONE_NEWNS = 0x00020000
CLONE_NEWNET = 0x40000000


def require_root(script: str) -> None:
    if os.geteuid() != 0:
        sys.exit(f"{script}: needs root, for chroot(2) and mounts. Run it with sudo.")


def leave_mounts() -> None:
    """From here on, mounts are visible only to this process and its children, and end with them."""
    _unshare(CLONE_NEWNS)
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)


def leave_network() -> None:
    """From here on, there is only a loopback interface."""
    _unshare(CLONE_NEWNET)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def _unshare(flags: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(flags) != 0:
        sys.exit(f"unshare(2) failed: {os.strerror(ctypes.get_errno())}")
