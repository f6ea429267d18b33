"""One session in which every event comes: what the hooks of each dialect are shown, in the order of a whole turn.

A prompt; a model that is busy at first; a tool that works, one that fails, one that is denied, one that a person is
asked about; a sub-agent; a stop that is denied; a message that somebody corrects; a history that is shortened; the
session's end. Then a trigger starts a session of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hookline.engine.book import Book, Layer
from hookline.hooks.hook import Hook
from hookline.hooks.session_facts import login_name
from hookline.hosts.python.session import Question
from hookline.patterns.pattern import pattern
from hookline.project import load_text
from hookline.runtime.apps.app import Agent, AgentSide, App, Prompt
from hookline.runtime.models.model import ErrorCode
from hookline.runtime.models.scripted import ModelScript, RequestMatcher, ScriptedModel, ScriptSection, ScriptStep
from hookline.runtime.trigger_sessions import TriggerServer
from hookline.runtime.triggers.trigger import Trigger, TriggerKind, build_activation
from hookline.runtime.updates import DecisionMade
from hookline.standard_agents import Definitions
from hookline.testing import FakeClock
from runtime.scripted_runtime import UpdateRecorder, open_runtime, send_prompt, tool_call_step

SESSION = "session_of_the_story"
USER = login_name()

NIGHTLY = Trigger("nightly", TriggerKind.CRON, "0 3 * * *", "Nightly: look at {{trigger.place}}.")
APP = App(
    (
        Agent("boss", AgentSide(Prompt("boss_prompt", "You are the boss."), max_steps=20), name="Boss"),
        Agent("reviewer", AgentSide(Prompt("reviewer_prompt", "You are the reviewer.")), description="reviews"),
    ),
    triggers=(NIGHTLY,),
)

_DENIES_AND_ASKS = """
hooks:
  - {id: no-rm, on: tool.before, when: {tool: bash, input: {command: '^rm '}}, then: {deny: Nothing is removed here.}}
  - {id: careful, on: tool.before, when: {tool: bash, input: {command: push}}, then: {ask: 'Push?'}}
  - {id: thanks, on: stop, when: {fact: {stop.message: '^Done'}}, then: {deny: Say thanks.}}
  - {id: shorter, on: prompt.submit, when: {prompt: '^And now'}, then: {compact: {keep_recent: 2}}}
"""

_BOSS = (
    ScriptStep(say="Nothing more.", when=RequestMatcher(prompt=pattern("^And now"))),
    ScriptStep(say="All tidy.", when=RequestMatcher(prompt=pattern("^Nightly"))),
    ScriptStep(error=ErrorCode.RATE_LIMIT, message="too many requests"),
    tool_call_step(("write_file", {"path": "notes.txt", "content": "one\n"}), say="I write."),
    tool_call_step(("read_file", {"path": "missing.txt"})),
    tool_call_step(("bash", {"command": "rm -rf build"})),
    tool_call_step(("bash", {"command": "echo push"})),
    tool_call_step(("agent", {"agent": "reviewer", "prompt": "Look at notes.txt."})),
    ScriptStep(say="Done."),
    ScriptStep(say="Thanks."),
)


@dataclass(frozen=True, slots=True)
class ScenarioStep:
    """Where the story has come to."""

    text: str


@dataclass(frozen=True, slots=True)
class HookFired:
    """A hook was asked; `name` is its event in its dialect's words."""

    hook: str
    event: str
    agent: str


async def run_scenario(
    workspace: Path, hooks: tuple[Hook, ...], definitions: Definitions | None = None
) -> list[ScenarioStep | HookFired]:
    """The story with these hooks, asked before the story's own; who was asked, in order."""
    app = replace(APP, definitions=definitions) if definitions is not None else APP
    book = Book((Layer("told", hooks), Layer("story", load_text(_DENIES_AND_ASKS, "hookline.yaml").hooks)))
    seen = UpdateRecorder()
    marks: list[tuple[int, str]] = []
    model = ScriptedModel(
        ModelScript(
            steps=(ScriptStep(say="They tidied up."),),
            sections=(
                ScriptSection(pattern(r"the boss\."), _BOSS),
                ScriptSection(pattern(r"the reviewer\."), (ScriptStep(say="It is good."),)),
            ),
            context_limit=1000,
        )
    )

    def mark(text: str) -> None:
        marks.append((len(seen.happenings), text))

    async with open_runtime(workspace, book, app=app, model=model, watch=seen, ask=_approve, clock=FakeClock()) as (
        runtime,
        _,
    ):
        mark("a session begins")
        session = await runtime.start(id=SESSION)
        mark("the user says: Tidy up.")
        await send_prompt(session, "Tidy up.")
        mark("somebody corrects the prompt")
        first = (await session.main.get_messages())[0]
        await session.main.update_message(first["id"], {"content": "Tidy up, please."})
        mark("the user says: And now?")
        await send_prompt(session, "And now?")
        mark("the session ends")
        await session.end()
        mark("a trigger fires")
        at = datetime(2026, 1, 1, 3, tzinfo=UTC)
        await TriggerServer(runtime).fire(build_activation(NIGHTLY, at, place="the logs"))
    return list(_merge_steps(seen, marks))


async def _approve(question: Question) -> bool:
    return True


def _merge_steps(seen: UpdateRecorder, marks: list[tuple[int, str]]) -> Iterator[ScenarioStep | HookFired]:
    waiting = list(marks)
    for at, happening in enumerate(seen.happenings):
        while waiting and waiting[0][0] <= at:
            yield ScenarioStep(waiting.pop(0)[1])
        if isinstance(happening, DecisionMade):
            yield from _fired_hooks(happening)


def _fired_hooks(decided: DecisionMade) -> Iterator[HookFired]:
    for account in decided.decision.trace:
        if account.applied and not account.again:
            yield HookFired(account.hook.id, decided.decision.event.name, decided.agent)


def value_at(told: Any, path: str) -> Any:
    """The value at a dotted path; None where there is none."""
    for step in path.split("."):
        if isinstance(told, list) and step.lstrip("-").isdigit():
            told = told[int(step)] if -len(told) <= int(step) < len(told) else None
        else:
            told = told.get(step) if isinstance(told, dict) else None
    return told
