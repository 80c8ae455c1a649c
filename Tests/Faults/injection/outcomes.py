"""The table of results for failing disks."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from .cases import Case

SHAPES = ("once", "heals", "stopped", "killed", "start")


class Outcomes:
    def __init__(self) -> None:
        # By area, call and error.
        self._rows: dict[tuple[str, str, str], list[tuple[Case, dict[str, Any]]]] = defaultdict(list)

    def add(self, case: Case, result: dict[str, Any]) -> None:
        self._rows[case.area, case.call, case.error].append((case, result))

    @property
    def failed(self) -> int:
        return sum(1 for results in self._rows.values() for _, result in results if result["faults"])

    def print(self) -> None:
        """Prints a row for each call and error: the number of trials without findings, and the number of trials in
        which the call failed."""
        titles = ("call", "error", *SHAPES, "waited for", "readyz", "submits", "SIGTERM", "well again after")
        area = None
        unreached = 0
        for (row_area, call, error), results in sorted(self._rows.items()):
            reached = [(case, result) for case, result in results if result.get("saw", {}).get("reached", 1)]
            unreached += len(results) - len(reached)
            if not reached:
                continue
            if row_area != area:
                area = row_area
                print(f"\n{area}\n{_line(titles)}")
            print(_line((call, error, *(_passed(reached, shape) for shape in SHAPES), *_seen(reached))))
        total = sum(len(results) for results in self._rows.values())
        print(f"\n{total} cases, {self.failed} of them with faults; in {unreached} the call was not made.")


def _line(cells: tuple[str, ...]) -> str:
    widths = (16, 7, 5, 6, 8, 7, 6, 24, 8, 12, 14, 0)
    return " ".join(f"{cell:<{width}}" for cell, width in zip(cells, widths)).rstrip()


def _passed(results: list[tuple[Case, dict[str, Any]]], shape: str) -> str:
    of_shape = [result for case, result in results if case.shape.startswith(shape)]
    passed = sum(1 for result in of_shape if not result["faults"])
    return f"{passed}/{len(of_shape)}" if of_shape else ""


def _seen(results: list[tuple[Case, dict[str, Any]]]) -> tuple[str, ...]:
    saw = [result.get("saw", {}) for _, result in results]

    def all_of(what: str) -> str:
        return ",".join(sorted({str(value) for one in saw for value in one.get(what, [])}))

    stops = [one["stop"] for one in saw if "stop" in one]
    stopped = f"{max(s[0] for s in stops)} s, {'/'.join(sorted({str(s[1]) for s in stops}))}" if stops else ""
    recoveries = [one["recovery"] for one in saw if "recovery" in one]
    recovered = f"{max(recoveries)} s" if recoveries else "never"
    return all_of("waits"), all_of("readyz"), all_of("submits"), stopped, recovered
