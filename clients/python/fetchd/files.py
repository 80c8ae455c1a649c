"""Copies of finished files."""

from __future__ import annotations

import hashlib
import http.client
import os
import time
from typing import Any, Dict, Optional, Union

from .errors import FetchdError, ServiceUnavailable
from .transport import Transport, component

_PIECE = 1 << 20


def save(transport: Transport, job: Dict[str, Any], to: "Union[str, os.PathLike[str]]") -> str:
    """Copies the file of a job. A copy that breaks off continues, and gets its name when it is complete."""
    file = job.get("file")
    if not file:
        raise ValueError(f"{job.get('id')} has no file; it is {job.get('state')}")
    path = os.fspath(to)
    if os.path.isdir(path):
        path = os.path.join(path, os.path.basename(str(file["path"])))
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "wb") as copy:
            digest = _copy(transport, str(job["id"]), copy)
        expected = file.get("sha256")
        if expected and digest != expected:
            raise FetchdError(410, {"detail": f"{file['path']} has changed since the download; its sha-256 is {digest}"})
        os.replace(part, path)
    except BaseException:
        if os.path.exists(part):
            os.unlink(part)
        raise
    return path


def _copy(transport: Transport, job: str, copy: Any) -> str:
    digest = hashlib.sha256()
    position = 0
    tag: Optional[str] = None
    end = time.monotonic() + transport.patience
    while True:
        headers: Dict[str, str] = {"Range": f"bytes={position}-", "If-Range": tag} if position and tag else {}
        with transport.open("GET", f"jobs/{component(job)}/file", headers=headers) as answer:
            if position and answer.status != 206:
                raise FetchdError(410, {"detail": "the file was changed during the copy"})
            tag = answer.header("ETag")
            length = answer.header("Content-Length")
            left = int(length) if length else None
            try:
                while True:
                    piece = answer.read(_PIECE)
                    if not piece:
                        break
                    copy.write(piece)
                    digest.update(piece)
                    position += len(piece)
                    left = left - len(piece) if left is not None else None
                    end = time.monotonic() + transport.patience
                if not left:
                    return digest.hexdigest()
            except (OSError, http.client.HTTPException):
                pass
        if time.monotonic() > end or not tag:
            raise ServiceUnavailable("the copy of the file broke off")
        time.sleep(0.2)
