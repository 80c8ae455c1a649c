"""The results of a soak, as a table."""

from __future__ import annotations

import statistics
from collections import Counter
from contextlib import ExitStack
from itertools import pairwise
from typing import Any

from .acknowledgements import longest_gaps
from .evidence import Evidence, opened
from .logs import stalls
from .timeline import DATABASE_KINDS, NODE_KINDS, Fault
from .world import World


def rows(world: World, evidence: Evidence, seconds: float) -> list[tuple[str, str]]:
    acknowledgements, faults, counts = evidence.acknowledgements, evidence.faults, world.tally.counts
    events = [event for session in evidence.events.values() for event in session]
    types = Counter(event["type"] for event in events)
    table = [
        ("submits", f"{len(acknowledgements.jobs)} acknowledged, {len(acknowledgements.jobs) / seconds:.0f}/s;"
                    f" {acknowledgements.retried} after several tries ({acknowledgements.retries} in vain),"
                    f" {len(acknowledgements.repeated)} repeated afterwards,"
                    f" {len(acknowledgements.unanswered)} given up"),
        ("faults", _listed(Counter(fault.kind for fault in faults))),
    ]  # fmt: skip
    table += _gaps(acknowledgements.times, faults)
    table += _takeovers(faults)
    table += [("stalls", f"{_stalls(evidence)} renewals of a lease came too late without a fault")]
    starts = [fault.start for fault in faults if fault.start is not None]
    table += [("start", f"a node is ready after {_numbers(starts)}")]
    table += [
        ("downloads", f"{types['job.succeeded']} succeeded, {types['job.started']} attempts begun,"
                      f" {types['job.resumed']} resumed, {types['job.restarted']} restarted;"
                      f" {types['session.finished']} batches"),
        ("events", f"{evidence.stored_events[0]}, by {len(evidence.readings)} readers with"
                   f" {counts['streams']} streams and {counts['pages of events']} pages"),
        ("webhooks", f"{len(evidence.posts)} posts of {len(events)} events"),
    ]  # fmt: skip
    return table


def _gaps(times: list[float], faults: list[Fault]) -> list[tuple[str, str]]:
    gaps = longest_gaps(times, faults)
    table = [("gaps", "the longest time without an acknowledgement after each fault")]
    table += [("", f"{kind}: {_numbers(gaps[kind])}") for kind in (*NODE_KINDS, *DATABASE_KINDS) if kind in gaps]
    return table + [("", f"in all: {max((b - a for a, b in pairwise(times)), default=0):.2f} s")]


def _takeovers(faults: list[Fault]) -> list[tuple[str, str]]:
    table = [("takeover", "the time until no job was carried by the process that was gone")]
    for kind in NODE_KINDS:
        carried = [fault for fault in faults if fault.kind == kind and fault.carried]
        known = [fault.takeover for fault in carried if fault.takeover is not None]
        if carried:
            rest = f"; not before the node ran again: {len(carried) - len(known)}" if len(known) < len(carried) else ""
            table.append(("", f"{kind}: {_numbers(known)}{rest}"))
    return table


def _stalls(evidence: Evidence) -> int:
    with ExitStack() as stack:
        return sum(
            stalls(node, opened(log, stack), evidence.faults, evidence.wall) for node, log in evidence.logs.items()
        )


def _numbers(values: list[float]) -> str:
    if not values:
        return "none"
    return f"median {statistics.median(values):.2f} s, longest {max(values):.2f} s ({len(values)})"


def _listed(counts: Counter[Any]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.most_common()) or "none"
