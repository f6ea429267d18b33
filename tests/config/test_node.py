from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from hookline.config.node import Node, format_path, format_value
from hookline.config.problem import Problem, Severity
from hookline.config.reader import FileFormat, read_text, salvage_text


def root_node(text: str) -> Node:
    document, problems = read_text(text, "hookline.yaml", FileFormat.YAML)
    assert problems == ()
    assert document is not None
    return Node.of(document)


def child_node(root: Node, key: str) -> Node:
    found = root.get(key)
    assert found is not None
    return found


def test_keys_are_read_and_absent_ones_are_none() -> None:
    root = root_node("id: a\nlist: [1]\n")
    assert child_node(root, "id").text() == "a"
    assert root.get("absent") is None
    assert child_node(root, "list").get("x") is None
    assert root.problems == []


def test_a_key_that_is_null_counts_as_absent() -> None:
    root = root_node("a:")
    assert root.get("a") is None
    assert root.require("a", "Write a.") is None
    assert [problem.code for problem in root.problems] == ["missing-key"]
    assert [(key, place.value) for key, place in root.entries()] == [("a", None)]


def test_unknown_keys_are_noted_at_their_line_with_what_was_meant() -> None:
    root = root_node("hooks:\n  - id: a\n    onError:\n      open\n    zebra: 1\n")
    for hook in child_node(root, "hooks").items():
        hook.check_keys(("id", "when", "on_error"), "a hook")
    first, second = root.problems
    assert (first.code, first.line) == ("unknown-key", 3)
    assert first.what == 'hooks[0]: "onError" is not a key of a hook.'
    assert first.hint == "Did you mean on_error? Known: id, on_error, when."
    assert (second.line, second.hint) == (5, "Known: id, on_error, when.")


def test_guesses_stop_when_nobody_reads_them_any_more_but_problems_do_not() -> None:
    root = root_node("{" + ", ".join(f"on_error{i}: 1" for i in range(300)) + "}")
    root.check_keys(("on_error",), "a hook")
    assert len(root.problems) == 300
    assert "Did you mean on_error?" in root.problems[0].hint
    assert "Did you mean" not in root.problems[-1].hint


Asked = Callable[[Node], Any]


@pytest.mark.parametrize(
    ("text", "ask", "value"),
    [
        ("a", Node.text, "a"),
        ("''", lambda r: r.text(empty=True), ""),
        ("5", Node.number, 5),
        ("5.5", lambda r: r.number(least=5, most=6), 5.5),
        ("5", lambda r: r.integer(least=5, most=5), 5),
        ("true", Node.flag, True),
        ("a", Node.texts, ("a",)),
        ("[a, b]", Node.texts, ("a", "b")),
        ("[]", Node.texts, ()),
        ("{a: 1}", Node.mapping, {"a": 1}),
        ("[1]", Node.sequence, [1]),
        ("ask", lambda r: r.one_of(("ask", "deny")), "ask"),
        ("1.5s", Node.duration, timedelta(seconds=1.5)),
        ("[1, 2]", lambda r: [item.value for item in r.items()], [1, 2]),
        ("x", lambda r: [item.value for item in r.items(one_or_many=True)], ["x"]),
        ("{a: 1, b: 2}", lambda r: [(key, entry.value) for key, entry in r.entries()], [("a", 1), ("b", 2)]),
    ],
)
def test_the_right_type_is_given_without_a_problem(text: str, ask: Asked, value: Any) -> None:
    root = root_node(f"key: {text}")
    assert ask(child_node(root, "key")) == value
    assert root.problems == []


@pytest.mark.parametrize(
    ("text", "ask", "code", "says"),
    [
        ("5", Node.text, "wrong-type", 'key: 5 is not text. Quote it: "5".'),
        ("true", Node.text, "wrong-type", 'key: true is not text. Quote it: "true".'),
        ("[a]", Node.text, "wrong-type", 'key: ["a"] is not text. Write text.'),
        ("''", Node.text, "empty", "key: the text is empty."),
        ("5s", lambda r: r.number(hint="Write 5000."), "wrong-type", 'key: "5s" is not a number. Write 5000.'),
        ("true", Node.number, "wrong-type", "key: true is not a number."),
        (".nan", Node.number, "wrong-type", "key: NaN is not a number."),
        (".inf", Node.number, "wrong-type", "key: Infinity is not a number."),
        ("-1", lambda r: r.number(least=0), "out-of-range", "key: -1 is less than 0."),
        ("11", lambda r: r.integer(most=10), "out-of-range", "key: 11 is more than 10."),
        ("1.5", Node.integer, "wrong-type", "key: 1.5 is not a whole number."),
        (".inf", Node.integer, "wrong-type", "key: Infinity is not a whole number."),
        ("true", Node.integer, "wrong-type", "key: true is not a whole number."),
        ("yes", Node.flag, "wrong-type", 'key: "yes" is not true or false.'),
        ("1", Node.flag, "wrong-type", "key: 1 is not true or false."),
        ("[a, 1]", Node.texts, "wrong-type", "key[1]: 1 is not text."),
        ("{a: 1}", Node.texts, "wrong-type", 'key: {"a": 1} is not text.'),
        ("[1]", Node.mapping, "wrong-type", "key: [1] is not a mapping."),
        ("[1]", lambda r: r.check_keys(("a",), "a hook"), "wrong-type", "key: [1] is not a mapping."),
        ("[1]", lambda r: list(r.entries()) or None, "wrong-type", "key: [1] is not a mapping."),
        ("a", Node.sequence, "wrong-type", 'key: "a" is not a list.'),
        ("{a: 1}", lambda r: list(r.items()) or None, "wrong-type", 'key: {"a": 1} is not a list.'),
        (
            "dney",
            lambda r: r.one_of({"deny", "ask"}),
            "unknown-word",
            'key: "dney" is not one of: ask, deny. Did you mean deny?',
        ),
        ("1", lambda r: r.one_of(("deny",)), "unknown-word", "key: 1 is not one of: deny."),
        ("5", Node.duration, "wrong-type", "key: 5 is not a duration: it has no unit. Write 5s for seconds or 5ms"),
        ("'5'", Node.duration, "wrong-type", "key: 5 has no unit. Write 5s for seconds or 5ms"),
        ("[1]", Node.duration, "wrong-type", "key: [1] is not a duration."),
        ("25h", Node.duration, "wrong-type", "key: 25h is too long. Write at most 24h."),
    ],
)
def test_the_wrong_type_is_none_and_a_problem(text: str, ask: Asked, code: str, says: str) -> None:
    root = root_node(f"\nkey: {text}\n")
    assert ask(child_node(root, "key")) is None
    (problem,) = root.problems
    assert problem.code == code
    assert str(problem).startswith(f"hookline.yaml:2  {says}")


def test_the_root_itself_has_no_place_to_name() -> None:
    root = root_node("[1]")
    root.mapping()
    assert root.problems[0].what == "[1] is not a mapping."


def test_long_values_are_shortened() -> None:
    root = root_node(f"key: {'x' * 5000}\nlist: [{'y, ' * 5000}]\n")
    child_node(root, "key").number()
    child_node(root, "list").number()
    for problem in root.problems:
        assert "…" in problem.what
        assert len(problem.what) < 100


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (("hooks", 3, "when", "tool"), "hooks[3].when.tool"),
        ((0,), "[0]"),
        (("a b", "c.d"), '"a b"."c.d"'),
        ((), ""),
    ],
)
def test_places_are_dotted(path: tuple[str | int, ...], place: str) -> None:
    assert format_path(path) == place


def test_a_problem_can_stand_at_the_key_and_be_a_warning() -> None:
    root = root_node("when:\n  tool: x\n")
    child_node(root, "when").add_problem("odd", "Odd.", at_key=True, severity=Severity.WARNING)
    child_node(root, "when").add_problem("odd", "Odd.")
    assert [(problem.line, problem.severity) for problem in root.problems] == [(1, "warning"), (2, "error")]


def test_readers_know_their_line_and_place() -> None:
    root = root_node("hooks:\n  - a\n  - b\n")
    assert [(item.line, item.location) for item in child_node(root, "hooks").items()] == [
        (2, "hooks[0]"),
        (3, "hooks[1]"),
    ]


@pytest.mark.parametrize("value", [float("nan"), {"a": {"b": ["c"]}}, "x" * 1000, 10**200, [[]] * 1000, object()])
def test_any_value_can_be_shown(value: Any) -> None:
    assert 0 < len(format_value(value)) <= 60


def unreadable_node(text: str) -> Node:
    document, _ = salvage_text(text, "f", FileFormat.YAML)
    assert document is not None
    return Node.of(document)


ASKS: tuple[Callable[[Node], Any], ...] = (
    Node.mapping,
    Node.sequence,
    Node.text,
    Node.texts,
    Node.number,
    Node.integer,
    Node.flag,
    Node.duration,
    lambda at: at.one_of(("a", "b")),
    lambda at: at.check_keys(("a",), "a hook"),
    lambda at: list(at.items()) or None,
    lambda at: list(at.entries()) or None,
    lambda at: at.add_problem("x", "null is not text."),
)


@pytest.mark.parametrize("ask", ASKS)
@pytest.mark.parametrize(("part", "code"), [("{a: 1, a: 2}", "duplicate-key"), ("1e999", "number-too-large")])
def test_whatever_a_damaged_part_is_asked_it_says_what_is_wrong_with_it(ask: Asked, part: str, code: str) -> None:
    root = unreadable_node(f"x: {part}\ny: {{good: 1}}\n")
    assert (ask(child_node(root, "x")) or None) is None
    assert [problem.code for problem in root.problems] == [code]


def test_nothing_is_taken_out_of_a_torn_mapping() -> None:
    root = unreadable_node("x: {a: 1, a: 2, b: 3}\n")
    assert child_node(root, "x").get("b") is None
    assert [problem.code for problem in root.problems] == ["duplicate-key"]


def test_a_reader_knows_damage_however_deep() -> None:
    root = unreadable_node("x: {a: [{b: 1e999}]}\ny: {good: 1}\n")
    assert not child_node(root, "y").has_unreadable_parts()
    assert root.problems == []
    assert child_node(root, "x").has_unreadable_parts()
    assert [problem.code for problem in root.problems] == ["number-too-large"]


def test_nothing_is_unreadable_in_a_whole_document() -> None:
    root = root_node("x: {a: [{b: 1}]}")
    assert not root.has_unreadable_parts()
    assert root.problems == []


def test_a_place_that_is_asked_twice_has_one_problem() -> None:
    root = root_node("[null]")
    for item in root.items():
        item.check_keys(("id",), "a hook")
        assert item.mapping() is None
    assert len(root.problems) == 1


def test_a_typo_of_a_key_is_reported_where_other_keys_are_not_ours() -> None:
    root = root_node("model: x\nhoks: {}\n")
    root.report_misspelling("hooks")
    assert [(problem.line, problem.hint) for problem in root.problems] == [(2, "Did you mean hooks?")]


@pytest.mark.parametrize("text", ["hooks: {}\nhoks: {}\n", "tools: {}\n", "[]", "{}"])
def test_nothing_else_is_a_typo(text: str) -> None:
    root = root_node(text)
    root.report_misspelling("hooks")
    assert root.problems == []


def test_json_files_are_told_of_objects_and_arrays() -> None:
    document, _ = read_text('{"a": 1}', "settings.json")
    assert document is not None
    problems: list[Problem] = []
    child = Node.of(document, problems).get("a")
    assert child is not None
    child.mapping()
    child.sequence()
    assert [each.what for each in problems] == ["a: 1 is not an object.", "a: 1 is not an array."]
    assert not any("-" in each.hint for each in problems)
