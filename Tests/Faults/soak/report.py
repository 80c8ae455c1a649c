"""The results of a soak, as a table."""

from __future__ import annotations

from collections import Counter
from typing import Any

from .actor import World
from .growth import Growth
from .ledger import TERMINAL
from .sampler import Sample


def rows(
    world: World, events: list[dict[str, Any]], samples: list[Sample], growths: list[Growth]
) -> list[tuple[str, str]]:
    counts = world.tally.counts
    types = Counter(event["type"] for event in events)
    codes = Counter(
        event["data"]["snapshot"]["failure"]["code"] for event in events if event["type"] == "job.failed"
    )
    process = world.process
    table = [
        ("jobs", f"{counts['jobs created']} created, {counts['jobs deleted']} deleted,"
                 f" {counts['jobs that took over bytes']} with bytes of another"),
        ("runs that ended", ", ".join(f"{types[f'job.{state}']} {state}" for state in TERMINAL)),
        ("failures", _listed(codes)),
        ("attempts", f"{types['job.started']} begun, {types['job.resumed']} resumed,"
                     f" {types['job.restarted']} restarted"),
        ("client actions", _listed({name: counts[name] for name in
                           ("pauses", "resumes", "patches", "cancels", "retries", "helped",
                            "sessions paused and resumed", "sessions cancelled", "sessions configured",
                            "sessions deleted", "acknowledgements", "secrets rotated") if counts[name]})),
        ("kills", f"{counts['kills']} by SIGKILL, {counts['kills while it starts']} of them twice,"
                  f" {counts['stops by SIGTERM']} stops by SIGTERM;"
                  f" longest start {process.longest_start:.1f} s, longest stop {process.longest_stop:.1f} s"),
        ("requests", f"{counts['requests']} answered, {counts['requests repeated']} tries without an answer,"
                     f" {counts['answers 503']} answered 503"),
        ("origin", f"{counts['origin: requests']} requests; {_listed(_faults(counts, 'origin fault: '))}"),
        ("events", f"{len(events)}, {types['session.finished']} finishes, {types['session.waiting']} calls for help"),
        ("webhooks", f"{counts['webhook posts']} posts; {_listed(_faults(counts, 'webhook fault: '))}"),
        ("watchers", f"{counts['streams']} streams, {counts['long polls']} long polls"),
    ]  # fmt: skip
    table += [("growth", str(growth)) for growth in growths] or [("growth", _ranges(samples))]
    return table


def _faults(counts: Counter[str], prefix: str) -> dict[str, int]:
    return {name.removeprefix(prefix): number for name, number in sorted(counts.items()) if name.startswith(prefix)}


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in sorted(counts.items(), key=lambda each: -each[1])) or "none"


def _ranges(samples: list[Sample]) -> str:
    if not samples:
        return "no samples"
    return (
        f"too short a run to tell; memory at most {max(s.resident_mib for s in samples):.0f} MiB,"
        f" descriptors {max(s.descriptors for s in samples)}, threads {max(s.threads for s in samples)}"
    )
