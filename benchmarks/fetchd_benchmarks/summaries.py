"""Medians, ranges and ratios."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from .results import Sample


@dataclass(frozen=True)
class Summary:
    median: float
    low: float
    high: float

    @staticmethod
    def of(values: Sequence[float]) -> Summary:
        return Summary(statistics.median(values), min(values), max(values))

    def text(self, digits: int, has_range: bool) -> str:
        def number(value: float) -> str:
            return f"{value:,.{digits}f}"

        if not has_range or self.low == self.high:
            return number(self.median)
        return f"{number(self.median)} ({number(self.low)} to {number(self.high)})"


def values(samples: Sequence[Sample], metric: str) -> list[float]:
    return [sample[metric] for sample in samples if metric in sample]


def ratios(first: Sequence[Sample], other: Sequence[Sample], metric: str) -> list[float]:
    """The ratio of each pair: the runs of one round, which followed each other."""
    pairs = zip(first, other)
    return [a[metric] / b[metric] for a, b in pairs if a.get(metric) is not None and b.get(metric)]


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]
