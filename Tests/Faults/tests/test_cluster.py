"""Tests the audit of scripts/check soak-cluster: it accepts sound evidence, and reports each broken promise."""

from __future__ import annotations

import random
import tempfile
import unittest
from pathlib import Path

from cluster.acknowledgements import Acknowledgements, longest_gaps
from cluster.downloads import Download
from cluster.evidence import Evidence
from cluster.logs import log_faults, stalls
from cluster.node_faults import deck
from cluster.promises import broken
from cluster.tampering import tamper
from cluster.timeline import DATABASE_PAUSE, FREEZE, KILL, NODE_KINDS, OUTAGE, Fault
from receiver import Post
from soak.content import Version

BOOKS = [Version(1, memoryview(bytes([number]) * 10)) for number in range(3)]
LINES = ["1 job.created job_q1 aaaaaaaa\n", *(f"{number} job.created job_q2 bbbbbbbb\n" for number in range(2, 15))]
START = "2026-01-01T00:00:00.000Z"
# START as seconds of the wall clock, with a monotonic clock that begins at it.
WALL = 1_767_225_600


def sound() -> Evidence:
    """Two jobs of writers and three downloads, which all nodes and readers report in the same way."""
    keys = {"1-0-1": "job_q1", "2-0-1": "job_q2"}
    events = _events()
    return Evidence(
        Acknowledgements(dict(keys), [1.0, 2.0], repeated=[("1-0-1", "job_q1", "2")]),
        {node: [(job, key) for key, job in keys.items()] for node in (1, 2, 3)},
        {node: dict.fromkeys(keys.values(), 200) for node in (1, 2, 3)},
        {node: {"queued": 2, "running": 0, "succeeded": 3} for node in (1, 2, 3)},
        {"queued": 2, "succeeded": 3},
        2,
        (14, 1, 14, 14),
        {name: list(LINES) for name in ("node-1", "node-2", "moving")},
        [Download(f"job_{number}", "films", version) for number, version in enumerate(BOOKS)],
        {f"job_{n}": {"state": "succeeded", "failure": None, "file": {"sha256": v.sha256}} for n, v in enumerate(BOOKS)},
        {f"job_{number}": version.sha256 for number, version in enumerate(BOOKS)},
        {"films": events},
        [Post(f"dlv_{e['id']}", e["id"], e["type"], "films", e["job"], True, e["id"]) for e in events],
        [],
        {node: [f"{START} notice [fetchd] fetchd is ready"] for node in (1, 2, 3)},
        [],
        WALL,
    )


def _events() -> list[dict]:
    """Of three downloads that succeed in one batch."""
    types = [(type, f"job_{number}") for type in ("created", "started", "succeeded") for number in range(3)]
    events = [
        {"id": id, "type": f"job.{type}", "job": job, "data": {"snapshot": {"batch": 1}}}
        for id, (type, job) in enumerate(types, 3)
    ]
    counts = {"succeeded": 3, "failed": 0, "cancelled": 0}
    finish = {"id": 14, "type": "session.finished", "job": None, "data": {"batch": 1, "counts": counts}}
    return [*events, finish]


class AuditTests(unittest.TestCase):
    def assert_finds(self, kind: str, text: str, evidence: Evidence) -> None:
        found = list(broken(evidence))
        self.assertTrue(any(k == kind and text in sentence for k, sentence in found), found)

    def test_accepts_sound_evidence(self) -> None:
        self.assertEqual(list(broken(sound())), [])

    def test_reports_everything_that_tampering_plants(self) -> None:
        evidence = sound()
        planted = tamper(evidence)
        self.assertEqual(planted - {kind for kind, _ in broken(evidence)}, set())

    def test_a_node_lacks_an_acknowledged_job(self) -> None:
        evidence = sound()
        evidence.listings[2].pop()
        self.assert_finds("job lost", "node 2 does not list job_q2 of 2-0-1", evidence)

    def test_a_node_answers_404_to_an_acknowledged_job(self) -> None:
        evidence = sound()
        evidence.statuses[3]["job_q1"] = 404
        self.assert_finds("job lost", "node 3 answers 404", evidence)

    def test_a_key_has_two_jobs(self) -> None:
        evidence = sound()
        for listing in evidence.listings.values():
            listing.append(("job_q3", "1-0-1"))
        evidence.stored_jobs = 3
        self.assert_finds("job doubled", "1-0-1", evidence)
        self.assert_finds("counts", "the database has 3 jobs of 2 to 2 keys", evidence)

    def test_the_job_of_a_lost_acknowledgement_may_exist(self) -> None:
        evidence = sound()
        evidence.acknowledgements.unanswered.add("3-0-1")
        self.assertEqual(list(broken(evidence)), [])
        for listing in evidence.listings.values():
            listing.append(("job_q3", "3-0-1"))
        evidence.stored_jobs = 3
        self.assertEqual(list(broken(evidence)), [])

    def test_a_repeated_key_gets_another_job(self) -> None:
        evidence = sound()
        evidence.acknowledgements.repeated.append(("2-0-1", "job_q9", "3"))
        self.assert_finds("answer", "2-0-1 was acknowledged as job_q2, and at node 3 as job_q9", evidence)

    def test_a_reader_misses_an_event(self) -> None:
        evidence = sound()
        del evidence.readings["moving"][5]
        self.assert_finds("reader", "moving has at place 6", evidence)

    def test_a_reader_misses_the_last_event(self) -> None:
        evidence = sound()
        evidence.readings["node-2"].pop()
        self.assert_finds("reader", "node-2 has at place 14: nothing", evidence)

    def test_a_failover_leaves_a_gap_in_the_numbers(self) -> None:
        evidence = sound()
        for lines in evidence.readings.values():
            lines[10:] = [f"{int(line.split()[0]) + 10_000} {line.split(maxsplit=1)[1]}" for line in lines[10:]]
        evidence.stored_events = (14, 1, 10_014, 10_014)
        self.assert_finds("reader", "at place 11", evidence)
        self.assert_finds("events", "14 events from 1 to 10014", evidence)
        evidence.gaps = [(10, 10_011)]
        self.assertEqual([kind for kind, _ in broken(evidence)], [])

    def test_a_reader_has_an_event_twice(self) -> None:
        evidence = sound()
        evidence.readings["node-1"].insert(3, LINES[2])
        self.assert_finds("reader", "node-1 has at place 4", evidence)

    def test_readers_have_received_different_events_under_one_number(self) -> None:
        evidence = sound()
        evidence.readings["node-1"][4] = "5 job.created job_other cccccccc\n"
        self.assert_finds("reader", "node-1 has at place 5", evidence)

    def test_all_readers_have_a_gap(self) -> None:
        evidence = sound()
        for lines in evidence.readings.values():
            del lines[7]
        self.assert_finds("reader", "has at place 8: 9 ", evidence)

    def test_all_readers_lack_the_last_event(self) -> None:
        evidence = sound()
        evidence.stored_events = (15, 1, 15, 15)
        self.assert_finds("reader", "the last event of the readers is 14", evidence)

    def test_the_stored_events_have_a_gap(self) -> None:
        evidence = sound()
        evidence.stored_events = (13, 1, 14, 14)
        self.assert_finds("events", "13 events from 1 to 14", evidence)

    def test_a_node_counts_wrongly(self) -> None:
        evidence = sound()
        evidence.counts[1]["running"] = 1
        self.assert_finds("counts", "node 1 reports {'running': 1}", evidence)

    def test_a_download_failed(self) -> None:
        evidence = sound()
        evidence.documents["job_1"] |= {"state": "failed", "failure": {"code": "timed_out"}}
        self.assert_finds("download", "job_1 is failed", evidence)

    def test_a_file_has_wrong_bytes(self) -> None:
        evidence = sound()
        evidence.digests["job_2"] = BOOKS[1].sha256
        self.assert_finds("wrong bytes", "the file of job_2", evidence)

    def test_a_job_ended_twice(self) -> None:
        evidence = sound()
        evidence.events["films"].insert(-1, evidence.events["films"][-2] | {"id": 13})
        self.assert_finds("journal", "2 terminal events for 1 runs", evidence)

    def test_a_batch_finished_twice(self) -> None:
        evidence = sound()
        evidence.events["films"].append(evidence.events["films"][-1] | {"id": 15})
        self.assert_finds("batches", "the finishes are of the batches [1, 1]", evidence)

    def test_a_finish_counts_wrongly(self) -> None:
        evidence = sound()
        evidence.events["films"][-1]["data"]["counts"] |= {"succeeded": 2, "failed": 1}
        self.assert_finds("batch counts", "{'succeeded': 3} have ended", evidence)

    def test_an_event_was_not_delivered(self) -> None:
        evidence = sound()
        evidence.posts.pop(4)
        self.assert_finds("delivery", "never arrived", evidence)

    def test_a_part_is_left(self) -> None:
        evidence = sound()
        evidence.parts.append("node-1/downloads/.incomplete/part_1.part")
        self.assert_finds("stray part", "part_1.part", evidence)


class LogTests(unittest.TestCase):
    error = f"{START} error [Storage] The database cannot be written."
    stall = f"{START} error [Engine] This node cannot renew its lease in the database."

    def found(self, line: str, *faults: Fault, node: int = 1) -> list[str]:
        return list(log_faults(node, [line], list(faults), WALL))

    def test_a_stall_is_counted(self) -> None:
        freeze = Fault(FREEZE, 1, began=-21, ended=-1)
        later = self.error.replace("00:00:00.000Z", "00:00:29.000Z")
        much_later = self.error.replace("00:00:00.000Z", "00:00:31.000Z")
        lines = [self.stall, later, much_later]
        self.assertEqual(list(log_faults(1, lines, [], WALL)), [f"node 1: {much_later}"])
        self.assertEqual(list(log_faults(1, [self.error, self.stall], [], WALL)), [f"node 1: {self.error}"])
        self.assertEqual((stalls(1, lines, [], WALL), stalls(1, lines, [freeze], WALL)), (1, 0))

    def test_an_error_without_a_fault(self) -> None:
        self.assertEqual(len(self.found(self.error)), 1)
        self.assertEqual(len(self.found(self.error, Fault(KILL, 1, began=-1, ended=0))), 1)

    def test_an_error_of_a_fault(self) -> None:
        self.assertEqual(self.found(self.error, Fault(DATABASE_PAUSE, None, began=-9, ended=-2)), [])
        self.assertEqual(self.found(self.error, Fault(FREEZE, 1, began=-21, ended=-1)), [])

    def test_an_error_of_another_time_or_node(self) -> None:
        self.assertEqual(len(self.found(self.error, Fault(DATABASE_PAUSE, None, began=1, ended=5))), 1)
        self.assertEqual(len(self.found(self.error, Fault(DATABASE_PAUSE, None, began=-90, ended=-80))), 1)
        self.assertEqual(len(self.found(self.error, Fault(FREEZE, 1, began=-21, ended=-1), node=2)), 1)

    def test_wrong_counts_are_never_expected(self) -> None:
        line = f"{START} error [Engine] The kept counts were wrong, and fetchd has corrected them."
        self.assertEqual(len(self.found(line, Fault(DATABASE_PAUSE, None, began=-9, ended=-2))), 1)
        self.assertEqual(len(list(log_faults(1, [self.stall, line], [], WALL))), 1)

    def test_a_crash(self) -> None:
        self.assertEqual(len(self.found("Fatal error: Index out of range")), 1)


class AcknowledgementTests(unittest.TestCase):
    def test_reads_what_writers_record(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "writers.txt"
            file.write_text(
                "acknowledged\t2.5\ta\tjob_1\t1\t0\nacknowledged\t1.5\tb\tjob_2\t3\t4\nrepeated\ta\tjob_1\t2\n"
                "unanswered\tc\nrefused\td\t2\t500\tno\n"
            )
            found = Acknowledgements.read([file])
        self.assertEqual((found.jobs, found.times), ({"a": "job_1", "b": "job_2"}, [1.5, 2.5]))
        self.assertEqual((found.retried, found.retries, found.unanswered), (1, 4, {"c"}))
        self.assertEqual(list(found.faults()), ["a writer was answered: refused d 2 500 no"])

    def test_a_gap_is_due_to_the_fault_before_it(self) -> None:
        faults = [Fault(FREEZE, 1, began=10, ended=30), Fault(KILL, 2, began=14, ended=15)]
        gaps = longest_gaps([9.9, 15.0, 15.2, 15.3], faults)
        self.assertEqual({kind: [round(gap, 1) for gap in each] for kind, each in gaps.items()}, {FREEZE: [5.1], KILL: [0.2]})

    def test_a_gap_is_due_to_the_database_first(self) -> None:
        faults = [Fault(DATABASE_PAUSE, None, began=10, ended=18), Fault(OUTAGE, 2, began=14, ended=20)]
        self.assertEqual(longest_gaps([9.5, 19.5], faults), {DATABASE_PAUSE: [10.0]})


class DeckTests(unittest.TestCase):
    def test_a_short_run_has_each_kind_of_fault(self) -> None:
        first = deck(random.Random(1), is_first=True)
        self.assertEqual(set(first), set(NODE_KINDS))
        self.assertEqual(set(deck(random.Random(1), is_first=False)), set(NODE_KINDS))


if __name__ == "__main__":
    unittest.main()
