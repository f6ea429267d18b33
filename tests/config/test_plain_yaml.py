"""What the quick reader reads, libyaml reads the same: values, types and positions."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.config.document import SourceMap, SourceText, UnreadableError
from hookline.config.plain_yaml import parse_plain_yaml
from hookline.config.reader import read_text
from hookline.config.yaml import parse_yaml

ROOT = Path(__file__).parents[2]
FILES = sorted(
    file
    for folder in ("src", "tests", "examples", "docs")
    for file in (ROOT / folder).rglob("*.y*ml")
    if file.is_file()
)
PIECES = [
    "a", "key", "- ", "-", "- - ", " ", "  ", "    ", "\n", "\n", "\n  ", "\n    ", "\n- ", ": ", ":", "#", " # c", "'x'",
    '"y"', "'it''s'", "{", "}", "[", "]", ", ", ",", "1", "-1", "0x1f", "1.5", "null", "~", "true", "b c", "x: y", "a: b",
    "{a: 1}", "[1, 2]", "|", ">", "&a", "*a", "!t", "?", "? ", "a?", "%", "@", "`", "...", "---", "\\", "e:f", "http://x",
    "<<", "é", "…", "\u00a0", "\u3000", "\ufeff", "\t", "\r", ".", "a#b", "=", "+", "*", "(", ")", "\n\n", "\n# c\n", "on:",
    "'", '"',
]  # fmt: skip
SEEDS = [
    "hooks:\n  - id: x\n    on: tool.before\n    when: {tool: bash, input: {command: 'rm -rf', n: 1}}\n"
    "    then: {deny: No way.}\n  - id: y\n    list:\n    - a\n    - b: c\n      d: e\nversion: 1\n",
    "a:\n  - - x\n    - y\n  -\n    z: 1\nb: [a, {c: d}, 'q']\nc:\n",
    "- a: 1\n  b:\n    c: d # x\n-   e: f\n    g: {}\n- []\n",
]


def describe(value: Any, positions: SourceMap) -> Any:
    if isinstance(value, dict):
        return "mapping", tuple(positions.positions[id(value)]), [(k, describe(v, positions)) for k, v in value.items()]
    if isinstance(value, list):
        return "list", tuple(positions.positions[id(value)]), [describe(each, positions) for each in value]
    return type(value), repr(value)  # nan is not equal to itself


def read(parse: Any, text: str) -> Any:
    source = SourceText("a.yaml", text)
    try:
        found = parse(source, 0, len(text))
    except UnreadableError:
        return "unreadable"
    if found is None:
        return None
    value, positions = found
    return describe(value, positions), positions.root, source.problems


def is_plain(text: str) -> bool:
    """Whether the quick reader reads it. Then it must read what libyaml reads."""
    found = read(parse_plain_yaml, text)
    if found is not None:
        assert found == read(parse_yaml, text), text
    return found is not None


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\n",
        "a: 1",
        "a:\n",
        "a:  # nothing\nb: 2\n",
        "a:\n- x\n- y\nb: 1\n",
        "a:\n  - x: 1\n    y: 2\n  - z\n",
        "- - - a\n    - b\n",
        "-\n  a: 1\n-\n-\n",
        "# a comment\n\na: b # another\n\n  # and one more\n",
        "a: {b: c, d: [1, 'x', {e: f}], g: {}, h: []}\n",
        "a: 'it''s'\nb: \"it's\"\nc: ''\n",
        "a: http://x/y#z\nb: a:b\nc: -1\nd: -x\ne: ~\nf: 0x1f\ng: .inf\nh: null\n",
        "a: [b c, d:e, f?, g&h, i*]\n",
        "a: text with, commas {and} [brackets] \"and\" 'quotes'\n",
        "key.with-signs/and$: é … \u00a0x\n",
        "a :  b  \n",
    ],
)
def test_plain_text_is_read(text: str) -> None:
    assert is_plain(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "text",
        "# only a comment",
        "a: b\n  c\n",
        "a:\n  b\n",
        "-\nb\n",
        "a: |\n  text\n",
        'a: "\\n"\n',
        "a: &b c\n",
        "a: *b\n",
        "a: !!str 1\n",
        "a: b: c\n",
        "a: {b}\n",
        "a: [b: c]\n",
        "a: {b: c,\n  d: e}\n",
        "a: {b: c}d\n",
        "a: 'b' c\n",
        "a: b\na: c\n",
        "{a: 1}\n",
        "null: 1\n",
        "1: 2\n",
        "? a\n: b\n",
        "<<: {a: 1}\n",
        "a: b\n---\nc: d\n",
        "%TAG ! x\n---\na: b\n",
        " a: b\n",
        "a:\n    b: 1\n  c: 2\n",
        "- a\nb: c\n",
        "a: b\n- c\n",
        "a:\tb\n",
        "a: b\r\n",
        f"a: {'9' * 400}\n",
        "a: " + "[" * 120 + "]" * 120,
        "".join(" " * n + "a:\n" for n in range(120)),
    ],
)
def test_anything_else_is_left_to_libyaml(text: str) -> None:
    assert read(parse_plain_yaml, text) is None


@pytest.mark.parametrize("text", ["a: \x01\n", "a: \u2028\n", "a: \ud800\n"])
def test_forbidden_characters_are_refused(text: str) -> None:
    assert read(parse_plain_yaml, text) == "unreadable"
    document, problems = read_text(text.encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass"), "a.yaml")
    assert document is None
    assert [problem.code for problem in problems] == ["control-character"]


def test_every_yaml_file_here_is_read_alike() -> None:
    plain = [file for file in FILES if is_plain(file.read_text(encoding="utf-8"))]
    assert len(plain) > 200


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=14).map("".join))
def test_any_text_is_read_alike(text: str) -> None:
    is_plain(text)


def test_changed_files_are_read_alike() -> None:
    chance = random.Random(5)
    plain = 0
    for _ in range(10_000):
        text = chance.choice(SEEDS)
        for _ in range(chance.randint(1, 3)):
            start = chance.randrange(len(text) + 1)
            end = start + chance.choice((0, 0, 0, 1, 1, 2, 3, 8))
            text = text[:start] + chance.choice([*PIECES, "", ""]) + text[end:]
        plain += is_plain(text)
    assert plain > 500


def test_positions_count_from_the_start_of_the_file() -> None:
    text = "---\nname: x\n---\n# Title\n"
    document, _ = read_text(text, "a.md")
    assert document is not None
    assert (document.value, document.key_line(("name",))) == ({"name": "x"}, 2)
