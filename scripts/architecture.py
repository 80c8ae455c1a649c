#!/usr/bin/env python3
"""scripts/architecture.py [--check]

Draws docs/architecture.svg: the targets of Package.swift with their lines of Swift, and what each imports. An import that
follows from two others is left out. With --check, fails if the picture shows other targets or imports than the package has, or
a target whose size has changed by more than a fifth and by more than 400 lines.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs/architecture.svg"

HEIGHT, ROW, GAP, MARGIN, TITLE = 46, 92, 16, 28, 64

STYLE = """
    svg { --page: #ffffff; --ink: #1f2328; --soft: #59636e; --line: #9aa7b5; --box: #eef3fb; --edge: #6b8fc9; --low: #f3f4f6; --lowedge: #b6bec8;
          --top: #e6f4ea; --topedge: #57a773; }
    @media (prefers-color-scheme: dark) {
      svg { --page: #0d1117; --ink: #e6edf3; --soft: #9198a1; --line: #56616d; --box: #15243b; --edge: #4f7fc4; --low: #1a1f26; --lowedge: #4a535e;
            --top: #12291b; --topedge: #3f8f5f; }
    }
    text { font: 13px system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: var(--ink); text-anchor: middle }
    .name { font-weight: 600 } .lines { font-size: 11px; fill: var(--soft) } .title { font-size: 18px; font-weight: 600; text-anchor: start }
    .note { font-size: 12px; fill: var(--soft); text-anchor: start }
    rect.page { fill: var(--page) } .target { fill: var(--box); stroke: var(--edge); stroke-width: 1.3 }
    .c { fill: var(--low); stroke: var(--lowedge) } .program { fill: var(--top); stroke: var(--topedge) }
    path { fill: none; stroke: var(--line); stroke-width: 1.3 }
"""


class Target:
    def __init__(self, name: str, kind: str, imports: list[str], lines: int) -> None:
        self.name, self.kind, self.imports, self.lines = name, kind, imports, lines
        self.level = 0


def main() -> int:
    arguments = sys.argv[1:]
    if arguments not in ([], ["--check"]):
        print(__doc__.strip(), file=sys.stderr)
        return 0 if arguments in (["-h"], ["--help"]) else 64
    targets = read_package()
    if arguments:
        return check(targets)
    PICTURE.write_text(draw(targets), encoding="utf-8")
    return 0


def read_package() -> dict[str, Target]:
    text = subprocess.run(["swift", "package", "--ignore-lock", "dump-package"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    targets: dict[str, Target] = {}
    for one in json.loads(text)["targets"]:
        folder = ROOT / (one.get("path") or f"Sources/{one['name']}")
        if one["type"] == "test" or ROOT / "Sources" not in folder.parents:
            continue
        imports = [list(dependency.values())[0][0] for dependency in one["dependencies"]]
        lines = sum(path.read_text(encoding="utf-8").count("\n") for path in folder.rglob("*.swift"))
        kind = "program" if one["type"] == "executable" else "target" if lines else "c"
        targets[one["name"]] = Target(one["name"], kind, imports, lines)
    for target in targets.values():
        target.imports = [name for name in target.imports if name in targets]
    reach = {name: reachable(targets, name) for name in targets}
    for target in targets.values():
        further = set().union(*(reach[name] for name in target.imports), set())
        target.imports = sorted(set(target.imports) - further)
    return targets


def reachable(targets: dict[str, Target], name: str) -> set[str]:
    found: set[str] = set()
    left = list(targets[name].imports)
    while left:
        if (one := left.pop()) not in found:
            found.add(one)
            left += targets[one].imports
    return found


def check(targets: dict[str, Target]) -> int:
    drawn = {
        name: (int(lines), imports.split())
        for name, lines, imports in re.findall(r'data-target="(\w+)" data-lines="(\d+)" data-imports="([\w ]*)"', PICTURE.read_text())
    }
    faults = [f"{name} is not drawn" for name in targets.keys() - drawn.keys()]
    faults += [f"{name} is drawn, and there is no such target" for name in drawn.keys() - targets.keys()]
    for name in sorted(targets.keys() & drawn.keys()):
        lines, imports = drawn[name]
        if imports != targets[name].imports:
            faults.append(f"{name} imports {', '.join(targets[name].imports) or 'nothing'}, and is drawn with {', '.join(imports) or 'nothing'}")
        if abs(lines - targets[name].lines) > max(400, lines / 5):
            faults.append(f"{name} has {targets[name].lines} lines, and is drawn with {lines}")
    for fault in faults:
        print(fault)
    if faults:
        print("To draw the picture again: scripts/architecture.py")
    return 1 if faults else 0


def draw(targets: dict[str, Target]) -> str:
    set_levels(targets)
    rows, links = make_rows(targets)
    order(rows, links)
    x = place(rows, links, targets)
    left = min(x[node] - width(targets, node) / 2 for row in rows for node in row if node in targets)
    right = max(x[node] + width(targets, node) / 2 for row in rows for node in row if node in targets)
    shift = MARGIN - left
    total = right - left + 2 * MARGIN
    top = len(rows) - 1

    def y(level: int) -> float:
        return TITLE + MARGIN / 2 + (top - level) * ROW

    body: list[str] = []
    for chain in chains(rows, links, targets):
        points = [(x[node] + shift, y(level)) for node, level in chain]
        (sx, sy), (ex, ey) = points[0], points[-1]
        path = f"M{sx:.0f} {sy + HEIGHT:.0f}"
        px, py = sx, sy + HEIGHT
        for index, (nx, ny) in enumerate(points[1:], 1):
            is_last = index == len(points) - 1
            middle = (py + ny) / 2
            path += f"C{px:.0f} {middle:.0f} {nx:.0f} {middle:.0f} {nx:.0f} {ny:.0f}"
            if not is_last:
                path += f"V{ny + HEIGHT:.0f}"
            px, py = nx, ny + HEIGHT
        body.append(f'  <path d="{path}"/>')
    for level, row in enumerate(rows):
        for node in row:
            if node not in targets:
                continue
            one = targets[node]
            w, bx, by = width(targets, node), x[node] + shift, y(level)
            data = f'data-target="{one.name}" data-lines="{one.lines}" data-imports="{" ".join(one.imports)}"'
            body.append(f'  <rect class="target {one.kind}" x="{bx - w / 2:.0f}" y="{by:.0f}" width="{w:.0f}" height="{HEIGHT}" rx="7" {data}/>')
            text_y = by + (20 if one.lines else 28)
            body.append(f'  <text class="name" x="{bx:.0f}" y="{text_y:.0f}">{escape(one.name)}</text>')
            if one.lines:
                body.append(f'  <text class="lines" x="{bx:.0f}" y="{by + 36:.0f}">{rounded(one.lines)} lines</text>')
    height = y(0) + HEIGHT + MARGIN
    sum_lines = rounded(sum(one.lines for one in targets.values()))
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total:.0f} {height:.0f}" width="{total:.0f}" height="{height:.0f}" role="img" '
        f'aria-label="The targets of fetchd and their imports">\n  <style>{STYLE}  </style>\n'
        f'  <rect class="page" width="100%" height="100%"/>\n'
        f'  <text class="title" x="{MARGIN}" y="{MARGIN + 8}">The targets of fetchd: {sum_lines} lines of Swift</text>\n'
        f'  <text class="note" x="{MARGIN}" y="{MARGIN + 28}">A line leads down to what a target imports. Wider boxes have more lines; grey ones are C libraries.</text>\n'
    )
    return head + "\n".join(body) + "\n</svg>\n"


def rounded(lines: int) -> str:
    step = 1000 if lines >= 4000 else 100 if lines >= 400 else 10
    return f"{max(step, round(lines / step) * step):,}"


def set_levels(targets: dict[str, Target]) -> None:
    """C libraries at the bottom, and each target just above the highest of its imports."""
    done: dict[str, int] = {}

    def level(name: str) -> int:
        if name not in done:
            one = targets[name]
            done[name] = 0 if one.kind == "c" else 1 + max((level(each) for each in one.imports), default=0)
        return done[name]

    for name, one in targets.items():
        one.level = level(name)
    # A target that few import goes up to just below the first of them, so that its lines are short.
    for name, one in sorted(targets.items(), key=lambda item: -item[1].level):
        above = [each.level for each in targets.values() if name in each.imports]
        if above and one.kind != "c":
            one.level = max(one.level, min(above) - 1)
        if not above and not one.imports:
            one.level = max(done.values())


def make_rows(targets: dict[str, Target]) -> tuple[list[list[str]], dict[str, list[str]]]:
    """The rows from the bottom, and the links from each node to nodes of the next lower row. A long line has a node in each row."""
    rows: list[list[str]] = [[] for _ in range(1 + max(one.level for one in targets.values()))]
    links: dict[str, list[str]] = defaultdict(list)
    bends: set[str] = set()
    for name, one in sorted(targets.items()):
        rows[one.level].append(name)
    for name, one in sorted(targets.items()):
        for lower in one.imports:
            upper = name
            for level in range(one.level - 1, targets[lower].level, -1):
                # Lines to one target share their lower part.
                bend = f"{level}>{lower}"
                if bend not in bends:
                    bends.add(bend)
                    rows[level].append(bend)
                if bend not in links[upper]:
                    links[upper].append(bend)
                upper = bend
            if lower not in links[upper]:
                links[upper].append(lower)
    return rows, links


def crossings(rows: list[list[str]], links: dict[str, list[str]]) -> int:
    count = 0
    for level in range(len(rows) - 1, 0, -1):
        place_of = {node: index for index, node in enumerate(rows[level - 1])}
        ends = [(upper, place_of[lower]) for upper, node in enumerate(rows[level]) for lower in links[node]]
        count += sum(a < c and b > d or a > c and b < d for i, (a, b) in enumerate(ends) for c, d in ends[i + 1 :])
    return count


def order(rows: list[list[str]], links: dict[str, list[str]]) -> None:
    back: dict[str, list[str]] = defaultdict(list)
    for upper, lowers in links.items():
        for lower in lowers:
            back[lower].append(upper)
    best, kept = crossings(rows, links), [list(row) for row in rows]
    for turn in range(60):
        levels = range(1, len(rows)) if turn % 2 else range(len(rows) - 2, -1, -1)
        for level in levels:
            others, neighbours = (rows[level - 1], links) if turn % 2 else (rows[level + 1], back)
            place_of = {node: index / max(1, len(others) - 1) for index, node in enumerate(others)}
            own = {node: index / max(1, len(rows[level]) - 1) for index, node in enumerate(rows[level])}

            def centre(node: str) -> float:
                near = [place_of[each] for each in neighbours[node] if each in place_of]
                return sum(near) / len(near) if near else own[node]

            rows[level].sort(key=centre)
        for level in range(len(rows)):
            exchange(rows, links, level)
        if (count := crossings(rows, links)) < best:
            best, kept = count, [list(row) for row in rows]
    for level, row in enumerate(kept):
        # A target without lines stands beside the others.
        rows[level][:] = sorted(row, key=lambda node: not links[node] and not back[node])


def exchange(rows: list[list[str]], links: dict[str, list[str]], level: int) -> None:
    """Exchanges neighbours as long as that makes fewer crossings."""
    near = rows[max(0, level - 1) : level + 2]
    for index in range(len(rows[level]) - 1):
        before = crossings(near, links)
        row = rows[level]
        row[index], row[index + 1] = row[index + 1], row[index]
        if crossings(near, links) >= before:
            row[index], row[index + 1] = row[index + 1], row[index]


def width(targets: dict[str, Target], node: str) -> float:
    if node not in targets:
        return 4
    one = targets[node]
    return max(8.2 * len(one.name) + 26, 60 + one.lines / 60)


def place(rows: list[list[str]], links: dict[str, list[str]], targets: dict[str, Target]) -> dict[str, float]:
    x: dict[str, float] = {}
    near: dict[str, list[str]] = defaultdict(list)
    for upper, lowers in links.items():
        for lower in lowers:
            near[upper].append(lower)
            near[lower].append(upper)
    for row in rows:
        position = 0.0
        for node in row:
            x[node] = position + width(targets, node) / 2
            position += width(targets, node) + GAP
        for node in row:
            x[node] -= position / 2
    for turn in range(300):
        for row in rows if turn % 2 else reversed(rows):
            alone = max((x[each] for each in row if near[each]), default=0) + 240
            wanted = {node: sum(x[each] for each in near[node]) / len(near[node]) if near[node] else alone for node in row}
            settle(row, wanted, x, targets)
    return x


def settle(row: list[str], wanted: dict[str, float], x: dict[str, float], targets: dict[str, Target]) -> None:
    """The places nearest to the wanted ones, in the order of the row and without overlaps: neighbours that collide move together."""
    groups: list[tuple[list[str], float]] = []
    offset: dict[str, float] = {}
    position = 0.0
    for index, node in enumerate(row):
        if index:
            position += (width(targets, row[index - 1]) + width(targets, node)) / 2 + GAP
        offset[node] = position
        group, place_ = [node], wanted[node] - position
        while groups and groups[-1][1] > place_:
            former, _ = groups.pop()
            group = former + group
            place_ = sum(wanted[each] - offset[each] for each in group) / len(group)
        groups.append((group, place_))
    for group, place_ in groups:
        for node in group:
            x[node] = place_ + offset[node]


def chains(rows: list[list[str]], links: dict[str, list[str]], targets: dict[str, Target]) -> list[list[tuple[str, int]]]:
    level_of = {node: level for level, row in enumerate(rows) for node in row}
    found: list[list[tuple[str, int]]] = []
    drawn: set[tuple[str, str]] = set()
    for name in targets:
        for first in links[name]:
            chain, node = [(name, level_of[name])], first
            while True:
                step = (chain[-1][0], node)
                chain.append((node, level_of[node]))
                if node in targets or step in drawn:
                    break
                drawn.add(step)
                follow = links[node][0]
                if (node, follow) in drawn:
                    break
                node = follow
            for upper, lower in zip(chain, chain[1:]):
                drawn.add((upper[0], lower[0]))
            found.append(chain)
    return found


if __name__ == "__main__":
    sys.exit(main())
