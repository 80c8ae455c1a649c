"""The files of the origin: their versions, how the origin sends them, and the faults of its answers."""

from __future__ import annotations

import random
import threading
from collections import deque
from dataclasses import dataclass, field

from .content import Pool, Version, random_size

# The faults of any answer.
ANY_TROUBLE = (
    "reset", "reset before the head", "truncation", "stall", "silence", "503", "429", "500", "404", "no HTTP",
    "wrong digest",
)  # fmt: skip
# The faults of an answer to a request for the rest of a file.
RANGE_TROUBLE = (
    "range begins earlier", "range begins later", "range ends early", "range of another total", "range without a name",
    "ranges in parts", "range ignored", "416",
)  # fmt: skip

USER, PASSWORD = "ada", "correct horse"


@dataclass(frozen=True)
class Habits:
    """How the origin sends all versions of a file."""

    validators: str = "strong"  # strong, weak, date or none
    framing: str = "length"  # length, chunked or close
    has_ranges: bool = True
    bytes_per_second: int | None = None
    # The name in Content-Disposition.
    suggested_name: str | None = None
    has_digest: bool = False
    needs_password: bool = False
    is_redirected: bool = False
    is_missing: bool = False
    # The number of answers after which the link expires, until the client has a new one.
    expires_after: int | None = None

    @staticmethod
    def random(rng: random.Random, size: int) -> Habits:
        framing = rng.choices(["length", "chunked", "close"], [75, 18, 7])[0]
        # A client cannot know where a body without a length ends, so such a file is never cut off in silence.
        return Habits(
            validators=rng.choices(["strong", "date", "weak", "none"], [60, 15, 10, 15])[0],
            framing=framing,
            has_ranges=framing != "close" and rng.random() < 0.85,
            bytes_per_second=rng.randint(size // 8 + 1, size // 2 + 2) if rng.random() < 0.6 else None,
            suggested_name=f"offered-{rng.randrange(12)}.bin" if rng.random() < 0.1 else None,
            has_digest=rng.random() < 0.15,
            needs_password=rng.random() < 0.06,
            is_redirected=rng.random() < 0.08,
            is_missing=rng.random() < 0.04,
            expires_after=rng.randint(1, 2) if rng.random() < 0.06 else None,
        )


@dataclass(eq=False)
class Resource:
    name: str
    port: int
    habits: Habits
    versions: list[Version]
    troubles: deque[str] = field(default_factory=deque)
    # The part of the link that expires.
    key: int = 1
    answers: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @staticmethod
    def random(rng: random.Random, pool: Pool, name: str, port: int) -> Resource:
        size = random_size(rng)
        resource = Resource(name, port, Habits.random(rng, size), [Version(1, pool.cut(rng, size))])
        if rng.random() < 0.4:
            resource.troubles.extend(
                rng.choice(ANY_TROUBLE if rng.random() < 0.55 else RANGE_TROUBLE) for _ in range(rng.randint(1, 3))
            )
            for _ in range(rng.randint(0, 2)):
                resource.troubles.insert(rng.randrange(len(resource.troubles) + 1), "none")
        return resource

    @property
    def url(self) -> str:
        folder = "moved" if self.habits.is_redirected else "files"
        # Two hosts for each port: a refusal of one holds the jobs of that host only.
        host = f"127.0.0.{int(self.name[:6]) % 2 + 1}"
        return f"http://{host}:{self.port}/{folder}/{self.name}?key={self.key}"

    @property
    def version(self) -> Version:
        return self.versions[-1]

    def change(self, rng: random.Random, pool: Pool) -> None:
        """Replaces the file; half of the time by a file of the same length."""
        with self._lock:
            size = self.version.size if rng.random() < 0.5 else random_size(rng)
            self.versions.append(Version(self.version.number + 1, pool.cut(rng, size)))

    def admits(self, key: str) -> bool:
        """Whether the link is valid. Each answer may be the last before it expires."""
        with self._lock:
            if int(key or 0) != self.key:
                return False
            self.answers += 1
            if self.habits.expires_after is not None and self.answers == self.habits.expires_after:
                self.key += 1
            return True

    def next_trouble(self) -> str:
        with self._lock:
            return self.troubles.popleft() if self.troubles else "none"

    def calm(self) -> None:
        with self._lock:
            self.troubles.clear()
