"""The outcome of one check with one server: one cell of the matrix."""

from __future__ import annotations

from dataclasses import dataclass


class Failure(Exception):
    """fetchd did not do what the check requires; the text says what it did."""


class NotOffered(Exception):
    """The server has no such feature; the text is the reason."""


@dataclass(frozen=True)
class Cell:
    kind: str  # passed, failed, not offered
    note: str = ""

    @property
    def text(self) -> str:
        return f"{self.kind}: {self.note}" if self.note else self.kind


def require(holds: object, what: str) -> None:
    if not holds:
        raise Failure(what)
