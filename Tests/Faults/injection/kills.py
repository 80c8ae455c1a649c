"""scripts/check faults kills: SIGKILL at selected system calls of a scenario, a restart, and an audit."""

from __future__ import annotations

import random
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from library import CALLS, Faults
from origin import Origin
from receiver import Receiver
from service import Overdue, Service

from .scenario import ARGUMENTS, OCCUPIED, Scenario
from .stage import EndedByItself, Stage

# Calls that make data durable or visible, or remove them. Each of them is a point.
DURABLE = ("fdatasync", "fsync", "syncfs", "sync_file_range", "renameat2", "linkat", "unlink", "ftruncate")
# Of these frequent calls, an even sample is used.
FREQUENT = ("write", "pwrite64", "writev", "fallocate", "open", "mkdir", "sendto", "sendmsg")
assert set(DURABLE + FREQUENT) == set(CALLS)

PROCESSES = ("first", "second")
ACTIONS = ("KILL", "KILL-AFTER")
# The calls at which a recovery may be killed.
RECOVERING = "fdatasync,fsync,syncfs,renameat2,unlink,ftruncate"
NOT_REACHED = "not reached"


@dataclass(frozen=True)
class Point:
    """The point before or after the N-th such call of the first process, or of the process that is started in the
    middle."""

    call: str
    number: int
    action: str
    process: str

    @classmethod
    def parse(cls, text: str) -> Point:
        process, call, number, action = text.split("/")
        return cls(call, int(number), action, process)

    def __str__(self) -> str:
        return f"{self.process}/{self.call}/{self.number}/{self.action}"

    @property
    def rule(self) -> str:
        return f"{self.call} * {self.number} {self.number} {self.action}"


# The number of calls of each kind, for each process of a scenario without kills.
Counts = dict[str, dict[str, int]]


def chosen(counts: Counts, most: int, seed: int) -> list[Point]:
    """Selects the points: before and after every durable call, as far as the limit allows, then an even sample of the
    frequent calls."""
    durable = [
        Point(call, number, action, process)
        for process in PROCESSES
        for call in DURABLE
        for number in range(1, counts[process][call] + 1)
        for action in ACTIONS
    ]
    if len(durable) > 0.7 * most:
        durable = _sampled(DURABLE, counts, round(0.7 * most))
    points = durable + _sampled(FREQUENT, counts, most - len(durable))
    random.Random(seed).shuffle(points)
    return points


def others(counts: Counts, number: int, seed: int) -> list[Point]:
    """Replaces points that were not reached, because no two runs make the same calls. The new points are early calls,
    which every run makes."""
    chance = random.Random(f"{seed} others")
    frequent = [(process, call) for process in PROCESSES for call in FREQUENT if counts[process][call] > 1]
    places = [chance.choice(frequent) for _ in range(number)]
    return [
        Point(call, chance.randint(1, counts[process][call] // 2), chance.choice(ACTIONS), process)
        for process, call in places
    ]


def _sampled(calls: tuple[str, ...], counts: Counts, most: int) -> list[Point]:
    """An equal share of points for each frequent call of each process, before and after it in turn."""
    points: list[Point] = []
    made = sorted((counts[process][call], process, call) for process in PROCESSES for call in calls)
    made = [entry for entry in made if entry[0]]
    for index, (count, process, call) in enumerate(made):
        share = (most - len(points)) // (len(made) - index)
        numbers = _even(list(range(1, count + 1)), share)
        points += [Point(call, number, ACTIONS[i % 2], process) for i, number in enumerate(numbers)]
    return points


def _even(values: list[int], count: int) -> list[int]:
    """A sample of the values, evenly over the whole list."""
    if count >= len(values):
        return values
    return [values[round((i + 0.5) * len(values) / count - 0.5)] for i in range(count)]


def counted(program: Path, seed: int) -> tuple[Counts, list[str]]:
    """Counts the calls of a scenario without kills, and returns its findings, too."""
    life = Life(program, seed)
    return life.counts, life.faults


def tried(program: Path, point: Point, seed: int, keep: bool) -> list[str]:
    """Returns the findings after a kill at a point. For a third of all points, the recovery is killed as well."""
    chance = random.Random(f"{seed} {point}")
    number = chance.randint(1, 8)
    recoveries = [[f"{RECOVERING} * {number} {number} KILL"]] if chance.random() < 1 / 3 else []
    life = Life(program, seed, {point.process: [point.rule]}, recoveries, keep)
    if not life.kills and not life.faults:
        return [NOT_REACHED]
    return life.faults


class Life:
    """One run of the scenario in its own folder, with its findings.

    rules: the rules of the first process and of the process that is started in the middle.
    recoveries: the rules of the processes that are started after a kill.
    """

    def __init__(
        self,
        program: Path,
        seed: int,
        rules: dict[str, list[str]] | None = None,
        recoveries: list[list[str]] | None = None,
        keep: bool = False,
    ):
        folder = Path(tempfile.mkdtemp(prefix="fetchd-kills."))
        self._rules = rules or {}
        disk = Faults(folder)
        disk.set(*self._rules.get("first", []))
        service = Service(program, folder, disk, ARGUMENTS)
        stage = Stage(service, disk, recoveries or [])
        try:
            service.downloads.mkdir()
            for name, content in OCCUPIED.items():
                (service.downloads / name).write_bytes(content)
            self.faults = self._lived(stage, seed)
            self.kills = stage.kills
        finally:
            service.kill()
            if keep:
                print(f"Kept: {folder}")
            else:
                shutil.rmtree(folder, ignore_errors=True)

    def _lived(self, stage: Stage, seed: int) -> list[str]:
        # The receiver refuses the second post once.
        with Origin() as origin, Receiver(refuses=lambda number: number == 1) as receiver:
            scenario = Scenario(stage, origin, receiver, seed, self._rules.get("second", []))
            try:
                stage.start()
                scenario.play()
                return list(scenario.faults())
            except (AssertionError, EndedByItself, Overdue) as fault:
                return [f"{fault}"]
            finally:
                first, all = scenario.counts, stage.faults.counts
                second = {call: all[call] - first.get(call, 0) for call in CALLS}
                self.counts = {"first": first, "second": second}
