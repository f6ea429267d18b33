"""The commands of a call, in whatever form a tool takes them."""

from __future__ import annotations

from typing import Any

import pytest

from hookline import Event
from hookline.errors import ConditionError
from hookline.hooks.command_forms import decoded_forms, join_arguments, names_a_command, read_command_forms
from hookline.hooks.outcome import Verdict
from hookline.hooks.tool_input import ToolField
from hookline.testing import fire


@pytest.mark.parametrize(
    ("input", "commands"),
    [
        ({"command": "rm", "args": ["-r", "x"]}, [["rm", "-r", "x"]]),
        ({"command": "rm", "args": "-r x"}, ["rm -r x"]),
        ({"command": "rm", "args": []}, []),
        ({"command": "rm", "args": '["-r", "x"]'}, [["rm", "-r", "x"]]),
        ({"command": "rm", "arg2": "x", "arg1": "-r"}, [["rm", "-r", "x"]]),
        ({"command": "git push", "args": ["--force"]}, [["git push", "--force"], "git push --force"]),
        ({"command": ["rm"], "args": ["x"]}, [["rm", "x"]]),
        ({"command": ["sh", "-c"], "args": "ls x"}, ["sh -c ls x"]),
        (
            {"command": "rm", "flags": {"force": True, "r": True, "depth": 3, "quiet": False, "more": None}},
            [["rm", "--force", "-r", "--depth", "3"]],
        ),
        (
            {"command": "rm", "args": ["-r"], "options": ["-f"]},
            [["rm", "-r"], ["rm", "-f"], ["rm", "-r", "-f"], ["rm", "-f", "-r"]],
        ),
        ({"command": "rm", "args": ["a b"], "options": "-f"}, [["rm", "a b"], "rm -f", "rm 'a b' -f", "rm -f 'a b'"]),
    ],
)
def test_a_command_with_its_arguments(input: dict[str, Any], commands: list[Any]) -> None:
    assert list(join_arguments(input["command"], input)) == commands


@pytest.mark.parametrize(
    ("input", "command"),
    [
        ({"commands": ["a x", "b"]}, "b"),
        ({"flags": "rf", "program": "rm"}, ["rm", "-rf"]),
        ({"flags": ["force"], "program": "rm"}, ["rm", "--force"]),
        ({"entrypoint": ["sh", "-c"], "cmd": ["ls x"]}, ["sh", "-c", "ls x"]),
        ({"executable": "/bin/rm", "command": ["ls", "-r"]}, ["/bin/rm", "-r"]),
        ({"interpreter": "python3", "code": "f()"}, ["python3", "-c", "f()"]),
        ({"steps": [{"run": "ls x"}]}, "ls x"),
        ({"command": "bash", "stdin": "rm x"}, "rm x"),
        ({"command": "xargs rm", "stdin": "-r x"}, "rm -r x"),
        ({"command": "$X y", "env": {"X": "rm"}}, "rm y"),
        ({"command": "$X y", "env": ["X=rm"]}, "rm y"),
        ({"command": "$X y", "env": "A=b X=rm"}, "rm y"),
        ({"command": "git fetch", "env": {"GIT_SSH_COMMAND": "rm x"}}, "rm x"),
        ({"command_b64": "cm0geA"}, "rm x"),
        ({"command": "726d2078", "encoding": "hex"}, "rm x"),
        ({"payload": '{"command": "rm x"}'}, "rm x"),
    ],
)
def test_a_form_that_is_read(input: dict[str, Any], command: Any) -> None:
    assert command in list(read_command_forms(input))


def test_variables_that_nothing_reads_add_nothing() -> None:
    assert list(read_command_forms({"command": "ls", "env": {"A": "rm x"}})) == ["ls"]


def test_what_stands_in_json() -> None:
    assert list(decoded_forms('["rm", "x"]')) == [["rm", "x"]]
    assert list(decoded_forms("['rm', 'x']")) == [["rm", "x"]]
    assert list(decoded_forms('"rm x"')) == ["rm x"]
    assert ["rm", "x"] in list(decoded_forms('{"program": "rm", "args": ["x"]}'))
    assert list(decoded_forms("[ -f x ]")) == []
    assert list(decoded_forms("{ ls; }")) == []
    assert list(decoded_forms('["git", "rm x"]')) == [["git", "rm x"]]


def test_a_field_that_names_the_command() -> None:
    assert names_a_command({"Command": "ls"})
    assert not names_a_command({"command": "", "query": "ls"})
    assert not names_a_command({"command_id": "5"})


@pytest.mark.parametrize(
    "input",
    [
        {"command": "ls", "tasks": [{"a": 1}] * 20_000},
        {"command": "ls", **{f"{letter}_args": "x" for letter in "abcdefghijklmnopqrstuvwxyz"}},
        {"command": "ls", "steps": [{"command": "ls", "args": ["x"]}] * 2_000},
    ],
    ids=["items", "arguments", "steps"],
)
def test_a_guard_holds_for_more_forms_than_can_be_read(input: dict[str, Any]) -> None:
    with pytest.raises(ConditionError):
        list(read_command_forms(input))
    guard = {"hooks": [{"id": "g", "on": "tool.before", "when": {"runs": "rm"}, "then": {"deny": "No."}}]}
    assert fire(guard, {"name": "tool.before", "tool": {"name": "exec_v2", "input": input}}).verdict is Verdict.DENY


def test_a_guard_holds_for_a_call_that_is_too_deep() -> None:
    value: Any = {"command": "ls"}
    for _ in range(20):
        value = {"task": value}
    with pytest.raises(ConditionError):
        list(read_command_forms(value))


def test_the_usual_fields_beside_a_command_are_not_looked_at() -> None:
    field = ToolField(("command",))
    event = Event("tool.before", {"tool": {"name": "bash", "input": {"command": "ls", "timeout": 5, "cwd": "x"}}})
    assert field.texts(event) == ("ls",)
    assert field.direct_name is not None
    assert field.direct_name[1].isdisjoint(event.facts["tool"]["input"])
    assert not field.direct_name[1].isdisjoint({"command": "ls", "Command": "rm x"})
