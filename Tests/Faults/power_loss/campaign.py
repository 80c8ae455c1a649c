"""Runs the trials: power losses at moments of one recorded run."""

from __future__ import annotations

import json
import random
import shutil
import time
from collections import Counter
from pathlib import Path
from typing import Iterator

from library import compiled
from origin import Origin
from receiver import Receiver
from service import PATIENCE, Overdue, Service, Unreachable, until

from . import disk_audit, service_audit
from .disk import FATES, Left, Loss, rebuilt, write
from .history import SEMANTICS, History
from .knowledge import Knowledge
from .moments import Moment, moments
from .service_audit import TERMINAL, all_events, all_jobs
from .trace import Trace
from .workload import ARGUMENTS, EndedByItself, Plan, Received, start

# A loss that keeps everything would test nothing.
LOSSES = [(of_bytes, of_names) for of_bytes in FATES for of_names in FATES if {of_bytes, of_names} != {"kept"}]
# The number of findings that are shown for one trial.
MOST_FAULTS = 20


class Campaign:
    """The trials are determined by the recorded folder, the seed and the semantics.

    semantics: None: all of them in turn.
    ignored_syncs: syncs of paths that contain this text are ignored; None: no sync is ignored.
    """

    def __init__(
        self, program: Path, folder: Path, seed: int, semantics: str | None = None, ignored_syncs: str | None = None
    ):  # fmt: skip
        self._program = program
        self._folder = folder
        self._seed = seed
        self._semantics = semantics
        self._ignored_syncs = ignored_syncs
        run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
        self._ports = run["ports"]
        self._plan = Plan(run["seed"], run["seconds"])
        self._received = Received.load(folder / "received.json")
        self._trace = Trace(folder / "trace", folder / "disk")
        self._history = History(self._trace, ignored_syncs)

    def run(self, count: int, only: int | None = None) -> bool:
        """Returns whether there were no findings.

        only: the number of a single trial to repeat, from 1.
        """
        self._check_trace()
        trials = list(enumerate(self._trials(max(count, only or 0)), 1))
        if only is not None:
            trials = trials[only - 1 : only]
        failed, began = 0, time.monotonic()
        with Origin(self._ports["origin"]) as origin, Receiver(port=self._ports["receiver"]) as receiver:
            origin.resources = self._plan.resources(is_difficult=False)
            for number, (moment, loss) in trials:
                failed += not self._passes(number, moment, loss, receiver, is_kept=only is not None)
        self._report([trial for _, trial in trials], failed, time.monotonic() - began)
        return failed == 0

    def _check_trace(self) -> None:
        """Checks that the trace is complete: without a loss, it gives the same disk as the run."""
        whole = rebuilt(self._history, len(self._trace.records), Loss("ext4", "kept", "kept", ""))
        disk = self._folder / "disk"
        there = {str(path.relative_to(disk)): path for path in disk.rglob("*") if path.is_file()}
        if there.keys() != whole.files.keys():
            raise AssertionError(f"the trace does not explain {sorted(there.keys() ^ whole.files.keys())}")
        for name, path in there.items():
            # SQLite writes its shared memory with mmap(2), and creates it again when it opens the database.
            if not name.endswith("-shm") and path.read_bytes() != whole.files[name].bytes:
                raise AssertionError(f"the trace does not explain the bytes of {name}")

    def _trials(self, count: int) -> Iterator[tuple[Moment, Loss]]:
        """Takes the kinds of moments in turn, and a random moment of each kind. A larger number of trials starts with
        the same ones."""
        source = random.Random(self._seed)
        kinds = moments(self._trace, self._received)
        deck: list[str] = []
        for number in range(count):
            deck = deck or source.sample(sorted(kinds), len(kinds))
            moment = source.choice(kinds[deck.pop()])
            semantics = self._semantics or SEMANTICS[number % len(SEMANTICS)]
            yield moment, Loss(semantics, *source.choice(LOSSES), seed=f"{self._seed}/{number}")

    def _report(self, trials: list[tuple[Moment, Loss]], failed: int, seconds: float) -> None:
        print(f"\n{len(trials)} moments of {len(self._trace.records)} tried in {seconds:.0f} s; {failed} failed")
        titles = {
            "Moments, after": Counter(moment.kind for moment, _ in trials),
            "Losses": Counter(str(loss) for _, loss in trials),
        }
        for title, counter in titles.items():
            print(f"{title}:")
            for name, number in sorted(counter.items()):
                print(f"  {number:4}  {name}")

    # MARK: One loss

    def _passes(self, number: int, moment: Moment, loss: Loss, receiver: Receiver, is_kept: bool) -> bool:
        """Returns whether the trial passes. If it fails, its folder is kept."""
        folder = self._folder / f"moment-{number}"
        shutil.rmtree(folder, ignore_errors=True)
        began = time.monotonic()
        left = rebuilt(self._history, moment.records, loss)
        faults = list(self._faults(moment, left, folder, receiver))
        seconds = time.monotonic() - began
        mark = "✗" if faults else "✓"
        place = f"after {moment.kind} (record {moment.records})"
        print(f"{mark} {number}: {place}; {loss}; {left}; {seconds:.1f} s", flush=True)
        for fault in faults[:MOST_FAULTS]:
            print(f"    {fault}")
        if len(faults) > MOST_FAULTS:
            print(f"    and {len(faults) - MOST_FAULTS} more")
        if faults:
            print(f"    again: {self._repetition(number)}")
        elif not is_kept:
            shutil.rmtree(folder)
        return not faults

    def _repetition(self, number: int) -> str:
        command = f"scripts/check power-loss --trace {self._folder} --seed {self._seed} --moment {number}"
        if self._semantics:
            command += f" --semantics {self._semantics}"
        if self._ignored_syncs:
            command += f" --ignore-syncs {self._ignored_syncs}"
        return command

    def _faults(self, moment: Moment, left: Left, folder: Path, receiver: Receiver) -> Iterator[str]:
        disk = folder / "disk"
        identities = Identities(folder / "identities", write(left, disk))
        knowledge = Knowledge(self._plan, self._received, moment.time)
        yield from disk_audit.disk_faults(knowledge, disk)
        service = Service(self._program, disk, identities, ARGUMENTS, log=folder / "fetchd.log")
        earlier_posts = len(receiver.posts)
        try:
            start(service)
            yield from _service_faults(knowledge, service, receiver, earlier_posts)
            yield from disk_audit.permission_faults(service.downloads)
        except (Overdue, Unreachable, EndedByItself) as error:
            yield f"{error}; {service.log.name} ends with: {_last_lines(service.log)}"
        finally:
            service.kill()


class Identities:
    """Preloads identities.c, with the inode numbers and birth times that it reports for the rebuilt disk."""

    def __init__(self, file: Path, identities: list[tuple[int, int, int, int]]):
        file.write_text("".join(f"{' '.join(map(str, it))}\n" for it in identities), encoding="utf-8")
        self.environment = {
            "LD_PRELOAD": str(compiled(Path(__file__).with_name("identities.c"))),
            "IDENTITIES": str(file),
        }


def _last_lines(log: Path) -> str:
    return " / ".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-3:])


def _service_faults(knowledge: Knowledge, service: Service, receiver: Receiver, earlier_posts: int) -> Iterator[str]:
    """earlier_posts: the number of posts that were received before the service was started."""
    yield from service_audit.memory_faults(knowledge, all_jobs(service), all_events(service))
    yield from service_audit.repetition_faults(knowledge, service)
    for job in all_jobs(service):
        if job["state"] == "paused":
            service.ask("POST", f"/v1/jobs/{job['id']}/resume", {})
    sessions = {
        session["id"] for session in service.ask("GET", "/v1/sessions").document["sessions"]
        if service.ask("GET", f"/v1/sessions/{session['id']}/webhooks/consumer").status == 200
    }  # fmt: skip
    try:
        until("all jobs have ended", lambda: all(job["state"] in TERMINAL for job in all_jobs(service)))
        until("all events have been delivered", lambda: _is_settled(service, sessions))
    except Overdue as error:
        # The audits below report each missing item.
        yield str(error)
    jobs, events = all_jobs(service), all_events(service)
    yield from service_audit.journal_faults(knowledge, events)
    yield from service_audit.end_faults(knowledge, jobs, service.downloads)
    yield from service_audit.run_faults(knowledge, jobs, events)
    yield from service_audit.delivery_faults(knowledge, events, receiver.posts[earlier_posts:], sessions)
    if (status := service.terminate(PATIENCE)) != 0:
        yield f"SIGTERM ended it with status {status}"
    yield from disk_audit.left_over_faults(jobs, knowledge, service.folder)


def _is_settled(service: Service, sessions: set[str]) -> bool:
    """All work has ended: every batch has its finish, and the webhook has received all events."""
    for session in sessions:
        document = service.ask("GET", f"/v1/sessions/{session}").document
        if document["state"] != "idle" or document["finish_due_at"]:
            return False
        pending = f"/v1/sessions/{session}/webhooks/consumer/deliveries?state=pending"
        if service.ask("GET", pending).document["deliveries"]:
            return False
    return True
