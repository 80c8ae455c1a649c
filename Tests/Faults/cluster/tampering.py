"""A test of the audit: breaks promises of each kind in the evidence, which the audit must report."""

from __future__ import annotations

from pathlib import Path

from .evidence import Evidence


def tamper(evidence: Evidence) -> set[str]:
    """As if a node had forgotten a job, a reader had missed an event, and so on. Returns the kinds of findings that must
    follow."""
    kinds = {"reader", "job lost", "wrong bytes", "download", "journal", "batch counts", "delivery", "log", "counts"}
    name, source = next(iter(evidence.readings.items()))
    lines = _lines(source)
    evidence.readings[name] = lines[:3] + lines[4:]
    first, second, third = evidence.downloads[:3]
    del evidence.documents[first.id]
    evidence.documents[second.id]["state"] = "failed"
    evidence.digests[third.id] = None
    events = next(iter(evidence.events.values()))
    events.append(next(event for event in events if event["type"] == "job.succeeded"))
    next(event for event in events if event["type"] == "session.finished")["data"]["counts"]["failed"] += 1
    evidence.posts.clear()
    node, log = next(iter(evidence.logs.items()))
    evidence.logs[node] = [*_lines(log), "Fatal error: Index out of range"]
    next(iter(evidence.counts.values()))["queued"] += 1
    if evidence.acknowledgements.jobs:
        next(iter(evidence.listings.values())).pop()
        key, job = next(iter(evidence.acknowledgements.jobs.items()))
        evidence.acknowledgements.repeated.append((key, job + "X", "2"))
        listing = evidence.listings[2]
        listing += [listing[0], ("job_unknown", "a key that was never sent")]
        listing.append(("job_second", listing[1][1]))
        kinds |= {"answer", "job doubled", "unknown job"}
    return kinds


def _lines(source: Path | list[str]) -> list[str]:
    return source.read_text(encoding="utf-8").splitlines(keepends=True) if isinstance(source, Path) else source
