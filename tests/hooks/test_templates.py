"""Text with placeholders, and values as text."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import pytest

from hookline.errors import BadTemplate
from hookline.hooks.event import MISSING, Event, parse_path
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.templates import (
    CommandWords,
    ShellTemplate,
    Template,
    as_text,
    parse_arguments,
    parse_brace_template,
    parse_template,
)
from hookline.hooks.tools import ToolKind


def facts(name: str) -> Any:
    return None if name.startswith("no.") else lambda event: event.read(parse_path(name))


def event(**values: Any) -> Event:
    return Event("tool.before", values)


def test_each_placeholder_becomes_its_value() -> None:
    made = parse_template("{{a}} and {{ b.0 }}!", facts)
    assert made.names == ("a", "b.0")
    assert made.render(event(a="x", b=["y"])) == "x and y!"


def test_what_a_value_brings_is_not_expanded_again() -> None:
    assert parse_template("{{a}}{{b}}", facts).render(event(a="{{b}}", b="{{a}}")) == "{{b}}{{a}}"


def test_braces_around_a_placeholder_stay() -> None:
    assert parse_template("{{{a}}} {{}} {{", facts, unknown="keep").render(event(a=1)) == "{1} {{}} {{"


@pytest.mark.parametrize("text", ["{{no.such}}", "x{{ }}", "{{}}"])
def test_an_unknown_name_is_refused_where_it_stands(text: str) -> None:
    with pytest.raises(BadTemplate) as caught:
        parse_template(text, facts)
    assert caught.value.position == text.index("{{")
    assert parse_template(text, facts, unknown="keep").render(event()) == text


def test_text_without_placeholders_is_constant() -> None:
    made = parse_template("plain { } text", facts)
    assert made.constant
    assert made.render(event()) == "plain { } text"
    assert not parse_template("{{a}}", facts).constant


@pytest.mark.parametrize("value", [7, True, None, [1, {"a": 2}], "text"])
def test_one_whole_placeholder_keeps_its_type(value: Any) -> None:
    assert parse_template("{{a}}", facts).value(event(a=value)) == value
    assert isinstance(parse_template(" {{a}}", facts).value(event(a=value)), str)


def test_an_absent_value_is_empty() -> None:
    assert parse_template("{{a}}", facts).value(event()) == ""
    assert parse_template("[{{a}}]", facts).render(event()) == "[]"


def test_single_braces_and_double_ones_are_rendered_in_one_pass() -> None:
    made = parse_brace_template("turn {turn}: {{tool.name}} {no.such} {{no.such}} {", facts)
    assert made.render(event(turn=3, tool={"name": "{turn}"})) == "turn 3: {turn} {no.such} {{no.such}} {"


class Strange:
    def __repr__(self) -> str:
        raise RuntimeError("must not be asked")


CYCLE: list[Any] = []
CYCLE.append(CYCLE)
DEEP: list[Any] = []
for _ in range(100_000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("it's {}", "it's {}"),
        (MISSING, ""),
        (None, ""),
        (True, "true"),
        (1.5, "1.5"),
        ({"a": [1, "ü"]}, '{"a":[1,"ü"]}'),
        (CYCLE, "[null]"),
        (DEEP, "[" * 100_001 + "]" * 100_001),
        (Strange(), ""),
        ({"a": Strange()}, ""),
        ({(1, 2): 3}, ""),
        (b"rm x", "rm x"),
        (bytearray(b"rm \xff"), "rm \ufffd"),
        (memoryview(b"rm"), "rm"),
        (PurePosixPath("/bin/rm"), "/bin/rm"),
        ({"rm"}, '["rm"]'),
        ({"a": [b"x", PurePosixPath("y"), ToolKind.SHELL]}, '{"a":["x","y","shell"]}'),
        (CommandWords([PurePosixPath("rm"), b"a b"]), "rm 'a b'"),
        (10**5000, "null"),
        ("\ud800", "\ud800"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_value_as_text(value: Any, text: str) -> None:
    assert as_text(value) == text


def test_each_argument_is_a_template_shell_text_or_an_error() -> None:
    texts = ["bash", "-c", "echo {{input.path}}", "{{input.path}}", "{{no.such}}"]
    kinds = [type(each) for each in parse_arguments(texts, PlaceholderResolver())]
    assert kinds == [Template, Template, ShellTemplate, Template, BadTemplate]


@pytest.mark.parametrize("name", ["{{workspace}}/check.sh", "{{open_braces}}"])
def test_a_program_may_be_a_file_of_the_workspace(name: str) -> None:
    assert isinstance(parse_arguments([name], PlaceholderResolver())[0], Template)


@pytest.mark.parametrize(
    "name", ["{{workspace}}", "{{workspace}}/{{input.path}}", "/x{{workspace}}/y", "{{cwd}}/check.sh"]
)
def test_no_other_placeholder_names_a_program(name: str) -> None:
    assert isinstance(parse_arguments([name], PlaceholderResolver())[0], BadTemplate)
