"""The command line of scripts/faults."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import campaign
import kills
import library
from campaign import Trial
from kills import NOT_REACHED, Point


def main(script: str, manual: str) -> int:
    options = _parsed(manual)
    program = Path(os.environ.get("FETCHD_BIN") or library.ROOT / ".build/debug/fetchd").resolve()
    if not program.exists():
        sys.exit(f"faults: {program} is missing; run swift build")
    library.compiled()
    if options.only:
        return _one(program, options)
    return _kills(script, program, options)


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
    parser.add_argument("--keep", action="store_true")
    # The result as one line, for whoever runs many of them.
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def _one(program: Path, options: argparse.Namespace) -> int:
    faults = kills.tried(program, Point.parse(options.only), options.seed, options.keep)
    return _told({"faults": faults}, options)


def _told(result: dict[str, Any], options: argparse.Namespace) -> int:
    if options.json:
        print(json.dumps(result))
    else:
        for fault in result["faults"] or ["nothing was found"]:
            print(fault)
    return 1 if set(result["faults"]) - {NOT_REACHED} else 0


def _kills(script: str, program: Path, options: argparse.Namespace) -> int:
    counts, faults = kills.counted(program, options.seed)
    if faults:
        print("Even a life that nothing happens to is not what it should be:", *faults, sep="\n  ")
        return 1
    print("Calls of a clean life:", ", ".join(f"{counts[call]} {call}" for call in library.CALLS if counts[call]))
    points = kills.chosen(counts, options.points or (40 if options.short else 500), options.seed)
    trials = [Trial(str(p), ["kills", "--seed", str(options.seed), "--only", str(p)]) for p in points]
    done: Counter[str] = Counter()
    missed = failed = 0
    began = time.monotonic()
    for trial, result in campaign.run(script, trials, options.jobs):
        if result["faults"] == [NOT_REACHED]:
            missed += 1
            continue
        done[trial.name.split("/")[0]] += 1
        if result["faults"]:
            failed += 1
            print(f"✗ {trial.command}", *result["faults"], sep="\n    ", flush=True)
        if sum(done.values()) % 50 == 0:
            print(f"  {sum(done.values())} of {len(trials)} points, {time.monotonic() - began:.0f} s", flush=True)
    print("Points:", ", ".join(f"{done[call]} {call}" for call in library.CALLS if done[call]))
    print(f"{sum(done.values())} kills, {failed} of them with faults; {missed} calls were not reached.")
    return 1 if failed else 0
