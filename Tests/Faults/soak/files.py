"""Checks the disk after the service has stopped: finished files, known parts, and an intact database."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import tempfile
from collections import defaultdict
from contextlib import closing
from pathlib import Path
from typing import Any, Iterator

from audit import database_faults

from .actor import World
from .content import Version
from .ledger import Job
from .orders import POOL

PARTS = ".incomplete"


class FileAudit:
    def __init__(self, world: World, events: list[dict[str, Any]]):
        self._world = world
        self._find = world.tally.find
        self._downloads: Path = world.process.service.downloads
        # By path: the jobs that created the file, with the facts of their receipts.
        self._owners: dict[str, list[tuple[Job, dict[str, Any]]]] = defaultdict(list)
        for event in events:
            if event["type"] == "job.succeeded" and (job := world.ledger.find(event["job"])):
                file = event["data"]["snapshot"]["file"]
                self._owners[file["path"]].append((job, file))
        self.number_of_files = 0
        self.bytes_of_files = 0

    def run(self) -> None:
        self._finished_files()
        self._missing_files()
        for fault in database_faults(self._world.process.service.data):
            self._find("database", fault)
        self._parts()

    def _finished_files(self) -> None:
        """Every file was promoted by a job, and has the bytes of its receipt."""
        for file in sorted(self._downloads.rglob("*")):
            path = str(file.relative_to(self._downloads))
            if file.is_dir() or path.startswith(f"{PARTS}/"):
                continue
            self.number_of_files += 1
            self.bytes_of_files += file.stat().st_size
            owners = self._owners.get(path)
            if not owners:
                self._find("stray file", f"{path} is of no job")
                continue
            content = file.read_bytes()
            sha256 = hashlib.sha256(content).hexdigest()
            if not any(self._is_of(job, receipt, sha256, len(content)) for job, receipt in owners):
                self._find("wrong file", f"{path} has {len(content)} bytes, sha-256 {sha256}: {owners}")

    def _is_of(self, job: Job, receipt: dict[str, Any], sha256: str, size: int) -> bool:
        """If a receipt has no digest, the file is compared with the versions of the origin."""
        return receipt["sha256"] in (None, sha256) and job.may_have_become(sha256, size)

    def _missing_files(self) -> None:
        """A file is gone if and only if its job was deleted together with it. Only in the pool may jobs replace the
        files of others."""
        for path, owners in self._owners.items():
            is_there = (self._downloads / path).exists()
            if not is_there and not any(job.deleted == "delete" for job, _ in owners):
                self._find("file lost", f"{path} of {[job.id for job, _ in owners]} is not there")
            if path.startswith(f"{POOL}/"):
                continue
            last, _ = owners[-1]
            if is_there and last.deleted == "delete" and not last.is_deletion_repeated:
                self._find("file left", f"{path} is there, although {last.id} was deleted with its file")
            for job, _ in owners[:-1]:
                if job.deleted != "delete":
                    self._find("file replaced", f"{path} of {job.id} was given to {last.id}")

    def _parts(self) -> None:
        """Every promised part exists, and every existing part is promised. Its bytes are those of the version with its
        validator."""
        rows = self._rows("SELECT id, job, etag, bytes_durable, ranges FROM parts")
        files = {file.name: file for file in (self._downloads / PARTS).iterdir() if file.name != "lock"}
        for id, job_id, etag, bytes_durable, ranges in rows:
            file, job = files.pop(f"{id}.part", None), self._world.ledger.find(job_id)
            spans = json.loads(ranges) if ranges else [[0, bytes_durable]]
            if file is None and spans[-1][1] == 0:
                # No bytes are promised: a sync has failed, and the part was dropped.
                continue
            if file is None:
                self._find("part lost", f"{id} of {job_id}, with {bytes_durable} bytes")
            elif job and not _is_unproven(job, etag) and not any(
                self._agrees(file, spans, version) for version in _versions(job, etag)
            ):
                self._find("wrong part", f"{id} of {job_id}: {spans} are no bytes of {etag}; {job.order}")
        for name in files:
            self._find("stray part", f"the database does not know {name}")

    def _rows(self, query: str) -> list[tuple]:
        """Read from a copy, which leaves the original as the service left it."""
        with tempfile.TemporaryDirectory(prefix="fetchd-soak.") as copy:
            for file in self._world.process.service.data.glob("fetchd.sqlite*"):
                if not file.name.endswith("-shm"):
                    shutil.copy(file, copy)
            with closing(sqlite3.connect(Path(copy) / "fetchd.sqlite")) as database:
                return database.execute(query).fetchall()

    def _agrees(self, file: Path, spans: list[list[int]], version: Version) -> bool:
        with file.open("rb") as part:
            for first, end in spans:
                part.seek(first)
                if part.read(end - first) != version.content[first:end] or end > version.size:
                    return False
        return True


def _is_strong(etag: str | None) -> bool:
    return etag is not None and not etag.startswith("W/")


def _is_unproven(job: Job, etag: str | None) -> bool:
    """The part may combine several versions. The checksum will detect this, or another attempt starts from the
    beginning."""
    return job.has_checksum and not _is_strong(etag)


def _versions(job: Job, etag: str | None) -> Iterator[Version]:
    for resource in job.resources:
        for version in list(resource.versions):
            if not _is_strong(etag) or version.etag == etag:
                yield version
