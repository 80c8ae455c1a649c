"""Tornado, whose entity tag of a path stays the same when the file is replaced: it computes each tag once."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..environment import LOOPBACK, free_port
from ..processes import serving
from ..server import Place, Server, Site

NONE = "Tornado's StaticFileHandler only serves files"
LACKS = {name: NONE for name in ("basic", "digest", "expiring", "redirect", "gzip")}

PROGRAM = """
import sys, tornado.ioloop, tornado.web
port, folder = sys.argv[1:]
pattern = (r"/(.*)", tornado.web.StaticFileHandler, {"path": folder})
tornado.web.Application([pattern]).listen(int(port), "127.0.0.1")
tornado.ioloop.IOLoop.current().start()
"""


@contextlib.contextmanager
def start(place: Place) -> Iterator[Site]:
    port = free_port()
    command = ["/usr/bin/python3", "-c", PROGRAM, str(port), str(place.content.folder)]
    with serving(command, port, place.folder, "tornado"):
        yield Site(
            f"http://{LOOPBACK}:{port}", port, place.content.expiry, lacks=LACKS, shows_ranges=False,
            large=place.content.large,
        )  # fmt: skip


SERVER = Server("Tornado", ("python3",), start)
