"""The command line of scripts/check soak-cluster."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import library
from soak.run import random_seed

from . import postgres
from .run import SLOTS, Soak
from .stage import Plan
from .takeover_run import TakeoverRun

# The promise of docs/many-machines.md for a takeover, in seconds.
PROMISE = 15


def main(manual: str) -> int:
    options = _parsed(manual)
    # So that all processes are ended, and the folder of the database is removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    program = Path(os.environ.get("FETCHD_BIN") or library.ROOT / ".build/debug/fetchd").resolve()
    if not program.exists():
        sys.exit(f"soak-cluster: {program} is missing; run swift build")
    if not postgres.programs():
        sys.exit("soak-cluster: PostgreSQL is missing; run scripts/setup test")
    folder = options.folder or Path(tempfile.mkdtemp(prefix="fetchd-soak-cluster."))
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / "node-1").exists():
        sys.exit(f"soak-cluster: {folder} has the data of another soak")
    plan = Plan(
        program, folder.resolve(), options.seed, options.takeover or SLOTS, options.standby, options.shared,
        options.tamper,
    )  # fmt: skip
    _say(f"fetchd soak of a cluster: seed {options.seed}, in {folder}")
    run = TakeoverRun(plan, options.takeover, options.within) if options.takeover else (
        Soak(plan, options.minutes * 60, options.database)
    )  # fmt: skip
    world, outcome, table = run.run(_say)
    for name, value in table:
        _say(f"  {name:<12}{value}")
    for finding in world.tally.findings:
        _say(f"✗ {finding}")
    if options.tamper:
        return _judge_tampering(outcome.planted if outcome else {"an outcome"}, world.tally.kinds_of_findings)
    is_sound = not world.tally.findings
    if is_sound and not options.keep:
        _remove_data(folder)
    _say("✓ Every promise was kept." if is_sound else f"✗ Promises were broken. The evidence is in {folder}")
    _say(f"Replay: scripts/check soak-cluster {' '.join(_words(options))} --seed {options.seed}")
    return 0 if is_sound else 1


def _parsed(manual: str) -> argparse.Namespace:
    if {"-h", "--help"} & set(sys.argv):
        print(manual, end="")
        sys.exit(0)
    parser = argparse.ArgumentParser(add_help=False, usage=manual.splitlines()[0])
    parser.add_argument("minutes", type=float, nargs="?")
    parser.add_argument("--takeover", type=int)
    parser.add_argument("--within", type=int)
    for name in ("database", "standby", "shared", "keep", "tamper"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    if (options.minutes is None) == (options.takeover is None):
        parser.error("either MINUTES or --takeover N is needed")
    if options.minutes is not None and not 0 < options.minutes <= 24 * 60:
        parser.error("MINUTES is more than 0 and at most 1440")
    if options.takeover is not None and not 1 <= options.takeover <= 500:
        parser.error("--takeover takes a number from 1 to 500")
    if options.within is not None and (options.takeover is None or options.within < 1):
        parser.error("--within takes the seconds of --takeover N")
    options.within = options.within or PROMISE
    options.seed = options.seed if options.seed is not None else random_seed()
    return options


def _words(options: argparse.Namespace) -> list[str]:
    is_takeover = options.takeover is not None
    words = [f"--takeover {options.takeover} --within {options.within}" if is_takeover else f"{options.minutes:g}"]
    return words + [f"--{name}" for name in ("database", "standby", "shared") if getattr(options, name)]


def _judge_tampering(planted: set[str], found: set[str]) -> int:
    missed = sorted(planted - found)
    _say(f"✗ The audit did not report: {', '.join(missed)}" if missed else "✓ The audit reported every planted fault.")
    return 1 if missed else 0


def _remove_data(folder: Path) -> None:
    for subfolder in ("downloads", *(node.name for node in folder.glob("node-*"))):
        shutil.rmtree(folder / subfolder, ignore_errors=True)
    for file in [*folder.glob("events-*.txt"), *folder.glob("writers-*.txt")]:
        file.unlink()


def _say(line: str) -> None:
    print(line, flush=True)
