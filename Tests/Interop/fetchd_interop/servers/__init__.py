"""The servers, one in each file."""

from ..server import Server
from . import apache, busybox, caddy, httpbin, lighttpd, nginx, python_server, squid, tinyproxy, tornado

ALL: list[Server] = [
    *nginx.SERVERS, apache.SERVER, lighttpd.SERVER, caddy.SERVER, python_server.SERVER, busybox.SERVER, httpbin.SERVER,
    tornado.SERVER, squid.SERVER, tinyproxy.SERVER,
]  # fmt: skip
