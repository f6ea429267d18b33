"""A page of the documentation as text for a terminal: the Markdown that the pages use, at a given width."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Final

import click

_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_IMAGE: Final = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_LINK: Final = re.compile(r"\[((?:`[^`]*`|[^\[\]])*)\]\(([^)\s]+)\)")
_STRONG: Final = re.compile(r"\*\*([^*]+)\*\*")
_EMPHASIS: Final = re.compile(r"(?<![\w*`])\*([^*`\s][^*`]*)\*(?![\w*])")
_ITEM: Final = re.compile(r"(\s*)([-*]|\d+\.) +")
_CELL: Final = re.compile(r"(?<!\\)\|")
_MIN_WIDTH: Final = 40
_MAX_FIRST_COLUMN: Final = 28


def render_page(markdown: str, width: int = 80, *, styled: bool = False) -> str:
    """styled: with bold headings, for a terminal."""
    page = _Page(_COMMENT.sub("", markdown).splitlines(), max(width, _MIN_WIDTH), styled)
    blocks = [block for block in page.blocks() if block]
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


class _Page:
    def __init__(self, lines: Sequence[str], width: int, styled: bool) -> None:
        self.lines = list(lines)
        self.width = width
        self.styled = styled

    def blocks(self) -> Iterator[list[str]]:
        at = 0
        while at < len(self.lines):
            line = self.lines[at]
            if line.startswith("```"):
                block = list(takewhile(lambda each: not each.startswith("```"), self.lines[at + 1 :]))
                yield [f"    {each}".rstrip() for each in block]
                at += len(block) + 2
                continue
            taken = self._take(at)
            yield self._format(self.lines[at : at + taken]) if line.strip() else []
            at += taken

    def _take(self, at: int) -> int:
        """How many lines belong to the block that begins here."""
        if self.lines[at].startswith("#"):
            return 1
        return max(1, len(list(takewhile(lambda line: not _ends_block(line), self.lines[at:]))))

    def _format(self, lines: list[str]) -> list[str]:
        first = lines[0]
        if first.startswith("#"):
            return self._heading(first)
        if first.startswith("|"):
            return self._table(lines)
        if _ITEM.match(first):
            return [line for item in _split_items(lines) for line in self._item(item)]
        return self._wrap(" ".join(line.strip() for line in lines))

    def _heading(self, line: str) -> list[str]:
        level = len(line) - len(line.lstrip("#"))
        text = plain_text(line.lstrip("# "))
        text = text.upper() if level == 1 else text
        return [click.style(text, bold=True) if self.styled else text]

    def _item(self, lines: list[str]) -> list[str]:
        mark = _ITEM.match(lines[0])
        assert mark is not None
        text = " ".join(line.strip() for line in [lines[0][mark.end() :], *lines[1:]])
        start = f"{mark[1]}{mark[2]} "
        return self._wrap(text, start, " " * len(start))

    def _table(self, lines: list[str]) -> list[str]:
        """The first column, and beside or below it the others. Those after the second are named."""
        names, *rows = [_cells(line) for line in lines if not re.fullmatch(r"[|\s:-]+", line)]
        column = min(max((len(row[0]) for row in rows), default=0), _MAX_FIRST_COLUMN) + 2
        found: list[str] = []
        for row in rows:
            texts = [
                each if number == 1 else f"{name}: {each}"
                for number, (name, each) in enumerate(zip(names, row, strict=False))
                if number and each
            ]
            first, *more = [
                part for text in texts for part in textwrap.wrap(text, self.width - column, break_on_hyphens=False)
            ] or [""]
            if len(row[0]) + 2 > column:
                found += textwrap.wrap(row[0], self.width, break_on_hyphens=False)
                more = [first, *more]
            else:
                found.append(row[0].ljust(column) + first)
            found += [" " * column + each for each in more]
        return [line.rstrip() for line in found]

    def _wrap(self, text: str, start: str = "", rest: str = "") -> list[str]:
        return textwrap.wrap(
            plain_text(text),
            self.width,
            initial_indent=start,
            subsequent_indent=rest,
            break_on_hyphens=False,
            break_long_words=False,
        )


def _ends_block(line: str) -> bool:
    return not line.strip() or line.startswith(("```", "#"))


def plain_text(markdown: str) -> str:
    """The text of one paragraph. A link to another site keeps its address."""
    text = _IMAGE.sub(r"[picture: \1]", markdown)
    text = _LINK.sub(lambda link: f"{link[1]} ({link[2]})" if "://" in link[2] else link[1], text)
    text = _EMPHASIS.sub(r"\1", _STRONG.sub(r"\1", text))
    return text.replace("`", "").replace("\\|", "|").replace("<br>", ", ")


def split_cells(row: str) -> list[str]:
    """The cells of a table's row, as Markdown."""
    return [cell.strip() for cell in _CELL.split(row.strip().strip("|"))]


def _cells(line: str) -> list[str]:
    return [plain_text(cell) for cell in split_cells(line)]


def _split_items(lines: list[str]) -> Iterator[list[str]]:
    item: list[str] = []
    for line in lines:
        if item and _ITEM.match(line):
            yield item
            item = []
        item.append(line)
    yield item
