"""A Debian with systemd as its process 1, in namespaces of its own."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

# systemd asks for these mounts (systemd.io/CONTAINER_INTERFACE).
BOOT = """
set -e
root=$1
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t cgroup2 cgroup "$root/sys/fs/cgroup"
mount --rbind /dev "$root/dev"
mount -t tmpfs tmpfs "$root/run"
exec env -i container=fetchd-check PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$root" /lib/systemd/systemd
"""


class Machine:
    """It uses the network of this process. Its root folder needs the package systemd."""

    def __init__(self, root: Path, log: Path):
        with log.open("w") as output:
            self._process = subprocess.Popen(
                ["unshare", "--pid", "--fork", "--kill-child", "--mount", "--uts", "--ipc", "--cgroup", "sh", "-c", BOOT,
                 "sh", str(root)], stdin=subprocess.DEVNULL, stdout=output, stderr=output)

    def has_booted(self, seconds: float = 60) -> bool:
        """Waits until systemd has started its units; false if it does not."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self._process.poll() is None:
            # degraded: a unit that this machine does not need has failed.
            if self._leader() and self.run("systemctl", "is-system-running").stdout.strip() in ("running", "degraded"):
                return True
            time.sleep(0.2)
        return False

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        enter = ["nsenter", "--target", self._leader(), "--mount", "--pid", "--uts", "--ipc", "--cgroup", "--root", "--wd=/"]
        settings = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive"]
        return subprocess.run(
            [*enter, "--", *settings, *command], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=180)

    def unit(self, name: str, member: str) -> str:
        return self.run("systemctl", "show", "--property", member, "--value", name).stdout.strip()

    def switch_off(self) -> None:
        self._process.kill()
        self._process.wait()

    def _leader(self) -> str:
        """The process 1 of the machine, as this system counts processes."""
        pid = self._process.pid
        return Path(f"/proc/{pid}/task/{pid}/children").read_text().strip()
