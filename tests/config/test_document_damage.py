from typing import Any

import pytest

from hookline.config.document import ConflictingKeys, Document, UnreadableValue, problems_within
from hookline.config.problem import Problem
from hookline.config.reader import FileFormat, read_text, salvage_text

KINDS = pytest.mark.parametrize("kind", [FileFormat.JSON, FileFormat.YAML])


def salvage(text: str, kind: FileFormat = FileFormat.YAML) -> Document:
    document, problems = salvage_text(text, "f", kind)
    assert document is not None
    assert document.syntax_problems == problems
    assert read_text(text, "f", kind) == ((None, problems) if problems else (document, ()))
    return document


def problem_codes(value: Any) -> list[str]:
    return sorted(problem.code for problem in problems_within(value))


@KINDS
def test_a_whole_file_has_no_damage(kind: FileFormat) -> None:
    document = salvage('{"a": [{"b": 1}]}', kind)
    assert document.syntax_problems == ()
    assert problems_within(document.value) == ()


@KINDS
@pytest.mark.parametrize("path", [("a",), ("l", 0), ("l", 1, "m")])
def test_a_duplicate_key_tears_the_mapping_around_it_and_no_other(
    kind: FileFormat, path: tuple[str | int, ...]
) -> None:
    places = {("a",), ("l", 0), ("l", 1, "m")}
    a, first, m = ('{"x": 3,\n"x": 4}' if each == path else '{"x": 1}' for each in (("a",), ("l", 0), ("l", 1, "m")))
    document = salvage(f'{{"a": {a}, "l": [{first}, {{"m": {m}}}]}}', kind)
    torn = document.value_at(path)
    assert isinstance(torn, ConflictingKeys)
    assert torn == {"x": 4}
    assert problems_within(document.value) == torn.problems == document.syntax_problems
    assert document.line((*path, "x")) == 2
    assert all(type(document.value_at(other)) is dict for other in {(), ("l", 1), *places} - {path})


@KINDS
def test_every_torn_mapping_is_found_however_they_nest(kind: FileFormat) -> None:
    document = salvage('{"a": {"b": {"c": 1, "c": 2}, "d": 1, "d": {"e": 1, "e": 2}}}', kind)
    assert problem_codes(document.value) == ["duplicate-key"] * 3
    assert problem_codes(document.value_at(("a", "b"))) == ["duplicate-key"]


@KINDS
def test_a_mapping_whose_key_stands_twice_holds_the_last_of_its_values_torn(kind: FileFormat) -> None:
    document = salvage('{"l": [{"k": {"a": 1, "a": 2}, "k": {"b": 1, "b": 2}}]}', kind)
    torn = document.value_at(("l", 0))
    assert torn == {"k": {"b": 2}}
    assert type(torn["k"]) is ConflictingKeys


@KINDS
@pytest.mark.parametrize("number", ["1e999", "-1e999", "9" * 5000])
def test_a_number_beyond_reason_spoils_its_own_place(kind: FileFormat, number: str) -> None:
    document = salvage(f'{{"a": [1, {number}], "b": {{"c": 1}}}}', kind)
    assert isinstance(document.value_at(("a", 1)), UnreadableValue)
    assert document.value_at(("a", 0)) == 1
    assert problem_codes(document.value) == ["number-too-large"]
    assert problem_codes(document.value_at(("b",))) == []


def test_what_is_no_number_of_json_spoils_its_own_place() -> None:
    document = salvage('{"a": NaN, "b": 1}', FileFormat.JSON)
    assert problem_codes(document.value_at(("a",))) == ["not-finite"]


@pytest.mark.parametrize(
    ("part", "code"),
    [
        ("!secret x", "tag"),
        ("!secret [x]", "tag"),
        ("!secret {x: 1}", "tag"),
        ("!!int x", "tag"),
        ("!!int 1e999", "number-too-large"),
        ("*absent", "unknown-anchor"),
        ("&own [*own]", "alias-cycle"),
        ("{1: x}", "key-not-text"),
        ("{1e999: x}", "number-too-large"),
        ("{!secret k: x}", "tag"),
        ("{? [k] : x}", "key-not-text"),
        ("{<<: 1}", "merge"),
        ("{<<: {a: 1}, <<: {b: 1}}", "duplicate-key"),
    ],
)
def test_other_parts_of_yaml_that_cannot_be_read_stay_by_themselves(part: str, code: str) -> None:
    document = salvage(f"- {part}\n- {{good: 1}}\n")
    assert problem_codes(document.value_at((0,))) == [code]
    assert document.value_at((1,)) == {"good": 1}
    assert problems_within(document.value_at((1,))) == ()


@pytest.mark.parametrize("part", ["{a: 1, a: 2}", "1e999", "!secret {a: 1}", "!secret [1]", "{a: [1e999]}"])
def test_an_alias_of_a_damaged_part_is_damaged_too(part: str) -> None:
    document = salvage(f"one: &x {part}\ntwo: {{deep: [*x]}}\nthree: {{good: 1}}\n")
    assert (
        problems_within(document.value_at(("two",)))
        == problems_within(document.value_at(("one",)))
        == document.syntax_problems
    )
    assert problems_within(document.value_at(("three",))) == ()


@pytest.mark.parametrize("part", ["{a: 1, a: 2}", "{a: 1e999}", "{1: x, a: 1}", "{<<: {b: 1, b: 2}}"])
def test_what_takes_in_a_damaged_mapping_is_damaged_too(part: str) -> None:
    document = salvage(
        f"one: &x {part}\ntwo: &y {{<<: *x, c: 1}}\nthree: {{<<: [{{z: 1}}, *y]}}\nfour: {{<<: {{z: 1}}}}\n"
    )
    assert (
        problem_codes(document.value_at(("two",)))
        == problem_codes(document.value_at(("three",)))
        == problem_codes(document.value_at(("one",)))
    )
    assert document.value_at(("four",)) == {"z": 1}
    assert problems_within(document.value_at(("four",))) == ()


def test_a_mapping_that_says_itself_what_is_spoilt_elsewhere_is_whole() -> None:
    document = salvage("one: &x {a: 1e999, b: 1}\ntwo: {<<: *x, a: 2}\n")
    assert document.value_at(("two",)) == {"a": 2, "b": 1}
    assert problems_within(document.value_at(("two",))) == ()


def test_a_torn_mapping_has_no_keys_that_nobody_wrote() -> None:
    assert salvage("a: {1: x, b: 2}").value_at(("a",)) == {"b": 2}


@KINDS
@pytest.mark.parametrize("text", ['{"a": 1, "b": 2, "a": 3}', "1e999"])
def test_damage_to_the_value_of_the_whole_file_leaves_nothing(kind: FileFormat, text: str) -> None:
    document, problems = salvage_text(text, "f", kind)
    assert document is None
    assert len(problems) == 1


@KINDS
def test_a_file_that_ends_too_early_leaves_nothing(kind: FileFormat) -> None:
    document, problems = salvage_text('{"a": {"b": 1, "b": 2}, "c": [', "f", kind)
    assert document is None
    assert sorted(problem.code for problem in problems) == ["duplicate-key", "syntax"]


def test_front_matter_is_salvaged_too() -> None:
    document, problems = salvage_text("---\na: {b: 1, b: 2}\nc: 1\n---\n# Title\n", "SKILL.md")
    assert document is not None
    assert document.value["c"] == 1
    assert [(problem.code, problem.line) for problem in problems] == [("duplicate-key", 2)]


def test_each_problem_of_a_value_is_told_once() -> None:
    spoilt = UnreadableValue(Problem("x", "f", 1, "what"))
    shared = [spoilt]
    assert problems_within({"a": shared, "b": [shared, spoilt]}) == (spoilt.problem,)
    assert problems_within(spoilt) == (spoilt.problem,)


def test_damage_that_aliases_repeat_without_end_is_read_in_a_moment() -> None:
    base = "b: &b {" + ",\n  ".join(["k: 1"] * 101) + "}\n"
    document = salvage(base + "m: {<<: [" + "*b, " * 900 + "]}\n" + "l: [" + "*b, " * 900 + "]\n")
    assert len(problems_within(document.value)) == 100
