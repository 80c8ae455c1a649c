"""A trial with one kind of disk fault, from the first job to the audit."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import audit
from audit import TERMINAL
from library import Faults
from origin import Origin
from receiver import Receiver
from service import Overdue, Service, Unreachable, until

from .cases import PATHS, Case
from .expectations import faults_meanwhile, faults_of_reasons, faults_of_stop
from .hardship import FailingCalls, FullDisk
from .scenario import ARGUMENTS, CONFIGURATION, SESSION, WEBHOOK
from .submitter import Batch, Submitter

# Seconds: the duration of the fault, the limit for SIGTERM, and the limit for everything else after the fault. A stop gives
# failing writes and open connections two seconds each. The limit is below the 25 s of --stop-timeout, which would hide a
# stop that hangs.
HARDSHIP = 3.5
STOPPING = 20
RECOVERY = 90
# The delay between the failed call and the kill, so that the next checkpoint has promised offsets.
NEXT_CHECKPOINT = 2.4


class Trial:
    """The findings are in `faults`, other observations in `saw`."""

    def __init__(self, program: Path, case: Case, folder: Path, seed: int):
        self._case = case
        self._seed = seed
        self._disk = Faults(folder)
        self.hardship = FullDisk(case, folder) if case.is_full_disk else FailingCalls(case, self._disk)
        self.service = Service(program, folder, self._disk, ARGUMENTS)
        self.faults: list[str] = []
        self.saw: dict[str, Any] = {"readyz": [], "waits": [], "submits": [], "why": [], "reached": 0}
        self._cancelling: threading.Thread | None = None

    def run(self) -> None:
        with Origin() as self._origin, Receiver() as self._receiver:
            self._client = Submitter(self.service, self._origin, self._seed)
            try:
                self._live()
            except Unreachable as fault:
                status = self.service.wait(1)
                ended = "" if status is None else f"; fetchd has ended with status {status}"
                self.faults.append(f"{fault}{ended}")
            except (AssertionError, Overdue) as fault:
                self.faults.append(str(fault))
        self.faults = self._client.faults + self.faults
        self.saw |= {"reached": self.hardship.reached, "submits": self._client.statuses}

    def _live(self) -> None:
        self._start()
        self._expect("PUT", f"/v1/sessions/{SESSION}", CONFIGURATION)
        self._expect("PUT", f"/v1/sessions/{SESSION}/webhooks/consumer", WEBHOOK | {"url": self._receiver.url})
        self._client.submit("early", {"early": {}})
        until("the early job has succeeded", lambda: self._client.job("early")["state"] == "succeeded")
        kind = self._case.shape.partition("-")[0]
        if kind != "start":
            self._begin()
        {
            "none": self._nothing,
            "once": self._once,
            "heals": self._heals,
            "stopped": self._stopped,
            "killed": self._killed,
            "start": self._start_in_hardship,
        }[kind]()
        self._settle()
        self._audit()

    # MARK: Hardship

    def _begin(self) -> None:
        """Faults of parts and files begin with the jobs; faults of the database begin while the jobs run."""
        is_early = self._case.area in ("parts", "folder", "full-downloads")
        if is_early:
            self.hardship.begin()
        self._client.submit("first", self._first())
        if not is_early:
            until("a job has bytes", lambda: self._client.job("long")["progress"]["bytes_received"] > 0)
            self.hardship.begin()
        self._client.submit("second", {"later": {"destination": {"directory": "sorted/more", "filename": "later"}}})
        # The answer comes when the change is stored, which may be after the fault.
        self._cancelling = threading.Thread(target=self._client.cancel, args=("cancelled",), daemon=True)
        self._cancelling.start()
        if self._case.area in ("full-database", "full-both", "full-shared"):
            self._flood()

    def _first(self) -> Batch:
        """A few running parts are synced one by one; more parts are synced together."""
        if self._case.area == "parts" and self._case.call == "fdatasync":
            return {"long": {"digest": "none"}, "cancelled": {}}
        same = {"filename": "same", "on_conflict": "rename"}
        return {
            "long": {"digest": "none"}, "longer": {"digest": "none"}, "lost": {}, "segmented": {"connections": 4},
            "cancelled": {}, "same": {"destination": same}, "again": {"destination": same},
            "deep": {"destination": {"directory": "sorted/deep", "filename": "deep"}}, "page": {},
        }  # fmt: skip

    def _flood(self) -> None:
        """Submits until a submission is refused: the write-ahead log still has some space on a full disk."""
        words = {"text": "x" * 8000}
        for number in range(40):
            batch = {f"bulk-{number}-{index}": {"metadata": words} for index in range(10)}
            if not self._client.submit(f"bulk-{number}", batch):
                return
        if self._case.area != "full-shared":
            self.faults.append("400 jobs with metadata of 8 kB were acknowledged by a service whose disk is full")

    def _nothing(self) -> None:
        self._watch(NEXT_CHECKPOINT)
        paths = ((line.split()[0], line.split()[1]) for line in self._disk.obeyed)
        self.made = {(next(a for a, part in PATHS.items() if part in path), call) for call, path in paths}

    def _once(self) -> None:
        self._watch(NEXT_CHECKPOINT * 2, until_reached=True)

    def _heals(self) -> None:
        self._watch(HARDSHIP)
        self._judge_hardship()

    def _stopped(self) -> None:
        self._watch(HARDSHIP)
        self._judge_hardship()
        self._stop()
        self.hardship.end()
        self._start()

    def _killed(self) -> None:
        """The call has failed and its bytes are lost. The next call succeeds."""
        if self._case.is_full_disk:
            self._watch(HARDSHIP)
            self.service.kill()
            self._start_until_healed()
            return
        self._watch(NEXT_CHECKPOINT * 2, until_reached=True)
        self._watch(NEXT_CHECKPOINT)
        self.service.kill()
        self.hardship.end()
        self._start()

    def _start_in_hardship(self) -> None:
        self._stop()
        self.hardship.begin()
        self._start_until_healed()
        self._client.submit("first", self._first())

    def _start_until_healed(self) -> None:
        """The service waits for free space, and is then ready. With another fault it may refuse to start."""
        self.service.start()
        time.sleep(HARDSHIP)
        if self.service.status is None:
            self.hardship.end()
            until("it is ready once its disk is well", lambda: self.service.is_ready)
            return
        if self.service.status <= 0 or self._case.is_full:
            self.faults.append(f"a start ended with status {self.service.status} instead of waiting for room")
        self.hardship.end()
        self._start()

    def _watch(self, seconds: float, until_reached: bool = False) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not (until_reached and self.hardship.reached):
            self._note("readyz", self.service.ask("GET", "/readyz").status)
            waiting = self.service.ask("GET", f"/v1/jobs?session={SESSION}&state=waiting")
            # If the database cannot be read, the service cannot report anything.
            for job in waiting.document["jobs"] if waiting.status == 200 else []:
                self._note("waits", job["reason"])
            time.sleep(0.15)

    def _judge_hardship(self) -> None:
        if self.hardship.reached:
            self.faults += faults_meanwhile(self._case, self.saw | {"submits": self._client.statuses})

    # MARK: Stopping, starting

    def _start(self) -> None:
        self.service.start()
        until("fetchd is ready", lambda: self.service.is_ready or self.service.status is not None)
        if self.service.status is not None:
            raise Overdue(f"fetchd ended with status {self.service.status} at the start")

    def _stop(self) -> None:
        before, began = self.hardship.reached, time.monotonic()
        status = self.service.terminate(STOPPING)
        self.saw["stop"] = [round(time.monotonic() - began, 1), status]
        self.faults += faults_of_stop(self._case, status, self.hardship.reached > before, STOPPING)
        self.service.kill()

    # MARK: Afterwards

    def _settle(self) -> None:
        """The fault is over. The service must finish all acknowledged jobs without help."""
        self.hardship.end()
        self._origin.is_slow = False
        began = time.monotonic()
        for key, batch in list(self._client.owed.items()):
            until(f"the {key} batch is taken", lambda key=key, batch=batch: self._client.submit(key, batch), 30)
        if self._cancelling:
            self._cancelling.join()
            until("the cancel is answered", lambda: self._client.cancel("cancelled"), 30)
        until("/readyz answers 200", lambda: self.service.ask("GET", "/readyz").status == 200, 40)
        until("every job has ended", self._have_all_ended, RECOVERY)
        until("every event was delivered", self._is_all_delivered, 30)
        self.saw["recovery"] = round(time.monotonic() - began, 1)

    def _audit(self) -> None:
        found = audit.jobs(self.service, SESSION)
        events = audit.journal(self.service, SESSION)
        self.faults += audit.job_faults(found, self._client.orders, self.service.downloads)
        self.faults += audit.journal_faults(events, self._client.orders)
        self.faults += audit.delivery_faults(self._receiver.posts, events)
        self._note_reasons(found, events)
        # The next start removes files that a failed unlink has left.
        for _ in range(2):
            status = self.service.terminate(STOPPING)
            if status != 0:
                raise Overdue(f"SIGTERM with a disk that is well: status {status}")
            self._start()
        self.service.terminate(STOPPING)
        self.faults += audit.file_faults(self.service.downloads, found, self.service.data)

    def _note_reasons(self, found: dict[str, dict[str, Any]], events: list[dict[str, Any]]) -> None:
        for job in found.values():
            if job["resume"] and job["resume"]["why"]:
                self._note("why", job["resume"]["why"])
        for event in events:
            if event["type"] == "job.restarted":
                self._note("why", event["data"]["why"])
        self.faults += faults_of_reasons(self._case, self.saw | {"reached": self.hardship.reached})

    def _have_all_ended(self) -> bool:
        if self.service.status is not None:
            raise Overdue(f"fetchd ended by itself, with status {self.service.status}")
        if self._case.shape.startswith("once"):
            # Other trials test that the service checks the disk again every half minute.
            self.service.ask("POST", f"/v1/sessions/{SESSION}/resume", {})
            time.sleep(0.5)
        return all(job["state"] in TERMINAL for job in audit.jobs(self.service, SESSION).values())

    def _is_all_delivered(self) -> bool:
        batch = self._expect("GET", f"/v1/sessions/{SESSION}")["batch"]
        finishes = self._expect("GET", f"/v1/events?session={SESSION}&type=session.finished")["events"]
        pending = self._expect("GET", f"/v1/sessions/{SESSION}/webhooks/consumer/deliveries?state=pending")
        return batch in [event["data"]["batch"] for event in finishes] and not pending["deliveries"]

    def _expect(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.service.ask(method, path, body)
        if answer.status not in (200, 201):
            raise AssertionError(f"{method} {path} was answered {answer.status}: {answer.document}")
        return answer.document

    def _note(self, what: str, value: Any) -> None:
        if value not in self.saw[what]:
            self.saw[what].append(value)
