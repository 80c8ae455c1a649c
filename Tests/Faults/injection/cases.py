"""The faults: which calls fail, with which error, in which folder, and for how long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator

ERRORS = ("EIO", "ENOSPC", "EDQUOT", "EROFS")
SYNCS = ("fdatasync", "fsync", "syncfs")

# The purposes of the system calls. Parts are created at the start of a job, and finished files at its end.
CALLS = {
    "parts": (
        "open", "fallocate", "pwrite64", "fdatasync", "syncfs", "fsync", "sync_file_range", "ftruncate", "unlink",
        "linkat",
    ),
    "folder": ("open", "mkdir", "renameat2", "linkat", "fsync", "unlink"),
    "database": ("open", "write", "pwrite64", "fdatasync", "fsync", "ftruncate", "fallocate", "unlink"),
}  # fmt: skip
# The folder was removed, or its file system was unmounted.
GONE = ("open", "mkdir", "renameat2")

# once-N: only the N-th call fails. heals: all calls fail for three seconds. stopped: all calls fail until SIGTERM; then
# a start without faults.
# killed-N: the N-th call fails, then SIGKILL after the next checkpoint, and a start without faults. start: all calls
# fail in the first three seconds of a start. none: no call fails; this run finds out which calls are made.
ONCE = ("once-1", "once-2", "once-3")
LATER = tuple(f"once-{number}" for number in (10, 20, 30, 40, 50))
KILLED = ("killed-1", "killed-2", "killed-3")

# EIO! and ENOSPC! are failed syncs that lose the bytes, because Linux drops pages that it could not write. ENOSPC+ is a
# short write.

# Small file systems that other files have filled: of the downloads, of the database, or of both.
FULL = ("full-downloads", "full-database", "full-both", "full-shared")


# A part of the paths of each area. The first match counts.
PATHS = {"parts": ".incomplete", "database": "fetchd.sqlite", "folder": "/downloads"}


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
    def is_unsaved(self) -> bool:
        """No change can be stored while the fault lasts."""
        return self.area == "database" and self.call in ("pwrite64", "fdatasync")

    @property
    def is_full_disk(self) -> bool:
        return self.area in FULL

    @property
    def rules(self) -> list[str]:
        """The rules for the fault. A fault of the folder does not affect the parts and the database in it."""
        path = PATHS[self.area]
        number = self.shape.partition("-")[2]
        first, last = (number, number) if number else ("1", "-")
        others = [PATHS["parts"], PATHS["database"]] if self.area == "folder" else []
        spared = [f"{self.call} {other} 1 - NOTHING" for other in others]
        return [*spared, f"{self.call} {path} {first} {last} {self.error}"]


NOTHING = Case("folder", "*", "NOTHING", "none")


def every(made: set[tuple[str, str]]) -> Iterator[Case]:
    """made: by area, the calls that occur between the start and the end of a few jobs."""
    for area, calls in CALLS.items():
        for call in calls:
            if (area, call) in made:
                yield from _running(area, call)
            if area == "database":
                for error in ERRORS:
                    yield Case(area, call, error, "start")
    for area in FULL:
        for shape in ("heals", "stopped", "killed", "start"):
            yield Case(area, "any", "ENOSPC", shape)


def _running(area: str, call: str) -> Iterator[Case]:
    shapes = {error: (*ONCE, "heals", "stopped") for error in ERRORS}
    if area == "folder" and call in GONE:
        shapes["ENOENT"] = (*ONCE, "heals", "stopped")
    if call == "pwrite64":
        # The first files are small. Later calls belong to larger files, and to a file with several connections.
        shapes["EIO"] += LATER
        shapes["ENOSPC+"] = (*ONCE, "heals")
    if call in SYNCS:
        shapes["EIO!"] = (*ONCE, *KILLED, "heals", "stopped")
        shapes["ENOSPC!"] = (*ONCE, "killed-1", "heals")
    for error, chosen in shapes.items():
        for shape in chosen:
            yield Case(area, call, error, shape)


def short() -> Iterator[Case]:
    """A selection with one case for each kind of fault."""
    for name in (
        "parts/fdatasync/EIO!/once-2", "parts/fdatasync/EIO!/killed-2", "parts/syncfs/EIO!/killed-1",
        "parts/pwrite64/EIO/stopped", "parts/pwrite64/EDQUOT/heals", "parts/open/EROFS/heals",
        "parts/fallocate/ENOSPC/once-1", "folder/fsync/EIO!/once-1", "folder/renameat2/EROFS/heals",
        "folder/mkdir/ENOENT/stopped",
        "database/pwrite64/EIO/heals", "database/pwrite64/ENOSPC/stopped", "database/fdatasync/EIO!/killed-2",
        "database/fdatasync/EIO/stopped", "database/pwrite64/ENOSPC/start", "full-downloads/any/ENOSPC/stopped",
        "full-database/any/ENOSPC/stopped", "full-shared/any/ENOSPC/heals",
    ):  # fmt: skip
        yield Case.parse(name)
