"""Writes results into docs/performance.md, between the markers of each workload, and the plots beside it."""

from __future__ import annotations

import re
from pathlib import Path

from . import plots, tables
from .environment import ROOT, fail
from .results import FOLDER, Result, load

PAGE = ROOT / "docs/performance.md"
IMAGES = ROOT / "docs/images"


def section(result: Result, images: str = "images") -> str:
    """The tables, the plots and the notes of one workload, in Markdown."""
    parts = [tables.markdown(table) for table in result.tables]
    parts += [f"![{plot.title}]({images}/performance-{plot.name}.svg)\n" for plot in result.plots]
    parts += [f"{result.notes}\n", f"{result.machine}\n"]
    return "\n".join(part for part in parts if part.strip())


def write(result: Result) -> None:
    begin, end = f"<!-- begin {result.name} -->", f"<!-- end {result.name} -->"
    page = PAGE.read_text()
    if begin not in page or end not in page:
        fail(f"{PAGE} has no markers for {result.name}: {begin} and {end}")
    content = f"{begin}\n\n{section(result)}\n{end}"
    PAGE.write_text(re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _: content, page, flags=re.DOTALL))
    write_plots(result, IMAGES)


def write_plots(result: Result, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for plot in result.plots:
        (folder / f"performance-{plot.name}.svg").write_text(plots.svg(plot))


def redraw() -> None:
    """Writes everything again from the stored results."""
    for file in sorted(FOLDER.glob("*.json")):
        write(load(file))
