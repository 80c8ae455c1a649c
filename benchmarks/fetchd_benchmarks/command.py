"""The command line."""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from . import document, machine
from .bench import Bench
from .environment import ROOT, fail, progress
from .results import Result
from .workload import Workload
from .workloads import ALL


def main(manual: str) -> int:
    options = parsed(manual)
    if options.redraw:
        document.redraw()
        return 0
    # On SIGTERM, too, processes are stopped and folders are removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    subprocess.run([ROOT / "scripts/setup", "bench"], check=True, stdout=sys.stderr)
    programs = {"fetchd": (options.fetchd or build()).resolve()}
    if options.against:
        programs["fetchd, other"] = options.against.resolve()
    options.work_dir.mkdir(parents=True, exist_ok=True)
    bench = Bench(
        programs, options.work_dir, options.pairs or (1 if options.quick else 5),
        options.seconds or (1 if options.quick else 10), options.quick, options.largest,
    )  # fmt: skip
    description = machine.describe(programs, options.work_dir)
    print(description, flush=True)
    for workload in chosen(options.names):
        progress(f"━━ {workload.title}")
        show(workload.run(bench, description), options)
    return 0


def show(result: Result, options: argparse.Namespace) -> None:
    print(f"\n## {result.title}\n\n{document.section(result)}", flush=True)
    if options.write:
        result.save()
        document.write(result)
    elif options.plots:
        document.write_plots(result, options.plots)


def chosen(names: list[str]) -> list[Workload]:
    known = {workload.name: workload for workload in ALL}
    if unknown := [name for name in names if name not in known]:
        fail(f"there is no workload {unknown[0]}: {', '.join(known)}")
    return [known[name] for name in names] if names else ALL


def build() -> Path:
    """As it is released."""
    output = subprocess.check_output([ROOT / "packaging/build-static"], text=True)
    return Path(output.splitlines()[-1])


def parsed(manual: str) -> argparse.Namespace:
    if {"-h", "--help"} & set(sys.argv):
        print(manual, end="")
        print("\nWorkloads:\n")
        print("".join(f"    {workload.name:<18}{workload.title}\n" for workload in ALL), end="")
        sys.exit(0)
    parser = argparse.ArgumentParser(add_help=False, usage="benchmarks/run [--quick] [NAME...]; --help")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--pairs", type=positive)
    parser.add_argument("--seconds", type=positive)
    parser.add_argument("--largest", type=positive)
    parser.add_argument("--fetchd", type=Path)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--work-dir", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--plots", type=Path)
    parser.add_argument("--redraw", action="store_true")
    return parser.parse_args()


def positive(text: str) -> int:
    if (number := int(text)) > 0:
        return number
    raise ValueError
