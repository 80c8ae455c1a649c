"""The samples as a picture, drawn by gnuplot."""

from __future__ import annotations

import subprocess
from pathlib import Path

from .growth import Growth
from .sampler import Sample

PANELS = (("resident_mib", "resident memory (MiB)"), ("descriptors", "descriptors"), ("threads", "threads"),
          ("jobs", "jobs kept"))  # fmt: skip


def draw(samples: list[Sample], growths: list[Growth], picture: Path, title: str) -> None:
    """A panel for each figure; a line breaks off where a process was killed. Grey: the long run."""
    points = picture.with_suffix(".points")
    points.write_text(_points(samples), encoding="utf-8")
    lines = [
        "set terminal pngcairo size 1000,1100 font 'sans,10'", f"set output '{picture}'",
        f"set multiplot layout {len(PANELS)},1 title '{title}'", "set grid", "set key off", "set yrange [0:*]",
        f"set xrange [0:{max(samples[-1].seconds, 1)}]", "set lmargin 9", "set rmargin 3",
    ]  # fmt: skip
    long_run = [sample.seconds for sample in samples if sample.phase == "long run"]
    if long_run:
        lines.append(
            f"set object 1 rectangle from first {long_run[0]}, graph 0 to first {long_run[-1]}, graph 1"
            " fillcolor rgb '#eeeeee' fillstyle solid noborder behind"
        )
    by_member = {growth.limit.member: growth for growth in growths}
    for column, (member, label) in enumerate(PANELS, start=2):
        lines.append(f"set ylabel '{label}'")
        if column == len(PANELS) + 1:
            lines.append("set xlabel 'seconds'")
        curves = [f"'{points}' using 1:{column} with lines linewidth 1.4 linecolor rgb '#2266aa'"]
        if growth := by_member.get(member):
            lines.append(f"$line{column} << END\n{_pair(growth.begins_at)}\n{_pair(growth.ends_at)}\nEND")
            curves.append(f"$line{column} with lines linewidth 2 dashtype 2 linecolor rgb '#cc3311'")
        lines.append(f"plot {', '.join(curves)}")
    lines.append("unset multiplot")
    subprocess.run(["gnuplot"], input="\n".join(lines), text=True, check=True)
    points.unlink()


def _points(samples: list[Sample]) -> str:
    """A blank line between two processes."""
    lines, process = [], 0
    for sample in samples:
        if sample.process != process:
            lines.append("")
            process = sample.process
        lines.append(" ".join(str(value) for value in (sample.seconds, *(getattr(sample, m) for m, _ in PANELS))))
    return "\n".join(lines) + "\n"


def _pair(point: tuple[float, float]) -> str:
    return f"{point[0]} {point[1]}"
