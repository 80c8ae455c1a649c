"""tinyproxy as a reverse proxy."""

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
    file = place.folder / "tinyproxy.conf"
    file.write_text(
        f'Port {port}\nListen {LOOPBACK}\nTimeout 60\nMaxClients 50\nLogLevel Error\nReverseOnly Yes\n'
        f'ReversePath "{PREFIX}/" "http://{LOOPBACK}:{fetchd}/"\n'
    )
    with serving(["tinyproxy", "-d", "-c", file], port, place.folder):
        yield Gateway(f"http://{LOOPBACK}:{port}")


SERVER = GatewayServer("tinyproxy", ("tinyproxy",), start)
