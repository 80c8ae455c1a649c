"""tinyproxy as a forward proxy in front of nginx."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator

from ..content import PASSWORD, USER
from ..environment import LOOPBACK, free_port
from ..processes import serving
from ..server import Place, Server, Site
from . import nginx

REFUSAL = "tinyproxy 1.11 refuses a wrong password with 401, as a server does, so a client cannot tell which of the two refused"


@contextlib.contextmanager
def start(place: Place) -> Iterator[Site]:
    port = free_port()
    file = place.folder / "tinyproxy.conf"
    file.write_text(
        f"Port {port}\nListen {LOOPBACK}\nTimeout 600\nMaxClients 50\nBasicAuth {USER} {PASSWORD}\nLogLevel Error\n"
    )
    with nginx.start(place) as origin, serving(["tinyproxy", "-d", "-c", file], port, place.folder):
        yield dataclasses.replace(
            origin, port=port, configuration={"proxy": f"http://{USER}:{PASSWORD}@{LOOPBACK}:{port}"},
            lacks=origin.lacks | {"refusal by the proxy": REFUSAL},
        )  # fmt: skip


SERVER = Server("nginx behind tinyproxy", ("nginx", "tinyproxy"), start)
