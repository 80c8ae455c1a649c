"""squid as an accelerator, which cannot remove a prefix without another program."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..environment import LOOPBACK, free_port
from ..gateway import Gateway, GatewayServer
from ..processes import serving
from ..server import Place


@contextlib.contextmanager
def start(place: Place, fetchd: int) -> Iterator[Gateway]:
    port = free_port()
    file = place.folder / "squid.conf"
    file.write_text(f"""
http_port {LOOPBACK}:{port} accel defaultsite={LOOPBACK} no-vhost
cache_peer {LOOPBACK} parent {fetchd} 0 no-query originserver
http_access allow all
cache deny all
access_log none
cache_log /dev/null
pid_filename none
shutdown_lifetime 0 seconds
""")
    with serving(["squid", "-N", "-f", file], port, place.folder):
        yield Gateway(f"http://{LOOPBACK}:{port}", prefix="", lacks={"sub-path": "squid cannot remove a prefix"})


SERVER = GatewayServer("squid", ("squid",), start)
