"""Reading a script without running it."""

from __future__ import annotations

import pytest

from hookline.runners.javascript import syntax_error


@pytest.mark.parametrize(
    ("source", "line", "what"),
    [
        ("let x = ;", 1, "unexpected token"),
        ("log(1)\nlog(2) log(3)", 2, "expecting ';'"),
        ("if (a) {", 1, "not closed"),
    ],
)
def test_where_a_script_cannot_be_read(source: str, line: int, what: str) -> None:
    found = syntax_error(source)
    assert found is not None
    assert found[0] == line
    assert what in found[1]


@pytest.mark.parametrize(
    "source",
    [
        "",
        "return {decision: 'deny'} // no",
        "const input = await callTool('bash', {}); return",
        "\ud800",
        "a\0b",
        "for (;;) {}",
        "}); for (;;) {} (function () {",
        "let s = 'x'; for (;;) s += s",
    ],
)
def test_a_script_that_can_be_read_is_not_run(source: str) -> None:
    assert syntax_error(source) is None
