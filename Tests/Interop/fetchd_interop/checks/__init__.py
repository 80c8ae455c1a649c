"""The checks of downloads: the columns of the first matrix."""

from __future__ import annotations

from ..check import Check
from . import credentials, files, links, recovery, replaced

ALL: list[Check] = [*files.CHECKS, *recovery.CHECKS, *replaced.CHECKS, *credentials.CHECKS, *links.CHECKS]
