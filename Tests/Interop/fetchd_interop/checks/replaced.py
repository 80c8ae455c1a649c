"""Files that are replaced by others of the same size while their downloads stand still."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable

from ..check import Check
from ..content import YESTERDAY
from ..fetchd import Fetchd
from ..outcomes import NotOffered, require
from ..server import Site

SIZE = 1 << 20
# Seconds for the whole file.
SLOWLY = 10


def replaced(service: Fetchd, site: Site, name: str, dates: Callable[[], tuple[float, float]], changes: bool) -> str:
    """The file of the job is the second one, whatever the server says. `dates` are those of the two files."""
    if site.large is None:
        raise NotOffered("its files are not in a folder")
    path = site.expiry.parent / name
    first, second = (random.Random(seed).randbytes(SIZE) for seed in (name, f"{name}, later"))
    before, after = dates()
    path.write_bytes(first)
    path.chmod(0o755)
    os.utime(path, (before, before))
    id = service.submit(f"{site.url}/{name}", rate_limit_bytes_per_second=SIZE // SLOWLY)
    service.wait_for_bytes(id, SIZE // 10)
    service.json("POST", f"/v1/jobs/{id}/pause")
    final = second if changes else first
    # In place, so that the inode is the same, too.
    with path.open("r+b") as file:
        file.write(final)
    os.utime(path, (after, after))
    service.json("PATCH", f"/v1/jobs/{id}", {"rate_limit_bytes_per_second": None})
    service.json("POST", f"/v1/jobs/{id}/resume")
    job = service.wait_for(id, "succeeded")
    require(service.path(job).read_bytes() == final, "the file has bytes of two versions")
    resume = job["resume"]
    return f"{resume['decision']}: {resume['why']}" if resume["why"] else resume["decision"]


def in_the_same_second(service: Fetchd, site: Site) -> str:
    """Also the date is the same: only a tag or date that is too young to be believed tells the versions apart."""

    def dates() -> tuple[float, float]:
        now = time.time()
        return now, now

    return replaced(service, site, "same-second.bin", dates, changes=True)


def a_day_later(service: Fetchd, site: Site) -> str:
    return replaced(service, site, "later.bin", lambda: (YESTERDAY - 3600, YESTERDAY), changes=True)


def only_its_date(service: Fetchd, site: Site) -> str:
    """A copy with the same bytes, as on another server of a network for content."""
    return replaced(service, site, "copied.bin", lambda: (YESTERDAY - 3600, YESTERDAY), changes=False)


CHECKS = [
    Check("replaced in its second", in_the_same_second), Check("replaced later", a_day_later),
    Check("another date", only_its_date),
]  # fmt: skip
