"""An nginx on loopback: the origin of the downloads, and the reference for answers."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from .environment import LOOPBACK, free_port
from .http_client import Client
from .processes import Process, running, wait_until_ready

LIMIT_MIB = 4  # a second and connection, below /limited/
MODERATE_KIB = 256  # a second and connection, below /moderate/
SLOW_KIB = 20  # a second and connection, below /slow/


class Nginx:
    def __init__(self, process: Process, port: int):
        self.process, self.port = process, port

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"


@contextlib.contextmanager
def nginx(folder: Path, files: Path, *, workers: int = 1, answers: dict[str, str] | None = None) -> Iterator[Nginx]:
    """`files` is the folder that it serves. `answers` are constant JSON documents, by their paths."""
    port = free_port()
    folder.mkdir(parents=True)
    (folder / "temporary").mkdir()
    (folder / "nginx.conf").write_text(configuration(port, files, workers, answers or {}))
    command = ["nginx", "-p", f"{folder}/", "-c", "nginx.conf", "-e", "error.log"]
    log = folder / "nginx.log"
    probe = Client(port)
    with running(command, log) as process:
        wait_until_ready(lambda: probe.status("GET", "/") is not None, process, log)
        probe.close()
        yield Nginx(process, port)


def configuration(port: int, files: Path, workers: int, answers: dict[str, str]) -> str:
    temporary = "".join(
        f"    {kind}_temp_path temporary/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    constant = "".join(
        f"        location = {path} {{ default_type application/json; return 200 '{quoted(text)}'; }}\n"
        for path, text in answers.items()
    )
    # As root, nginx would run its workers as another user, who cannot read this folder.
    return f"""{"user root;" if os.geteuid() == 0 else ""}
daemon off;
pid nginx.pid;
worker_processes {workers};
worker_rlimit_nofile 32768;
events {{ worker_connections 16384; }}
http {{
    access_log off;
    sendfile on;
    keepalive_requests 100000000;
    open_file_cache max=2000;
{temporary}
    server {{
        listen {LOOPBACK}:{port} backlog=16384;
        root "{files}";
        location /limited/ {{ limit_rate {LIMIT_MIB}m; }}
        location /moderate/ {{ limit_rate {MODERATE_KIB}k; }}
        location /slow/ {{ limit_rate {SLOW_KIB}k; }}
{constant}    }}
}}
"""


def quoted(text: str) -> str:
    """A constant in the configuration. nginx has no way to write a dollar sign."""
    assert "$" not in text
    return text.replace("\\", "\\\\").replace("'", "\\'")
