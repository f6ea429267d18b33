from __future__ import annotations

import io
import sys

import pytest

from hookline.cli.problem_text import show_problems
from hookline.config.problem import NO_LINE, Problem, Severity


def test_problems_are_sorted_and_shown_once(capsys) -> None:
    late, early = Problem("b", "x.yaml", 9, "Late."), Problem("a", "x.yaml", 2, "Early.", severity=Severity.WARNING)
    show_problems([late, early, late])
    assert capsys.readouterr().err.splitlines() == ["x.yaml:2  Early. (warning)", "x.yaml:9  Late."]


def test_problems_of_one_line_are_in_the_order_of_their_hooks(capsys) -> None:
    places = ["hooks[0]: no action.", "hooks[2].matcher: a ( is not closed.", "hooks[10]: no action."]
    show_problems([Problem(code, "hub.json", 1, what) for code, what in zip("bab", reversed(places), strict=True)])
    assert capsys.readouterr().err.splitlines() == [f"hub.json:1  {what}" for what in places]


def test_a_problem_of_a_whole_file_has_no_line() -> None:
    problem = Problem("no-file", "x.yaml", NO_LINE, "This file does not exist.")
    assert str(problem) == "x.yaml  This file does not exist."
    assert problem.as_json()["line"] is None


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream", [io.StringIO, _Terminal])
def test_a_long_problem_is_wrapped_on_a_terminal_only(stream: type[io.StringIO], monkeypatch) -> None:
    shown = stream()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("NO_COLOR", "1")
    show_problems(
        [
            Problem(
                "a", "some/long/path/hookline.yaml", 2, "This is not a key. Write `then` beside `when`, not below it."
            )
        ]
    )
    lines = shown.getvalue().splitlines()
    assert " ".join(" ".join(lines).split()).startswith("some/long/path/hookline.yaml:2 This is not a key.")
    assert len(lines) == (1 if stream is io.StringIO else 3)
    assert stream is io.StringIO or all(len(line) <= 40 for line in lines)
