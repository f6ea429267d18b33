from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import Any

import pytest

from hookline.patterns.pattern import pattern
from hookline.runtime.models.model import ErrorCode, ModelError, Piece, Request, Said, Spent, Wants
from hookline.runtime.models.script import FAREWELL, Heard, Script, ScriptedModel, Section, Step


def asked(prompt: str = "Hello", *after: dict[str, Any], system: str = "") -> Request:
    before = [{"role": "system", "content": system}] if system else []
    return Request((*before, {"role": "user", "content": prompt}, *after))


def answer(text: str = "", *calls: str) -> dict[str, Any]:
    listed = [{"id": id, "type": "function", "function": {"name": "bash", "arguments": "{}"}} for id in calls]
    return {"role": "assistant", "content": text, "tool_calls": listed}


def result(call: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": text}


def pieces(model: ScriptedModel, request: Request) -> list[Piece]:
    async def work() -> list[Piece]:
        return [piece async for piece in model.stream(request)]

    return asyncio.run(work())


def text(model: ScriptedModel, request: Request) -> str:
    return "".join(piece.text for piece in pieces(model, request) if isinstance(piece, Said))


def failure(model: ScriptedModel) -> tuple[list[Piece], ModelError]:
    async def work() -> tuple[list[Piece], ModelError]:
        said: list[Piece] = []
        try:
            async for piece in model.stream(asked()):
                said.append(piece)
        except ModelError as error:
            return said, error
        raise AssertionError(said)

    return asyncio.run(work())


def test_text_comes_word_by_word_and_is_counted() -> None:
    model = ScriptedModel([Step(say="One  two\nthree ", spend=(1200, 80))])
    said = pieces(model, asked())
    assert said == [Said("One "), Said(" "), Said("two\nthree "), Spent(1200, 80)]


def test_calls_have_ids_that_go_on_from_the_conversations() -> None:
    step = Step(say="Both.", calls=(("bash", {"command": "ls"}), ("note", {"text": "ä"})))
    model = ScriptedModel([step, step])
    first = pieces(model, asked())
    assert first[:3] == [
        Said("Both."),
        Wants("call_1", "bash", '{"command": "ls"}'),
        Wants("call_2", "note", '{"text": "ä"}'),
    ]
    assert isinstance(first[3], Spent)
    second = pieces(model, asked("Hello", answer("", "call_7"), result("call_7", "x"), result("call_x", "y")))
    assert [piece.id for piece in second if isinstance(piece, Wants)] == ["call_8", "call_9"]


def test_two_runs_are_the_same() -> None:
    steps = [Step(calls=(("bash", {}),)), "Done.", Step(calls=(("bash", {}), ("bash", {})))]
    runs = [[pieces(model, asked()) for _ in range(4)] for model in (ScriptedModel(steps), ScriptedModel(steps))]
    assert runs[0] == runs[1]


def test_an_input_that_is_text_goes_out_as_it_is() -> None:
    model = ScriptedModel([Step(calls=(("bash", "{not json"),))])
    assert pieces(model, asked())[0] == Wants("call_1", "bash", "{not json")


def test_it_fails_after_what_it_said_and_goes_on() -> None:
    model = ScriptedModel(
        [Step(say="Half", error=ErrorCode.RATE_LIMIT, message="slow down", after=timedelta(seconds=2)), "Whole."],
        name="script:demo.yaml",
    )
    said, error = failure(model)
    assert said == [Said("Half")]
    assert (error.code, error.retry_after, str(error)) == (
        ErrorCode.RATE_LIMIT,
        timedelta(seconds=2),
        "script:demo.yaml: slow down",
    )
    assert text(model, asked()) == "Whole."


def test_the_end() -> None:
    model = ScriptedModel(["One."])
    assert [text(model, asked()) for _ in range(3)] == ["One.", FAREWELL, FAREWELL]
    looping = ScriptedModel(Script((Step("One."), Step("Two.")), loop=True))
    assert [text(looping, asked()) for _ in range(5)] == ["One.", "Two.", "One.", "Two.", "One."]
    empty = ScriptedModel(Script(loop=True, end="Nothing."))
    assert text(empty, asked()) == "Nothing."


def test_a_step_with_when_comes_before_those_in_order() -> None:
    steps = [
        Step("One."),
        Step("Careful!", when=Heard(last=pattern("denied"))),
        Step("A summary.", when=Heard(prompt=pattern("(?i)summar"), system=pattern("short")), once=True),
        Step("Two."),
    ]
    model = ScriptedModel(steps)
    assert text(model, asked("denied? no")) == "Careful!"
    assert text(model, asked("Go")) == "One."
    assert text(model, asked("Go", answer("", "call_1"), result("call_1", "denied: no"))) == "Careful!"
    assert text(model, asked("Summarise", system="Be long.")) == "Two."
    assert text(model, asked("Summarise", result("call_1", "x"), system="Be short.")) == "A summary."
    assert text(model, asked("Summarise", system="Be short.")) == FAREWELL


def test_each_agent_has_its_own_steps_and_each_conversation_its_own_place() -> None:
    reviewer = Section(pattern("reviewer"), (Step("Looking."), Step("Fine.")))
    model = ScriptedModel(Script((Step("Main."),), (reviewer,)))
    system = "You are a reviewer."
    assert text(model, asked("Review a.py", system=system)) == "Looking."
    assert text(model, asked("Review b.py", system=system)) == "Looking."
    assert text(model, asked("Hello", system="You are a coder.")) == "Main."
    assert text(model, asked("Review a.py", answer("Looking."), system=system)) == "Fine."
    assert text(model, asked("Review a.py", answer("Fine."), system=system)) == FAREWELL
    assert text(model, asked("Review a.py", system=system)) == "Looking."


def test_it_tells_what_it_heard() -> None:
    heard: list[Request] = []
    model = ScriptedModel(["One."], heard=heard.append)
    pieces(model, asked("Hello"))
    assert heard == [asked("Hello")]


def test_it_counts_what_the_script_does_not() -> None:
    spent = pieces(ScriptedModel(["One two three four."]), asked("x" * 700))[-1]
    assert isinstance(spent, Spent)
    assert spent.input >= 200
    assert spent.output >= 5


def test_a_delay_can_be_cancelled() -> None:
    async def work() -> None:
        model = ScriptedModel([Step("Late.", delay=timedelta(hours=1))])
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await anext(aiter(model.stream(asked())))

    asyncio.run(work())


def test_a_pattern_that_takes_too_long_is_an_error_of_the_model() -> None:
    slow = pattern("(a|aa)+(?=b)")
    model = ScriptedModel([Step("x", when=Heard(last=slow))])

    async def work() -> None:
        with pytest.raises(ModelError, match="too long"):
            async for _ in model.stream(asked("a" * 1_000_000)):
                pass

    asyncio.run(work())


def test_arguments_are_json() -> None:
    model = ScriptedModel([Step(calls=(("bash", {"command": 'echo "ä"'}),))])
    (wants,) = [piece for piece in pieces(model, asked()) if isinstance(piece, Wants)]
    assert json.loads(wants.arguments) == {"command": 'echo "ä"'}
