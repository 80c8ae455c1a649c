"""A program in a root folder of its own that is read-only, as a user without privileges."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .checks import eventually

# $1 is the root, then pairs of a folder outside and its path inside follow until "--", then the command.
MOUNTS = """
set -e
root=$1; shift
mount --bind "$root" "$root"
while [ "$1" != -- ]; do mount --bind "$1" "$root$2"; shift 2; done
shift
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/tmp"
mount -o remount,bind,ro "$root"
exec "$@"
"""


@dataclass
class Root:
    """A root folder. Only `volumes`, /tmp and what the kernel provides can be written to."""

    path: Path
    # Folders outside, by their path inside.
    volumes: dict[str, Path]
    environment: dict[str, str]
    # User and group by number.
    user: tuple[int, int]
    umask: int = 0o022
    working_folder: str = "/"

    def command(self, *command: str) -> list[str]:
        user, group = self.user
        pairs = [text for inside, outside in self.volumes.items() for text in (str(outside), inside)]
        confined = [
            "setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups", "--no-new-privs",
            "--bounding-set=-all", "--inh-caps=-all", "--",
        ]
        # Capabilities end with the change of the user, so the root is changed first: by a shell outside of it.
        enter = ["chroot", f"--userspec=+{user}:+{group}", "--groups=", str(self.path)]
        if (self.path / "usr/bin/setpriv").exists():
            enter = ["chroot", str(self.path), *confined]
        return ["unshare", "--mount", "sh", "-c", MOUNTS, "sh", str(self.path), *pairs, "--", *enter, *command]

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*command), capture_output=True, text=True, timeout=120, env=self._environment(environment),
            umask=self.umask)

    def start(self, *command: str, launcher: list[str] | None = None, **environment: str) -> Service:
        return Service(self, [*(launcher or []), *self.command(*command)], self._environment(environment), bool(launcher))

    def _environment(self, more: dict[str, str]) -> dict[str, str]:
        paths = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        return {**paths, **self.environment, **more}


class Service:
    """`fetchd serve` in a root, with a service manager that receives its messages (sd_notify(3))."""

    def __init__(self, root: Root, command: list[str], environment: dict[str, str], is_launched: bool):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        name = f"fetchd-check-{os.urandom(8).hex()}"
        self._socket.bind(f"\0{name}")
        self._socket.setblocking(False)
        self._log = tempfile.NamedTemporaryFile(prefix="fetchd-check-", suffix=".log")
        self.messages: list[str] = []
        self._is_launched = is_launched
        notify = {"NOTIFY_SOCKET": f"@{name}", "WATCHDOG_USEC": "200000"}
        self.process = subprocess.Popen(
            command, env={**environment, **notify}, stdout=self._log, stderr=self._log, umask=root.umask)

    @property
    def log(self) -> str:
        return Path(self._log.name).read_text(errors="replace")

    def received(self, message: str) -> bool:
        """Whether a message begins with this text."""
        while True:
            try:
                self.messages.append(self._socket.recv(4096).decode())
            except BlockingIOError:
                return any(each.startswith(message) for each in self.messages)

    def wait_until_ready(self) -> None:
        def look() -> bool:
            if self.process.poll() is not None:
                raise SystemExit(f"fetchd serve has ended with status {self.process.returncode}:\n{self.log}")
            return self.received("READY=1")

        eventually("fetchd to be ready", look, 60)

    def signal(self, number: int) -> None:
        os.kill(self._pid(), number)

    def stop(self) -> int:
        """SIGTERM, and the exit status."""
        self.signal(signal.SIGTERM)
        return self.process.wait(timeout=60)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.process.wait(timeout=60)

    def _pid(self) -> int:
        """The programs before fetchd become fetchd (exec(3)); a launcher such as strace stays its parent."""
        pid = self.process.pid
        if self._is_launched:
            pid = int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
        return pid
