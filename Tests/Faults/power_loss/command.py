"""scripts/check power-loss: the command line, and the recording of the run."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from library import Faults
from origin import Origin
from receiver import Receiver
from service import Service, until
from soak.listener import free_port

from .campaign import Campaign
from .history import SEMANTICS
from .workload import ARGUMENTS, FULL_LENGTH, Plan, Workload

ROOT = Path(__file__).resolve().parents[3]

MOMENTS = 120
SHORT_LENGTH = 10
SHORT_MOMENTS = 15


def main(manual: str) -> int:
    options = _parsed(manual)
    # The exit handlers end all started processes.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    program = Path(os.environ.get("FETCHD_BIN") or ROOT / ".build/debug/fetchd").resolve()
    if not program.exists():
        sys.exit(f"power-loss: {program} is missing; run swift build")
    folder = options.trace or Path(tempfile.mkdtemp(prefix="fetchd-power-loss.")).resolve()
    is_kept = options.keep or options.trace is not None
    try:
        if not options.trace:
            seconds = options.seconds or (SHORT_LENGTH if options.short else FULL_LENGTH)
            _record(program, folder, options.seed, seconds)
        campaign = Campaign(program, folder, options.seed, options.semantics, options.ignore_syncs)
        is_clean = campaign.run(options.moments, options.moment)
        is_kept |= not is_clean
        return 0 if is_clean else 1
    finally:
        if is_kept:
            print(f"Kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def _parsed(manual: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--moments", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--semantics", choices=SEMANTICS)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--trace", type=lambda path: Path(path).resolve(strict=True))
    parser.add_argument("--moment", type=int)
    parser.add_argument("--ignore-syncs", metavar="TEXT")
    parser.add_argument("--keep", action="store_true")
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(manual, end="")
        sys.exit(0)
    options = parser.parse_args()
    options.moments = options.moments or (SHORT_MOMENTS if options.short else MOMENTS)
    return options


class Recording(Faults):
    """Preloads disk_faults.c, which also writes the trace."""

    def __init__(self, folder: Path, disk: Path):
        super().__init__(folder)
        self._trace = {"DISK_FAULTS_TRACE": str(folder / "trace"), "DISK_FAULTS_ROOT": str(disk)}

    @property
    def environment(self) -> dict[str, str]:
        return super().environment | self._trace


def _record(program: Path, folder: Path, seed: int, seconds: float) -> None:
    """Records a run. The folder then has the trace, the disk, the answers that clients received, and the ports."""
    print(f"Recording a run of {seconds:g} s", flush=True)
    plan = Plan(seed, seconds)
    disk = folder / "disk"
    disk.mkdir()
    faults = Recording(folder, disk)
    service = Service(program, disk, faults, ARGUMENTS, log=folder / "fetchd.log")

    def is_refused(number: int) -> bool:
        """One post in nine, so that some deliveries wait for their next attempt."""
        return number % 9 == 4

    def kill() -> None:
        """Kills the process at its next system call, so that the trace is complete."""
        faults.set("* * 1 1 KILL")
        until("fetchd has been killed", lambda: service.status is not None)
        faults.set()

    try:
        # The trials use the same ports again, so the system must not give them to a client in the meantime.
        origin, receiver = Origin(free_port()), Receiver(refuses=is_refused, port=free_port())
        with origin, receiver:
            origin.resources = plan.resources(is_difficult=True)
            received = Workload(plan, service, origin, receiver, kill).run()
            ports = {"origin": origin.port, "receiver": receiver.port}
    finally:
        service.kill()
    received.save(folder / "received.json")
    run = {"seed": seed, "seconds": seconds, "ports": ports}
    (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
