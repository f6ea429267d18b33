"""The scaling picture: what a decision costs against the number of rules, both axes logarithmic, as SVG.

    python -m bench.scaling bench.json docs/scaling.svg

The figures are those that `make bench` writes with `--json`.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Final

_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 720, 420, 70, 130, 24, 48
_COLORS: Final = {
    "hookline": "#d6336c",
    "re loop": "#1971c2",
    "re by tool": "#2f9e44",
    "pluggy": "#e8590c",
    "cedar": "#7048e8",
}
Points = list[tuple[int, float]]  # rules, seconds


def draw(series: dict[str, Points]) -> str:
    rules = [x for points in series.values() for x, _ in points]
    seconds = [y for points in series.values() for _, y in points]
    low, high = math.floor(math.log10(min(seconds))), math.ceil(math.log10(max(seconds)))
    widest = math.log10(max(rules))

    def x(value: float) -> float:
        return _LEFT + math.log10(value) / widest * (_WIDTH - _LEFT - _RIGHT)

    def y(value: float) -> float:
        return _TOP + (high - math.log10(value)) / (high - low) * (_HEIGHT - _TOP - _BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" font-size="13">',
        "<title>The time of one decision against the number of rules</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
    ]
    for power in range(low, high + 1):
        at = y(10.0**power)
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{at:.1f}" y2="{at:.1f}" stroke="#dee2e6"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{_time(power)}</text>')
    for power in range(int(widest) + 1):
        at = x(10.0**power)
        parts.append(f'<text x="{at:.1f}" y="{_HEIGHT - 26}" text-anchor="middle">{10**power:,}</text>')
    parts.append(f'<text x="{_LEFT}" y="{_HEIGHT - 8}">rules; none matches</text>')
    for name, points in series.items():
        color = _COLORS.get(name, "#495057")
        line = " ".join(f"{x(rules):.1f},{y(taken):.1f}" for rules, taken in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2.5"/>')
        parts += [f'<circle cx="{x(n):.1f}" cy="{y(taken):.1f}" r="3.5" fill="{color}"/>' for n, taken in points]
        last_rules, last_taken = points[-1]
        parts.append(f'<text x="{x(last_rules) + 8:.1f}" y="{y(last_taken) + 4:.1f}" fill="{color}">{name}</text>')
    return "\n".join([*parts, "</svg>\n"])


def _time(power: int) -> str:
    unit, shift = next((unit, shift) for unit, shift in (("s", 0), ("ms", 3), ("µs", 6), ("ns", 9)) if power >= -shift)
    return f"{10 ** (power + shift):,} {unit}"


def read_series(results: list[dict[str, object]]) -> dict[str, Points]:
    series: dict[str, Points] = {}
    for result in results:
        for name, taken in result.items():
            if result["name"] == "none matches" and name in _COLORS and isinstance(taken, float):
                series.setdefault(name, []).append((int(str(result["rules"])), taken))
    return series


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    target.write_text(draw(read_series(json.loads(source.read_text())["decisions"])), encoding="utf-8")
