"""busybox httpd."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..content import PASSWORD, USER
from ..environment import LOOPBACK, free_port
from ..processes import serving
from ..server import Place, Server, Site

LACKS = {
    "digest": "busybox httpd has only basic",
    "expiring": "busybox httpd cannot refuse a path later",
    "redirect": "busybox httpd redirects only folders without a slash",
}


@contextlib.contextmanager
def start(place: Place) -> Iterator[Site]:
    port = free_port()
    (place.folder / "httpd.conf").write_text(f"/basic:{USER}:{PASSWORD}\n")
    command = ["busybox", "httpd", "-f", "-p", f"{LOOPBACK}:{port}", "-h", place.content.folder, "-c"]
    with serving([*command, place.folder / "httpd.conf"], port, place.folder):
        yield Site(f"http://{LOOPBACK}:{port}", port, place.content.expiry, lacks=LACKS, large=place.content.large)


SERVER = Server("busybox httpd", ("busybox",), start, is_short=True)
