"""Checks that a disk has everything that fetchd had promised: parts, finished files, the database.

Each function yields a sentence for each broken promise.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
from collections import defaultdict
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Iterator

from .knowledge import Knowledge


# MARK: Before fetchd is started on the disk


def disk_faults(knowledge: Knowledge, disk: Path) -> Iterator[str]:
    """No offset is beyond the durable bytes, and no finished file has wrong bytes."""
    data, downloads = disk / "data", disk / "downloads"
    if not (data / "fetchd.sqlite").exists():
        if knowledge.acknowledged_jobs:
            yield f"the database is gone, and with it {len(knowledge.acknowledged_jobs)} acknowledged jobs"
        return
    with _copy_of_database(data) as database:
        yield from _integrity_faults(database)
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'parts'").fetchone():
            return
        for part in database.execute("SELECT * FROM parts"):
            yield from _part_faults(knowledge, part, downloads)
        yield from _finished_faults(knowledge, database, downloads)


@contextmanager
def _copy_of_database(data: Path) -> Iterator[sqlite3.Connection]:
    """Lets SQLite recover a copy of the database. The original on the rebuilt disk is not changed."""
    with tempfile.TemporaryDirectory(prefix="fetchd-audit.") as copy:
        for file in data.glob("fetchd.sqlite*"):
            shutil.copy(file, copy)
        with closing(sqlite3.connect(Path(copy) / "fetchd.sqlite")) as database:
            database.row_factory = sqlite3.Row
            yield database


def _integrity_faults(database: sqlite3.Connection) -> Iterator[str]:
    for (line,) in database.execute("PRAGMA integrity_check"):
        if line != "ok":
            yield f"integrity_check: {line}"
    for row in database.execute("PRAGMA foreign_key_check"):
        yield f"foreign_key_check: {tuple(row)}"


def _part_faults(knowledge: Knowledge, part: sqlite3.Row, downloads: Path) -> Iterator[str]:
    file = _part_file(downloads, part["id"])
    ranges = json.loads(part["ranges"]) if part["ranges"] else [[0, part["bytes_durable"]]]
    content = knowledge.content_at(part["url"])
    if not any(end > first for first, end in ranges) or content is None:
        return
    what = f"the part {part['id']} of {part['url'].rpartition('/')[2]} is promised {ranges}"
    if not file.exists():
        if not _is_being_placed(downloads, content):
            yield f"{what} and has no file"
        return
    found = file.read_bytes()
    for first, end in ranges:
        if len(found) < end:
            yield f"{what} and has {len(found)} bytes"
        elif found[first:end] != content[first:end]:
            wrong = first + difference(found[first:end], content[first:end])
            yield f"{what} and has other bytes: the first at {wrong}"


def _is_being_placed(downloads: Path, content: bytes) -> bool:
    """The file of the job may already have its final name."""
    size = len(content)
    return any(path.stat().st_size == size and path.read_bytes() == content for path in _finished_files(downloads))


def _finished_faults(knowledge: Knowledge, database: sqlite3.Connection, downloads: Path) -> Iterator[str]:
    """Checks the files of succeeded jobs and of jobs that are being promoted."""
    rows = database.execute("SELECT * FROM jobs WHERE coalesce(finish, promotion) IS NOT NULL")
    by_path: dict[str, list[tuple[sqlite3.Row, dict[str, Any]]]] = defaultdict(list)
    for row in rows:
        record = json.loads(row["finish"] or row["promotion"])
        by_path[record["file"]["path"]].append((row, record))
    for path, claims in by_path.items():
        found = bytes_of(downloads / path)
        contents = {_name(row): knowledge.content(_name(row)) for row, _ in claims}
        for row, record in claims:
            if found is not None and found in contents.values():
                break
            if row["promotion"]:
                part = bytes_of(_part_file(downloads, record["part"]["text"]))
                # If both part and file have lost their names, no wrong bytes can be promoted: the job starts from the
                # beginning.
                if part == contents[_name(row)] or (part is None and found is None):
                    continue
            if knowledge.is_sent("delete", "file=delete", row["id"]):
                continue
            state = "has succeeded" if row["finish"] else "is being promoted"
            yield f"{_name(row)} {state} and {shown(found, contents[_name(row)])} at {path}"


def _part_file(downloads: Path, part: str) -> Path:
    return downloads / ".incomplete" / f"{part}.part"


def _name(row: sqlite3.Row) -> str:
    """The name of the order, from the address."""
    spec = json.loads(row["spec"])
    url = spec.get("url") or spec["urls"][0]
    return (url if isinstance(url, str) else url["url"]).rpartition("/")[2]


# MARK: After all jobs have ended


def permission_faults(downloads: Path) -> Iterator[str]:
    """Finished files have the permissions that the umask allows."""
    wanted = 0o666 & ~_umask()
    for path in _finished_files(downloads):
        if (mode := path.stat().st_mode & 0o777) != wanted:
            yield f"the permissions of {path.relative_to(downloads)} are {mode:o}, not {wanted:o}"


def _finished_files(downloads: Path) -> Iterator[Path]:
    return (path for path in sorted(downloads.rglob("*")) if path.is_file() and path.parent.name != ".incomplete")


def _umask() -> int:
    """The umask can only be read by setting it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def left_over_faults(jobs: list[dict[str, Any]], knowledge: Knowledge, disk: Path) -> Iterator[str]:
    """The folder has only finished files and promised parts. The service must be stopped."""
    downloads = disk / "downloads"
    with _copy_of_database(disk / "data") as database:
        yield from _integrity_faults(database)
        known = {f".incomplete/{row['id']}.part" for row in database.execute("SELECT id FROM parts")}
    known.add(".incomplete/lock")
    known |= {job["file"]["path"] for job in jobs if job["file"]}
    # Files of deleted jobs may be kept.
    deletions = [request for request in knowledge.requests if request.action == "delete"]
    kept = {knowledge.content(name) for request in deletions for name in request.names}
    for path in sorted(path for path in downloads.rglob("*") if path.is_file()):
        name = str(path.relative_to(downloads))
        if name not in known and path.read_bytes() not in kept:
            yield f"a file of no job: {name}, {path.stat().st_size} bytes"


# MARK: Bytes


def bytes_of(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def difference(found: bytes, wanted: bytes) -> int:
    return next((i for i, (a, b) in enumerate(zip(found, wanted)) if a != b), min(len(found), len(wanted)))


def shown(found: bytes | None, wanted: bytes | None) -> str:
    if found is None:
        return "has no file"
    if wanted is None:
        return "has a file of nothing"
    return f"has {len(found)} of {len(wanted)} bytes, the first wrong one at {difference(found, wanted)},"
