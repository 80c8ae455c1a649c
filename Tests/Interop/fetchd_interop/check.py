"""One check: a column of the matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .outcomes import Cell, Failure, NotOffered


@dataclass(frozen=True)
class Check:
    """`run` gets fetchd and the server, returns a note or None, and raises `Failure` or `NotOffered`."""

    name: str
    run: Callable[..., str | None]
    # Whether the short run leaves it out.
    is_long: bool = False

    def cell(self, *arguments: object) -> Cell:
        try:
            return Cell("passed", self.run(*arguments) or "")
        except NotOffered as reason:
            return Cell("not offered", str(reason))
        except Failure as reason:
            return Cell("failed", str(reason))
        except OSError as error:
            return Cell("failed", f"{type(error).__name__}: {error}")
