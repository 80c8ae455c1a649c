"""Plots with two logarithmic axes, as SVG that is readable on light and on dark pages."""

from __future__ import annotations

import math
from html import escape

from .results import Plot

WIDTH, HEIGHT = 720, 400
LEFT, RIGHT, TOP, BOTTOM = 80, 210, 44, 52

# The colours of Okabe and Ito, which readers with a colour vision deficiency can tell apart; darker on light pages.
STYLE = """
  text { font: 13px sans-serif; fill: #24292f }
  .title { font-weight: bold; font-size: 14px }
  .grid { stroke: #d0d7de; stroke-width: 1 }
  .c0 { stroke: #0060a8; fill: #0060a8 } .c1 { stroke: #b35900; fill: #b35900 } .c2 { stroke: #00755a; fill: #00755a }
  .c3 { stroke: #a0357a; fill: #a0357a } .c4 { stroke: #6b6b00; fill: #6b6b00 } .c5 { stroke: #57606a; fill: #57606a }
  polyline { fill: none !important; stroke-width: 2 }
  .label { stroke: none !important }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .grid { stroke: #3d444d }
    .c0 { stroke: #56b4e9; fill: #56b4e9 } .c1 { stroke: #e69f00; fill: #e69f00 } .c2 { stroke: #2fc79b; fill: #2fc79b }
    .c3 { stroke: #e08fc0; fill: #e08fc0 } .c4 { stroke: #f0e442; fill: #f0e442 } .c5 { stroke: #9198a1; fill: #9198a1 }
  }
"""
COLOURS = 6
SHAPES = ("", "6 4", "2 3")  # more curves than colours differ by their dashes


class Axis:
    """Maps values to pixels. Covers whole powers of ten."""

    def __init__(self, values: list[float], begin: float, end: float):
        positive = [value for value in values if value > 0]
        self.low = math.floor(math.log10(min(positive)) + 1e-9)
        self.high = max(math.ceil(math.log10(max(positive)) - 1e-9), self.low + 1)
        self._begin, self._end = begin, end

    def position(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self._begin + share * (self._end - self._begin)

    @property
    def ticks(self) -> list[float]:
        """The powers of ten. On a short axis, also twice and five times as much."""
        steps = (1, 2, 5) if self.high - self.low == 1 else (1,)
        found = [step * 10.0**exponent for exponent in range(self.low, self.high) for step in steps]
        return [*found, 10.0**self.high]


def svg(plot: Plot) -> str:
    points = [point for curve in plot.curves.values() for point in curve if point[1] > 0]
    x = Axis([point[0] for point in points], LEFT, WIDTH - RIGHT)
    y = Axis([point[1] for point in points], HEIGHT - BOTTOM, TOP)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{escape(plot.title)}</title>",
        f"<style>{STYLE}</style>",
        text(LEFT, 22, plot.title, "title"),
        *grid(x, y),
        text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, plot.x, anchor="middle"),
        f'<text transform="translate(18 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">'
        f"{escape(plot.y)}</text>",
        *curves(plot, x, y),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def grid(x: Axis, y: Axis) -> list[str]:
    lines = []
    for tick in x.ticks:
        at = x.position(tick)
        lines.append(f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
        lines.append(text(at, HEIGHT - BOTTOM + 18, f"{tick:,.0f}" if tick >= 1 else f"{tick:g}", anchor="middle"))
    for tick in y.ticks:
        at = y.position(tick)
        lines.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
        lines.append(text(LEFT - 8, at + 4, f"{tick:,.0f}" if tick >= 1 else f"{tick:g}", anchor="end"))
    return lines


def curves(plot: Plot, x: Axis, y: Axis) -> list[str]:
    lines, labels = [], []
    for number, (name, curve) in enumerate(plot.curves.items()):
        points = [(x.position(size), y.position(value)) for size, value in curve if value > 0]
        if not points:
            continue
        colour, dashes = f"c{number % COLOURS}", SHAPES[number // COLOURS % len(SHAPES)]
        path = " ".join(f"{across:.1f},{down:.1f}" for across, down in points)
        lines.append(f'<polyline class="{colour}" stroke-dasharray="{dashes or "none"}" points="{path}"/>')
        lines += [f'<circle class="{colour}" cx="{across:.1f}" cy="{down:.1f}" r="3"/>' for across, down in points]
        labels.append((points[-1][1], colour, name))
    return lines + placed(labels)


def placed(labels: list[tuple[float, str, str]]) -> list[str]:
    """The name of each curve beside its end, moved down where two of them would overlap."""
    lines, previous = [], -math.inf
    lowest = HEIGHT - 16 * len(labels)
    for down, colour, name in sorted(labels):
        down = min(max(down, previous + 16), lowest + 16 * len(lines))
        lines.append(text(WIDTH - RIGHT + 10, down + 4, name, f"label {colour}"))
        previous = down
    return lines


def text(across: float, down: float, content: str, style: str = "", anchor: str = "start") -> str:
    name = f' class="{style}"' if style else ""
    return f'<text{name} x="{across:.1f}" y="{down:.1f}" text-anchor="{anchor}">{escape(content)}</text>'
