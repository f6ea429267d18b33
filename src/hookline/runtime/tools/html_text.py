"""The words of a page, without its marks."""

from __future__ import annotations

import html
from typing import Final

_UNSEEN: Final = ("script", "style", "noscript", "template", "svg")
_BREAKS: Final = frozenset(
    ("p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "section", "article", "ul", "ol", "table", "pre")
)


def html_text(page: str) -> str:
    """One look at each character, however the page is broken."""
    parts: list[str] = []
    lower = page.lower() if len(page.lower()) == len(page) else page
    at = 0
    while (start := page.find("<", at)) >= 0:
        parts.append(page[at:start])
        at, shown = _after(lower, start)
        parts.append(shown)
    parts.append(page[at:])
    lines = (" ".join(line.split()) for line in html.unescape("".join(parts)).split("\n"))
    return "\n".join(line for line in lines if line)


def _after(page: str, start: int) -> tuple[int, str]:
    """Where the mark that begins at `start` ends, and what stands in its place."""
    if page.startswith("<!--", start):
        return _past(page, "-->", start + 4), ""
    name = _name(page, start + 1)
    for unseen in _UNSEEN:
        if name == unseen:
            return _past(page, ">", _past(page, f"</{unseen}", start) - 1), " "
    if not name and page[start + 1 : start + 2] not in ("!", "?"):
        return start + 1, "<"
    return _past(page, ">", start), "\n" if name in _BREAKS else ""


def _name(page: str, at: int) -> str:
    at += page.startswith("/", at)
    end = at
    while end < len(page) and end < at + 12 and page[end].isascii() and page[end].isalnum():
        end += 1
    return page[at:end] if page[at : at + 1].isalpha() else ""


def _past(page: str, what: str, start: int) -> int:
    found = page.find(what, start)
    return len(page) if found < 0 else found + len(what)
