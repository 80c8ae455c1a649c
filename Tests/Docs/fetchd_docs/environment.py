"""Paths, and the parts of the interoperability tests that these tests use, too."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"

sys.path.insert(0, str(ROOT / "Tests/Interop"))

from fetchd_interop.certificates import Certificates, make_certificates  # noqa: E402
from fetchd_interop.environment import ENVIRONMENT, LOOPBACK, free_port, program  # noqa: E402
from fetchd_interop.fetchd import Fetchd, default_program  # noqa: E402
from fetchd_interop.outcomes import Failure, require  # noqa: E402
from fetchd_interop.processes import serving, stop, until  # noqa: E402

__all__ = [
    "ENVIRONMENT", "EXAMPLES", "LOOPBACK", "ROOT", "Certificates", "Failure", "Fetchd", "default_program", "free_port",
    "make_certificates", "program", "python", "require", "serving", "stop", "until",
]  # fmt: skip


def python() -> str:
    """The Python of the test environment, or the present one."""
    own = ROOT / ".venv/bin/python"
    return str(own) if os.access(own, os.X_OK) else sys.executable
