"""Every answer that an event accepts is obeyed: one row each, and what becomes of a run."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from hookline.errors import Denied, HooklineError
from hookline.hooks.events import EVENTS, EventKind
from hookline.hooks.protocols import May
from hookline.hosts.python.session import Question
from hookline.patterns.pattern import pattern
from hookline.runtime.agent_session import AgentSession
from hookline.runtime.apps.app import Agent, AgentSide, App, Prompt
from hookline.runtime.models.model import ErrorCode
from hookline.runtime.models.scripted import ModelScript, RequestMatcher, ScriptedModel, ScriptSection, ScriptStep
from hookline.runtime.runtime import Runtime
from hookline.runtime.trigger_sessions import TriggerServer
from hookline.runtime.triggers.trigger import Trigger, TriggerKind, build_activation
from hookline.runtime.updates import HistoryCompacted, StatusMessage
from runtime.scripted_runtime import UpdateRecorder, open_runtime, run_async, send_prompt, tool_call_step

ROWS: dict[str, dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "events" / "answers.yaml").read_text("utf-8"))
CASES = [(event, answer) for event, answers in ROWS.items() for answer in answers]
_TRIGGER = Trigger("nightly", TriggerKind.CRON, "0 3 * * *", "go")
_APP = App(
    (
        Agent("boss", AgentSide(Prompt("boss_prompt", "You are the boss."))),
        Agent("reviewer", AgentSide(Prompt("reviewer_prompt", "You are the reviewer."))),
    ),
    triggers=(_TRIGGER,),
)
_TOUCH = tool_call_step(("bash", {"command": "touch made"}))
_STEPS: Final[dict[str, tuple[ScriptStep, ...]]] = {
    "failing": (tool_call_step(("read_file", {"path": "missing"})), ScriptStep(say="ok")),
    "error": (ScriptStep(error=ErrorCode.RATE_LIMIT), ScriptStep(say="ok")),
    "second_error": (_TOUCH, ScriptStep(error=ErrorCode.RATE_LIMIT), ScriptStep(say="ok")),
    "spawning": (tool_call_step(("agent", {"agent": "reviewer", "prompt": "look"})), ScriptStep(say="ok")),
    "trigger": (ScriptStep(say="ok"),),
}
_BESIDE: Final = {
    "asking": "{id: careful, on: tool.before, then: {ask: 'Really?'}}",
    "compacting": "{id: shorter, on: turn.end, when: {turn: 0}, then: {compact: {keep_recent: 1}}}",
}


@dataclass(slots=True)
class Ran:
    """What became of a run."""

    workspace: Path
    seen: UpdateRecorder = field(default_factory=UpdateRecorder)
    sent: list[str] = field(default_factory=list)  # requests
    stored: str = ""
    starts: bool = True
    raises: str = ""
    ended: str | None = None


@pytest.mark.parametrize(("event", "answer"), CASES, ids=[f"{event}: {answer}" for event, answer in CASES])
def test_an_answer_is_obeyed(tmp_path: Path, event: str, answer: str) -> None:
    row = ROWS[event][answer]
    ran = Ran(tmp_path)
    run_async(lambda: _run(ran, event, row))
    for key in row.keys() - {"in", "then", "when"}:
        _CHECKS[key](ran, row[key])


def test_every_answer_of_every_event_has_its_row() -> None:
    assert {(event, answer) for event, answer in CASES} == {
        (kind.name, answer) for kind in EVENTS.values() for answer in _accepted(kind)
    }


def _accepted(kind: EventKind) -> Iterator[str]:
    words = {May.DENY: "deny", May.ALLOW: "allow", May.ASK: "ask", May.HALT: "halt", May.COMPACT: "compact"}
    yield from (word for may, word in words.items() if kind.accepts & may)
    if kind.accepts & May.NOTES:
        yield from ("tell agent", "tell user")
    yield from (f"change {path}" for path in kind.changes)


# Running


async def _run(ran: Ran, event: str, row: dict[str, Any]) -> None:
    where = row.get("in", "plain")
    model = ScriptedModel(
        ModelScript(
            _STEPS.get(where, (_TOUCH, ScriptStep(say="ok"))),
            (ScriptSection(pattern(r"the reviewer\."), (ScriptStep(say="good", when=RequestMatcher()),)),),
            end="well",
        ),
        on_request=lambda request: ran.sent.append(json.dumps(request.messages)),
    )
    options: dict[str, Any] = {"ask": _yes} if where == "asking" else {"unattended": True}
    async with open_runtime(ran.workspace, _hooks(event, row), app=_APP, model=model, watch=ran.seen, **options) as (
        runtime,
        _,
    ):
        await _played(ran, runtime, where)


async def _yes(question: Question) -> bool:
    return True


def _hooks(event: str, row: dict[str, Any]) -> str:
    """The row's hook, what the run needs beside it, and one on each event that writes down that it came."""
    own = {"id": "own", "on": event, "then": row["then"], **({"when": row["when"]} if "when" in row else {})}
    beside = _BESIDE.get(row.get("in", ""))
    logs = [json.dumps({"id": f"see-{name}", "on": name, "then": {"log": "seen"}}) for name in EVENTS]
    return f"hooks: [{', '.join([json.dumps(own), *([beside] if beside else []), *logs])}]"


async def _played(ran: Ran, runtime: Runtime, where: str) -> None:
    if where == "trigger":
        await TriggerServer(runtime).fire(build_activation(_TRIGGER, datetime(2026, 1, 1, tzinfo=UTC)))
        return
    try:
        session = await runtime.start()
    except Denied:
        ran.starts = False
        return
    await send_prompt(session, "go")
    if where in _AFTERWARDS:
        await _AFTERWARDS[where](ran, runtime, session)
    ran.stored = json.dumps(await runtime.store.messages(session.id))
    await session.end()
    row = await runtime.store.session(session.id)
    ran.ended = None if row is None else row.ended


async def _updated(ran: Ran, runtime: Runtime, session: AgentSession) -> None:
    first = (await session.main.get_messages())[0]
    try:
        await session.main.update_message(first["id"], {"content": "gone"})
    except HooklineError as error:
        ran.raises = str(error)
    await send_prompt(session, "more")


async def _again(ran: Ran, runtime: Runtime, session: AgentSession) -> None:
    await send_prompt(session, "more")


async def _reopened(ran: Ran, runtime: Runtime, session: AgentSession) -> None:
    await session.end()
    await send_prompt(await runtime.reopen(session.id), "more")


_AFTERWARDS: Final[dict[str, Callable[[Ran, Runtime, AgentSession], Awaitable[None]]]] = {
    "update": _updated,
    "second": _again,
    "reopened": _reopened,
}


# Looking


def _sees(ran: Ran, wanted: str) -> None:
    assert any(re.search(wanted, sent) for sent in ran.sent), ran.sent


def _never_sees(ran: Ran, unwanted: str) -> None:
    assert not any(re.search(unwanted, sent) for sent in ran.sent)


def _never(ran: Ran, events: list[str]) -> None:
    assert not set(events) & set(ran.seen.events)


def _is(read: Callable[[Ran], Any]) -> Callable[[Ran, Any], None]:
    def check(ran: Ran, expected: Any) -> None:
        assert read(ran) == expected

    return check


def _has(read: Callable[[Ran], str]) -> Callable[[Ran, str], None]:
    def check(ran: Ran, expected: str) -> None:
        assert re.search(expected, read(ran))

    return check


def _never_stored(ran: Ran, unwanted: str) -> None:
    assert not re.search(unwanted, ran.stored)


_CHECKS: Final[dict[str, Callable[[Ran, Any], None]]] = {
    "starts": _is(lambda ran: ran.starts),
    "ending": _is(lambda ran: str(ran.seen.last_end.ending)),
    "text": _has(lambda ran: ran.seen.last_end.text),
    "requests": _is(lambda ran: len(ran.sent)),
    "made": _is(lambda ran: (ran.workspace / "made").exists()),
    "compacted": _is(lambda ran: bool(ran.seen.of_type(HistoryCompacted))),
    "user": _has(lambda ran: "\n".join(told.text for told in ran.seen.of_type(StatusMessage))),
    "raises": _has(lambda ran: ran.raises),
    "stored": _has(lambda ran: ran.stored),
    "ended": _is(lambda ran: ran.ended),
    "sees": _sees,
    "never_sees": _never_sees,
    "never_stored": _never_stored,
    "never": _never,
}
