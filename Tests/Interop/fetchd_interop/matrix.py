"""The matrix of one run: as text, and as tables in Markdown."""

from __future__ import annotations

from dataclasses import dataclass, field

from .outcomes import Cell

MARKS = {"passed": "✓", "failed": "**✗**", "not offered": "–"}


@dataclass
class Matrix:
    title: str
    checks: list[str]
    rows: dict[str, dict[str, Cell]] = field(default_factory=dict)

    def add(self, server: str, check: str, cell: Cell) -> None:
        self.rows.setdefault(server, {})[check] = cell

    @property
    def has_failed(self) -> bool:
        return any(cell.kind == "failed" for row in self.rows.values() for cell in row.values())

    def text(self) -> str:
        """One line for each check, and one column for each server."""
        marks = {"passed": "ok", "failed": "FAILED", "not offered": "-"}
        width = max(map(len, self.checks))
        heads = [f"{server[:18]:<19}" for server in self.rows]
        lines = [self.title, " " * (width + 2) + "".join(heads)]
        for check in self.checks:
            cells = [row[check] for row in self.rows.values() if check in row]
            lines.append(f"{check:<{width + 2}}" + "".join(f"{marks[cell.kind]:<19}" for cell in cells))
        return "\n".join(line.rstrip() for line in lines)

    def markdown(self) -> str:
        lines = [table_row(["", *self.rows]), table_row(["---", *[":---:"] * len(self.rows)])]
        for check in self.checks:
            lines.append(table_row([check, *(MARKS[row[check].kind] if check in row else "" for row in self.rows.values())]))
        return "\n".join(lines) + "\n"

    def reasons(self) -> str:
        """The notes, with the servers that have each."""
        found: dict[tuple[str, str, str], list[str]] = {}
        for server, row in self.rows.items():
            for check, cell in row.items():
                if cell.note:
                    found.setdefault((check, cell.kind, cell.note), []).append(server)
        order = {check: number for number, check in enumerate(self.checks)}
        lines = [
            f"- {check}, {kind} ({'; '.join(servers)}): {note.splitlines()[0]}"
            for (check, kind, note), servers in sorted(found.items(), key=lambda item: order[item[0][0]])
        ]
        return "\n".join(lines) + "\n"


def table_row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
