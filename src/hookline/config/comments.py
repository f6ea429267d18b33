"""The comments of a YAML file or of a JSON file with comments, with the line of each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import lazy_pattern

_JSON_TOKEN: Final = lazy_pattern(r'"(?:[^"\\\n]|\\.)*"|//([^\r\n]*)|/\*(.*?)\*/', re.DOTALL)
_YAML_COMMENT: Final = lazy_pattern(r"(?:(?<=\s)|^)#([^\r\n]*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Comment:
    line: int
    text: str  # without its mark
    is_alone: bool  # nothing else is on its line


def find_comments(text: str, *, is_json: bool) -> list[Comment]:
    """None of a YAML text that cannot be read."""
    return list(_json_comments(text) if is_json else _yaml_comments(text))


def _json_comments(text: str) -> Iterator[Comment]:
    for found in _JSON_TOKEN.finditer(text):
        said = found[1] if found[1] is not None else found[2]
        for offset, line in enumerate((said or "").splitlines()):
            if line.strip(" \t*"):
                yield _comment(text, found.start(), line.strip().removeprefix("*"), offset)


def _yaml_comments(text: str) -> Iterator[Comment]:
    """Between two tokens there are only spaces and comments."""
    import yaml

    try:
        tokens = [(token.start_mark.index, token.end_mark.index) for token in yaml.scan(text)]
    except yaml.YAMLError:
        return
    gaps = [(end, start) for (_, end), (start, _) in pairwise(tokens)]
    for end, start in gaps:
        for found in _YAML_COMMENT.finditer(text, end, start):
            if text[found.start() - 1 : found.start()] in ("", " ", "\t", "\n", "\r"):
                yield _comment(text, found.start(), found[1], 0)


def _comment(text: str, position: int, said: str, offset: int) -> Comment:
    line_start = text.rfind("\n", 0, position) + 1
    is_alone = offset > 0 or not text[line_start:position].strip()
    return Comment(text.count("\n", 0, position) + 1 + offset, said.strip(), is_alone)


def assign_comments(comments: list[Comment], text: str, lines: list[int]) -> dict[int, list[str]]:
    """For each of the lines where an entry begins, its comments; 0 has those before all of them.

    A comment above an entry is the entry's. Any other belongs to the entry before it.
    """
    rows = text.splitlines()
    comment_lines = {comment.line for comment in comments if comment.is_alone}
    assigned: dict[int, list[str]] = {}
    for comment in comments:
        owner = max((line for line in lines if line <= comment.line), default=0)
        if comment.is_alone:
            below = comment.line + 1
            while below <= len(rows) and (below in comment_lines or rows[below - 1].strip() in ("", "{")):
                below += 1
            owner = below if below in lines else owner
        assigned.setdefault(owner, []).append(comment.text)
    return assigned
