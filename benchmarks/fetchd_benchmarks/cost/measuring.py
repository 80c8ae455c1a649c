"""Runs the scenario twice: once for allocations, system calls and SQL statements, once for instructions."""

from __future__ import annotations

from pathlib import Path

from ..environment import progress
from ..fetchd import fetchd
from ..nginx import nginx
from . import scenario
from .counters import Allocations, Counts, Instructions, SystemCalls, missing_tools, statements
from .scenario import Scenario

Cost = dict[str, Counts]  # by the steps of the scenario


def measure(program: Path, folder: Path) -> tuple[Cost, dict[str, str]]:
    """The counts, and why some are missing."""
    missing = missing_tools()
    scenario.prepare(folder / "files")
    cost: Cost = {}
    with nginx(folder / "origin", folder / "files") as origin:
        count_calls(program, folder, origin.url, cost, missing)
        if "instructions" not in missing and "allocations" not in missing:
            count_instructions(program, folder, origin.url, cost)
    return cost, missing


def count_calls(program: Path, folder: Path, origin: str, cost: Cost, missing: dict[str, str]) -> None:
    own = folder / "calls"
    own.mkdir()
    allocations = Allocations(own) if "allocations" not in missing else None
    environment = allocations.environment if allocations else {}
    with fetchd(program, own, jobs=scenario.AT_A_TIME, environment=environment) as service:
        run = Scenario(service, origin)
        run.warm_up()
        for name, step in run.steps.items():
            calls = None if "system calls" in missing else SystemCalls(service.pid, own / "strace")
            if calls and calls.error:
                missing["system calls"] = f"strace cannot attach: {calls.error.strip()}"
                calls = None
            allocated, stated = allocations.count() if allocations else 0, statements(service)
            step()
            counts = cost.setdefault(name, {})
            if allocations:
                counts["allocations"] = allocations.count() - allocated
            if calls:
                counts |= calls.stop()
            counts |= {what: count - stated[what] for what, count in statements(service).items()}
            progress(f"{name}: {counts}")


def count_instructions(program: Path, folder: Path, origin: str, cost: Cost) -> None:
    own = folder / "instructions"
    own.mkdir()
    instructions = Instructions(own)
    # valgrind needs the library's sigsuspend.
    environment = Allocations(own).environment
    with fetchd(program, own, jobs=scenario.AT_A_TIME, runner=instructions.runner, environment=environment) as service:
        run = Scenario(service, origin)
        run.warm_up()
        for name, step in run.steps.items():
            cost[name]["instructions"] = instructions.during(step, service.pid)
            progress(f"{name}: {cost[name]['instructions']:,} instructions")
