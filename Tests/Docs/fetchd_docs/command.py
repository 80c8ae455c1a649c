"""The command line of scripts/check examples."""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from . import blocks, compose, proxies, structure, webhooks
from .environment import ROOT, default_program
from .outcome import Report

PARTS = {
    "structure": structure.check, "commands": blocks.check, "webhooks": webhooks.check, "proxies": proxies.check,
    "compose": compose.check,
}  # fmt: skip


def main(manual: str) -> int:
    options = parsed(manual)
    # On SIGTERM, too, processes are stopped and folders are removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    program = default_program(ROOT)
    if not program.exists():
        sys.exit(f"examples: {program} is missing; run swift build")
    folder = Path(tempfile.mkdtemp(prefix="fetchd-docs."))
    report = Report()
    try:
        for name in options.parts or PARTS:
            part = folder / name
            part.mkdir()
            # Servers that do not run as root must reach their files.
            folder.chmod(0o755)
            PARTS[name](program, part, report, options.long)
    finally:
        if options.keep:
            print(f"Kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    if report.failures:
        print(f"\nexamples: {len(report.failures)} failed: {', '.join(report.failures)}")
    return 1 if report.failures else 0


def parsed(manual: str) -> argparse.Namespace:
    if {"-h", "--help"} & set(sys.argv):
        print(manual, end="")
        sys.exit(0)
    parser = argparse.ArgumentParser(add_help=False, usage="scripts/check examples [--long] [--keep] [PART...] ; --help")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []])
    return parser.parse_args()
