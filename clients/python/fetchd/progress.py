"""A bar on the terminal, if ``tqdm`` is installed."""

from __future__ import annotations

import sys
from typing import Any, Dict, Optional


class Bar:
    def __init__(self, wanted: Optional[bool], title: str) -> None:
        self._bar: Any = None
        if not (sys.stderr.isatty() if wanted is None else wanted):
            return
        try:
            from tqdm import tqdm  # type: ignore[import-untyped,unused-ignore]
        except ImportError:
            if wanted:
                raise
            return
        name = title.split("?")[0].rstrip("/").rsplit("/", 1)[-1] or title
        self._bar = tqdm(unit="B", unit_scale=True, unit_divisor=1024, desc=name, dynamic_ncols=True)

    @property
    def is_shown(self) -> bool:
        return self._bar is not None

    def show(self, progress: Dict[str, Any]) -> None:
        if self._bar is None:
            return
        self._bar.total = progress.get("bytes_expected")
        self._bar.n = progress.get("bytes_received") or 0
        self._bar.refresh()

    def __enter__(self) -> "Bar":
        return self

    def __exit__(self, *failure: object) -> None:
        if self._bar is not None:
            self._bar.close()
