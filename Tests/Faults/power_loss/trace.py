"""The trace that Tests/Faults/disk_faults.c writes; `struct record` there is its definition."""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path


class Kind(IntEnum):
    WRITE = 1
    TRUNCATE = 2
    CREATE = 3
    RENAME = 4
    LINK = 5
    UNLINK = 6
    MKDIR = 7
    SYNC_BEGIN = 8
    SYNC_END = 9
    SYNCFS_BEGIN = 10
    SYNCFS_END = 11
    MODE = 12


@dataclass(frozen=True, slots=True)
class Record:
    kind: Kind
    inode: int
    offset: int
    number: int
    # Nanoseconds of the monotonic clock, which `time.monotonic_ns` reads as well.
    time: int
    # Nanoseconds since 1970.
    modified: int
    # The position and the number of its bytes in the trace.
    start: int
    length: int


_HEAD = struct.Struct("=IIQQqqqq")


class Trace:
    """A trace. Paths are relative to `root`, which is the empty path."""

    def __init__(self, file: Path, root: Path):
        with file.open("rb") as trace:
            self._bytes = mmap.mmap(trace.fileno(), 0, access=mmap.ACCESS_READ)
        self._root = str(root)
        self.records: list[Record] = []
        position = 0
        # A killed process may leave an incomplete record. Its call had not returned.
        while position + _HEAD.size <= len(self._bytes):
            kind, length, _, inode, offset, number, time, modified = _HEAD.unpack_from(self._bytes, position)
            position += _HEAD.size
            if position + length > len(self._bytes):
                break
            self.records.append(Record(Kind(kind), inode, offset, number, time, modified, position, length))
            position += length

    def data(self, record: Record, first: int = 0, last: int | None = None) -> bytes:
        """The bytes of a write, or of a range of it."""
        end = record.length if last is None else last
        return self._bytes[record.start + first : record.start + end]

    def paths(self, record: Record) -> list[str]:
        return [self._relative(path.decode()) for path in self.data(record).split(b"\0")]

    def _relative(self, path: str) -> str:
        return path.removeprefix(self._root).strip("/")
