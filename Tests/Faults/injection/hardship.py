"""What a service is put through: calls that fail, or small file systems that are full."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

from library import Faults

from .cases import Case

# Bytes of a small file system; enough for everything once nothing else fills it.
SIZE = 64 << 20
# Bytes that are left when it is full: less than any file of a trial, so that something has to wait.
LEFT = {"full-downloads": 200_000, "full-database": 0, "full-both": 0, "full-shared": 0}
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
        """Calls that have failed."""
        return sum(1 for line in self._faults.obeyed if line.split()[-1] == self._case.error)


class FullDisk:
    """Mounts a file system, or two, where the service is to keep its folders; needs `inside_namespace`."""

    def __init__(self, case: Case, folder: Path):
        self._left = LEFT[case.area]
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
            _fill(path / "ballast", self._left)

    def end(self) -> None:
        for path in self._full:
            (path / "ballast").unlink(missing_ok=True)

    def remove(self) -> None:
        """Leaves nothing behind; the service has ended."""
        for path in self._full:
            subprocess.run(["umount", path], check=True)


def _fill(ballast: Path, left: int) -> None:
    """Everything that is free but so many bytes."""
    with ballast.open("wb", buffering=0) as file:
        status = os.statvfs(ballast.parent)
        size = max(status.f_bavail * status.f_frsize - left, 0)
        while size > 0:
            try:
                size -= file.write(bytes(min(size, 1 << 16)))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                return


def is_possible() -> bool:
    """Whether this machine lets ordinary users mount file systems that only they see."""
    trial = [*_NAMESPACE, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(trial, capture_output=True).returncode == 0


def inside_namespace() -> None:
    """Begins this program again where it may mount."""
    if _MARK not in os.environ:
        os.environ[_MARK] = "1"
        os.execvp(_NAMESPACE[0], [*_NAMESPACE, sys.executable, *sys.argv])


_NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount"]
