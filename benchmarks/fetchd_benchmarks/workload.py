"""A workload: a row of docs/performance.md."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .bench import Bench
from .results import Plot, Result, Table

Measured = tuple[list[Table], list[Plot]]


@dataclass(frozen=True)
class Workload:
    name: str
    title: str
    notes: str  # shown below the tables
    measure: Callable[[Bench], Measured]

    def run(self, bench: Bench, machine: str) -> Result:
        tables, plots = self.measure(bench)
        return Result(self.name, self.title, machine, self.notes, tables, plots)
