"""scripts/faults errors: a disk that fails in one way, and what becomes of the jobs meanwhile and afterwards."""

from __future__ import annotations

import shutil
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import audit
from audit import TERMINAL, Order
from cases import NOTHING, ONCE, PATHS, Case
from hardship import FailingCalls, FullDisk, inside_namespace
from library import Faults
from origin import Origin, Resource, random_bytes
from receiver import Receiver
from scenario import ARGUMENTS, CONFIGURATION, SESSION, WEBHOOK
from service import Answer, Overdue, Service, Unreachable, until

# Seconds: how long a disk fails, how long SIGTERM may take, and everything else once the disk is well again.
HARDSHIP = 3.5
STOPPING = 5
RECOVERY = 90
# A kill comes so long after the failed call that the next checkpoint has promised offsets.
NEXT_CHECKPOINT = 2.4


def tried(program: Path, case: Case, seed: int, keep: bool) -> dict[str, Any]:
    if case.is_full_disk:
        inside_namespace()
    folder = Path(tempfile.mkdtemp(prefix="fetchd-errors."))
    trial = Trial(program, case, folder, seed)
    try:
        trial.run()
    finally:
        trial.service.kill()
        trial.hardship.end()
        if keep:
            print(f"Kept: {folder}")
        elif not case.is_full_disk:
            shutil.rmtree(folder, ignore_errors=True)
    return {"faults": trial.faults, "saw": trial.saw}


def calls_made(program: Path, seed: int) -> set[tuple[str, str]]:
    """By area, between the start and the end of the jobs of a trial that nothing fails in."""
    folder = Path(tempfile.mkdtemp(prefix="fetchd-errors."))
    trial = Trial(program, NOTHING, folder, seed)
    try:
        trial.run()
        if trial.faults:
            raise AssertionError(f"Even a disk that does not fail is too much: {trial.faults}")
        return trial.made
    finally:
        trial.service.kill()
        shutil.rmtree(folder, ignore_errors=True)


class Trial:
    """One case. What is not as it should be is in `faults`, what else was seen in `saw`."""

    def __init__(self, program: Path, case: Case, folder: Path, seed: int):
        self._case = case
        self._disk = Faults(folder)
        self.hardship = FullDisk(case, folder) if case.is_full_disk else FailingCalls(case, self._disk)
        self.service = Service(program, folder, self._disk, ARGUMENTS)
        self.faults: list[str] = []
        self.saw: dict[str, Any] = {"readyz": [], "waits": [], "submits": [], "why": []}
        self._orders: dict[str, Order] = {}
        self._ids: dict[str, str] = {}
        self._contents = _resources(seed)
        self._cancelling: threading.Thread | None = None
        # What was not acknowledged and has to be asked for again: keys of batches.
        self._owed: dict[str, dict[str, dict[str, Any]]] = {}

    def run(self) -> None:
        with Origin() as self._origin, Receiver() as self._receiver:
            for name, resource in self._contents.items():
                self._origin.resources[f"/{name}"] = resource
            try:
                self._live()
            except Unreachable as fault:
                status = self.service.wait(1)
                ended = "" if status is None else f"; fetchd has ended with status {status}"
                self.faults.append(f"{fault}{ended}")
            except (AssertionError, Overdue) as fault:
                self.faults.append(str(fault))
        self.saw["reached"] = self.hardship.reached

    def _live(self) -> None:
        self._start()
        self._expect("PUT", f"/v1/sessions/{SESSION}", CONFIGURATION)
        self._expect("PUT", f"/v1/sessions/{SESSION}/webhooks/consumer", WEBHOOK | {"url": self._receiver.url})
        self._submit("early", {"early": {}})
        until("the early job has succeeded", lambda: self._jobs()[self._ids["early"]]["state"] == "succeeded")
        kind = self._case.shape.partition("-")[0]
        if kind == "start":
            self._start_in_hardship()
        else:
            self._begin()
            {"none": self._nothing, "once": self._once, "heals": self._heals, "stopped": self._stopped, "killed": self._killed}[kind]()
        self._settle()
        self._audit()

    # MARK: Hardship

    def _begin(self) -> None:
        """What is about parts and files fails from the start of the jobs, the database while they run."""
        is_early = self._case.area in ("parts", "folder", "full-downloads")
        if is_early:
            self.hardship.begin()
        self._submit("first", self._first())
        if not is_early:
            until("a job has bytes", lambda: self._jobs()[self._ids["long"]]["progress"]["bytes_received"] > 0)
            self.hardship.begin()
        self._submit("second", {"later": {"destination": {"directory": "sorted/more", "filename": "later"}}})
        if "cancelled" in self._ids:
            # Answered when it holds, which may be when the disk is well again.
            self._cancelling = threading.Thread(target=self._cancel, daemon=True)
            self._cancelling.start()
        if self._case.area in ("full-database", "full-both", "full-shared"):
            self._flood()

    def _first(self) -> dict[str, dict[str, Any]]:
        """A few running parts are synced one by one, more of them all together."""
        if self._case.area == "parts" and self._case.call == "fdatasync":
            return {"long": {"digest": "none"}, "cancelled": {}}
        same = {"filename": "same", "on_conflict": "rename"}
        return {
            "long": {"digest": "none"}, "longer": {"digest": "none"}, "lost": {}, "segmented": {"connections": 4},
            "cancelled": {}, "same": {"destination": same}, "again": {"destination": same},
            "deep": {"destination": {"directory": "sorted/deep", "filename": "deep"}},
        }  # fmt: skip

    def _flood(self) -> None:
        """Until the disk is so full that a submission is refused: the log can take some while the disk is full."""
        words = {"text": "x" * 8000}
        for number in range(40):
            names = {f"bulk-{number}-{index}": {"metadata": words} for index in range(10)}
            self._contents |= dict.fromkeys(names, self._contents["bulk"])
            if not self._submit(f"bulk-{number}", names):
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
        """The call has failed; what it was to make durable is gone. The next one succeeds."""
        if self._case.is_full_disk:
            self._watch(HARDSHIP)
        else:
            self._watch(NEXT_CHECKPOINT * 2, until_reached=True)
            self._watch(NEXT_CHECKPOINT)
        self.service.kill()
        if self._case.is_full_disk:
            self._start_until_healed()
        else:
            self.hardship.end()
            self._start()

    def _start_in_hardship(self) -> None:
        self._stop()
        self.hardship.begin()
        self._start_until_healed()
        self._submit("first", self._first())

    def _start_until_healed(self) -> None:
        """It waits for room, and is ready once there is some; a disk that fails otherwise may be refused."""
        self.service.start()
        time.sleep(HARDSHIP)
        if self.service.status is not None:
            if self.service.status <= 0 or self._case.is_full:
                self.faults.append(f"a start ended with status {self.service.status} instead of waiting for room")
            self.hardship.end()
            self._start()
            return
        self.hardship.end()
        until("it is ready once its disk is well", lambda: self.service.is_ready)

    def _watch(self, seconds: float, until_reached: bool = False) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not (until_reached and self.hardship.reached):
            self._note("readyz", self.service.ask("GET", "/readyz", patience=5).status)
            waiting = self.service.ask("GET", f"/v1/jobs?session={SESSION}&state=waiting", patience=5)
            # Where the database cannot even be read, nothing is to be seen.
            for job in waiting.document["jobs"] if waiting.status == 200 else []:
                self._note("waits", job["reason"])
            time.sleep(0.15)

    def _judge_hardship(self) -> None:
        """While all such calls fail: something waits, and who asks is told."""
        if not self.hardship.reached:
            return
        case = self._case
        is_folder_gone = (case.area, case.call) in (
            ("parts", "open"), ("parts", "pwrite64"), ("folder", "open"), ("folder", "mkdir"), ("folder", "renameat2"),
        )  # fmt: skip
        is_unsaved = case.area == "database" and case.call in ("pwrite64", "fdatasync")
        if is_folder_gone and not {"space", "storage"} & set(self.saw["waits"]):
            self.faults.append(f"no job waited for space or storage, only for {self.saw['waits'] or 'nothing'}")
        if case.area == "full-downloads" and "space" not in self.saw["waits"]:
            self.faults.append("no job waited for space")
        if (is_folder_gone and not case.is_full or is_unsaved) and 503 not in self.saw["readyz"]:
            self.faults.append("/readyz never answered 503")
        if is_unsaved and not any(status == 503 for status in self.saw["submits"]):
            self.faults.append(f"submissions were answered {self.saw['submits']}")

    # MARK: Stopping, starting

    def _start(self) -> None:
        self.service.start()
        until("fetchd is ready", lambda: self.service.is_ready or self.service.status is not None)
        if self.service.status is not None:
            raise Overdue(f"fetchd ended with status {self.service.status} at the start")

    def _stop(self) -> None:
        """SIGTERM ends it, and its status says whether something was lost by it."""
        before, began = self.hardship.reached, time.monotonic()
        status = self.service.terminate(STOPPING)
        self.saw["stop"] = [round(time.monotonic() - began, 1), status]
        is_unsaved = self._case.area == "database" and self._case.call in ("pwrite64", "fdatasync")
        if status is None:
            self.faults.append(f"SIGTERM did not end it within {STOPPING} s")
            self.service.kill()
        elif status < 0:
            self.faults.append(f"after SIGTERM it ended by signal {signal.Signals(-status).name}")
        elif status == 0 and is_unsaved and self.hardship.reached > before:
            self.faults.append("SIGTERM ended it with status 0 although something could not be stored")

    # MARK: Afterwards

    def _settle(self) -> None:
        """The disk is well: everything that was acknowledged is carried out by itself."""
        self.hardship.end()
        self._origin.is_slow = False
        began = time.monotonic()
        for key, wanted in list(self._owed.items()):
            until(f"the {key} batch is taken", lambda: self._submit(key, wanted), 30)
        if self._cancelling:
            self._cancelling.join()
            until("the cancel is answered", self._cancel, 30)
        until("/readyz answers 200", lambda: self.service.ask("GET", "/readyz").status == 200, 40)
        until("every job has ended, by itself", self._have_all_ended, RECOVERY)
        until("every event was delivered", self._is_all_delivered, 30)
        self.saw["recovery"] = round(time.monotonic() - began, 1)

    def _audit(self) -> None:
        found = self._jobs()
        events = audit.journal(self.service, SESSION)
        self.faults += audit.job_faults(found, self._orders, self.service.downloads)
        self.faults += audit.journal_faults(events, self._orders)
        self.faults += audit.delivery_faults(self._receiver.posts, events)
        self._note_reasons(found, events)
        # A start removes what a failed unlink has left.
        for _ in range(2):
            status = self.service.terminate(STOPPING)
            if status != 0:
                raise Overdue(f"SIGTERM with a disk that is well: status {status}")
            self._start()
        self.service.terminate(STOPPING)
        foreign = ("ballast",)
        self.faults += audit.file_faults(self.service.downloads, found, self.service.data, foreign)

    def _note_reasons(self, found: dict[str, dict[str, Any]], events: list[dict[str, Any]]) -> None:
        for job in found.values():
            if job["resume"] and job["resume"]["why"]:
                self._note("why", job["resume"]["why"])
        for event in events:
            if event["type"] == "job.restarted":
                self._note("why", event["data"]["why"])
        case = self._case
        is_sync = case.area == "parts" and case.call in ("fdatasync", "syncfs")
        if is_sync and case.shape in ONCE and self.hardship.reached and "sync_failed" not in self.saw["why"]:
            self.faults.append(f"no job says that a sync has failed, only {self.saw['why'] or 'nothing'}")

    def _have_all_ended(self) -> bool:
        if self.service.status is not None:
            raise Overdue(f"fetchd ended by itself, with status {self.service.status}")
        return all(job["state"] in TERMINAL for job in self._jobs().values())

    def _is_all_delivered(self) -> bool:
        session = self.service.ask("GET", f"/v1/sessions/{SESSION}").document
        path = f"/v1/events?session={SESSION}&type=session.finished"
        batches = [event["data"]["batch"] for event in self.service.ask("GET", path).document["events"]]
        path = f"/v1/sessions/{SESSION}/webhooks/consumer/deliveries?state=pending"
        return session["batch"] in batches and not self.service.ask("GET", path).document["deliveries"]

    # MARK: Asking

    def _jobs(self) -> dict[str, dict[str, Any]]:
        return audit.jobs(self.service, SESSION)

    def _expect(self, method: str, path: str, body: Any) -> Answer:
        answer = self.service.ask(method, path, body)
        if answer.status not in (200, 201):
            raise AssertionError(f"{method} {path} was answered {answer.status}: {answer.document}")
        return answer

    def _submit(self, key: str, wanted: dict[str, dict[str, Any]]) -> bool:
        """Whether the jobs were acknowledged. They may be refused for now, in the way that is documented."""
        jobs = [
            {"session": SESSION, "url": f"{self._origin.url}/{name.partition('-')[0]}"} | more
            for name, more in wanted.items()
        ]
        headers = {"Idempotency-Key": key}
        answer = self.service.ask("POST", "/v1/jobs/batch", {"jobs": jobs}, headers, patience=10)
        self._note("submits", answer.status)
        if answer.status != 201:
            self._owed[key] = wanted
            if answer.status != 503 or "retry-after" not in answer.headers:
                self.faults.append(f"a submission was answered {answer.status}: {answer.headers} {answer.document}")
            return False
        self._owed.pop(key, None)
        for name, job in zip(wanted, answer.document["jobs"]):
            self._ids[name] = job["id"]
            self._orders[job["id"]] = Order(name, self._contents[name].content)
        return True

    def _cancel(self) -> bool:
        """Whether it was answered, for good: as done, or as too late."""
        id = self._ids["cancelled"]
        try:
            answer = self.service.ask("POST", f"/v1/jobs/{id}/cancel", {}, patience=40)
        except Unreachable:
            return False
        if answer.status == 200:
            self._orders[id].ends = ("cancelled",)
        elif answer.status not in (409, 503):
            self.faults.append(f"cancel was answered {answer.status}: {answer.document}")
        return answer.status != 503

    def _note(self, what: str, value: Any) -> None:
        if value not in self.saw[what]:
            self.saw[what].append(value)


def _resources(seed: int) -> dict[str, Resource]:
    return {
        "early": Resource(random_bytes(seed, 20_000)),
        "long": Resource(random_bytes(seed + 1, 2_800_000), rate=400_000),
        "longer": Resource(random_bytes(seed + 2, 3_200_000), rate=400_000, is_chunked=True),
        "lost": Resource(random_bytes(seed + 3, 900_000), rate=300_000, cuts=(300_000,)),
        "segmented": Resource(random_bytes(seed + 4, 6_000_000), rate=400_000),
        "cancelled": Resource(random_bytes(seed + 5, 3_000_000), rate=300_000),
        "same": Resource(random_bytes(seed + 6, 30_000)),
        "again": Resource(random_bytes(seed + 7, 30_001)),
        "deep": Resource(random_bytes(seed + 8, 40_000)),
        "later": Resource(random_bytes(seed + 9, 50_000)),
        "bulk": Resource(random_bytes(seed + 10, 1_000)),
    }
