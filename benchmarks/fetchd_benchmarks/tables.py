"""Tables in Markdown."""

from __future__ import annotations

from .results import Metric, Table
from .summaries import Summary, ratios, values


def markdown(table: Table) -> str:
    first = next(iter(table.rows))
    compared = [metric for metric in table.metrics if metric.is_compared and len(table.rows) > 1]
    headings = [metric.heading for metric in table.metrics]
    headings += [f"ratio: {metric.heading.partition(',')[0]}" for metric in compared]
    lines = [f"**{table.title}**", "", row(["", *headings]), row(["---", *["---:"] * len(headings)])]
    for name in table.rows:
        cells = [measured(table, name, metric) for metric in table.metrics]
        cells += ["" if name == first else ratio(table, first, name, metric) for metric in compared]
        lines.append(row([name, *cells]))
    return "\n".join(lines) + "\n"


def measured(table: Table, name: str, metric: Metric) -> str:
    found = values(table.rows[name], metric.name)
    return Summary.of(found).text(metric.digits, metric.has_range) if found else ""


def ratio(table: Table, first: str, name: str, metric: Metric) -> str:
    found = ratios(table.rows[first], table.rows[name], metric.name)
    return Summary.of(found).text(2, has_range=True) if found else ""


def row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
