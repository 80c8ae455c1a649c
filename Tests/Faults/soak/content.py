"""The bytes that the origin serves.

Each version of a file is a slice of one pool of random bytes, at a random offset. Versions cost no memory, and two of
them differ at nearly every position, so bytes of one version cannot pass for those of another.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from email.utils import formatdate
from functools import cached_property

POOL_BYTES = 8 << 20
LARGEST = 3 << 20

# The date of a file's first version, in seconds since 1970; each later version is an hour younger.
FIRST_DATE = 1_566_228_194


@dataclass(frozen=True)
class Version:
    """One version of a file."""

    number: int
    content: memoryview

    @property
    def size(self) -> int:
        return len(self.content)

    @property
    def last_modified(self) -> str:
        return formatdate(FIRST_DATE + 3600 * self.number, usegmt=True)

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    @cached_property
    def etag(self) -> str:
        """An ETag of the version and its bytes, so that no two versions of any files have the same tag."""
        return f'"{self.number}-{self.sha256[:16]}"'


class Pool:
    def __init__(self, seed: object):
        self._bytes = memoryview(random.Random(f"{seed}/pool").randbytes(POOL_BYTES))

    def cut(self, rng: random.Random, size: int) -> memoryview:
        start = rng.randrange(POOL_BYTES - LARGEST)
        return self._bytes[start : start + size]


def random_size(rng: random.Random) -> int:
    """Mostly small files, some empty ones, a few of some megabytes."""
    ceiling = rng.choices([0, 2_000, 300_000, 1_500_000, LARGEST], [8, 20, 40, 22, 10])[0]
    return rng.randint(ceiling // 100, ceiling)
