"""What happens in a run becomes events, and decisions become answers, without any framework."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hookline.frameworks.agent_run import AgentRun, FrameworkCall, error_code
from hookline.frameworks.framework_hooks import FrameworkHooks
from hookline.frameworks.question_id import question_id
from hookline.frameworks.request_messages import MessageFormat
from hookline.frameworks.support import ALL_EVENTS, FrameworkSupport
from hookline.hosts.python.session import Question, Session

SUPPORT = FrameworkSupport("made-up", "Made up", "made-up", "made-up", "1", "…", ALL_EVENTS)
PAUSING = FrameworkSupport("made-up", "Made up", "made-up", "made-up", "1", "…", ALL_EVENTS, pauses=True)
FORMAT: MessageFormat[dict[str, Any]] = MessageFormat(
    dict, lambda message, text: {**message, "content": text}, lambda role, text: {"role": role, "content": text}
)
BASH = FrameworkCall("bash", {"command": "ls"}, "c1")


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Any]:
    """Makes hooks from the text of a file."""
    opened: list[FrameworkHooks] = []

    def make(text: str, support: FrameworkSupport = SUPPORT, **options: Any) -> FrameworkHooks:
        file = tmp_path / "hookline.yaml"
        file.write_text(text)
        opened.append(FrameworkHooks(support, {"config": file, **options}))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


def events_of(hooks: FrameworkHooks, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    fired: list[tuple[str, dict[str, Any]]] = []
    fire = hooks.session.fire

    async def spy(event: str, facts: dict[str, Any]) -> Any:
        fired.append((event, facts))
        return await fire(event, facts)

    monkeypatch.setattr(hooks.session, "fire", spy)
    return fired


async def exchange(run: AgentRun, prompt: str = "Go.") -> None:
    """A prompt, a request, a tool call, a second request and the answer."""
    await run.start(prompt)
    await run.before_model([{"role": "user", "content": prompt}], FORMAT, "Be nice.")
    await run.after_model("", [])
    answer = await run.before_tool(BASH)
    assert answer.input is not None
    await run.after_tool(BASH, "ran", input=answer.input)
    await run.before_model([{"role": "user", "content": prompt}], FORMAT, "Be nice.")
    await run.after_model("done", [])
    await run.stop("done")
    await run.finish()


LISTENING = "\n".join(
    ["hooks:", *(f"  - {{id: h{at}, on: {event}, then: {{log: seen}}}}" for at, event in enumerate(ALL_EVENTS))]
)


def test_events_come_in_the_order_in_which_things_happen(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    hooks = made(LISTENING)
    fired = events_of(hooks, monkeypatch)
    asyncio.run(exchange(hooks.new_run(agent="main")))
    hooks.close()
    assert [name for name, _ in fired] == [
        "session.start",
        "thread.created",
        "agent.start",
        "prompt.submit",
        "message.create",
        "message.created",
        "session.first_turn",
        "turn.start",
        "history.system",
        "history.filter",
        "history.request",
        "message.create",
        "message.created",
        "tool.before",
        "tool.succeeded",
        "tool.after",
        "tool.store",
        "message.create",
        "message.created",
        "turn.end",
        "turn.start",
        "history.system",
        "history.filter",
        "history.request",
        "message.create",
        "message.created",
        "turn.end",
        "stop",
        "agent.end",
        "session.end",
    ]


def test_facts_of_a_run(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    hooks = made("hooks: [{id: a, on: tool.before, when: {fact: {messages: x}}, then: {deny: x}}]")
    fired = events_of(hooks, monkeypatch)
    asyncio.run(exchange(hooks.new_run(thread="t7", agent="main")))
    facts = next(facts for name, facts in fired if name == "tool.before")
    assert facts["session"]["id"] == facts["thread"]["id"] == "t7"
    assert facts["agent"] == {"id": "main", "name": "main"}
    assert facts["turn"] == {"number": 0}
    assert facts["tool"] == {"name": "bash", "kind": "shell", "id": "c1", "caller": "", "input": {"command": "ls"}}
    assert facts["messages"][0]["content"] == "Go."


def test_a_session_starts_once_for_each_thread(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    hooks = made("hooks: []")
    fired = events_of(hooks, monkeypatch)
    for thread in ("a", "b", "a"):
        asyncio.run(exchange(hooks.new_run(thread=thread)))
    starts = [facts["session"]["id"] for name, facts in fired if name == "session.start"]
    assert starts == ["a", "b"]
    hooks.close()
    assert [facts["session"]["id"] for name, facts in fired if name == "session.end"] == ["b", "a"]


def test_a_denied_call_is_refused_with_the_hook_and_its_notes(made: Any) -> None:
    hooks = made(
        "hooks:\n"
        "  - {id: note, on: tool.before, then: {tell: Use ls -l.}}\n"
        "  - {id: no, on: tool.before, then: {deny: Not ls.}}\n"
    )
    answer = asyncio.run(hooks.new_run().before_tool(BASH))
    assert answer.input is None
    assert answer.refusal is not None
    assert answer.refusal.startswith("Not ls. (hook no, ")
    assert answer.refusal.endswith("Use ls -l.")


def test_notes_of_a_call_go_with_its_result(made: Any) -> None:
    hooks = made("hooks: [{id: note, on: [tool.before, tool.after], then: {tell: 'Said at {{tool.id}}.'}}]")

    async def go() -> str:
        run = hooks.new_run()
        first = await run.before_tool(BASH)
        other = FrameworkCall("bash", {"command": "ls"}, "c2")
        await run.before_tool(other)
        return (await run.after_tool(BASH, "ran", input=first.input)).text

    assert asyncio.run(go()) == "ran\nSaid at c1."


def test_after_a_halt_nothing_runs_until_the_next_run(made: Any) -> None:
    hooks = made("hooks: [{id: stop, on: tool.before, when: {input: {command: x}}, then: {halt: Enough.}}]")

    async def go() -> None:
        run = hooks.new_run()
        halted = await run.before_tool(FrameworkCall("bash", {"command": "x"}))
        assert halted.halts
        assert (await run.before_tool(BASH)).refusal is not None
        assert (await run.before_model()).halted is not None
        assert (await hooks.new_run().before_tool(BASH)).input == {"command": "ls"}

    asyncio.run(go())


def test_a_halt_in_a_subagent_stops_its_parent(made: Any) -> None:
    hooks = made("hooks: [{id: stop, on: tool.before, when: {input: {command: x}}, then: {halt: Enough.}}]")

    async def go() -> None:
        outer = hooks.new_run(agent="outer")
        with outer.tool_context():
            inner = hooks.new_run(agent="inner")
        assert inner.parent is outer
        await inner.before_tool(FrameworkCall("bash", {"command": "x"}))
        assert (await outer.before_tool(BASH)).refusal is not None

    asyncio.run(go())


def test_a_subagent_has_events_of_its_own(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    hooks = made("hooks: [{id: again, on: subagent.end, max_fires: 1, then: {deny: Not yet.}}]")
    fired = events_of(hooks, monkeypatch)

    async def go() -> None:
        outer = hooks.new_run(agent="outer")
        await outer.start("Go.")
        with outer.tool_context():
            inner = hooks.new_run(agent="inner")
        await inner.start("Part of it.")
        reason = await inner.stop("done")
        assert reason is not None
        assert reason.startswith("Not yet.")
        assert await inner.stop("done") is None

    asyncio.run(go())
    assert [name for name, _ in fired if name.startswith("subagent")] == [
        "subagent.start",
        "subagent.end",
        "subagent.end",
    ]
    assert next(facts for name, facts in fired if name == "subagent.start")["subagent"]["name"] == "inner"


ASK = "hooks: [{id: ask, on: tool.before, max_fires: 1, then: {ask: Really?}}]"


def test_without_anybody_an_ask_is_a_no(made: Any) -> None:
    assert asyncio.run(made(ASK).new_run().before_tool(BASH)).refusal.startswith("Really? (hook ask, ")


def test_the_callback_of_the_program_answers(made: Any) -> None:
    questions: list[str] = []
    hooks = made(ASK, PAUSING, ask=lambda question: questions.append(question.tool) or True)
    assert asyncio.run(hooks.new_run().before_tool(BASH)).input == {"command": "ls"}
    assert questions == ["bash"]


@pytest.mark.parametrize("approved", [True, False])
def test_a_paused_call_is_decided_once(made: Any, monkeypatch: pytest.MonkeyPatch, approved: bool) -> None:
    hooks = made(ASK, PAUSING)
    fired = events_of(hooks, monkeypatch)

    async def go() -> bool:
        run = hooks.new_run()
        first = await run.before_tool(BASH)
        assert first.question is not None
        again = await run.before_tool(BASH)
        assert again.question is not None
        return (await run.before_tool(BASH, approved=approved)).input is not None

    assert asyncio.run(go()) is approved
    assert [name for name, _ in fired].count("tool.before") == 1
    assert [name for name, _ in fired].count("approval.request") == 1


def test_an_approval_is_for_the_input_that_was_shown(made: Any) -> None:
    hooks = made("hooks: [{id: no, on: tool.before, when: {input: {command: rm}}, then: {deny: No.}}]", PAUSING)
    run = hooks.new_run()
    other = FrameworkCall("bash", {"command": "rm"}, BASH.id)
    assert asyncio.run(run.before_tool(other, approved=True)).refusal is not None


def test_an_answer_is_for_the_input_that_the_person_read(made: Any) -> None:
    run = made("hooks: [{id: ask, on: tool.before, then: {ask: Really?}}]", PAUSING).new_run()
    other = FrameworkCall("bash", {"command": "other"}, BASH.id)

    async def go() -> None:
        assert (await run.before_tool(BASH)).question is not None
        again = await run.before_tool(other, approved=True)
        assert again.question is not None
        assert again.question.input == other.input
        assert (await run.before_tool(BASH, approved=True)).question is not None
        assert (await run.before_tool(BASH, approved=True)).input == BASH.input

    asyncio.run(go())


@pytest.mark.parametrize("known", ["another input", "another tool", "nothing"])
def test_an_answer_to_another_question_approves_nothing(made: Any, known: str) -> None:
    """Another process asked."""
    run = made("hooks: [{id: ask, on: tool.before, then: {ask: Really?}}]", PAUSING).new_run()
    asked = Question("", BASH.name, BASH.input, None)
    others = {"another input": Question("", BASH.name, {}, None), "another tool": Question("", "sh", BASH.input, None)}
    answered = question_id(others[known]) if known in others else None

    async def go() -> None:
        assert (await run.before_tool(BASH, approved=True, answered=answered)).question is not None
        assert (await run.before_tool(BASH, approved=False)).refusal is not None
        assert (await run.before_tool(BASH, approved=True, answered=question_id(asked))).input == BASH.input

    asyncio.run(go())


def test_a_person_reads_the_input_as_hooks_left_it(made: Any) -> None:
    """A framework may start the call again with that one."""
    change = "{id: change, on: tool.before, then: {set: {input.command: changed}}}"
    run = made(f"hooks: [{change}, {{id: ask, on: tool.before, then: {{ask: Really?}}}}]", PAUSING).new_run()

    async def go() -> None:
        question = (await run.before_tool(BASH)).question
        assert question is not None
        shown = FrameworkCall("bash", question.input, BASH.id)
        assert (await run.before_tool(shown, approved=True)).input == {"command": "changed"}

    asyncio.run(go())


def test_calls_of_other_tools_with_the_same_id_and_input_are_decided_each(made: Any) -> None:
    hooks = made(
        "hooks: [{id: ask, on: tool.before, when: {tool: show}, then: {ask: Really?}},"
        " {id: deny, on: tool.before, when: {tool: delete}, then: {deny: Not this.}}]",
        PAUSING,
    )
    run = hooks.new_run()
    show, delete = (FrameworkCall(name, {"path": "x"}, "c1") for name in ("show", "delete"))

    async def go() -> None:
        assert (await run.before_tool(show)).question is not None
        assert (await run.before_tool(delete, approved=True)).refusal is not None

    asyncio.run(go())


def test_a_hook_on_the_question_can_answer_it(made: Any) -> None:
    hooks = made(
        "hooks:\n"
        "  - {id: ask, on: tool.before, then: {ask: Really?}}\n"
        "  - {id: yes, on: approval.request, then: allow}\n",
        PAUSING,
    )
    assert asyncio.run(hooks.new_run().before_tool(BASH)).input is not None


def test_a_second_call_with_the_same_id_is_decided_again(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    hooks = made("hooks: []")
    fired = events_of(hooks, monkeypatch)

    async def go() -> None:
        run = hooks.new_run()
        for _ in range(2):
            await run.before_tool(BASH)
            await run.after_tool(BASH, "ran")

    asyncio.run(go())
    assert [name for name, _ in fired].count("tool.before") == 2


def test_a_preview_is_the_decision_of_the_call(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    hooks = made("hooks: [{id: no, on: tool.before, then: {deny: No.}}]")
    fired = events_of(hooks, monkeypatch)

    async def go() -> None:
        run = hooks.new_run()
        assert (await run.before_tool(BASH, is_preview=True)).refusal is not None
        assert (await run.before_tool(BASH)).refusal is not None

    asyncio.run(go())
    assert [name for name, _ in fired].count("tool.before") == 1


def test_a_changed_result_and_error(made: Any) -> None:
    hooks = made(
        "hooks:\n"
        "  - {id: a, on: tool.after, then: {replace: {in: result, pattern: key, with: '***'}}}\n"
        "  - {id: b, on: tool.after, then: {replace: {in: error, pattern: key, with: '***'}}}\n"
    )

    async def go() -> None:
        run = hooks.new_run()
        good = await run.after_tool(BASH, {"a": "key"})
        assert (good.value, good.ok, good.is_changed) == ({"a": "***"}, True, True)
        same = await run.after_tool(BASH, "fine")
        assert (same.value, same.is_changed) == ("fine", False)
        bad = await run.after_tool(BASH, None, error="ValueError: key")
        assert (bad.value, bad.ok, bad.is_changed) == ("ValueError: ***", False, True)
        kept = await run.after_tool(BASH, None, error="ValueError: x")
        assert (kept.ok, kept.is_changed) == (False, False)

    asyncio.run(go())


def test_a_failing_guard_of_a_result_withholds_it(made: Any) -> None:
    hooks = made("hooks: [{id: a, on: tool.after, on_error: closed, then: {run: [/nonexistent]}}]", on_problem="warn")
    after = asyncio.run(hooks.new_run().after_tool(BASH, "the secret"))
    assert after.is_changed
    assert "secret" not in after.text


@pytest.mark.parametrize("event", ["session.start", "agent.start", "prompt.submit", "tool.before", "approval.request"])
def test_a_bug_before_a_tool_is_a_refusal(
    made: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, event: str
) -> None:
    hooks = made("hooks: [{id: ask, on: tool.before, then: {ask: Really?}}]", ask=lambda question: True)
    fire = hooks.session.fire

    async def broken(name: str, facts: dict[str, Any]) -> Any:
        if name == event:
            raise RuntimeError("hunter2")
        return await fire(name, facts)

    monkeypatch.setattr(hooks.session, "fire", broken)
    run = hooks.new_run()
    start = asyncio.run(run.start("Go."))
    answer = asyncio.run(run.before_tool(BASH))
    refusal = start.refusal or answer.refusal
    assert refusal is not None
    assert "RuntimeError" in refusal
    assert "hunter2" not in refusal
    assert event in ("prompt.submit", "session.start") or answer.input is None


def test_a_bug_after_a_tool_withholds_the_result(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    hooks = made("hooks: []")

    async def broken(self: Session, name: str, facts: dict[str, Any]) -> Any:
        raise RuntimeError("a bug")

    monkeypatch.setattr(Session, "fire", broken)
    after = asyncio.run(hooks.new_run().after_tool(BASH, "the secret"))
    assert not after.ok
    assert "secret" not in after.text
    monkeypatch.undo()


def test_a_cancelled_decision_gives_no_input(made: Any) -> None:
    hooks = made("hooks: [{id: slow, on: tool.before, then: {run: [sleep, '5']}}]")

    async def go() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(hooks.new_run().before_tool(BASH), 0.1)

    asyncio.run(go())


def test_a_prompt_is_changed_and_gets_the_notes(made: Any) -> None:
    hooks = made(
        "hooks:\n"
        "  - {id: brief, on: session.start, then: {tell: Be brief.}}\n"
        "  - {id: mask, on: prompt.submit, then: {replace: {in: prompt, pattern: key, with: '***'}}}\n"
    )
    start = asyncio.run(hooks.new_run().start("My key."))
    assert (start.prompt, start.refusal, start.is_changed) == ("My ***.\n\nBe brief.", None, True)


def test_the_request_is_changed_and_notes_stay_in_it(made: Any) -> None:
    hooks = made(
        "hooks:\n"
        "  - {id: house, on: turn.start, when: {turn: 0}, then: {tell: {text: In English., place: system}}}\n"
        "  - {id: now, on: turn.start, when: {turn: 0}, then: {tell: It is noon.}}\n"
        "  - {id: mask, on: history.request, then: {replace: {in: request.messages, pattern: key, with: '***'}}}\n"
    )
    user, reply = {"role": "user", "content": "My key."}, {"role": "assistant", "content": "Hm."}

    async def go() -> None:
        run = hooks.new_run()
        first = await run.before_model([user], FORMAT, "Be nice.")
        assert first.system == "Be nice.\n\nIn English."
        assert first.messages is not None
        assert [each["content"] for each in first.messages] == ["My ***.", "It is noon."]
        second = await run.before_model([user, reply], FORMAT, "Be nice.")
        assert second.messages is not None
        assert [each["content"] for each in second.messages] == ["My ***.", "It is noon.", "Hm."]

    asyncio.run(go())


def test_an_unusable_request_is_not_sent(made: Any) -> None:
    hooks = made("hooks: [{id: bad, on: history.request, then: {set: {request.messages: nothing}}}]")
    answer = asyncio.run(hooks.new_run().before_model([{"role": "user", "content": "x"}], FORMAT))
    assert answer.halted is not None


def test_the_answer_of_the_model_can_be_changed_and_withheld(made: Any) -> None:
    hooks = made(
        "hooks:\n"
        "  - {id: mask, on: message.create, then: {replace: {in: message.content, pattern: key, with: '***'}}}\n"
        "  - {id: no, on: message.create, when: {fact: {message.content: secret}}, then: {deny: No secrets.}}\n"
    )
    run = hooks.new_run()
    assert asyncio.run(run.after_model("a key")) == "a ***"
    assert asyncio.run(run.after_model("a secret")).startswith("[withheld: No secrets.")


def test_a_stop_is_denied_at_most_five_times(made: Any) -> None:
    hooks = made("hooks: [{id: more, on: stop, then: {deny: Go on.}}]")

    async def go() -> list[str | None]:
        run = hooks.new_run()
        return [await run.stop("done") for _ in range(7)]

    reasons = asyncio.run(go())
    assert [reason is not None for reason in reasons] == [True] * 5 + [False] * 2


def test_hooks_on_events_that_never_fire_are_named(made: Any, caplog: pytest.LogCaptureFixture) -> None:
    few = FrameworkSupport("few", "Few", "few", "few", "1", "…", ("tool.before",))
    with caplog.at_level(logging.WARNING):
        made("hooks: [{id: lost, on: history.compact, then: {deny: x}}]", few)
    assert "Few never fires history.compact: lost will not run" in caplog.text


def test_from_sync_code(made: Any) -> None:
    hooks = made("hooks: [{id: no, on: tool.before, then: {deny: No.}}]")
    assert hooks.run_sync(hooks.new_run().before_tool(BASH)).refusal is not None


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("RateLimitError", "rate_limit"),
        ("APITimeoutError", "timeout"),
        ("AuthenticationError", "auth"),
        ("X", "internal"),
    ],
)
def test_codes_of_errors(name: str, code: str) -> None:
    assert error_code(type(name, (Exception,), {})()) == code


def test_hooks_hear_of_a_model_that_fails(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    hooks = made("hooks: [{id: stop, on: model.error, when: {error_code: timeout}, then: {halt: Enough.}}]")
    run = hooks.new_run()
    asyncio.run(run.model_failed(TimeoutError("slow")))
    assert run.halted is not None
