"""Which calls fail in which way, where, and for how long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator

ERRORS = ("EIO", "ENOSPC", "EDQUOT", "EROFS")
SYNCS = ("fdatasync", "fsync", "syncfs")

# What is made of the disk, by which calls. Parts are made at the start of a job, finished files at its end.
CALLS = {
    "parts": (
        "open", "fallocate", "pwrite64", "fdatasync", "syncfs", "fsync", "sync_file_range", "ftruncate", "unlink",
        "linkat",
    ),
    "folder": ("open", "mkdir", "renameat2", "linkat", "fsync", "unlink"),
    "database": ("open", "write", "pwrite64", "fdatasync", "fsync", "ftruncate", "fallocate", "unlink"),
}  # fmt: skip
# A folder that was removed, or a mount that went away.
GONE = ("open", "mkdir", "renameat2")

# once-N: only the N-th call. heals: all, for three seconds. stopped: all, until SIGTERM; then a start without.
# killed-N: the N-th, SIGKILL after the next checkpoint, and a start without. start: all, for the first three seconds.
ONCE = ("once-1", "once-2", "once-3")
KILLED = ("killed-1", "killed-2", "killed-3")

# EIO! and ENOSPC! are failed syncs that lose the bytes, as Linux drops the pages that it could not
# write; ENOSPC+ is a short write.

# File systems of a few megabytes that something else has filled: the downloads', the database's, one for both.
FULL = ("full-downloads", "full-database", "full-both", "full-shared")


@dataclass(frozen=True)
class Case:
    area: str
    call: str
    error: str
    shape: str

    @classmethod
    def parse(cls, text: str) -> Case:
        return cls(*text.split("/"))

    def __str__(self) -> str:
        return "/".join((self.area, self.call, self.error, self.shape))

    @property
    def is_full(self) -> bool:
        return self.error.rstrip("!+") in ("ENOSPC", "EDQUOT")

    @property
    def is_full_disk(self) -> bool:
        return self.area in FULL

    @property
    def rules(self) -> list[str]:
        """What concerns parts is not of the folder that they are in."""
        path = {"parts": ".incomplete", "folder": "/downloads", "database": "fetchd.sqlite"}[self.area]
        number = self.shape.partition("-")[2]
        first, last = (number, number) if number else ("1", "-")
        spared = [f"{self.call} .incomplete 1 - SLEEP=0"] if self.area == "folder" else []
        return [*spared, f"{self.call} {path} {first} {last} {self.error}"]


def every() -> Iterator[Case]:
    for area, calls in CALLS.items():
        for call in calls:
            errors = ERRORS + (("ENOENT",) if area == "folder" and call in GONE else ())
            for error in errors:
                for shape in (*ONCE, "heals", "stopped"):
                    yield Case(area, call, error, shape)
            if call == "pwrite64":
                for shape in (*ONCE, "heals"):
                    yield Case(area, call, "ENOSPC+", shape)
            if call in SYNCS:
                for shape in (*ONCE, *KILLED, "heals", "stopped"):
                    yield Case(area, call, "EIO!", shape)
                for shape in (*ONCE, "killed-1", "heals"):
                    yield Case(area, call, "ENOSPC!", shape)
    for error in ERRORS:
        yield Case("database", "pwrite64", error, "start")
    for area in FULL:
        for shape in ("heals", "stopped", "killed", "start"):
            yield Case(area, "any", "ENOSPC", shape)


def short() -> Iterator[Case]:
    """One for each way in which something can go wrong."""
    for name in (
        "parts/fdatasync/EIO!/once-2", "parts/fdatasync/EIO!/killed-2", "parts/syncfs/EIO!/killed-1",
        "parts/pwrite64/EIO/stopped", "parts/open/EROFS/heals", "parts/fallocate/ENOSPC/once-1",
        "folder/fsync/EIO!/once-1", "folder/renameat2/EROFS/heals", "folder/mkdir/ENOENT/stopped",
        "database/pwrite64/EIO/heals", "database/pwrite64/ENOSPC/stopped", "database/fdatasync/EIO!/killed-2",
        "database/fdatasync/EIO/stopped", "database/pwrite64/ENOSPC/start", "full-downloads/any/ENOSPC/stopped",
        "full-database/any/ENOSPC/stopped", "full-shared/any/ENOSPC/heals",
    ):  # fmt: skip
        yield Case.parse(name)
