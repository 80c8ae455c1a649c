"""The files that the servers offer."""

from __future__ import annotations

import gzip
import hashlib
import os
import random
import time
from pathlib import Path

LARGE = 16 << 20
YESTERDAY = time.time() - 86_400
SPARSE = (4 << 30) + 1
FOREIGN_NAME = "Größe 日本 (1).bin"
TEXT = b"A line that compresses well.\n" * 20_000
USER, PASSWORD, REALM = "ann", "s3cret-pass", "films"


class Content:
    """A folder that every server gets as its root."""

    def __init__(self, folder: Path, with_sparse: bool):
        self.folder = folder
        self.large = random.Random(15).randbytes(LARGE)
        for path in ("basic", "digest", "expiring", "gzip"):
            (folder / path).mkdir(parents=True)
        self.write("large.bin", self.large)
        for path in ("basic/large.bin", "digest/large.bin", "expiring/large.bin"):
            (folder / path).hardlink_to(folder / "large.bin")
        self.write("empty.bin", b"")
        self.write(FOREIGN_NAME, self.large[:1000])
        self.write("gzip/text.txt", TEXT)
        self.write("gzip/text.txt.gz", gzip.compress(TEXT))
        if with_sparse:
            self._write_sparse()
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o755)
            # A file that has just changed gets only a weak entity tag from Apache.
            os.utime(path, (YESTERDAY, YESTERDAY))

    def write(self, path: str, body: bytes) -> None:
        (self.folder / path).write_bytes(body)

    def _write_sparse(self) -> None:
        """Zeros, with marks at the start, around 4 GiB and at the end: they differ if an offset has lost a bit."""
        with (self.folder / "sparse.bin").open("wb") as file:
            for offset, mark in SPARSE_MARKS.items():
                file.seek(offset)
                file.write(mark)

    @property
    def expiry(self) -> Path:
        """While this file exists, servers refuse everything below /expiring/."""
        return self.folder / "expired"


SPARSE_MARKS = {0: b"start", (1 << 31) - 2: b"2GiB", (1 << 32) - 4: b"4Gi", SPARSE - 1: b"!"}


def sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()
