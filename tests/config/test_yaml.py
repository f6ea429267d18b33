from typing import Any

import pytest

from hookline.config.problem import Problem
from hookline.config.reader import FileFormat, read_text


def value_of(text: str) -> Any:
    document, problems = read_text(text, "f", FileFormat.YAML)
    assert problems == ()
    assert document is not None
    return document.value


def problems_of(text: str) -> tuple[Problem, ...]:
    document, problems = read_text(text, "f", FileFormat.YAML)
    assert document is None
    assert problems
    return problems


HOOK = """\
hooks:
  - id: rule-0
    on: tool.before
    when: {tool: '^write_file$', input: {path: '/p0/.*\\.py$', content: 'SECRET_0'}}
    then: {deny: no secrets}
    enabled: yes
    run: |
      one
      two
"""


def test_a_hook_reads_as_it_looks() -> None:
    assert value_of(HOOK) == {
        "hooks": [
            {
                "id": "rule-0",
                "on": "tool.before",
                "when": {"tool": "^write_file$", "input": {"path": "/p0/.*\\.py$", "content": "SECRET_0"}},
                "then": {"deny": "no secrets"},
                "enabled": "yes",
                "run": "one\ntwo\n",
            }
        ]
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("just text", "just text"),
        ("- 1\n- [a, {b: c}]", [1, ["a", {"b": "c"}]]),
        ("a:\nb: ''", {"a": None, "b": ""}),
        ("%YAML 1.2\n---\na: 1\n...\n", {"a": 1}),
        ("no: off", {"no": "off"}),
        ('"5": 1\n? x\n: 2', {"5": 1, "x": 2}),
        ("!!map {a: !!seq [!!int '5', !!float 1, !!bool 'true', !!null '']}", {"a": [5, 1.0, True, None]}),
        ("a: &x [1, 2]\nb: *x", {"a": [1, 2], "b": [1, 2]}),
        ("a: &x k\n*x : 1", {"a": "k", "k": 1}),
        ("a: &x 1\nb: &x 2\nc: *x", {"a": 1, "b": 2, "c": 2}),
        ("&x [&x 1, *x]", [1, 1]),
    ],
)
def test_values(text: str, value: Any) -> None:
    assert value_of(text) == value


def test_merges_fill_in_what_a_mapping_does_not_say_itself() -> None:
    text = """\
base: &base {timeout: 1, tags: [a], on: x}
other: &other {timeout: 2, id: o}
one: {<<: *base, timeout: 5}
two: {id: t, <<: [*base, *other]}
three: {<<: {a: 1}, "<<": text}
nested: &nested {<<: *base, z: 1}
four: {<<: *nested}
"""
    value = value_of(text)
    assert value["one"] == {"timeout": 5, "tags": ["a"], "on": "x"}
    assert value["two"] == {"id": "t", "timeout": 1, "tags": ["a"], "on": "x"}
    assert value["three"] == {"a": 1, "<<": "text"}
    assert value["four"] == {"timeout": 1, "tags": ["a"], "on": "x", "z": 1}
    assert value["base"] == {"timeout": 1, "tags": ["a"], "on": "x"}


def test_a_merged_key_stands_where_it_was_written() -> None:
    document, _ = read_text("a: &a\n  k: 1\nb:\n  <<: *a\n  l: 2\n", "f", FileFormat.YAML)
    assert document is not None
    assert document.line(("b", "k")) == 2
    assert document.key_line(("b", "l")) == 5


@pytest.mark.parametrize("text", ["<<: 1", "<<: [{a: 1}, 2]", "<<: text", "<<:", "{<<: [[{}]]}"])
def test_only_mappings_can_be_merged(text: str) -> None:
    assert problems_of(text)[0].code == "merge"


def test_a_second_merge_key_is_a_duplicate() -> None:
    (problem,) = problems_of("a:\n  <<: {x: 1}\n  <<: {y: 1}\n")
    assert (problem.code, problem.line) == ("duplicate-key", 3)


def test_every_duplicate_key_is_refused_with_both_lines() -> None:
    first, second = problems_of('a: 1\nb: {c: 1, d: 2,\n  "c": 3}\na: 4\n')
    assert (first.code, first.line) == ("duplicate-key", 3)
    assert first.what == 'Duplicate key "c", first used on line 2.'
    assert (second.code, second.line) == ("duplicate-key", 4)
    assert "first used on line 1" in second.what


@pytest.mark.parametrize(
    ("text", "shown"),
    [("1: a", "1"), ("true: a", "true"), ("~: a", "null"), ("null: a", "null"), ("1.5: a", "1.5")],
)
def test_a_key_that_is_not_text_is_refused(text: str, shown: str) -> None:
    (problem,) = problems_of(f"x: 1\n{text}\n")
    assert (problem.code, problem.line) == ("key-not-text", 2)
    assert problem.what == f"The key {shown} is not text."
    assert problem.hint == f'Quote it: "{shown}".'


@pytest.mark.parametrize("text", ["? [a]\n: 1", "{a: 1}: 2", "a: &x {}\n*x : 1", "? {? {a: 1} : 2} : 3", "{{x}}: 1"])
def test_a_list_or_mapping_cannot_be_a_key(text: str) -> None:
    assert {problem.code for problem in problems_of(text)} == {"key-not-text"}


def test_several_odd_keys_are_told_at_once() -> None:
    assert [problem.line for problem in problems_of("1: a\n2: b\n[x]: c\n")] == [1, 2, 3]


@pytest.mark.parametrize(
    "tagged",
    [
        "!!python/object/apply:os.system [ls]",
        "!foo x",
        "!foo {a: 1}",
        "!!set {a}",
        "!!timestamp 2024-01-01",
        "!!binary aGk=",
    ],
)
def test_tags_are_refused(tagged: str) -> None:
    problems = problems_of(f"a:\n  b: {tagged}\n")
    assert (problems[0].code, problems[0].line) == ("tag", 2)


@pytest.mark.parametrize(
    "text", ["!!int x", "!!bool yes", "!!null a", "!!float x", "!!int 1.5", "!!int true", "!!seq {}"]
)
def test_a_standard_tag_must_fit_its_value(text: str) -> None:
    assert problems_of(text)[0].code == "tag"


def test_tag_directives_are_refused() -> None:
    for text in ("%TAG ! tag:x,2000:\n---\na: 1", "# c\r%TAG ! tag:x,2000:\r---\ra: 1"):
        assert problems_of(text)[0].code == "tag"


def test_an_undefined_alias_names_its_anchor() -> None:
    (problem,) = problems_of("a: 1\nb: *nope\n")
    assert (problem.code, problem.line) == ("unknown-anchor", 2)
    assert '"*nope"' in problem.hint


@pytest.mark.parametrize("text", ["&a [*a]", "&a {k: *a}", "a: &a\n  - b: [*a]", "&a {<<: *a}"])
def test_a_value_cannot_stand_in_itself(text: str) -> None:
    assert "alias-cycle" in {problem.code for problem in problems_of(text)}


def test_laughing_aliases_are_stopped() -> None:
    bomb = "- &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    bomb += "".join(f"- &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 30))
    assert problems_of(bomb)[-1].code == "alias-bomb"


def test_laughing_merges_are_stopped() -> None:
    base = "base: &base {" + ", ".join(f"k{i}: 1" for i in range(5000)) + "}\n"
    bomb = base + "".join(f"m{i}: {{<<: [*base, *base]}}\n" for i in range(1000))
    assert problems_of(bomb)[-1].code == "alias-bomb"


def test_many_modest_aliases_are_fine() -> None:
    text = "base: &base {timeout: 5}\nhooks:\n" + "".join(f"  - {{<<: *base, id: h{i}}}\n" for i in range(2000))
    assert value_of(text)["hooks"][1999] == {"id": "h1999", "timeout": 5}


def test_depth_cannot_be_hidden_behind_aliases() -> None:
    chain = "- &a0 [x]\n" + "".join(f"- &a{i} [*a{i - 1}]\n" for i in range(1, 500))
    assert problems_of(chain)[-1].code == "too-deep"
    merged = "- &a0 {k: x}\n" + "".join(f"- &a{i} {{<<: {{k: *a{i - 1}}}}}\n" for i in range(1, 500))
    assert problems_of(merged)[-1].code == "too-deep"


@pytest.mark.parametrize("opening", ["[", "{a: ", "- ", "? ", "[? "])
def test_nesting_is_bounded(opening: str) -> None:
    assert problems_of(opening * 100_000)[-1].code == "too-deep"


def test_a_hundred_levels_are_fine() -> None:
    assert value_of("[" * 100 + "]" * 100)
    assert problems_of("[" * 101 + "]" * 101)[0].code == "too-deep"


def test_a_second_document_is_refused() -> None:
    (problem,) = problems_of("a: 1\n---\nb: 2\n")
    assert (problem.code, problem.line) == ("several-documents", 2)


@pytest.mark.parametrize("number", ["9" * 5000, "0x" + "f" * 5000, "1e999"])
def test_numbers_beyond_reason_are_refused(number: str) -> None:
    (problem,) = problems_of(f"a: 1\nb: {number}\n")
    assert (problem.code, problem.line) == ("number-too-large", 2)


@pytest.mark.parametrize("char", ["\u2028", "\u2029"])
def test_line_ends_that_nobody_sees_are_refused(char: str) -> None:
    (problem,) = problems_of(f"a: 1\n# harmless{char}b: 2\n")
    assert (problem.code, problem.line) == ("control-character", 2)


@pytest.mark.parametrize(
    ("text", "line", "hint"),
    [
        ("a: 1\nb: c: d\n", 2, "Quote text"),
        ("a:\n\t- b\n", 2, "spaces, not tabs"),
        ("a: 1\nb: *.py\n", 2, "starts with * or &"),
        ("a: 1\nb: {match: !Write}\n", 2, "starts with !"),
        ("a: 1\nb: @x\n", 2, "starts with @"),
        ("a: 1\nb: `x`\n", 2, "starts with `"),
        ("a: [1\nb: 2\n", 2, "Close the list with ]"),
        ("a: {b: 1\nc: 2\n", 2, "Close the mapping with }"),
        ('a: 1\nb: "x\nc: y\n', 2, "Close the quotes"),
        ("a: 1\nb: '^it's$'\n", 2, "whole text"),
        ('a: 1\nb: "\\d+"\n', 2, "single quotes"),
        ("- a\nb: c\n", 2, "same column"),
        ("a: 1\n  b: 2\n", 2, "indentation"),
    ],
)
def test_syntax_errors_have_their_line_and_say_what_to_write(text: str, line: int, hint: str) -> None:
    (problem,) = problems_of(text)
    assert problem.code == "syntax"
    assert problem.line == line
    assert hint in problem.hint


def test_problems_before_a_syntax_error_are_kept() -> None:
    assert [problem.code for problem in problems_of("a: 1\na: 2\nb: [\n")] == ["duplicate-key", "syntax"]


def test_names_without_end_are_shortened() -> None:
    for text in ("*" + "a" * 5000, "!" + "a" * 5000 + " x", f"{'k' * 900}: 1\n{'k' * 900}: 2\n"):
        assert all(len(str(problem)) < 400 for problem in problems_of(text))


def test_ten_thousand_hooks_are_read_in_a_moment() -> None:
    rule = HOOK.removeprefix("hooks:\n")
    assert len(value_of("hooks:\n" + rule * 10_000)["hooks"]) == 10_000
