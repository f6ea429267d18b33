"""Whatever bytes a file has, reading it gives a document or problems: never an exception, never a long wait."""

import json
import random
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.config.document import ConflictingKeys, Document, UnreadableValue, problems_within
from hookline.config.problem import Problem
from hookline.config.reader import FileFormat, read_text, salvage_text

pytestmark = pytest.mark.timing

VALID = {
    FileFormat.JSON: '{"hooks": {"PreToolUse": [ // c\n {"matcher": "^a\\\\d$", "timeout": 5000, "on": [true, null, -1.5e3,]}]}}',
    FileFormat.YAML: "%YAML 1.2\n---\na: &x {k: [1, 'q', \"\\n\"], <<: {z: 0x1}}\nb: *x\n? c\n: |\n  t\nd: !!str 5\ne:\n- ~\n- .inf\n",
    FileFormat.FRONT_MATTER: "---\r\nname: é\r\nhooks:\r\n  - {on: x, when: [&b a, *b]}\r\n...\r\n# Title\r\n",
    FileFormat.TOML: 'a = 1\n[[hooks]]\nevent = "x"\nmatcher = \'^a$\'\ntimeout = 5\nlist = [true, -1.5e3, """\nt"""]\n',
    FileFormat.PROGRAM: "#!/bin/sh\nexit 2\n",
}
PIECES = (
    *"[]{},:#&*!|>'\"%@`?-.~\\/\n\r\t \x00\x85\u2028\ufeff\ud800éx19",
    "<<: ", "1e999", "{a: 1, a: 2}", '"a": 1,', "&a ", "*a ", "- ", "? ", ": ", "!!int ", "!!map ", "---\n", "...\n", "//", "/*", "*/", "\\u", "NaN", "0x", "1e9", "%TAG", "true",
)  # fmt: skip


def check_reading(text: str | bytes, kind: FileFormat) -> None:
    started = time.monotonic()
    document, problems = read_text(text, "f", kind)
    assert time.monotonic() - started < 5
    if document is None:
        assert problems
    else:
        assert problems == ()
        check_lines(document)
    check_salvaged(text, kind, document, problems)
    for problem in problems:
        assert 1 <= problem.line <= last_line(text)
        assert str(problem).isprintable()
        assert len(str(problem)) < 1000


def check_salvaged(text: str | bytes, kind: FileFormat, read: Document | None, problems: tuple[Problem, ...]) -> None:
    """It finds the same problems, and where it finds any, the document is damaged by one of them."""
    document, found = salvage_text(text, "f", kind)
    assert found == problems
    if document is None:
        assert read is None
        return
    assert document.syntax_problems == problems
    damage = set(problems_within(document.value))
    assert damage <= set(problems)
    assert bool(damage) == bool(problems)
    check_lines(document)


def last_line(text: str | bytes) -> int:
    plain = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    return len(plain.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"))


def check_lines(document: Document) -> None:
    def walk(value: Any, path: tuple[str | int, ...]) -> None:
        assert 1 <= document.key_line(path) <= last_line(document.text)
        assert 1 <= document.line(path) <= last_line(document.text)
        assert type(value) in (dict, list, str, int, float, bool, type(None), ConflictingKeys, UnreadableValue)
        for step, child in (
            value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        ):
            walk(child, (*path, step))

    walk(document.value, ())
    json.dumps(document.value, default=repr if document.syntax_problems else None)


@pytest.mark.parametrize("kind", FileFormat)
@given(data=st.binary(max_size=200))
def test_random_bytes(kind: FileFormat, data: bytes) -> None:
    check_reading(data, kind)
    check_reading(b"---\n" + data + b"\n---\n", kind)


@pytest.mark.parametrize("kind", FileFormat)
@given(pieces=st.lists(st.sampled_from(PIECES), max_size=60))
def test_random_pieces_of_syntax(kind: FileFormat, pieces: list[str]) -> None:
    check_reading("".join(pieces), kind)
    check_reading("---\n" + "".join(pieces) + "\n---\n", kind)


@pytest.mark.parametrize("kind", FileFormat)
def test_mutated_files(kind: FileFormat) -> None:
    assert read_text(VALID[kind], "f", kind)[0] is not None
    dice = random.Random(kind.value)
    for _ in range(1500):
        text = VALID[kind]
        for _ in range(dice.randint(1, 4)):
            start = dice.randrange(len(text))
            end = start + dice.choice((0, 0, 1, 1, 5))
            text = text[:start] + dice.choice((*PIECES, "")) + text[end:]
        check_reading(text, kind)
        check_reading(text.encode("utf-8", "surrogatepass")[: dice.randrange(300)], kind)


@pytest.mark.parametrize("kind", FileFormat)
@pytest.mark.parametrize("piece", PIECES)
def test_one_piece_a_hundred_thousand_times(kind: FileFormat, piece: str) -> None:
    document, problems = read_text("---\n" * (kind is FileFormat.FRONT_MATTER) + piece * 100_000, "f", kind)
    assert (document is None) == bool(problems)
