import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.config.problem import Problem
from hookline.config.reader import FileFormat, read_text


def value_of(text: str) -> Any:
    document, problems = read_text(text, "f", FileFormat.JSON)
    assert problems == ()
    assert document is not None
    return document.value


def problems_of(text: str) -> tuple[Problem, ...]:
    document, problems = read_text(text, "f", FileFormat.JSON)
    assert document is None
    assert problems
    return problems


json_text = st.text(st.characters(exclude_categories=()), max_size=20)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**40), 10**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | json_text,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(json_text, inner, max_size=5),
    max_leaves=25,
)


@given(json_values, st.sampled_from([None, 0, 2]))
def test_valid_json_means_what_the_standard_library_says(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    expected = json.loads(text)
    assert value_of(text) == ({} if expected is None else expected)
    assert repr(value_of(f"[{text}]")) == repr([expected])


@given(json_values)
def test_text_outside_ascii_needs_no_escapes(value: Any) -> None:
    text = json.dumps([value], ensure_ascii=False)
    document, problems = read_text(text, "f", FileFormat.JSON)
    if document is None:
        assert {problem.code for problem in problems} == {"control-character"}
    else:
        assert document.value == json.loads(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("// c\n[1, /* , 2 */ 3,]// end", [1, 3]),
        ('{"a": 1, /* x */ }', {"a": 1}),
        ('{/**/"a"/**/:/**/1/**/}', {"a": 1}),
        ('["// no", "/* no */"]', ["// no", "/* no */"]),
        ("[]", []),
        ("[[],{},]", [[], {}]),
        ('"\\ud800"', "\ud800"),
        ('"\\ud83d\\ude00\\n\\/"', "😀\n/"),
        ('{"\\u0061b": 1}', {"ab": 1}),
        ("[-0, 1E5, 0.5, -1.5e-3]", [0, 1e5, 0.5, -0.0015]),
        ('{"": {"": 0}}', {"": {"": 0}}),
        ("[ true , false , null ]", [True, False, None]),
    ],
)
def test_comments_commas_and_escapes(text: str, value: Any) -> None:
    assert value_of(text) == value


def test_zero_keeps_its_sign_and_its_type() -> None:
    read = value_of("[-0.0, -0]")
    assert math.copysign(1, read[0]) == -1
    assert type(read[1]) is int


def test_every_duplicate_key_is_refused_with_both_lines() -> None:
    first, second, escaped = problems_of('{"a": 1,\n"a": 2, "b": [{"c": 1,\n\n"c": 2}],\n"\\u0062": 3}')
    assert [(each.code, each.line) for each in (first, second, escaped)] == [
        ("duplicate-key", 2),
        ("duplicate-key", 4),
        ("duplicate-key", 5),
    ]
    assert first.what == 'Duplicate key "a", first used on line 1.'
    assert "first used on line 2" in second.what


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_are_not_finite_are_refused(word: str) -> None:
    (problem,) = problems_of(f"[1,\n{word}]")
    assert (problem.code, problem.line) == ("not-finite", 2)


@pytest.mark.parametrize("number", ["9" * 5000, "-" + "9" * 301, "1e999", "-1e999"])
def test_numbers_beyond_reason_are_refused(number: str) -> None:
    (problem,) = problems_of(f"[\n{number}]")
    assert (problem.code, problem.line) == ("number-too-large", 2)


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":'])
def test_nesting_is_bounded(opening: str) -> None:
    (problem,) = problems_of(opening * 100_000)
    assert problem.code == "too-deep"


def test_a_hundred_levels_are_fine() -> None:
    assert value_of("[" * 100 + "]" * 100)
    assert problems_of("[" * 101 + "]" * 101)[0].code == "too-deep"


@pytest.mark.parametrize(
    ("text", "line", "says", "hint"),
    [
        ('{"a": 1\n"b": 2}', 2, 'Expected a comma or }, found "b".', "comma"),
        ("[1\n2]", 2, "Expected a comma or ], found 2.", "comma"),
        ('{"a" 1}', 1, 'Expected a colon after the key "a", found 1.', ":"),
        ('{"a"}', 1, 'Expected a colon after the key "a", found }.', ":"),
        ("{a: 1}", 1, "Expected a key or }, found a.", "double quotes"),
        ("{'a': 1}", 1, "Expected a key or }, found '.", "double quotes"),
        ("{,}", 1, "Expected a key or }, found ,.", ""),
        ("[,]", 1, "Expected a value, found ,.", ""),
        ("[1,,2]", 1, "Expected a value, found ,.", ""),
        ("['a']", 1, "Expected a value, found '.", "double quotes"),
        ('{"a":}', 1, "Expected a value, found }.", ""),
        ('{"a": [1}', 1, "Found }, but the [ on line 1 is still open.", "Close it with ]."),
        ('{"a":\n[1,\n', 2, "This [ is never closed.", "]"),
        ('\n{"a": 1', 2, "This { is never closed.", "}"),
        ('\n{"a": ', 2, "This { is never closed.", "}"),
        ("{} {}", 1, "Expected the end of the file, found {.", "Remove"),
        ("1 2", 1, "Expected the end of the file, found 2.", "Remove"),
        ("]", 1, "Expected a value, found ].", ""),
        ('["a\nb"]', 1, "This string is not closed on its line.", "\\n"),
        ('{\n"a": 1,\n"b\n": 2}', 3, "This string is not closed on its line.", '"'),
        ('{"a": "b}\n', 1, "This string is not closed on its line.", '"'),
        ('["a\tb"]', 1, "There is a tab in a string.", "\\t"),
        ('["\n"]', 1, "This string is not closed on its line.", "\\n"),
        ('[\n"\\d+"]', 2, "Invalid escape in a string.", "\\\\"),
        ('["\\u12"]', 1, "Invalid escape in a string.", "four hex digits"),
        ('{"\\d": 1}', 1, "Invalid escape in a string.", "\\\\"),
        ("[1] /* x", 1, "Expected the end of the file, found /.", ""),
        ("[1 /* x", 1, "This comment is never closed.", "*/"),
        ("/* x", 1, "This comment is never closed.", "*/"),
        ("[True]", 1, "True is not a string", "Write true."),
        ("[bash]", 1, "bash is not a string", '"bash"'),
        ("[01]", 1, "01 is not a number.", "leading zeros"),
        ("[+1]", 1, "+1 is not a number.", ""),
        ("[.5]", 1, ".5 is not a number.", ""),
        ("[1.]", 1, "1. is not a number.", ""),
        ("[0x10]", 1, "0x10 is not a number.", "quote"),
        ("[1_000]", 1, "1_000 is not a number.", ""),
        ("[١]", 1, "١ is not a string", ""),
        ("# c\n{}", 1, "Expected a value, found #.", ""),
    ],
)
def test_syntax_errors_say_what_was_expected_and_found(text: str, line: int, says: str, hint: str) -> None:
    (problem,) = problems_of(text)
    assert problem.code == "syntax"
    assert says in problem.what
    assert hint in problem.hint
    assert problem.line == line


def test_long_words_are_shortened_in_texts() -> None:
    (problem,) = problems_of("[" + "x" * 5000 + "]")
    assert len(str(problem)) < 300


def test_the_number_of_values_is_bounded() -> None:
    (problem,) = problems_of("[" + "0," * 1_000_001 + "]")
    assert problem.code == "too-large"
