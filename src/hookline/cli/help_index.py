"""The names that the documentation explains: headings, rows of tables, the packs and their hooks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import takewhile
from typing import Final

from hookline.cli.markdown_text import plain_text, split_cells
from hookline.dialects.native.keys import Key
from hookline.formatting import fold_word
from hookline.lazy_dataclasses import dataclass

_CODE: Final = re.compile(r"`([^`]+)`")
_WORD: Final = re.compile(r"[\w-]+")
_TABLE_RULE: Final = re.compile(r"[|\s:-]+")
_HOOK_START: Final = re.compile(r"\s*- id: (\S+)")
_EVENTS: Final = "events"
_MAX_ROWS: Final = 6
_MAX_PLACES: Final = 8
_MAX_PAGES: Final = 3


@dataclass(frozen=True)
class HelpEntry:
    """A place that explains a name."""

    topic: str
    heading: str
    markdown: str
    is_section: bool = False


class HelpIndex:
    """`pages`: topic → Markdown, the most important first; `packs`: name → YAML; `keys` by the topic that explains them."""

    def __init__(
        self, pages: Mapping[str, str], packs: Mapping[str, str], keys: Mapping[str, Mapping[str, Key]]
    ) -> None:
        self._pages = pages
        self._packs = packs
        self._keys = keys

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self._entries]

    def explain(self, name: str) -> list[HelpEntry]:
        """The sections and rows of this name; without any, the rows that name it in another column."""
        folded = fold_word(name)
        found = list(dict.fromkeys(place for each, place in self._entries if fold_word(each) == folded))
        sections = [each for each in found if each.is_section]
        rows = [each for each in found if not each.is_section] or ([] if sections else list(self._rows_with(name)))
        return [*_select_rows(rows), *sections] or self._only_heading_with(folded)

    def places(self, word: str) -> list[str]:
        """Headings with the word; without any, the pages that use it most."""
        headings = [f"{each.topic}: {each.heading}" for each in self._headings_with(fold_word(word))]
        if headings:
            return headings[:_MAX_PLACES]
        used = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])", re.IGNORECASE)
        counts = {topic: len(used.findall(text)) for topic, text in self._pages.items()}
        pages = sorted((topic for topic, count in counts.items() if count), key=lambda topic: -counts[topic])
        return pages[:_MAX_PAGES]

    def _only_heading_with(self, folded: str) -> list[HelpEntry]:
        found = list(self._headings_with(folded))
        return found if len(found) == 1 else []

    def _headings_with(self, folded: str) -> Iterator[HelpEntry]:
        for topic, text in self._pages.items():
            for heading, lines in _sections(text):
                if folded in map(fold_word, _WORD.findall(heading)):
                    yield HelpEntry(topic, heading, "\n".join(lines), is_section=True)

    @cached_property
    def _entries(self) -> list[tuple[str, HelpEntry]]:
        on_pages = [entry for topic in self._pages for entry in self._page_entries(topic)]
        known = {name for name, _ in on_pages}
        return [*self._pack_entries(), *on_pages, *(entry for entry in self._key_entries() if entry[0] not in known)]

    def _page_entries(self, topic: str) -> Iterator[tuple[str, HelpEntry]]:
        for heading, lines in _sections(self._pages[topic]):
            place = HelpEntry(topic, heading, "\n".join(lines), is_section=True)
            yield from ((name, place) for name in _names_in_heading(heading))
        for heading, row in _rows(self._pages[topic]):
            for name in row.names(has_aliases=topic == _EVENTS):
                yield name, HelpEntry(topic, heading, row.markdown)

    def _rows_with(self, name: str) -> Iterator[HelpEntry]:
        for topic, text in self._pages.items():
            for heading, row in _rows(text):
                if f"`{name}`" in "".join(row.cells):
                    yield HelpEntry(topic, heading, row.markdown)

    def _key_entries(self) -> Iterator[tuple[str, HelpEntry]]:
        """The keys inside a key's mapping, some of which no table lists."""
        for topic, keys in self._keys.items():
            for owner in keys.values():
                for key in owner.mapping.values():
                    row = _Row(("", "default", "meaning", "example"), (key.name, key.default, key.help, key.example))
                    yield key.name, HelpEntry(topic, owner.name, row.markdown)

    def _pack_entries(self) -> Iterator[tuple[str, HelpEntry]]:
        for pack, text in self._packs.items():
            for id, hook in _hooks_of_pack(text):
                markdown = f"`{id}` is a hook of the pack `hookline:{pack}`:\n\n{hook}"
                yield id, HelpEntry("packs", pack, markdown, is_section=True)


def _select_rows(rows: Sequence[HelpEntry]) -> list[HelpEntry]:
    """At most `_MAX_ROWS`, in their order. The first row of a page is worth more than the second one of another."""
    counts: Counter[str] = Counter()
    ranked: list[tuple[int, int]] = []
    for position, row in enumerate(rows):
        ranked.append((counts[row.topic], position))
        counts[row.topic] += 1
    return [rows[position] for position in sorted(position for _, position in sorted(ranked)[:_MAX_ROWS])]


def _sections(page: str) -> Iterator[tuple[str, list[str]]]:
    """Each heading below the title, with its lines up to the next heading of its level or above."""
    lines = page.splitlines()
    headings = [(number, line) for number, line in _outside_code(lines) if line.startswith("##")]
    for number, line in headings:
        level = len(line) - len(line.lstrip("#"))
        ends = (each for each, other in headings if each > number and len(other) - len(other.lstrip("#")) <= level)
        yield plain_text(line.lstrip("# ")), lines[number : next(ends, len(lines))]


def _outside_code(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    is_code = False
    for number, line in enumerate(lines):
        is_code ^= line.startswith("```")
        if not is_code:
            yield number, line


@dataclass(frozen=True)
class _Row:
    head: Sequence[str]
    cells: Sequence[str]

    @property
    def markdown(self) -> str:
        named = [
            f"- {name}: {cell}".replace("- : ", "- ")
            for name, cell in zip(self.head[1:], self.cells[1:], strict=False)
            if cell
        ]
        return "\n\n".join((self.cells[0], "\n".join(named)))

    def names(self, *, has_aliases: bool) -> Iterable[str]:
        """The code in its first cell, or else the whole cell. With `has_aliases`, the last cell has more names for it."""
        cells = [self.cells[0], self.cells[-1]] if has_aliases else self.cells[:1]
        names = [name for code in _CODE.findall(" ".join(cells)) for name in (code, code.removeprefix("hookline:"))]
        return dict.fromkeys(names or [plain_text(self.cells[0])])


def _rows(page: str) -> Iterator[tuple[str, _Row]]:
    """Each row of a table, and the heading above it."""
    heading = ""
    head: list[str] = []
    for _, line in _outside_code(page.splitlines()):
        if line.startswith("#"):
            heading = plain_text(line.lstrip("# "))
        if not line.startswith("|"):
            head = []
        elif not head:
            head = split_cells(line)
        elif not _TABLE_RULE.fullmatch(line):
            yield heading, _Row(head, split_cells(line))


def _names_in_heading(heading: str) -> Iterable[str]:
    return {heading, *re.split(r", | and ", heading)}


def _hooks_of_pack(text: str) -> Iterator[tuple[str, str]]:
    lines = text.splitlines()
    for number, line in enumerate(lines):
        start = _HOOK_START.match(line)
        if start is not None:
            rest = takewhile(lambda each: each.strip() and _HOOK_START.match(each) is None, lines[number + 1 :])
            yield start[1], "\n".join(("```yaml", line, *rest, "```"))
