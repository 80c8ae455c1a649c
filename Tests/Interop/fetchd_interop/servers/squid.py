"""squid as a forward proxy in front of nginx."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator

from ..content import PASSWORD, USER
from ..environment import LOOPBACK, free_port
from ..processes import serving
from ..server import Place, Server, Site
from . import nginx


@contextlib.contextmanager
def start(place: Place) -> Iterator[Site]:
    port = free_port()
    file = place.folder / "squid.conf"
    file.write_text(configuration(place, port))
    with nginx.start(place) as origin, serving(["squid", "-N", "-f", file], port, place.folder):
        yield dataclasses.replace(
            origin, port=port, configuration={"proxy": f"http://{USER}:{PASSWORD}@{LOOPBACK}:{port}"}
        )


def configuration(place: Place, port: int) -> str:
    (place.folder / "proxy-passwords").write_text(f"{USER}:{PASSWORD}\n")
    check = place.folder / "check-password"
    # The protocol of squid's helpers: one line with user and password for each question.
    check.write_text(
        f"#!/bin/sh\nwhile read -r answer; do\n[ \"$answer\" = '{USER} {PASSWORD}' ] && echo OK || echo ERR\ndone\n"
    )
    check.chmod(0o755)
    return f"""
http_port {LOOPBACK}:{port}
auth_param basic program {check}
auth_param basic realm proxy
acl known proxy_auth REQUIRED
http_access allow known
http_access deny all
cache deny all
access_log none
cache_log /dev/null
pid_filename none
shutdown_lifetime 0 seconds
"""


SERVER = Server("nginx behind squid", ("nginx", "squid"), start)
