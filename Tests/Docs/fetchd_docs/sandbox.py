"""A network of its own for the commands of a page, so that its ports, such as 8080, are free.

Where the machine does not allow it, the commands use the loopback of the machine.
"""

from __future__ import annotations

import os
import subprocess


def prefix() -> list[str]:
    """The beginning of a command line that starts its program in a network of its own."""
    script = 'ip link set lo up 2>/dev/null || ifconfig lo up; exec "$@"'
    start = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]
    command = [*start, "--", "/bin/sh", "-c", script, "sh"]
    probe = [*command, "/bin/sh", "-c", "ip -brief address show lo 2>/dev/null | grep -q 127.0.0.1"]
    try:
        works = subprocess.run(probe, capture_output=True).returncode == 0
    except FileNotFoundError:
        works = False
    return command if works else []
