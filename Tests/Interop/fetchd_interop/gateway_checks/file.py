"""Ranges of a finished file."""

from __future__ import annotations

from ..check import Check
from ..fetchd import Fetchd
from ..gateway import Gateway
from ..outcomes import require

SIZE = 256 << 20
LENGTH = 100_000


def ranges(service: Fetchd, gateway: Gateway) -> str:
    """The start, the middle, the end, and a wrong range, of a file that is larger than the buffers of a proxy."""
    job = service.download(f"rehearse:large.bin?size={SIZE}", digest="none")
    with service.path(job).open("rb") as file:
        for start in (0, SIZE // 2 + 1, SIZE - LENGTH):
            field = f"bytes={start}-{start + LENGTH - 1}"
            answer, body = gateway.ask("GET", f"/v1/jobs/{job['id']}/file", {"Range": field})
            file.seek(start)
            require(answer.status == 206, f"{field} was answered with {answer.status}")
            expected = f"bytes {start}-{start + LENGTH - 1}/{SIZE}"
            require(answer.headers["Content-Range"] == expected, f"the range is {answer.headers['Content-Range']}")
            require(body == file.read(LENGTH), f"{field} has other bytes")
        answer, _ = gateway.ask("GET", f"/v1/jobs/{job['id']}/file", {"Range": f"bytes={SIZE}-"})
        require(answer.status == 416, f"a range behind the end was answered with {answer.status}")
        require_whole(gateway, job["id"])
    service.json("DELETE", f"/v1/jobs/{job['id']}?file=delete")
    return ""


def require_whole(gateway: Gateway, id: str) -> None:
    connection, answer = gateway.open("GET", f"/v1/jobs/{id}/file")
    try:
        size = 0
        while block := answer.read(1 << 20):
            size += len(block)
        require(size == SIZE, f"the whole file came with {size} bytes")
    finally:
        connection.close()


CHECKS = [Check("ranges", ranges)]
