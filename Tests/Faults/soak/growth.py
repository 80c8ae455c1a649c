"""Whether memory, descriptors or threads grow while the load stays the same."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from .sampler import Sample

# The maximum number of samples whose pairs are compared. From more samples, this many are taken evenly.
MOST = 400
# The share of the long run at its beginning that does not count, and the least of it in seconds: caches fill. The
# largest one holds the last 4,096 events.
WARM_UP = 0.25
LEAST_WARM_UP = 10


@dataclass(frozen=True)
class Limit:
    """The allowed growth between the beginning and the end of the long run."""

    what: str
    member: str
    unit: str
    absolute: float
    # The allowed share of the median; the larger limit applies.
    share: float

    def of(self, values: list[float]) -> float:
        return max(self.absolute, self.share * statistics.median(values))


# Up to 8 idle connections to each webhook open and close with its outages.
LIMITS = (
    Limit("memory", "resident_mib", " MiB", 16, 0.15),
    Limit("descriptors", "descriptors", "", 32, 0.15),
    Limit("threads", "threads", "", 6, 0.15),
)


@dataclass(frozen=True)
class Growth:
    limit: Limit
    median: float
    highest: float
    per_minute: float
    gain: float
    allowed: float
    # The robust line, for the plot: value at the beginning.
    begins_at: tuple[float, float]
    ends_at: tuple[float, float]

    @property
    def is_within(self) -> bool:
        return self.gain <= self.allowed

    def __str__(self) -> str:
        unit = self.limit.unit
        return (
            f"{self.limit.what}: median {self.median:.0f}{unit}, highest {self.highest:.0f}{unit},"
            f" {self.per_minute:+.2f}{unit} a minute, {self.gain:+.1f}{unit} in all (limit {self.allowed:+.1f}{unit})"
        )


def growths(samples: list[Sample]) -> list[Growth]:
    """The slope is Theil and Sen's: the median of the slopes of all pairs, which single peaks do not move. Empty where
    the long run was too short to tell."""
    long_run = [sample for sample in samples if sample.phase == "long run"]
    if not long_run:
        return []
    warm_up = max(LEAST_WARM_UP, WARM_UP * (long_run[-1].seconds - long_run[0].seconds))
    counted = [sample for sample in long_run if sample.seconds >= long_run[0].seconds + warm_up]
    if len(counted) < 20 or len({sample.process for sample in counted}) > 1:
        return []
    times = [sample.seconds for sample in counted]
    return [_growth(limit, times, [float(getattr(sample, limit.member)) for sample in counted]) for limit in LIMITS]


def _growth(limit: Limit, times: list[float], values: list[float]) -> Growth:
    step = max(1, len(times) // MOST)
    points = list(zip(times[::step], values[::step]))
    slope = statistics.median(
        (b[1] - a[1]) / (b[0] - a[0]) for i, a in enumerate(points) for b in points[i + 1 :] if b[0] > a[0]
    )
    middle = statistics.median(value - slope * time for time, value in points)
    length = times[-1] - times[0]
    return Growth(
        limit, statistics.median(values), max(values), slope * 60, slope * length, limit.of(values),
        (times[0], middle + slope * times[0]), (times[-1], middle + slope * times[-1]),
    )  # fmt: skip
