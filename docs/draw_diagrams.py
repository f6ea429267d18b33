"""Draws the diagram of each `.txt` file in docs as the `.svg` beside it: `python docs/draw_diagrams.py`.

Positions and sizes are in steps of 10 pixels. The lines of such a file:

    title: what the picture shows, for people who do not see it
    box NAME COLUMN ROW WIDTH HEIGHT COLOUR: title | line | …
    arrow FROM SIDE TO SIDE: label        SIDE is left, right, top or bottom, with an offset along it such as right-2
    text COLUMN ROW: words

The colours are readable on a light and on a dark page, because GitHub shows the same file on both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

DIAGRAMS = sorted(Path(__file__).parent.rglob("*.txt"))
STEP = 10
COLOURS = {"grey": "#57606a", "blue": "#0a5cc2", "violet": "#7442c8", "green": "#1a7037", "orange": "#9a4a00"}
LINE_COLOUR = "#6e7781"  # about 4.5 to 1 on white and 4.2 to 1 on GitHub's dark page
_TITLE = re.compile(r"title: (.+)")
_BOX = re.compile(r"box (\w+) (\d+) (\d+) (\d+) (\d+) (\w+): (.+)")
_ARROW = re.compile(r"arrow (\w+) (\w+)([+-]\d+)? (\w+) (\w+)([+-]\d+)?:(.*)")
_TEXT = re.compile(r"text (\d+) (\d+): (.+)")


@dataclass(frozen=True)
class Box:
    left: int
    top: int
    width: int
    height: int
    colour: str
    lines: tuple[str, ...]

    def point(self, side: str, offset: int) -> tuple[int, int]:
        """The middle of a side, moved along it."""
        x, y = self.left + self.width // 2, self.top + self.height // 2
        return {
            "left": (self.left, y + offset),
            "right": (self.left + self.width, y + offset),
            "top": (x + offset, self.top),
            "bottom": (x + offset, self.top + self.height),
        }[side]


def draw(description: str) -> str:
    boxes: dict[str, Box] = {}
    shapes: list[str] = []
    title = ""
    for line in description.splitlines():
        if not line:
            continue
        if found := _TITLE.fullmatch(line):
            title = found[1]
        elif found := _BOX.fullmatch(line):
            left, top, width, height = (int(number) * STEP for number in found.groups()[1:5])
            words = tuple(part.strip() for part in found[7].split("|"))
            boxes[found[1]] = Box(left, top, width, height, COLOURS[found[6]], words)
            shapes.append(_draw_box(boxes[found[1]]))
        elif found := _ARROW.fullmatch(line):
            start = boxes[found[1]].point(found[2], int(found[3] or 0) * STEP)
            end = boxes[found[4]].point(found[5], int(found[6] or 0) * STEP)
            shapes.append(_draw_arrow(start, end, found[7].strip()))
        elif found := _TEXT.fullmatch(line):
            shapes.append(_text(int(found[1]) * STEP, int(found[2]) * STEP, found[3], "heading"))
        else:
            raise ValueError(f"not a title, a box, an arrow or a text: {line}")
    width = max(box.left + box.width for box in boxes.values()) + 2 * STEP
    height = max(box.top + box.height for box in boxes.values()) + 2 * STEP
    return "\n".join(
        [_HEAD.format(width=width, height=height, title=escape(title), line=LINE_COLOUR), *shapes, "</svg>", ""]
    )


_HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>{title}</title>
<style>
text {{ font-family: -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; font-size: 13px }}
.title {{ font-size: 15px; font-weight: 600; fill: #ffffff }}
.line {{ fill: #ffffff }}
.label, .heading {{ fill: {line} }}
.heading {{ font-size: 15px; font-weight: 600 }}
path {{ stroke: {line}; stroke-width: 2; fill: none; marker-end: url(#head) }}
</style>
<defs>
<marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">
<polygon points="0,0 10,5 0,10" fill="{line}"/>
</marker>
</defs>"""


def _draw_box(box: Box) -> str:
    title, *lines = box.lines
    shape = f'<rect x="{box.left}" y="{box.top}" width="{box.width}" height="{box.height}" rx="6" fill="{box.colour}"/>'
    rows = [_text(box.left + 12, box.top + 26, title, "title")]
    rows += [_text(box.left + 12, box.top + 50 + 21 * at, line, "line") for at, line in enumerate(lines)]
    return "\n".join([shape, *rows])


def _draw_arrow(start: tuple[int, int], end: tuple[int, int], label: str) -> str:
    arrow = f'<path d="M {start[0]} {start[1]} L {end[0]} {end[1]}"/>'
    if not label:
        return arrow
    x, y = (start[0] + end[0]) // 2, (start[1] + end[1]) // 2
    if start[0] == end[0]:
        return "\n".join([arrow, _text(x + 8, y + 4, label, "label")])
    return "\n".join([arrow, _text(x, y - 7, label, "label", 'text-anchor="middle" ')])


def _text(x: int, y: int, words: str, style: str, attributes: str = "") -> str:
    return f'<text x="{x}" y="{y}" {attributes}class="{style}">{escape(words)}</text>'


if __name__ == "__main__":
    for diagram in DIAGRAMS:
        diagram.with_suffix(".svg").write_text(draw(diagram.read_text(encoding="utf-8")), encoding="utf-8")
