"""What the model is sent: hooks' words where they belong, calls with their results, old messages shortened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookline.hooks.outcome import Compact
from hookline.runtime.compaction import compact, messages_to_drop
from hookline.runtime.history import MISSING_RESULT, calls_of, to_model_messages
from hookline.runtime.models.model import ErrorCode
from hookline.runtime.models.scripted import ScriptStep
from hookline.runtime.updates import Ending, HistoryCompacted, StatusMessage
from runtime.scripted_runtime import RecordingModel, open_runtime, run_async, send_prompt, tool_call_step


def _message(id: str, role: str, content: str | None, **more: Any) -> dict[str, Any]:
    return {"id": id, "role": role, "content": content, "created_at": 0, **more}


def _asks(id: str, *ids: str) -> dict[str, Any]:
    listed = [{"id": each, "type": "function", "function": {"name": "bash", "arguments": "{}"}} for each in ids]
    return _message(id, "assistant", None, tool_calls=json.dumps(listed))


def _sent(hooks: str, tmp_path: Path, *prompts: str, steps: Any = ("one", "two", "three")) -> RecordingModel:
    async def work() -> RecordingModel:
        async with open_runtime(tmp_path, hooks, steps) as (runtime, model):
            session = await runtime.start()
            for prompt in prompts or ("hello",):
                await send_prompt(session, prompt)
            assert isinstance(model, RecordingModel)
            return model

    found = run_async(work)
    assert isinstance(found, RecordingModel)
    return found


def test_a_result_without_its_call_is_left_out_and_a_call_gets_a_result() -> None:
    messages = [_message("1", "user", "hi"), _message("2", "tool", "lost", tool_call_id="x"), _asks("3", "a", "b")]
    messages.append(_message("4", "tool", "of b", tool_call_id="b"))
    sent = to_model_messages(messages, [])
    assert [each["role"] for each in sent] == ["user", "assistant", "tool", "tool"]
    assert [each.get("content") for each in sent[2:]] == [MISSING_RESULT, "of b"]


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("context", [("user", "hello\n\nNOTE")]),
        ("last_user", [("user", "hello\n\nNOTE")]),
        ("system", [("user", "hello")]),
        ("message", [("user", "hello"), ("user", "NOTE")]),
    ],
)
def test_words_for_the_agent_stand_where_they_belong(tmp_path: Path, place: str, expected: Any) -> None:
    hooks = f"hooks: [{{id: n, on: prompt.submit, then: {{tell: {{text: NOTE, place: {place}}}}}, max_fires: 1}}]"
    model = _sent(hooks, tmp_path, "hello", "again")
    first, second = model.requests
    assert [(each["role"], each["content"]) for each in first.messages[1:]] == expected
    assert second.messages[: len(first.messages)] == first.messages  # it stays for later requests
    assert ("NOTE" in first.messages[0]["content"]) is (place == "system")


@pytest.mark.parametrize(
    ("position", "expected"),
    [("start", ["NOTE", "p", "a", "q"]), ("before_last", ["p", "a", "NOTE", "q"]), ("end", ["p", "a", "q", "NOTE"])],
)
def test_a_message_of_its_own_stands_where_it_was_put(tmp_path: Path, position: str, expected: list[str]) -> None:
    note = f"{{text: NOTE, place: message, position: {position}}}"
    hooks = f"hooks: [{{id: n, on: prompt.submit, when: {{prompt: q}}, then: {{tell: {note}}}}}]"
    model = _sent(hooks, tmp_path, "p", "q", steps=["a", "b"])
    assert [each["content"] for each in model.requests[1].messages[1:]] == expected


def test_the_users_own_words_are_stored_as_they_were(tmp_path: Path) -> None:
    hooks = "hooks: [{id: n, on: prompt.submit, then: {tell: NOTE}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, hooks) as (runtime, _):
            session = await runtime.start()
            await session.ask("hello")
            assert (await session.main.get_messages())[0]["content"] == "hello"

    run_async(work)


def test_words_about_a_result_come_with_it(tmp_path: Path) -> None:
    hooks = "hooks: [{id: n, on: tool.after, then: {tell: {text: CHECK IT, place: result}}}]"
    model = _sent(hooks, tmp_path, steps=[tool_call_step(("bash", {"command": "echo out"})), "ok"])
    assert model.requests[1].messages[-1]["content"].endswith("CHECK IT")


def test_words_at_a_turns_end_are_read_in_the_next_one(tmp_path: Path) -> None:
    hooks = "hooks: [{id: n, on: turn.end, then: {tell: HURRY}, max_fires: 1}]"
    model = _sent(hooks, tmp_path, "one", "two")
    assert [each["content"] for each in model.requests[1].messages[1:]] == ["one", "one", "HURRY", "two"]


def test_a_hook_that_changes_the_messages_changes_this_turns_only(tmp_path: Path) -> None:
    hooks = "hooks: [{id: n, on: turn.start, when: {turn: 0}, then: {set: {messages.0.content: other}}}]"
    model = _sent(hooks, tmp_path, "hello", "again")
    assert model.requests[0].messages[1]["content"] == "other"
    assert model.requests[1].messages[1]["content"] == "hello"


def test_old_messages_go_and_a_summary_stands_in_their_place(tmp_path: Path) -> None:
    async def work() -> None:
        steps = ["a1", "a2", "a3", "SUMMARY", "a4"]
        async with open_runtime(tmp_path, "", steps) as (runtime, model):
            session = await runtime.start()
            for prompt in ("p1", "p2", "p3"):
                await session.ask(prompt)
            assert await compact(session.main, Compact(keep_recent=2), "manual")
            await session.ask("p4")
            assert isinstance(model, RecordingModel)
            contents = [each["content"] for each in model.requests[-1].messages[1:]]
            assert contents == ["[Summary of 4 earlier messages]\nSUMMARY", "p3", "a3", "p4"]

    run_async(work)


@pytest.mark.parametrize("strategy", ["truncate", "summarize"])
def test_without_a_model_that_answers_it_is_cut(tmp_path: Path, strategy: str) -> None:
    async def work() -> None:
        steps = ["a1", "a2", ScriptStep(error=ErrorCode.AUTH)] if strategy == "summarize" else ["a1", "a2"]
        async with open_runtime(tmp_path, "", steps) as (runtime, _):
            session = await runtime.start()
            for prompt in ("p1", "p2"):
                await session.ask(prompt)
            assert await compact(session.main, Compact(strategy, keep_recent=1), "manual")
            messages = await session.main.get_messages()
            assert messages[0]["content"].startswith("[3 earlier messages were removed")

    run_async(work)


def test_hooks_may_prevent_it(tmp_path: Path) -> None:
    hooks = "hooks: [{id: keep, on: history.compact, then: {deny: keep all}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, ["a1"]) as (runtime, _):
            session = await runtime.start()
            await session.ask("p1")
            assert not await compact(session.main, Compact(keep_recent=0), "manual")
            assert len(await session.main.get_messages()) == 2

    run_async(work)


def test_a_hooks_request_is_obeyed_after_its_turn(tmp_path: Path) -> None:
    hooks = "hooks: [{id: c, on: tool.after, then: {compact: {strategy: truncate, keep_recent: 2}}, max_fires: 1}]"

    async def work() -> None:
        steps = ["a1", tool_call_step(("bash", {"command": "true"})), "a2"]
        async with open_runtime(tmp_path, hooks, steps) as (runtime, model):
            session = await runtime.start()
            await session.ask("p1")
            seen = await send_prompt(session, "p2")
            assert [each.gone for each in seen.of_type(HistoryCompacted)] == [3]
            assert isinstance(model, RecordingModel)
            roles = [each["role"] for each in model.requests[-1].messages]
            assert roles == ["system", "user", "assistant", "tool"]

    run_async(work)


def test_calls_stay_with_their_results() -> None:
    messages = [_message("1", "user", "x"), _asks("2", "a", "b"), _message("3", "tool", "A", tool_call_id="a")]
    messages.append(_message("4", "tool", "B", tool_call_id="b"))
    assert [each["id"] for each in messages_to_drop(messages, Compact(keep_recent=1), 1000)] == ["1"]
    assert [each["id"] for each in messages_to_drop(messages, Compact(keep_recent=2), 1000)] == ["1"]


def test_only_as_much_goes_as_must() -> None:
    messages = [_message(str(n), "user", "word " * 70) for n in range(10)]
    gone = messages_to_drop(messages, Compact(keep_recent=2, target_pressure=0.5, summary_max_tokens=50), 1000)
    assert 0 < len(gone) < 8


def test_when_the_context_is_too_long_it_is_shortened_and_tried_again(tmp_path: Path) -> None:
    async def work() -> None:
        steps = ["a1", "a2", "a3", ScriptStep(error=ErrorCode.CONTEXT_OVERFLOW), "SHORT", "a4"]
        async with open_runtime(tmp_path, "", steps) as (runtime, _):
            session = await runtime.start()
            for prompt in ("p1", "p2", "p3"):
                await session.ask(prompt)
            assert await session.ask("p4") == "a4"

    run_async(work)


@pytest.mark.parametrize(("code", "tries"), [(ErrorCode.RATE_LIMIT, 4), (ErrorCode.NETWORK, 4), (ErrorCode.AUTH, 1)])
def test_a_failing_model_is_tried_as_often_as_is_worth_it(tmp_path: Path, code: ErrorCode, tries: int) -> None:
    hooks = "hooks: [{id: e, on: model.error, then: {log: 'seen'}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, [ScriptStep(error=code, message="no")] * 9) as (runtime, model):
            session = await runtime.start()
            seen = await send_prompt(session, "go")
            assert seen.last_end.text == "script: no"
            assert isinstance(model, RecordingModel)
            assert len(model.requests) == tries == seen.events.count("model.error")
            assert seen.facts("model.error")["error"] == {"code": str(code), "message": "script: no"}

    run_async(work)


@pytest.mark.parametrize(("then", "ending"), [("deny", Ending.FAILED), ("halt", Ending.HALTED)])
def test_a_hook_that_keeps_results_from_being_stored_does_not_end_the_conversation(
    tmp_path: Path, then: str, ending: Ending
) -> None:
    hooks = f"hooks: [{{id: no, on: message.create, when: {{fact: {{message.role: tool}}}}, then: {{{then}: no results here}}}}]"
    steps = [tool_call_step(("bash", {"command": "true"}), ("bash", {"command": "false"})), "two", "three"]

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, steps) as (runtime, model):
            session = await runtime.start()
            first = await send_prompt(session, "go")
            assert (first.last_end.ending, first.last_end.text) == (
                ending,
                "no results here (hook no, hookline.yaml:1)",
            )
            second = await send_prompt(session, "and now?")
            assert (second.last_end.ending, second.last_end.text) == (Ending.ANSWERED, "two")
            assert [each.text for each in second.of_type(StatusMessage)] == [
                "the result of bash was not stored: no results here (hook no, hookline.yaml:1)"
            ] * 2
            assert [each.text for each in (await send_prompt(session, "more")).of_type(StatusMessage)] == []
            assert isinstance(model, RecordingModel)
            roles = [each["role"] for each in model.requests[1].messages]
            assert roles == ["system", "user", "assistant", "tool", "tool", "user"]
            assert [each["content"] for each in model.requests[1].messages[3:5]] == [MISSING_RESULT] * 2

    run_async(work)


@pytest.mark.parametrize(
    ("event", "fact", "left"),
    [
        ("turn.start", "messages", "[1]"),
        ("turn.start", "messages", "[{role: tool, content: z, tool_call_id: [1]}, {role: user, content: hello}]"),
        ("history.filter", "messages", "[1]"),
        (
            "history.filter",
            "messages",
            "[{role: tool, content: z, tool_call_id: {a: 1}}, {role: user, content: hello}]",
        ),
        ("history.request", "request.messages", "[1, {role: user, content: changed}]"),
    ],
)
def test_what_is_no_history_is_not_sent(tmp_path: Path, event: str, fact: str, left: str) -> None:
    model = _sent(f"hooks: [{{id: odd, on: {event}, then: {{set: {{{fact}: {left}}}}}}}]", tmp_path)
    assert [each["content"] for each in model.requests[0].messages if each["role"] != "system"] == ["hello"]


@pytest.mark.parametrize("odd", ["[1]", "{a: 1}", "5"])
def test_a_result_under_an_id_that_is_none_is_left_out(tmp_path: Path, odd: str) -> None:
    hooks = f"hooks: [{{id: odd, on: message.create, when: {{fact: {{message.role: tool}}}}, then: {{set: {{message.tool_call_id: {odd}}}}}}}]"
    model = _sent(
        hooks, tmp_path, "hello", "more", steps=[tool_call_step(("bash", {"command": "true"})), "two", "three"]
    )
    assert [each["content"] for each in model.requests[-1].messages if each["role"] == "tool"] == [MISSING_RESULT]


@pytest.mark.parametrize("odd", ["nope", "[5]", '[{"id": "a"}]', '[{"id": "a", "function": {"name": 5}}]', "[[]]"])
def test_calls_that_cannot_be_read_are_none(odd: str) -> None:
    assert calls_of(_message("1", "assistant", "hi", tool_calls=odd)) == []
