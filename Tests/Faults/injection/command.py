"""The command line of scripts/check faults."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import library

from . import campaign, cases, errors, hardship, kills
from .campaign import Trial
from .cases import Case
from .kills import NOT_REACHED, Point
from .outcomes import Outcomes

# The number of further rounds that replace points that were not reached.
ROUNDS = 4
# The number of findings shown for one trial. Further ones mostly repeat them.
SHOWN = 4


def main(script: str, manual: str) -> int:
    options = _parsed(manual)
    program = Path(os.environ.get("FETCHD_BIN") or library.ROOT / ".build/debug/fetchd").resolve()
    if not program.exists():
        sys.exit(f"faults: {program} is missing; run swift build")
    library.compiled()
    if options.only:
        return _one(program, options)
    return (_kills if options.mode == "kills" else _errors)(script, program, options)


def _parsed(manual: str) -> argparse.Namespace:
    if {"-h", "--help"} & set(sys.argv):
        print(manual, end="")
        sys.exit(0)
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("mode", choices=["kills", "errors"])
    parser.add_argument("--points", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only")
    parser.add_argument("--match")
    parser.add_argument("--keep", action="store_true")
    # The result as one line, for the process that runs many trials.
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def _one(program: Path, options: argparse.Namespace) -> int:
    if options.mode == "errors":
        return _told(errors.tried(program, Case.parse(options.only), options.seed, options.keep), options)
    faults = kills.tried(program, Point.parse(options.only), options.seed, options.keep)
    return _told({"faults": faults}, options)


def _told(result: dict[str, Any], options: argparse.Namespace) -> int:
    if options.json:
        print(json.dumps(result))
    else:
        for fault in result["faults"] or ["nothing was found"]:
            print(fault)
        if "saw" in result:
            print(result["saw"])
    return 1 if set(result["faults"]) - {NOT_REACHED} else 0


def _print_failure(trial: Trial, result: dict[str, Any]) -> None:
    faults = result["faults"]
    more = [f"and {len(faults) - SHOWN} more"] if len(faults) > SHOWN else []
    print(f"✗ {trial.command}", *faults[:SHOWN], *more, sep="\n    ", flush=True)


def _kills(script: str, program: Path, options: argparse.Namespace) -> int:
    counts, faults = kills.counted(program, options.seed)
    if faults:
        print("Even a life that nothing happens to is not what it should be:", *faults, sep="\n  ")
        return 1
    for process, calls in counts.items():
        print(f"Calls of the {process} process:", ", ".join(f"{calls[c]} {c}" for c in library.CALLS if calls[c]))
    most = options.points or (40 if options.short else 500)
    points = kills.chosen(counts, most, options.seed)
    done: Counter[str] = Counter()
    missed = failed = 0
    began = time.monotonic()
    for _ in range(ROUNDS):
        trials = [Trial(str(p), ["kills", "--seed", str(options.seed), "--only", str(p)]) for p in points]
        for trial, result in campaign.run(script, trials, options.jobs):
            if result["faults"] == [NOT_REACHED]:
                missed += 1
                continue
            done[Point.parse(trial.name).call] += 1
            if result["faults"]:
                failed += 1
                _print_failure(trial, result)
            if done.total() % 50 == 0:
                print(f"  {done.total()} of {most} points, {time.monotonic() - began:.0f} s", flush=True)
        points = kills.others(counts, most - done.total(), options.seed + missed)
    print("Points:", ", ".join(f"{done[call]} {call}" for call in library.CALLS if done[call]))
    print(f"{done.total()} kills, {failed} of them with faults; {missed} calls were not reached.")
    return 1 if failed else 0


def _errors(script: str, program: Path, options: argparse.Namespace) -> int:
    chosen = list(cases.short())
    if not options.short:
        made = errors.calls_made(program, options.seed)
        print("Calls that are made:", ", ".join(f"{area} {call}" for area, call in sorted(made)))
        chosen = list(cases.every(made))
    if options.match:
        chosen = [case for case in chosen if options.match in str(case)]
    if not hardship.is_possible():
        print("This machine gives ordinary users no file systems of their own: the full disks are left out.")
        chosen = [case for case in chosen if not case.is_full_disk]
    trials = [Trial(str(c), ["errors", "--seed", str(options.seed), "--only", str(c)]) for c in chosen]
    outcomes = Outcomes()
    began = time.monotonic()
    for number, (trial, result) in enumerate(campaign.run(script, trials, options.jobs), 1):
        outcomes.add(Case.parse(trial.name), result)
        if result["faults"]:
            _print_failure(trial, result)
        if number % 20 == 0:
            print(f"  {number} of {len(trials)} cases, {time.monotonic() - began:.0f} s", flush=True)
    outcomes.print()
    return 1 if outcomes.failed else 0
