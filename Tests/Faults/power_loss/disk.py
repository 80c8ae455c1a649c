"""Rebuilds the disk after a power loss from a trace: unsynced changes are lost, completely or in part.

The head of scripts/check power-loss says what may be lost, with sources.
"""

from __future__ import annotations

import ctypes
import os
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Hashable, Iterator

from .history import Change, File, History, order_keys, with_predecessors
from .trace import Kind, Record

PAGE = 4096
SECTOR = 512

# The possible fates of unsynced bytes and names.
FATES = ("lost", "kept", "partial")


@dataclass(frozen=True)
class Loss:
    """The random decisions of a power loss, from a seed."""

    semantics: str
    bytes_fate: str
    names_fate: str
    seed: str

    def __str__(self) -> str:
        return f"{self.semantics}: unsynced bytes {self.bytes_fate}, unsynced names {self.names_fate}"


@dataclass
class Content:
    """The content of a file, with its metadata."""

    file: File
    bytes: bytearray
    # Nanoseconds since 1970.
    modified: int
    mode: int


@dataclass
class Left:
    """The state after a power loss."""

    # The permissions, by path.
    folders: dict[str, int]
    files: dict[str, Content]
    lost_changes: int = 0
    lost_writes: int = 0
    torn_files: int = 0

    def __str__(self) -> str:
        return (
            f"{self.lost_changes} changes of names lost, {self.lost_writes} writes lost,"
            f" {self.torn_files} files kept in part"
        )


def rebuilt(history: History, moment: int, loss: Loss) -> Left:
    """The disk after the first `moment` records, and then the loss."""
    return _Rebuilding(history, moment, loss).run()


class _Rebuilding:
    def __init__(self, history: History, moment: int, loss: Loss):
        self._history = history
        self._moment = moment
        self._loss = loss
        self._random = random.Random(loss.seed)
        self._left = Left({"": 0o755}, {})
        self._kept: set[int] = set()

    def run(self) -> Left:
        changes = [change for change in self._history.changes if change.index < self._moment]
        self._kept = self._kept_changes(changes)
        self._left.lost_changes = len(changes) - len(self._kept)
        names, modes = self._named([change for change in changes if change.index in self._kept])
        for path, file in names.items():
            if self._is_reachable(path):
                self._left.files[path] = self._content(file, modes.get(file, file.mode))
        return self._left

    # MARK: Names

    def _kept_changes(self, changes: list[Change]) -> set[int]:
        semantics = self._loss.semantics
        durable = self._history.durable_changes(self._moment, semantics)
        match self._loss.names_fate:
            case "lost":
                return durable
            case "kept":
                return {change.index for change in changes}
        # Each folder (for ext4: the journal) has stored a random number of its changes.
        ends: dict[Hashable, list[int]] = {}
        for change in changes:
            if change.index not in durable:
                for key in order_keys(change, semantics):
                    ends.setdefault(key, []).append(change.index)
        reached = {index for indexes in ends.values() for index in indexes[: self._random.randint(0, len(indexes))]}
        return with_predecessors(changes, durable | reached, semantics)

    def _named(self, changes: list[Change]) -> tuple[dict[str, File], dict[File, int]]:
        names: dict[str, File] = {}
        modes: dict[File, int] = {}
        for change in changes:
            match change.kind:
                case Kind.CREATE if change.paths:
                    names[change.paths[0]] = change.file
                case Kind.MKDIR:
                    self._left.folders[change.paths[0]] = change.mode
                case Kind.UNLINK:
                    names.pop(change.paths[0], None)
                case Kind.RENAME:
                    names.pop(change.paths[0], None)
                    names[change.paths[1]] = change.file
                case Kind.LINK:
                    names[change.paths[1]] = change.file
                case Kind.MODE:
                    modes[change.file] = change.mode
        for path in sorted(self._left.folders):
            if not self._is_reachable(path):
                del self._left.folders[path]
        return names, modes

    def _is_reachable(self, path: str) -> bool:
        return path == "" or path.rpartition("/")[0] in self._left.folders

    # MARK: Bytes

    def _content(self, file: File, mode: int) -> Content:
        records = self._history.trace.records
        durable = self._history.durable_bytes(file, self._moment)
        content = Content(file, bytearray(), file.modified, mode)
        pending: list[int] = []
        for index in file.changes:
            if index >= self._moment:
                break
            if index < durable:
                self._apply(content, records[index])
            else:
                pending.append(index)
        if pending:
            self._apply_partly(content, self._until_lost_truncation(pending))
        return content

    def _until_lost_truncation(self, pending: list[int]) -> list[int]:
        """Writes after a truncation are lost if the truncation is lost."""
        for position, index in enumerate(pending):
            if self._history.trace.records[index].kind is Kind.TRUNCATE and index not in self._kept:
                self._left.lost_writes += len(pending) - position
                return pending[:position]
        return pending

    def _apply_partly(self, content: Content, pending: list[int]) -> None:
        base = full = len(content.bytes)
        pages = _Pages(self._random, len(pending))
        for position, index in enumerate(pending):
            record = self._history.trace.records[index]
            if record.kind is Kind.TRUNCATE:
                self._apply(content, record)
                base = full = record.offset
                continue
            full = max(full, record.offset + record.length)
            match self._loss.bytes_fate:
                case "lost":
                    self._left.lost_writes += 1
                case "kept":
                    self._apply(content, record)
                case "partial":
                    for first, last in pages.kept(record, position):
                        self._put(content, record, first, last)
        self._left.torn_files += pages.is_any_lost
        if self._loss.semantics == "posix" and self._loss.bytes_fate != "kept":
            self._leave_undefined(content.bytes, base, full)

    def _apply(self, content: Content, record: Record) -> None:
        if record.kind is Kind.TRUNCATE:
            del content.bytes[record.offset :]
            content.bytes.extend(bytes(record.offset - len(content.bytes)))
            content.modified = record.modified
        else:
            self._put(content, record, 0, record.length)

    def _put(self, content: Content, record: Record, first: int, last: int) -> None:
        start = record.offset + first
        if start > len(content.bytes):
            content.bytes.extend(bytes(start - len(content.bytes)))
        content.bytes[start : start + last - first] = self._history.trace.data(record, first, last)
        content.modified = record.modified

    def _leave_undefined(self, content: bytearray, base: int, full: int) -> None:
        """The stored length may be ahead of the bytes. The bytes between are undefined."""
        room = full - max(base, len(content))
        if room > 0 and self._random.random() < 0.5:
            count = self._random.randint(0, room)
            content.extend(bytes(count) if self._random.random() < 0.5 else self._random.randbytes(count))


class _Pages:
    """The pages of a file that were written back, and when. A page is written back with its contents at that time."""

    def __init__(self, source: random.Random, changes: int):
        self._random = source
        self._changes = changes
        self._likelihood = source.choice((0.1, 0.5, 0.9))
        # For each page, the number of changes it had at its last write-back.
        self._seen: dict[int, int] = {}
        self.is_any_lost = False

    def kept(self, record: Record, position: int) -> Iterator[tuple[int, int]]:
        """The ranges of a write that have reached the disk."""
        for page in range(record.offset // PAGE, (record.offset + record.length - 1) // PAGE + 1):
            first = max(page * PAGE - record.offset, 0)
            last = min((page + 1) * PAGE - record.offset, record.length)
            if position >= self._seen_by(page):
                self.is_any_lost = True
                continue
            # One page in twenty is being written at the moment of the power loss.
            if self._random.random() < 0.05:
                last = min(last, first + SECTOR * self._random.randint(0, PAGE // SECTOR))
                self.is_any_lost = True
            if last > first:
                yield first, last

    def _seen_by(self, page: int) -> int:
        if page not in self._seen:
            is_written_back = self._random.random() < self._likelihood
            versions = (self._changes, self._random.randint(0, self._changes))
            self._seen[page] = self._random.choice(versions) if is_written_back else 0
        return self._seen[page]


# MARK: Writing to a real disk


def write(left: Left, target: Path) -> list[tuple[int, int, int, int]]:
    """Writes the files and folders below `target`.

    Returns, for each file, the inode number and birth time in the system, and those in the trace.
    """
    target.mkdir(parents=True)
    for path in sorted(left.folders):
        (target / path).mkdir(exist_ok=True)
    identities: list[tuple[int, int, int, int]] = []
    written: dict[File, Path] = {}
    for path, content in left.files.items():
        place, file = target / path, content.file
        if file in written:
            os.link(written[file], place)
            continue
        written[file] = place
        with place.open("wb") as stream:
            stream.write(content.bytes)
        os.utime(place, ns=(content.modified, content.modified))
        place.chmod(content.mode)
        identities.append((*identity(place), file.inode, file.born))
    for path, mode in left.folders.items():
        if path:
            (target / path).chmod(mode)
    return sorted(identities)


def identity(path: Path) -> tuple[int, int]:
    """The inode number and the birth time, in nanoseconds since 1970. Python does not offer statx(2)."""
    status = ctypes.create_string_buffer(256)
    inode_and_birth = 0x100 | 0x800
    if _statx(-100, os.fsencode(path), 0x100, inode_and_birth, status) != 0:
        raise OSError(ctypes.get_errno(), f"statx {path}")
    number = int.from_bytes(status.raw[32:40], "little")
    seconds = int.from_bytes(status.raw[80:88], "little", signed=True)
    return number, seconds * 1_000_000_000 + int.from_bytes(status.raw[88:92], "little")


_statx = ctypes.CDLL(None, use_errno=True).statx
