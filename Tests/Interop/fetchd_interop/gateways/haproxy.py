"""HAProxy."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..environment import LOOPBACK, free_port
from ..gateway import PREFIX, Gateway, GatewayServer
from ..processes import serving
from ..server import Place


@contextlib.contextmanager
def start(place: Place, fetchd: int) -> Iterator[Gateway]:
    port = free_port()
    file = place.folder / "haproxy.cfg"
    # Longer than the longest wait (30 s), and than the pause between two heartbeats of a stream (15 s).
    file.write_text(f"""
defaults
    mode http
    timeout connect 5s
    timeout client 60s
    timeout server 60s
frontend web
    bind {LOOPBACK}:{port}
    http-request set-path %[path,regsub(^{PREFIX}/,/)] if {{ path_beg {PREFIX}/ }}
    default_backend fetchd
backend fetchd
    server fetchd {LOOPBACK}:{fetchd}
""")
    with serving(["haproxy", "-db", "-f", file], port, place.folder):
        yield Gateway(f"http://{LOOPBACK}:{port}")


SERVER = GatewayServer("HAProxy", ("haproxy",), start)
