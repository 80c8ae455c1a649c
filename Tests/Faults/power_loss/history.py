"""The changes of files and folders in a trace, and when each is durable.

The head of scripts/check power-loss says what a sync covers, with sources.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Hashable

from .trace import Kind, Record, Trace

SEMANTICS = ("ext4", "posix")
# Changes of a file that a sync of the file makes durable.
COVERED_BY_SYNC_OF_FILE = {
    "ext4": (Kind.CREATE, Kind.TRUNCATE),
    "posix": (Kind.TRUNCATE, Kind.MODE),
}


@dataclass(eq=False)
class File:
    """An inode from its creation on. The system reuses the number of a freed inode."""

    inode: int
    born: int
    mode: int
    modified: int
    # The indexes of the records that change its bytes or its length.
    changes: list[int] = field(default_factory=list)
    # The completed syncs: (index of the start, index of the end).
    syncs: list[tuple[int, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Change:
    """A change of the names or of the permissions, or (ext4 journals it like these) a truncation."""

    index: int
    kind: Kind
    file: File | None
    paths: tuple[str, ...]
    mode: int = 0

    @property
    def folders(self) -> tuple[str, ...]:
        return tuple(path.rpartition("/")[0] for path in self.paths)


class History:
    """The history of the files and folders of a trace.

    ignored_syncs: syncs of paths that contain this text are ignored; None: no sync is ignored.
    """

    def __init__(self, trace: Trace, ignored_syncs: str | None = None):
        self.trace = trace
        self._ignored_syncs = ignored_syncs
        self.changes: list[Change] = []
        self._files: dict[int, File] = {}
        self._folder_syncs: list[tuple[str, int, int]] = []
        self._whole_syncs: list[tuple[int, int]] = []
        self._folders = {""}
        begun: dict[int, int] = {}
        for index, record in enumerate(trace.records):
            self._note(index, record, begun)

    def _note(self, index: int, record: Record, begun: dict[int, int]) -> None:
        match record.kind:
            case Kind.WRITE:
                self._file(record).changes.append(index)
            case Kind.TRUNCATE:
                file = self._file(record)
                file.changes.append(index)
                self.changes.append(Change(index, record.kind, file, ()))
            case Kind.CREATE:
                file = File(record.inode, record.number, record.offset, record.modified)
                self._files[record.inode] = file
                paths = tuple(self.trace.paths(record)) if record.length else ()
                self.changes.append(Change(index, record.kind, file, paths, record.offset))
            case Kind.MKDIR:
                paths = tuple(self.trace.paths(record))
                self._folders.update(paths)
                self.changes.append(Change(index, record.kind, None, paths, record.offset))
            case Kind.RENAME | Kind.LINK | Kind.UNLINK:
                file = self._files.get(record.inode)
                self.changes.append(Change(index, record.kind, file, tuple(self.trace.paths(record))))
            case Kind.MODE:
                self.changes.append(Change(index, record.kind, self._file(record), (), record.offset))
            # The numbers start again in each process. A sync that a kill has interrupted has no end.
            case Kind.SYNC_BEGIN | Kind.SYNCFS_BEGIN:
                begun[record.number] = index
            case Kind.SYNC_END | Kind.SYNCFS_END if self._is_ignored(record):
                pass
            case Kind.SYNC_END:
                path = self.trace.paths(record)[0]
                if path in self._folders:
                    self._folder_syncs.append((path, begun[record.number], index))
                else:
                    self._file(record).syncs.append((begun[record.number], index))
            case Kind.SYNCFS_END:
                self._whole_syncs.append((begun[record.number], index))

    def _is_ignored(self, record: Record) -> bool:
        return self._ignored_syncs is not None and self._ignored_syncs in self.trace.paths(record)[0]

    def _file(self, record: Record) -> File:
        if record.inode not in self._files:
            raise ValueError(f"the trace does not know where a file came from: {record}")
        return self._files[record.inode]

    # MARK: Durability

    def _whole_durable(self, moment: int) -> int:
        """A sync of the file system has made everything before this index durable."""
        return max((begin for begin, end in self._whole_syncs if end < moment), default=0)

    def durable_bytes(self, file: File, moment: int) -> int:
        """Changes of the file before this index are durable."""
        own = max((begin for begin, end in file.syncs if end < moment), default=0)
        return max(own, self._whole_durable(moment))

    def durable_changes(self, moment: int, semantics: str) -> set[int]:
        """The indexes of the changes that the syncs have made durable."""
        changes = [change for change in self.changes if change.index < moment]
        whole = self._whole_durable(moment)
        durable = {change.index for change in changes if change.index < whole}
        for path, begin, end in self._folder_syncs:
            if end < moment:
                durable |= {c.index for c in changes if c.index < begin and path in c.folders}
        for change in changes:
            if not (file := change.file):
                continue
            synced = self.durable_bytes(file, moment)
            if change.kind in COVERED_BY_SYNC_OF_FILE[semantics] and change.index < synced:
                durable.add(change.index)
        return with_predecessors(changes, durable, semantics)


def order_keys(change: Change, semantics: str) -> tuple[Hashable, ...]:
    """Changes with the same key stay in order: none is kept without the earlier ones."""
    if semantics == "ext4":
        return ("journal",)
    return change.folders or ((change.file, change.kind),)


def with_predecessors(changes: list[Change], kept: set[int], semantics: str) -> set[int]:
    all_kept: set[int] = set()
    keys: set[Hashable] = set()
    for change in reversed(changes):
        own = order_keys(change, semantics)
        if change.index in kept or not keys.isdisjoint(own):
            all_kept.add(change.index)
            keys.update(own)
    return all_kept
