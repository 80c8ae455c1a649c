"""The downloads of the soak: their files at the origin, and what was acknowledged."""

from __future__ import annotations

import random
import threading
from dataclasses import dataclass

from origin import Origin, Resource
from soak.content import Pool, Version


@dataclass(frozen=True)
class Download:
    id: str
    session: str
    version: Version


class Downloads:
    def __init__(self, seed: int, origin: Origin):
        self._pool = Pool(seed)
        self._origin = origin
        self._lock = threading.Lock()
        self._count = 0
        self._all: list[Download] = []

    def new_file(self, rng: random.Random, size: int, bytes_per_second: float) -> tuple[str, Version]:
        """Adds a file to the origin. Returns its URL."""
        with self._lock:
            self._count += 1
            path = f"/{self._count:06}.bin"
        version = Version(1, self._pool.cut(rng, size))
        self._origin.resources[path] = Resource(version.content, rate=bytes_per_second)
        return self._origin.url + path, version

    def add(self, download: Download) -> None:
        """An acknowledged job."""
        with self._lock:
            self._all.append(download)

    @property
    def all(self) -> list[Download]:
        with self._lock:
            return list(self._all)

    @property
    def sessions(self) -> list[str]:
        return sorted({download.session for download in self.all})
