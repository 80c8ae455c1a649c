"""The promises of a cluster (docs/many-machines.md). Each function yields a kind and a sentence for each broken one."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from itertools import zip_longest
from typing import Iterator

from audit import Order, batch_faults, delivery_faults, journal_faults

from .evidence import Evidence, opened
from .logs import log_faults

Faults = Iterator[tuple[str, str]]

# The number of sentences about one reader or one listing.
SHOWN = 5


def broken(evidence: Evidence) -> Faults:
    yield from _answers(evidence)
    yield from _listings(evidence)
    yield from _counts(evidence)
    yield from _readings(evidence)
    yield from _downloads(evidence)
    yield from _journals(evidence)
    yield from _logs(evidence)


def _answers(evidence: Evidence) -> Faults:
    """Each key has one job, at every node."""
    for sentence in evidence.acknowledgements.faults():
        yield "answer", sentence
    for node, statuses in evidence.statuses.items():
        for job, status in statuses.items():
            if status != 200:
                yield "job lost", f"node {node} answers {status} to GET /v1/jobs/{job}, which was acknowledged"


def _listings(evidence: Evidence) -> Faults:
    """Each node lists each acknowledged job once, and no others; except those whose acknowledgement was lost."""
    acknowledged, unanswered = evidence.acknowledgements.jobs, evidence.acknowledgements.unanswered
    for node, listing in evidence.listings.items():
        found = dict(listing)
        lost = [f"{job} of {key}" for key, job in acknowledged.items() if found.get(job) != key]
        yield from _some("job lost", f"node {node} does not list", lost)
        keys = Counter(key for _, key in listing)
        yield from _some("job doubled", f"node {node} lists several jobs of", [k for k, n in keys.items() if n > 1])
        unknown = [f"{job} of {key}" for job, key in listing if key not in acknowledged and key not in unanswered]
        yield from _some("unknown job", f"node {node} lists", unknown)


def _some(kind: str, beginning: str, things: list[str]) -> Faults:
    if things:
        yield kind, f"{beginning} {', '.join(things[:SHOWN])}: {len(things)} in all"


def _counts(evidence: Evidence) -> Faults:
    least = len(evidence.acknowledgements.jobs)
    most = least + len(evidence.acknowledgements.unanswered)
    if evidence.listings and not least <= evidence.stored_jobs <= most:
        yield "counts", f"the database has {evidence.stored_jobs} jobs of {least} to {most} keys"
    for node, counts in evidence.counts.items():
        wrong = {state: n for state, n in counts.items() if n != evidence.stored_counts.get(state, 0)}
        if wrong:
            yield "counts", f"node {node} reports {wrong}, and the database has {evidence.stored_counts}"
    count, first, last, journal_last = evidence.stored_events
    left_out = sum(after - before - 1 for before, after in evidence.gaps)
    if (first, journal_last) != (1, count + left_out) or (last != journal_last and not evidence.gaps):
        yield "events", f"{count} events from {first} to {last} are stored, and the journal is at {journal_last}"


def _readings(evidence: Evidence) -> Faults:
    """All readers have received the same events, with the numbers 1, 2, 3 and so on to the last one, except for the gaps."""
    names = list(evidence.readings)
    wrong: Counter[str] = Counter()
    with ExitStack() as stack:
        sources = [opened(source, stack) for source in evidence.readings.values()]
        number, following = 0, dict(evidence.gaps)
        for lines in zip_longest(*sources):
            number = following.get(number, number + 1)
            usual = Counter(lines).most_common(1)[0][0]
            for name, line in zip(names, lines):
                if line == usual and line is not None and line.startswith(f"{number} "):
                    continue
                wrong[name] += 1
                if wrong[name] <= SHOWN:
                    yield "reader", f"{name} has at place {number}: {_text(line)}; most readers have: {_text(usual)}"
    for name, count in wrong.items():
        yield "reader", f"{name} differs at {count} places"
    if number != evidence.stored_events[2]:
        yield "reader", f"the last event of the readers is {number}, and the last one has the number {evidence.stored_events[2]}"


def _text(line: str | None) -> str:
    return "nothing" if line is None else line.rstrip("\n")


def _downloads(evidence: Evidence) -> Faults:
    """Each download has succeeded, and each node gives out the right bytes."""
    for download in evidence.downloads:
        job = evidence.documents.get(download.id)
        if job is None:
            yield "job lost", f"the download {download.id} was acknowledged, and is not listed"
        elif job["state"] != "succeeded":
            yield "download", f"{download.id} is {job['state']}: {job['failure']}"
        elif job["file"]["sha256"] != download.version.sha256:
            yield "wrong bytes", f"the receipt of {download.id} has another digest"
        elif evidence.digests[download.id] != download.version.sha256:
            yield "wrong bytes", f"the file of {download.id} has the digest {evidence.digests[download.id]}"
    for id in evidence.documents.keys() - {download.id for download in evidence.downloads}:
        yield "unknown job", f"the download {id} was never acknowledged"
    for part in evidence.parts:
        yield "stray part", f"{part} is left"


def _journals(evidence: Evidence) -> Faults:
    """Each download has one terminal event, each batch one finish, and each event arrives at the webhook."""
    for session, events in evidence.events.items():
        orders = {d.id: Order(d.id, b"") for d in evidence.downloads if d.session == session}
        for sentence in journal_faults(events, orders):
            yield "journal", f"{session}: {sentence}"
        for kind, sentence in batch_faults(events):
            yield kind, f"{session}: {sentence}"
        posts = [post for post in evidence.posts if post.session == session]
        for sentence in delivery_faults(posts, events):
            yield "delivery", f"{session}: {sentence}"


def _logs(evidence: Evidence) -> Faults:
    for node, source in evidence.logs.items():
        with ExitStack() as stack:
            for sentence in log_faults(node, opened(source, stack), evidence.faults, evidence.wall):
                yield "log", sentence
