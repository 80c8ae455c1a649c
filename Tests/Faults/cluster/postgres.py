"""A PostgreSQL server as a process that can be paused, killed, started again, and followed by a standby."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from service import until

USER = "fetchd"
DATABASE = "postgres"
STANDBY = "standby"


def programs() -> Path | None:
    """The folder with the programs of the newest installed version."""
    found = Path("/usr/lib/postgresql").glob("*/bin/initdb")
    return max((program.parent for program in found), key=lambda bin: float(bin.parent.name), default=None)


def made_folder() -> Path:
    """A folder for servers. Its path is short, because the path of a Unix socket has at most 107 characters."""
    folder = Path(tempfile.mkdtemp(prefix="fetchd-postgres.", dir="/tmp"))
    if os.geteuid() == 0:
        shutil.chown(folder, "nobody")
    return folder


def address(*servers: Postgres) -> str:
    """The URL for nodes. With several servers, they use the one that accepts changes."""
    hosts = ",".join(str(server.folder).replace("/", "%2F") for server in servers)
    return f"postgres://{USER}@{hosts}/{DATABASE}" + ("?target_session_attrs=read-write" if len(servers) > 1 else "")


class Postgres:
    """A server in a folder of its own, with its socket there. It syncs commits to the disk. PostgreSQL refuses to run as
    root, so root starts it as `nobody`."""

    def __init__(self, folder: Path):
        bin = programs()
        assert bin, "PostgreSQL is not installed"
        self.folder = folder
        self._bin = bin
        self._data = folder / "data"
        self._log = folder / "log"
        self._user: dict[str, Any] = (
            {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
        )
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(exist_ok=True)
        if self._user:
            shutil.chown(folder, "nobody")

    def create(self) -> None:
        """Makes an empty database."""
        self._run(
            "initdb", f"--pgdata={self._data}", f"--username={USER}", "--no-locale", "--encoding=UTF8", "--auth=trust"
        )

    def follow(self, primary: Postgres) -> None:
        """Becomes a copy of the primary. When it is started, it receives all changes."""
        self._run(
            "pg_basebackup", f"--pgdata={self._data}", "--checkpoint=fast", "--wal-method=stream",
            "--create-slot", f"--slot={STANDBY}", "--write-recovery-conf",
            f"--dbname=host={primary.folder} user={USER} application_name={STANDBY}",
        )  # fmt: skip

    def start(self) -> None:
        """Starts the server, and returns when it answers."""
        settings = {
            "listen_addresses": "", "unix_socket_directories": self.folder, "max_connections": 300,
            "shared_buffers": "128MB",
            # In the server's folder, so that nothing stays in /dev/shm when the server is killed.
            "dynamic_shared_memory_type": "mmap",
        }  # fmt: skip
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [self._bin / "postgres", "-D", self._data, *options], cwd=self.folder, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, start_new_session=True, **self._user,
            )  # fmt: skip
        until("PostgreSQL answers", self._answers)

    def stop(self) -> None:
        """Ends all connections and the server, in order."""
        assert self._process
        self._process.send_signal(signal.SIGINT)
        self._process.wait(60)

    def kill(self) -> None:
        """Sends SIGKILL to all processes of the server, and returns when all have ended."""
        if self._process is None or self._process.poll() is not None:
            return
        # A process that is stopped starts no other one.
        self.pause()
        children = self._children()
        for process in (self._process.pid, *children):
            _send(signal.SIGKILL, process)
        self._process.wait(60)
        until("the processes of PostgreSQL have ended", lambda: not any(map(_exists, children)))

    def end(self) -> None:
        """Ends the server at once. Unlike one that is killed, it removes its shared memory."""
        if self._process is None or self._process.poll() is not None:
            return
        # A paused server receives the signal when it continues.
        self.resume()
        self._process.send_signal(signal.SIGQUIT)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()

    def pause(self) -> None:
        """Connections stay open, and nothing answers."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def promote(self) -> None:
        """Makes a standby the primary."""
        self._run("pg_ctl", "promote", "--wait", f"--pgdata={self._data}")

    def wait_for_standby(self) -> None:
        """From now on, a commit is acknowledged when the standby has it, too."""
        self.query(f"ALTER SYSTEM SET synchronous_standby_names = '{STANDBY}'")
        self.query("SELECT pg_reload_conf()")
        until("the standby is synchronous", lambda: self.has_standby)

    @property
    def has_standby(self) -> bool:
        return ["sync"] in self.query("SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'")

    def query(self, sql: str) -> list[list[str]]:
        """The rows of the result, as texts."""
        words = ["--no-psqlrc", "--tuples-only", "--no-align", "--field-separator=\t", f"--command={sql}"]
        output = self._run("psql", f"--host={self.folder}", f"--username={USER}", f"--dbname={DATABASE}", *words)
        return [line.split("\t") for line in output.splitlines()]

    def _answers(self) -> bool:
        assert self._process
        if self._process.poll() is not None:
            raise RuntimeError(f"PostgreSQL ended with status {self._process.poll()}: {self._log.read_text()[-2000:]}")
        return subprocess.run([self._bin / "pg_isready", "--quiet", f"--host={self.folder}"]).returncode == 0

    def _signal(self, number: signal.Signals) -> None:
        """The first process starts the others, so it stops first."""
        assert self._process
        self._process.send_signal(number)
        for process in self._children():
            _send(number, process)

    def _children(self) -> list[int]:
        assert self._process
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        return [int(word) for word in children.read_text().split()]

    def _run(self, program: str, *words: str) -> str:
        result = subprocess.run(
            [self._bin / program, *words], cwd=self.folder, env=_environment(), capture_output=True, text=True,
            **self._user,
        )  # fmt: skip
        if result.returncode != 0:
            raise RuntimeError(f"{program} failed: {result.stderr}")
        return result.stdout


def _environment() -> dict[str, str]:
    """Without the variables that lead PostgreSQL's programs to another server."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PG")}


def _send(number: signal.Signals, process: int) -> None:
    """To a process of the server, which can end at any time."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, number)


def _exists(process: int) -> bool:
    try:
        os.kill(process, 0)
        return True
    except ProcessLookupError:
        return False
