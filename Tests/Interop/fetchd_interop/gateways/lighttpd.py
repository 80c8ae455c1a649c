"""lighttpd as a reverse proxy."""

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
    file = place.folder / "lighttpd.conf"
    # Without stream-response-body, lighttpd collects the whole answer before it sends any of it.
    file.write_text(f"""
server.modules = ("mod_proxy")
server.bind = "{LOOPBACK}"
server.port = {port}
server.document-root = "{place.folder}"
server.errorlog = "{place.folder}/lighttpd-error.log"
server.stream-response-body = 2
$HTTP["url"] =~ "^{PREFIX}/" {{
    proxy.server = ("" => (("host" => "{LOOPBACK}", "port" => {fetchd})))
    proxy.header = ("map-urlpath" => ("{PREFIX}/" => "/"))
}}
""")
    with serving(["lighttpd", "-D", "-f", file], port, place.folder):
        yield Gateway(f"http://{LOOPBACK}:{port}")


SERVER = GatewayServer("lighttpd", ("lighttpd",), start)
