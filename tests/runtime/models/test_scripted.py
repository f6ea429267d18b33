from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest

from hookline.patterns.pattern import pattern
from hookline.runtime.models.model import (
    Chunk,
    CompletionRequest,
    ErrorCode,
    ModelError,
    RequestedCall,
    TextChunk,
    TokenUsage,
)
from hookline.runtime.models.scripted import (
    END_TEXT,
    ModelScript,
    RequestMatcher,
    ScriptedModel,
    ScriptSection,
    ScriptStep,
)

pytestmark = pytest.mark.slow


def asked(prompt: str = "Hello", *after: dict[str, Any], system: str = "") -> CompletionRequest:
    before = [{"role": "system", "content": system}] if system else []
    return CompletionRequest((*before, {"role": "user", "content": prompt}, *after))


def answer(text: str = "", *calls: str) -> dict[str, Any]:
    listed = [{"id": id, "type": "function", "function": {"name": "bash", "arguments": "{}"}} for id in calls]
    return {"role": "assistant", "content": text, "tool_calls": listed}


def result(call: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": text}


def pieces(model: ScriptedModel, request: CompletionRequest) -> list[Chunk]:
    async def work() -> list[Chunk]:
        return [piece async for piece in model.stream(request)]

    return asyncio.run(work())


def text(model: ScriptedModel, request: CompletionRequest) -> str:
    return "".join(piece.text for piece in pieces(model, request) if isinstance(piece, TextChunk))


def failure(model: ScriptedModel) -> tuple[list[Chunk], ModelError]:
    async def work() -> tuple[list[Chunk], ModelError]:
        said: list[Chunk] = []
        try:
            async for piece in model.stream(asked()):
                said.append(piece)
        except ModelError as error:
            return said, error
        raise AssertionError(said)

    return asyncio.run(work())


def test_text_comes_word_by_word_and_is_counted() -> None:
    model = ScriptedModel([ScriptStep(say="One  two\nthree ", spend=(1200, 80))])
    said = pieces(model, asked())
    assert said == [TextChunk("One "), TextChunk(" "), TextChunk("two\nthree "), TokenUsage(1200, 80)]


def test_calls_have_ids_that_go_on_from_the_conversations() -> None:
    step = ScriptStep(say="Both.", calls=(("bash", {"command": "ls"}), ("note", {"text": "ä"})))
    model = ScriptedModel([step, step])
    first = pieces(model, asked())
    assert first[:3] == [
        TextChunk("Both."),
        RequestedCall("call_1", "bash", '{"command": "ls"}'),
        RequestedCall("call_2", "note", '{"text": "ä"}'),
    ]
    assert isinstance(first[3], TokenUsage)
    second = pieces(model, asked("Hello", answer("", "call_7"), result("call_7", "x"), result("call_x", "y")))
    assert [piece.id for piece in second if isinstance(piece, RequestedCall)] == ["call_8", "call_9"]


def test_two_runs_are_the_same() -> None:
    steps = [ScriptStep(calls=(("bash", {}),)), "Done.", ScriptStep(calls=(("bash", {}), ("bash", {})))]
    runs = [[pieces(model, asked()) for _ in range(4)] for model in (ScriptedModel(steps), ScriptedModel(steps))]
    assert runs[0] == runs[1]


def test_an_input_that_is_text_goes_out_as_it_is() -> None:
    model = ScriptedModel([ScriptStep(calls=(("bash", "{not json"),))])
    assert pieces(model, asked())[0] == RequestedCall("call_1", "bash", "{not json")


def test_it_fails_after_what_it_said_and_goes_on() -> None:
    model = ScriptedModel(
        [ScriptStep(say="Half", error=ErrorCode.RATE_LIMIT, message="slow down", after=timedelta(seconds=2)), "Whole."],
        name="script:demo.yaml",
    )
    said, error = failure(model)
    assert said == [TextChunk("Half")]
    assert (error.code, error.retry_after, str(error)) == (
        ErrorCode.RATE_LIMIT,
        timedelta(seconds=2),
        "script:demo.yaml: slow down",
    )
    assert text(model, asked()) == "Whole."


def test_exhausted_script_ends_or_loops() -> None:
    model = ScriptedModel(["One."])
    assert [text(model, asked()) for _ in range(3)] == ["One.", END_TEXT, END_TEXT]
    looping = ScriptedModel(ModelScript((ScriptStep("One."), ScriptStep("Two.")), loop=True))
    assert [text(looping, asked()) for _ in range(5)] == ["One.", "Two.", "One.", "Two.", "One."]
    empty = ScriptedModel(ModelScript(loop=True, end="Nothing."))
    assert text(empty, asked()) == "Nothing."


def test_a_step_with_when_comes_before_those_in_order() -> None:
    steps = [
        ScriptStep("One."),
        ScriptStep("Careful!", when=RequestMatcher(last=pattern("denied"))),
        ScriptStep("A summary.", when=RequestMatcher(prompt=pattern("(?i)summar"), system=pattern("short")), once=True),
        ScriptStep("Two."),
    ]
    model = ScriptedModel(steps)
    assert text(model, asked("denied? no")) == "Careful!"
    assert text(model, asked("Go")) == "One."
    assert text(model, asked("Go", answer("", "call_1"), result("call_1", "denied: no"))) == "Careful!"
    assert text(model, asked("Summarise", system="Be long.")) == "Two."
    assert text(model, asked("Summarise", result("call_1", "x"), system="Be short.")) == "A summary."
    assert text(model, asked("Summarise", system="Be short.")) == END_TEXT


def test_each_agent_has_its_own_steps_and_each_conversation_its_own_place() -> None:
    reviewer = ScriptSection(pattern("reviewer"), (ScriptStep("Looking."), ScriptStep("Fine.")))
    model = ScriptedModel(ModelScript((ScriptStep("Main."),), (reviewer,)))
    system = "You are a reviewer."
    assert text(model, asked("Review a.py", system=system)) == "Looking."
    assert text(model, asked("Review b.py", system=system)) == "Looking."
    assert text(model, asked("Hello", system="You are a coder.")) == "Main."
    assert text(model, asked("Review a.py", answer("Looking."), system=system)) == "Fine."
    assert text(model, asked("Review a.py", answer("Fine."), system=system)) == END_TEXT
    assert text(model, asked("Review a.py", system=system)) == "Looking."


def test_it_tells_what_it_heard() -> None:
    requests: list[CompletionRequest] = []
    model = ScriptedModel(["One."], on_request=requests.append)
    pieces(model, asked("Hello"))
    assert requests == [asked("Hello")]


def test_it_counts_what_the_script_does_not() -> None:
    spent = pieces(ScriptedModel(["One two three four."]), asked("x" * 700))[-1]
    assert isinstance(spent, TokenUsage)
    assert spent.input >= 200
    assert spent.output >= 5


def test_a_delay_can_be_cancelled() -> None:
    async def work() -> None:
        model = ScriptedModel([ScriptStep("Late.", delay=timedelta(hours=1))])
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await anext(aiter(model.stream(asked())))

    asyncio.run(work())


def test_a_pattern_that_takes_too_long_is_an_error_of_the_model() -> None:
    slow = pattern("(a|aa)+(?=b)")
    model = ScriptedModel([ScriptStep("x", when=RequestMatcher(last=slow))])

    async def work() -> None:
        with pytest.raises(ModelError, match="too long"):
            async for _ in model.stream(asked("a" * 1_000_000)):
                pass

    asyncio.run(work())


def test_arguments_are_json() -> None:
    model = ScriptedModel([ScriptStep(calls=(("bash", {"command": 'echo "ä"'}),))])
    (wants,) = [piece for piece in pieces(model, asked()) if isinstance(piece, RequestedCall)]
    assert json.loads(wants.arguments) == {"command": 'echo "ä"'}
