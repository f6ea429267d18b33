import pytest

from hookline.config.problem import Problem, Severity, refuse_errors
from hookline.errors import ConfigError
from hookline.formatting import closest_match, shorten


def test_a_problem_reads_as_one_line_with_its_place_and_its_hint() -> None:
    problem = Problem(
        "wrong-type", "hub.json", 14, 'timeout: "5s" is not a number.', "flo counts milliseconds; write 5000."
    )
    assert str(problem) == 'hub.json:14  timeout: "5s" is not a number. flo counts milliseconds; write 5000.'


def test_a_problem_without_a_hint_ends_after_what_is_wrong() -> None:
    assert str(Problem("syntax", "a.yaml", 1, "It ends.")) == "a.yaml:1  It ends."


def test_problems_sort_by_file_and_line_whatever_their_codes() -> None:
    late, early, other = Problem("a", "b", 10, "x"), Problem("z", "b", 9, "x"), Problem("z", "a", 99, "x")
    assert sorted([late, early, other]) == [other, early, late]


def test_as_json_has_every_field_as_plain_data() -> None:
    assert Problem("syntax", "a", 2, "Bad.", "Good.", Severity.WARNING).as_json() == {
        "code": "syntax",
        "severity": "warning",
        "file": "a",
        "line": 2,
        "what": "Bad.",
        "hint": "Good.",
    }


@pytest.mark.parametrize("nasty", ["\x1b[2J", "\n", "\r", "\u202e", "\ud800", "\x00", "\u2028"])
def test_what_a_file_says_cannot_steer_a_terminal_or_break_its_encoding(nasty: str) -> None:
    shown = str(Problem("x", f"f{nasty}", 1, f"what{nasty}", f"hint{nasty}"))
    assert shown.isprintable()
    assert shown.encode("utf-8")


@pytest.mark.parametrize(
    ("word", "meant"),
    [("onError", "on_error"), ("ON-ERROR", "on_error"), ("timeot", "timeout"), ("wehn", "when"), ("zebra", None)],
)
def test_nearest_finds_what_was_meant(word: str, meant: str | None) -> None:
    assert closest_match(word, ["on_error", "timeout", "when", "then"]) == meant


def test_nearest_does_not_compare_endless_words() -> None:
    assert closest_match("timeout" * 100_000, ["timeout"]) is None


def test_short_keeps_sixty_characters() -> None:
    assert shorten("x" * 60) == "x" * 60
    assert shorten("x" * 61) == "x" * 59 + "…"


def test_errors_are_refused_together_and_sorted() -> None:
    problems = [Problem("b", "z.yaml", 2, "B."), Problem("w", "a.yaml", 1, "W.", severity=Severity.WARNING)]
    problems += [Problem("a", "a.yaml", 9, "A."), problems[0]]
    with pytest.raises(ConfigError) as refused:
        refuse_errors(problems)
    assert [str(problem) for problem in refused.value.problems] == ["a.yaml:9  A.", "z.yaml:2  B."]


def test_errors_are_logged_if_that_was_chosen(caplog: pytest.LogCaptureFixture) -> None:
    refuse_errors([Problem("a", "a.yaml", 9, "A.")], "warn")
    assert [record.getMessage() for record in caplog.records] == ["a.yaml:9  A."]


def test_warnings_are_never_refused() -> None:
    refuse_errors([Problem("w", "a.yaml", 1, "W.", severity=Severity.WARNING)])
