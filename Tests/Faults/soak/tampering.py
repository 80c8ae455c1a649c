"""A test of the audit: breaks one promise of each kind in the evidence, which the audit must report."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from .audit import Audit
from .orders import POOL
from .watchers import Follower

IN_ANSWERS = {
    "job lost", "terminal events", "wrong bytes", "deletion undone", "watcher", "delivery", "webhook-id", "order",
    "batch counts",
}  # fmt: skip
IN_FILES = {"wrong file", "file lost", "stray file", "stray part"}
IN_PARTS = {"wrong part", "part lost"}


def tamper_with_answers(audit: Audit, follower: Follower) -> set[str]:
    """As if the service had forgotten a job, ended another one twice, and so on. Returns the kinds of findings that
    must follow."""
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
    return IN_ANSWERS


def tamper_with_files(downloads: Path, data: Path) -> set[str]:
    """As if a byte had been written wrong, a file had vanished, and so on. Returns the kinds of findings that must
    follow; the last two need two parts that are left in the end."""
    files = [f for f in downloads.rglob("*.bin") if f.stat().st_size > 10 and f.parent.name != POOL]
    _spoil(files[0])
    files[1].unlink()
    (downloads / "stray.bin").write_text("stray")
    parts = downloads / ".incomplete"
    (parts / "part_stray.part").write_text("stray")
    with closing(sqlite3.connect(data / "fetchd.sqlite")) as database:
        known = database.execute("SELECT id FROM parts WHERE bytes_durable > 10 AND etag LIKE '\"%'").fetchall()
    if len(known) < 2:
        return IN_FILES
    _spoil(parts / f"{known[0][0]}.part")
    (parts / f"{known[1][0]}.part").unlink()
    return IN_FILES | IN_PARTS


def _spoil(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[5] ^= 1
    file.write_bytes(content)
