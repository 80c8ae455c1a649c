"""The reverse proxies, one in each file."""

from ..gateway import GatewayServer
from . import apache, caddy, haproxy, lighttpd, nginx, squid, tinyproxy

ALL: list[GatewayServer] = [
    *nginx.SERVERS, apache.SERVER, lighttpd.SERVER, caddy.SERVER, haproxy.SERVER, squid.SERVER, tinyproxy.SERVER,
]  # fmt: skip
