"""The files of passwords that servers read."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from .content import PASSWORD, REALM, USER


def write_basic(file: Path) -> Path:
    """An htpasswd file with SHA-1, which Apache and nginx read without another library."""
    digest = base64.b64encode(hashlib.sha1(PASSWORD.encode()).digest()).decode()
    file.write_text(f"{USER}:{{SHA}}{digest}\n")
    file.chmod(0o644)
    return file


def write_digest(file: Path) -> Path:
    """An htdigest file (RFC 7616, MD5)."""
    secret = hashlib.md5(f"{USER}:{REALM}:{PASSWORD}".encode()).hexdigest()
    file.write_text(f"{USER}:{REALM}:{secret}\n")
    file.chmod(0o644)
    return file
