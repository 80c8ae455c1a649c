"""What a workload returns. Results are stored as JSON, and the tables and plots are drawn from it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from .environment import ROOT

FOLDER = ROOT / "benchmarks/results"


class Sample(dict[str, float]):
    """The measurements of one run, by the names of the metrics."""


@dataclass(frozen=True)
class Metric:
    """A column of a table."""

    name: str  # in the samples
    heading: str
    digits: int = 2
    is_compared: bool = False  # has a column of ratios
    has_range: bool = False  # shows the lowest and the highest value beside the median


@dataclass(frozen=True)
class Table:
    """Runs of several contenders. The ratios compare the first with each of the others, pair by pair."""

    title: str
    metrics: list[Metric]
    rows: dict[str, list[Sample]]


def compared(title: str, metrics: list[Metric], samples: dict[str, list[Sample]], first: str, without: str) -> Table:
    """A table that compares `first` with the others. The contenders whose names begin with `without` are left out."""
    others = {name: runs for name, runs in samples.items() if name != first and not name.startswith(without)}
    return Table(title, metrics, {first: samples[first]} | others)


@dataclass(frozen=True)
class Plot:
    """Curves over a size that grows by powers of ten. Both axes are logarithmic."""

    name: str  # of its file
    title: str
    x: str
    y: str
    curves: dict[str, list[tuple[float, float]]]


@dataclass(frozen=True)
class Result:
    name: str  # of the workload
    title: str
    machine: str
    notes: str
    tables: list[Table] = field(default_factory=list)
    plots: list[Plot] = field(default_factory=list)

    def save(self, folder: Path = FOLDER) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{self.name}.json").write_text(json.dumps(rounded(asdict(self)), indent=1) + "\n")


def load(file: Path) -> Result:
    document = json.loads(file.read_text())
    document["tables"] = [
        Table(table["title"], [Metric(**metric) for metric in table["metrics"]], table["rows"])
        for table in document["tables"]
    ]
    document["plots"] = [Plot(**plot) for plot in document["plots"]]
    return Result(**document)


def rounded(value: object) -> object:
    """Six significant digits are enough, and keep the files small."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [rounded(item) for item in value]
    return value
