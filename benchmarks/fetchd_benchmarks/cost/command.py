"""The command line of scripts/check cost."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from ..environment import ROOT, fail, progress
from .measuring import Cost, measure

BOUNDS = ROOT / "benchmarks/cost-bounds.json"

# How far a count may be above and below its stored value. Counts that depend on how changes share commits vary more.
TOLERANCE = 0.08
TOLERANCES = {"system calls": 0.3, "syncs": 0.3, "commits": 0.3, "SQL statements": 0.15}
SLACK = 10  # a difference of so few is never reported


def main(manual: str) -> int:
    options = parsed(manual)
    program = Path(os.environ.get("FETCHD_BIN") or ROOT / ".build/debug/fetchd").resolve()
    if not program.exists():
        fail(f"{program} is missing; run swift build")
    build = options.build or ("release" if "release" in program.parts else "debug")
    bounds = json.loads(BOUNDS.read_text()) if BOUNDS.exists() else {}
    cost, missing = measured(program)
    for what, why in missing.items():
        print(f"Not counted: {what}; {why}")
    if options.update:
        bounds[build] = lower(cost, measured(program)[0])
        BOUNDS.write_text(json.dumps(bounds, indent=2) + "\n")
        print(f"Stored the counts of the {build} build in {BOUNDS.relative_to(ROOT)}")
        return 0
    if excesses(cost, bounds.get(build, {})):
        # Work that happens once in a while, such as a checkpoint of the database, may have fallen into a step.
        progress("Some counts are too high. Counting once more; the lower counts are compared.")
        cost = lower(cost, measured(program)[0])
    return judge(cost, bounds.get(build, {}))


def measured(program: Path) -> tuple[Cost, dict[str, str]]:
    with tempfile.TemporaryDirectory(prefix="fetchd-cost.") as folder:
        return measure(program, Path(folder))


def lower(one: Cost, other: Cost) -> Cost:
    return {
        step: {what: min(count, other[step].get(what, count)) for what, count in counts.items()}
        for step, counts in one.items()
    }


def excesses(cost: Cost, bounds: Cost) -> int:
    return sum(
        judgement(what, count, bounds.get(step, {}).get(what)).startswith("more")
        for step, counts in cost.items()
        for what, count in counts.items()
    )


def judge(cost: Cost, bounds: Cost) -> int:
    """Prints each count beside its bound."""
    print(f"{'':<24}{'':<16}{'stored':>14}{'now':>14}{'':>9}")
    for step, counts in cost.items():
        for what, count in counts.items():
            stored = bounds.get(step, {}).get(what)
            verdict = judgement(what, count, stored)
            share = f"{(count / stored - 1) * 100:+.1f} %" if stored else ""
            print(f"{step:<24}{what:<16}{stored or 0:>14,.0f}{count:>14,.0f}{share:>9}  {verdict}".rstrip())
    if found := excesses(cost, bounds):
        print(f"✗ {found} counts are above their bounds. If that is intended: scripts/check cost --update")
    else:
        print("✓ Nothing costs more than before.")
    return 1 if found else 0


def judgement(what: str, count: float, stored: float | None) -> str:
    if stored is None:
        return "no stored value"
    tolerance = TOLERANCES.get(what, TOLERANCE)
    if abs(count - stored) <= SLACK or abs(count / max(stored, 1) - 1) <= tolerance:
        return ""
    return f"more than {tolerance:.0%} above" if count > stored else "less: --update stores it"


def parsed(manual: str) -> argparse.Namespace:
    if {"-h", "--help"} & set(sys.argv):
        print(manual, end="")
        sys.exit(0)
    parser = argparse.ArgumentParser(add_help=False, usage="scripts/check cost [--update] [--build NAME]; --help")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--build")
    return parser.parse_args()
