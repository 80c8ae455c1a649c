"""http.server of Python, which ignores ranges and sends no entity tag."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from ..environment import LOOPBACK, free_port
from ..processes import serving
from ..server import Place, Server, Site

NONE = "http.server only serves files"
LACKS = {name: NONE for name in ("basic", "digest", "expiring", "redirect")}
LACKS["gzip"] = "http.server never compresses"


@contextlib.contextmanager
def start(place: Place) -> Iterator[Site]:
    port = free_port()
    command = [
        sys.executable, "-m", "http.server", "--bind", LOOPBACK, "--directory", place.content.folder, "--protocol",
        "HTTP/1.1", str(port),
    ]  # fmt: skip
    with serving(command, port, place.folder, "python"):
        yield Site(
            f"http://{LOOPBACK}:{port}", port, place.content.expiry, lacks=LACKS, can_resume=False,
            large=place.content.large,
        )  # fmt: skip


SERVER = Server("python http.server", ("python3",), start, is_short=True)
