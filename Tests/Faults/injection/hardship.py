"""The faults of a trial: failing calls, or small full file systems."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

from library import Faults

from .cases import Case

# The size of a small file system in bytes. It has enough space for the trial after the filling files are removed.
SIZE = 64 << 20
_MARK = "DISK_FAULTS_NAMESPACE"


class FailingCalls:
    def __init__(self, case: Case, faults: Faults):
        self._case = case
        self._faults = faults

    def begin(self) -> None:
        self._faults.set(*self._case.rules)

    def end(self) -> None:
        self._faults.set()

    def remove(self) -> None:
        """Leaves nothing behind; the service has ended."""

    @property
    def reached(self) -> int:
        """The calls that have failed."""
        return sum(1 for line in self._faults.obeyed if line.split()[-1] == self._case.error)


class FullDisk:
    """Mounts one or two file systems for the folders of the service. Requires `inside_namespace`."""

    def __init__(self, case: Case, folder: Path):
        self._full: list[Path] = []
        self.reached = 0
        data, downloads = folder / "data", folder / "downloads"
        if case.area == "full-shared":
            shared = self._mounted(folder / "shared")
            for path in (data, downloads):
                (shared / path.name).mkdir()
                path.symlink_to(shared / path.name)
        if case.area in ("full-database", "full-both"):
            self._mounted(data)
        if case.area in ("full-downloads", "full-both"):
            self._mounted(downloads)

    def _mounted(self, path: Path) -> Path:
        path.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", path], check=True)
        self._full.append(path)
        return path

    def begin(self) -> None:
        self.reached = 1
        for path in self._full:
            _fill(path / "ballast")

    def end(self) -> None:
        for path in self._full:
            (path / "ballast").unlink(missing_ok=True)

    def remove(self) -> None:
        """Leaves nothing behind; the service has ended."""
        for path in self._full:
            subprocess.run(["umount", path], check=True)


def _fill(ballast: Path) -> None:
    """Fills all free space."""
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1 << 16))
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise


def is_possible() -> bool:
    """Whether users without privileges can mount file systems in a namespace of their own."""
    trial = [*_NAMESPACE, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(trial, capture_output=True).returncode == 0


def inside_namespace() -> None:
    """Starts this program again in a namespace where it may mount file systems."""
    if _MARK not in os.environ:
        os.environ[_MARK] = "1"
        os.execvp(_NAMESPACE[0], [*_NAMESPACE, sys.executable, *sys.argv])


_NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"]
