from __future__ import annotations

import pytest

from hookline.config.reader import read_text

TEXT = """\
model = "m"
when = 2026-01-01T00:00:00Z

[hooks.state]
x = {y = 2}

[[hooks.PreToolUse]]
matcher = "Bash"

[[hooks.PreToolUse.hooks]]
command = '''
[[hooks.PreToolUse]]
x = 1'''

[[hooks.PreToolUse]]
[[hooks.PreToolUse.hooks]]
"timeout" = 5
"""


def test_every_key_and_every_table_in_a_list_has_its_line() -> None:
    document, problems = read_text(TEXT, "config.toml")
    assert problems == ()
    assert document is not None
    assert document.value["when"] == "2026-01-01 00:00:00+00:00"
    before = ("hooks", "PreToolUse")
    lines = {
        ("model",): 1,
        ("hooks", "state"): 4,
        ("hooks", "state", "x", "y"): 5,
        before: 7,
        (*before, 0): 7,
        (*before, 0, "matcher"): 8,
        (*before, 0, "hooks", 0): 10,
        (*before, 0, "hooks", 0, "command"): 11,
        (*before, 1): 15,
        (*before, 1, "hooks", 0, "timeout"): 17,
    }
    assert {path: document.line(path) for path in lines} == lines


@pytest.mark.parametrize(("text", "line"), [("a = 1\na = 2\n", 2), ("x = [1,\n", 2), ("ok = 1\n= 5\n", 2)])
def test_text_that_is_not_toml_is_a_problem_with_its_line(text: str, line: int) -> None:
    document, problems = read_text(text, "config.toml")
    assert document is None
    assert [(problem.code, problem.line) for problem in problems] == [("bad-toml", line)]
