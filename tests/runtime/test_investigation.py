"""A model that may read files before it answers a hook."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookline.hooks.host import ToolResult
from hookline.hooks.outcome import ActionError, FailureKind
from hookline.runtime.investigation import MAX_TURNS, READING_TOOLS, investigate
from hookline.runtime.models.scripted import ScriptStep
from hookline.runtime.tools.tool_definition import Tool
from runtime.scripted_runtime import RecordingModel, run_async


def read_step(*inputs: dict[str, Any] | str) -> ScriptStep:
    return ScriptStep(calls=tuple(("read_file", input) for input in inputs))


async def echo(tool: Tool, input: dict[str, Any]) -> ToolResult:
    return ToolResult(f"{tool.name} {json.dumps(input)}")


def ask(model: RecordingModel) -> str:
    answer: str = run_async(lambda: investigate(model, "Tested?", READING_TOOLS, echo))
    return answer


def results(model: RecordingModel) -> list[str]:
    return [message["content"] for message in model.requests[-1].messages if message["role"] == "tool"]


def test_it_reads_until_it_answers() -> None:
    model = RecordingModel([read_step({"path": "a"}), read_step({"path": "b"}), "No."])
    assert ask(model) == "No."
    assert results(model) == ['read_file {"path": "a"}', 'read_file {"path": "b"}']
    assert {tool.name for tool in model.requests[0].tools} == {"read_file", "list_directory", "glob", "grep"}


def test_what_cannot_be_read_is_told_to_the_model() -> None:
    model = RecordingModel([read_step("{", "[1]"), ScriptStep(calls=(("write_file", {"path": "a"}),)), "No."])
    ask(model)
    first, second, third = results(model)
    assert first.startswith("Error: the arguments are not JSON")
    assert second == "Error: the arguments are not an object"
    assert third.startswith("Error: there is no tool 'write_file'")


def test_a_turn_has_a_limited_number_of_calls() -> None:
    model = RecordingModel([read_step(*[{"path": str(n)} for n in range(20)]), "No."])
    ask(model)
    assert results(model)[15:17] == ['read_file {"path": "15"}', "Error: too many calls"]


def test_a_long_result_is_cut() -> None:
    async def read(tool: Tool, input: dict[str, Any]) -> ToolResult:
        return ToolResult("x" * 1_000_000)

    model = RecordingModel([read_step({"path": "a"}), "No."])
    run_async(lambda: investigate(model, "Tested?", READING_TOOLS, read))
    assert results(model)[0].endswith("x\n[there is more]")
    assert len(results(model)[0]) < 100_100


def test_a_model_that_never_answers_has_failed() -> None:
    model = RecordingModel([read_step({"path": "a"})] * (MAX_TURNS + 1))
    with pytest.raises(ActionError) as failed:
        ask(model)
    assert failed.value.failure.kind is FailureKind.TIMEOUT
    assert len(model.requests) == MAX_TURNS
