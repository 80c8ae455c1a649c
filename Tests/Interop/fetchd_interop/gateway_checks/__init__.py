"""The checks of fetchd behind a reverse proxy: the columns of the second matrix."""

from __future__ import annotations

from ..check import Check
from . import dashboard, file, polls, streams

ALL: list[Check] = [*polls.CHECKS, *streams.CHECKS, *file.CHECKS, *dashboard.CHECKS]
