"""The moments of a run at which the power may fail, by the kind of the last change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Iterator

from .trace import Kind, Record, Trace
from .workload import Received


LOG = "its log"


@dataclass(frozen=True)
class Moment:
    """A moment after a number of records."""

    records: int
    # Nanoseconds of the monotonic clock. Answers that were received before are promises.
    time: int
    kind: str


def moments(trace: Trace, received: Received) -> dict[str, list[Moment]]:
    """All moments, by kind."""
    kinds: dict[str, list[Moment]] = {}
    answers = _answers(received)
    answer = next(answers, None)
    names = _Names(trace)
    for count, record in enumerate(trace.records, 1):
        while answer and answer[0] < record.time:
            kinds.setdefault(answer[1], []).append(Moment(count - 1, answer[0] + 1, answer[1]))
            answer = next(answers, None)
        place = names.kind(record)
        kind = _start(received, record.time) or place
        kinds.setdefault(kind, []).append(Moment(count, record.time, kind))
    return kinds


def _answers(received: Received) -> Iterator[tuple[int, str]]:
    """The moments of answers and posts: their contents must already be durable."""
    answers = [(request.done, f"answer to {request.action}") for request in received.requests if request.done]
    posts = [(post.time, f"post of {post.type}") for post in received.posts if post.type.startswith("session")]
    return iter(sorted(answers + posts))


def _start(received: Received, time: int) -> str | None:
    for number, (begin, end) in enumerate(received.starts):
        if begin <= time < end:
            return "step of the first start" if number == 0 else "step of the start after the kill"
    return None


class _Names:
    """Names the change of each record and the kind of its file or folder."""

    def __init__(self, trace: Trace):
        self._trace = trace
        # For each inode, while it has that number.
        self._paths: dict[int, str] = {}
        # The last synced file other than the write-ahead log of the database.
        self._synced = "nothing"

    def kind(self, record: Record) -> str:
        if record.kind is Kind.WRITE:
            path = self._paths.get(record.inode, "")
        else:
            path = self._trace.paths(record)[-1]
        if record.kind is Kind.CREATE:
            self._paths[record.inode] = path
        is_sync = record.kind.name.startswith("SYNC")
        subject = _kind(path, is_folder=is_sync or record.kind is Kind.MKDIR)
        call = record.kind.name.lower()
        if record.kind in (Kind.SYNC_END, Kind.SYNCFS_END):
            # A commit is a promise about the files that were synced before it.
            if subject == LOG:
                return f"commit behind {self._synced}"
            self._synced = f"{call} of {subject}"
        return f"{call} of {subject}"


def _kind(path: str, is_folder: bool) -> str:
    name = path.rpartition("/")[2]
    if name in ("fetchd.sqlite", "fetchd.sqlite-wal"):
        return "the database" if name == "fetchd.sqlite" else LOG
    if name.endswith(".part"):
        return "a part"
    if name == ".incomplete":
        return "the folder of parts"
    if path in ("data", "downloads"):
        return f"the {path} folder"
    if path.startswith("data/") or name in (".probe", "lock"):
        return "another file"
    return "a folder" if is_folder else "a finished file"
