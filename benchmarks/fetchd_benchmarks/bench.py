"""The options of a run, and what all workloads do with them."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .environment import fail, progress
from .results import Sample

Contenders = Mapping[str, Callable[[Path], Sample]]


@dataclass(frozen=True)
class Bench:
    programs: dict[str, Path]  # the fetchd to measure, and the one to compare it with
    work_dir: Path
    pairs: int
    seconds: float  # of each run with a fixed duration
    is_quick: bool
    largest: int | None  # of the sizes that grow

    @property
    def program(self) -> Path:
        return next(iter(self.programs.values()))

    def amount(self, usual: int, quick: int) -> int:
        return quick if self.is_quick else usual

    def sizes(self, usual: int, quick: int, most: int | None = None, first: int = 10) -> list[int]:
        """10, 100, 1,000 and so on. `--largest` replaces the last one, up to `most`."""
        end = self.amount(usual, quick)
        if self.largest:
            end = min(self.largest, end if self.is_quick else most or usual)
        sizes, size = [], first
        while size < end:
            sizes.append(size)
            size *= 10
        return [*sizes, max(end, first)]

    def fetchds(self, run: Callable[[Path, Path], Sample], note: str = "") -> dict[str, Callable[[Path], Sample]]:
        """A contender for each program. `run` gets the program and the folder."""

        def contender(program: Path) -> Callable[[Path], Sample]:
            return lambda folder: run(program, folder)

        return {f"{name}{note}": contender(program) for name, program in self.programs.items()}

    @contextlib.contextmanager
    def folder(self) -> Iterator[Path]:
        """An empty folder. Its files are made empty afterwards, and removed at the end of the program: an ext4 without a
        journal does not reuse the inode of a removed file for a minute or more, and passes over it for each new file."""
        name = Path(tempfile.mkdtemp(prefix="fetchd-benchmark-", dir=self.work_dir))
        atexit.register(shutil.rmtree, name, ignore_errors=True)
        try:
            yield name
        finally:
            for folder, _, files in os.walk(name):
                for file in files:
                    empty(Path(folder, file))

    def take_turns(
        self, title: str, contenders: Contenders, shown: str = "wall", rounds: int | None = None
    ) -> dict[str, list[Sample]]:
        """A B A B: each round runs every contender once, in an empty folder."""
        samples: dict[str, list[Sample]] = {name: [] for name in contenders}
        rounds = rounds or self.pairs
        for number in range(rounds):
            for name, run in contenders.items():
                with self.folder() as folder:
                    # Finish the writes of the previous run, so that they do not affect this one.
                    os.sync()
                    sample = run(folder)
                samples[name].append(sample)
                progress(f"{title}, round {number + 1} of {rounds}: {name} {shown} {sample.get(shown, 0):,.2f}")
        return samples

    def require_space(self, mib: float) -> None:
        free = shutil.disk_usage(self.work_dir).free >> 20
        if free < mib:
            fail(f"{self.work_dir} has {free} MiB free, and {mib:.0f} MiB are needed: --work-dir names another")


def empty(file: Path) -> None:
    with contextlib.suppress(OSError):
        if stat.S_ISREG(file.lstat().st_mode):
            os.truncate(file, 0)
