from __future__ import annotations

from typing import Any

import pytest

from hookline.config.node import Node
from hookline.config.problem import Problem
from hookline.config.reader import read_text
from hookline.dialects.conversion import NotExpressible
from hookline.dialects.digitorn.templates import (
    constant_text,
    fact_name,
    literal_template,
    read_data_template,
    read_literal,
    read_shell_template,
    read_template,
    translate_placeholders,
    write_data,
    write_template,
)
from hookline.hooks.event import Event

FACTS = {"tool": {"name": "write", "input": {"path": "a.py", "n": 3}, "result": "ok"}, "turn": {"number": 7}}


def node(text: str) -> tuple[Node, list[Problem]]:
    document, _ = read_text(text, "digitorn.yaml")
    assert document is not None
    problems: list[Problem] = []
    return Node.of(document, problems), problems


def render(template: Any) -> Any:
    return template.render(Event("tool.after", FACTS))


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("tool.params.path", "tool.input.path"),
        ("tool.params", "tool.input"),
        ("tool.result", "result.text"),
        ("tool.result.id", "tool.result.id"),
        ("tool.fqn", "tool.name"),
        ("workspace", "workspace"),
        ("tool", None),
        ("tool.name.x", None),
        ("session.id", None),
        ("tool.params.a | upper", None),
    ],
)
def test_names_become_facts(name: str, fact: str | None) -> None:
    assert fact_name(name) == fact


@pytest.mark.parametrize(
    "text",
    ["", "plain {text}", "{{tool.params.path}} in {{workspace}}", "{{tool.result}}: {{tool.error}}", "{{.State}} }}"],
)
def test_a_text_is_written_as_it_was_read(text: str) -> None:
    at, problems = node("x")
    assert write_template(read_template(at, text)) == text
    assert problems == []


def test_numbers_in_single_braces_count_only_where_digitorn_fills_them() -> None:
    at, _ = node("x")
    text = "turn {turn} of {max_turns}, {other}"
    assert write_template(read_template(at, text, numbers=True), numbers=True) == text
    assert render(read_template(at, "turn {turn}", numbers=True)) == "turn 7"
    assert render(read_template(at, "turn {turn}")) == "turn {turn}"


def test_an_unknown_name_stays_and_a_likely_typo_is_a_warning() -> None:
    at, problems = node("x")
    assert render(read_template(at, "{{.State}} {{toool.name}}")) == "{{.State}} {{toool.name}}"
    assert [problem.code for problem in problems] == ["unknown-placeholder"]
    assert translate_placeholders("{{a}} {{tool.name}}").unknown == ("a",)


def test_a_value_that_is_one_placeholder_keeps_its_type() -> None:
    at, _ = node('{n: "{{tool.params.n}}", text: "n={{tool.params.n}}", gone: "{{tool.params.x}}", list: [1, a]}')
    template = read_data_template(at)
    assert render(template) == {"n": 3, "text": "n=3", "gone": "", "list": [1, "a"]}
    assert write_data(template) == at.value


def test_a_placeholder_that_is_not_rendered_is_a_warning() -> None:
    at, problems = node("x")
    assert read_literal(at, "{{tool.name}}") == "{{tool.name}}"
    assert [problem.code for problem in problems] == ["not-rendered"]


def test_a_literal_renders_to_itself() -> None:
    template = literal_template("{{tool.name}} {x}")
    assert render(template) == constant_text(template) == "{{tool.name}} {x}"


def test_a_literal_that_digitorn_would_fill_is_not_expressible() -> None:
    with pytest.raises(NotExpressible, match="braces"):
        write_template(literal_template("{{tool.name}}"))


def test_a_command_without_placeholders_is_used_unchanged() -> None:
    at, problems = node("x")
    command = "docker ps --format '{{.Names}}' $(date)"
    assert read_shell_template(at, command).source == command
    assert problems == []
