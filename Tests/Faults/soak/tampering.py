"""Whether the audit sees what is broken: spoils the evidence in every way that it is to be found by.

An audit that finds nothing says little unless it finds what was planted.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from .audit import Audit
from .orders import POOL
from .watchers import Follower

# What must be found, by kind.
EXPECTED = {
    "job lost", "terminal events", "wrong bytes", "deletion undone", "watcher", "delivery", "webhook-id", "order",
    "batch counts", "wrong file", "file lost", "stray file", "stray part", "wrong part", "part lost",
}  # fmt: skip
# The least of parts that are left in the end for the last two kinds.
PARTS = 2


def tamper_with_answers(audit: Audit, follower: Follower) -> None:
    """As if the service had forgotten a job, given another one a second end, and so on."""
    succeeded = [
        job
        for job in audit.world.ledger.jobs
        if audit.jobs.get(job.id, {"state": None})["state"] == "succeeded"
        and audit.jobs[job.id]["file"]["size"] > 10
        and not audit.jobs[job.id]["file"]["path"].startswith(f"{POOL}/")
    ]
    del audit.jobs[succeeded[0].id]
    succeeded[1].runs += 1
    succeeded[2].resources.clear()
    succeeded[3].deleted = "keep"
    follower.listener.events.pop(10)
    endpoint = next(e for e in audit.world.ledger.endpoints if len(e.posts) > 20)
    lost = endpoint.posts[5].event
    endpoint.posts[:] = [post for post in endpoint.posts if post.event != lost]
    endpoint.posts[7].webhook_id = endpoint.posts[8].webhook_id = "dlv_of_two"
    finish = next(event for event in audit.events if event["type"] == "session.finished")
    finish["data"]["counts"]["succeeded"] += 1


def tamper_with_files(downloads: Path, data: Path) -> None:
    """As if a byte had been written wrong, a file had vanished, and so on."""
    files = [f for f in downloads.rglob("*.bin") if f.stat().st_size > 10 and f.parent.name != POOL]
    _spoil(files[0])
    files[1].unlink()
    (downloads / "stray.bin").write_text("stray")
    parts = downloads / ".incomplete"
    (parts / "part_stray.part").write_text("stray")
    with closing(sqlite3.connect(data / "fetchd.sqlite")) as database:
        known = database.execute("SELECT id FROM parts WHERE bytes_durable > 10 AND etag LIKE '\"%'").fetchall()
    if len(known) >= PARTS:
        _spoil(parts / f"{known[0][0]}.part")
        (parts / f"{known[1][0]}.part").unlink()


def _spoil(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[5] ^= 1
    file.write_bytes(content)
