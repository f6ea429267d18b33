"""Python 3.11.0 to 3.11.4 match a possessive group wrongly if the group can backtrack (gh-106052).

Debian 12 has such a Python. Only single characters, and groups of them without a choice, may be possessive.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).parents[1] / "src/hookline"
POSSESSIVE = re.compile(r"[*+?}]\+|\(\?>")
ONE_CHARACTER = ("IN", "LITERAL", "NOT_LITERAL", "ANY")


def possessive_parts(parsed: Any) -> Iterator[Any]:
    for code, value in parsed:
        name = str(code)
        if name == "POSSESSIVE_REPEAT":
            yield value[2]
        elif name == "ATOMIC_GROUP":
            yield value
        for part in value if isinstance(value, (tuple, list)) else [value]:
            if type(part).__name__ == "SubPattern":
                yield from possessive_parts(part)
            elif isinstance(part, list):
                yield from (
                    found for each in part if type(each).__name__ == "SubPattern" for found in possessive_parts(each)
                )


def can_backtrack(parsed: Any) -> bool:
    """Anything but characters and possessive runs of one character, one after the other."""
    return not all(
        str(code) in ONE_CHARACTER
        or (str(code) == "POSSESSIVE_REPEAT" and len(value[2]) == 1 and str(value[2][0][0]) in ONE_CHARACTER)
        for code, value in parsed
    )


def patterns() -> Iterator[tuple[str, str]]:
    """The texts of each file that may be patterns; a name in an f-string stands for the constant of that name."""
    for file in sorted(SOURCE.rglob("*.py")):
        tree = ast.parse(file.read_text("utf-8"))
        constants: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                text = text_of(node.value, constants)
                if isinstance(target, ast.Name) and text is not None:
                    constants[target.id] = text
        for node in ast.walk(tree):
            text = text_of(node, constants)
            if text is not None and POSSESSIVE.search(text):
                yield f"{file.relative_to(SOURCE)}:{getattr(node, 'lineno', 0)}", text


def text_of(node: ast.AST, constants: dict[str, str]) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = [
            text_of(each.value, constants) if isinstance(each, ast.FormattedValue) else text_of(each, constants)
            for each in node.values
        ]
        return None if None in parts else "".join(part or "" for part in parts)
    return constants.get(node.id) if isinstance(node, ast.Name) else None


def wrong_patterns() -> Iterator[str]:
    for where, text in patterns():
        try:
            parsed = re._parser.parse(text)  # type: ignore[attr-defined]
        except re.error:
            continue
        if any(can_backtrack(part) for part in possessive_parts(parsed)):
            yield f"{where}: {text}"


@pytest.mark.slow
def test_only_characters_are_possessive() -> None:
    assert list(dict.fromkeys(wrong_patterns())) == []


@pytest.mark.parametrize("text", [r"(?:ab|c)*+", r"(?>ab|c)", r"(?:a(?!b))*+", r"x(?:a*b)?+"])
def test_a_wrong_pattern_is_found(text: str) -> None:
    assert any(can_backtrack(part) for part in possessive_parts(re._parser.parse(text)))  # type: ignore[attr-defined]
