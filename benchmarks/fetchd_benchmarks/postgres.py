"""A PostgreSQL server with the default settings of durability: a commit is on disk before it is acknowledged."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from .environment import ENVIRONMENT, fail
from .processes import Process, running, wait_until_ready

SETTINGS = ("fsync=on", "synchronous_commit=on", "full_page_writes=on", "shared_buffers=256MB", "listen_addresses=")


class Postgres:
    def __init__(self, process: Process, folder: Path):
        self.process, self._folder = process, folder

    @property
    def pid(self) -> int:
        """All processes of the server are descendants of this one."""
        return self.process.pid

    @property
    def url(self) -> str:
        """The value of `--store`: an empty database, at a Unix socket."""
        return f"postgres://fetchd@{quote(str(self._folder), safe='')}/postgres"


@contextlib.contextmanager
def postgres(folder: Path) -> Iterator[Postgres]:
    """Starts a server with an empty database. The folder must be empty. Its path must be shorter than 90 bytes, because
    that of a Unix socket has at most 107. If the benchmark runs as root, the folder becomes the server's user's."""
    folder = folder.resolve()
    if os.geteuid() == 0:
        shutil.chown(folder, "nobody", "nogroup")
    log = folder / "postgres.log"
    initialize(folder, log)
    settings = [f"--{setting}" for setting in (*SETTINGS, f"unix_socket_directories={folder}")]
    with running(command("postgres", "-D", str(folder / "data"), *settings), log) as process:
        question = command("pg_isready", "--quiet", "--host", str(folder))
        wait_until_ready(lambda: subprocess.run(question, env=ENVIRONMENT).returncode == 0, process, log)
        yield Postgres(process, folder)


def initialize(folder: Path, log: Path) -> None:
    # One sync of everything is faster than initdb's syncs, file by file.
    arguments = (
        "--username=fetchd", "--no-locale", "--encoding=UTF8", "--auth=trust", "--no-sync",
        f"--pgdata={folder / 'data'}",
    )  # fmt: skip
    with log.open("wb") as output:
        ended = subprocess.run(
            command("initdb", *arguments), env=ENVIRONMENT, cwd=folder, stdout=output, stderr=output
        )
    if ended.returncode:
        fail(f"initdb failed: {log.read_text(errors='replace')[-2000:]}")
    os.sync()


def command(name: str, *arguments: str) -> list[str]:
    """PostgreSQL refuses to run as root, so root runs it as the user "nobody"."""
    as_user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--"] if os.geteuid() == 0 else []
    return [*as_user, program(name), *arguments]


def program(name: str) -> str:
    """Debian has the programs of the server outside of the PATH, in a folder for each version."""
    versions = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda file: float(file.parts[4]))
    return str(versions[-1]) if versions else name
