"""The files of the origin, and the comparison of the downloaded ones with them."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from .environment import fail


def make_files(folder: Path, sizes: Mapping[str, int]) -> dict[str, bytes]:
    """Writes random files, by their paths. Returns the sha-256 by their names. The page cache has them afterwards.

    They are an hour old: fetchd takes the ETag of a file for weak that has changed within two seconds, and fetches it over one
    connection.
    """
    digests, date = {}, time.time() - 3600
    for path, size in sizes.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256()
        with file.open("wb") as output:
            for begin in range(0, size, 8 << 20):
                block = os.urandom(min(8 << 20, size - begin))
                output.write(block)
                digest.update(block)
        os.utime(file, (date, date))
        digests[file.name] = digest.digest()
    os.sync()
    return digests


def small_files(count: int, kib: int) -> dict[str, int]:
    return {f"small/{number // 1000}/file-{number:07d}.bin": kib << 10 for number in range(count)}


def verify(downloads: Path, digests: Mapping[str, bytes]) -> None:
    """Ends the benchmark unless exactly these files were downloaded, with these bytes."""
    verify_all([downloads], digests)


def verify_all(folders: Sequence[Path], digests: Mapping[str, bytes]) -> None:
    """Like `verify`. Each file must be in one of the folders."""
    files = [Path(entry.path) for folder in folders for entry in os.scandir(folder) if entry.is_file()]
    found = {file.name: file for file in files}
    if found.keys() != digests.keys():
        missing, others = sorted(digests.keys() - found.keys()), sorted(found.keys() - digests.keys())
        fail(f"missing: {missing[:3]}, not asked for: {others[:3]}")
    if len(files) != len(found):
        fail(f"{len(files) - len(found)} files were downloaded twice")
    for name, expected in digests.items():
        with found[name].open("rb") as content:
            if hashlib.file_digest(content, "sha256").digest() != expected:
                fail(f"{name} differs from the origin's")
