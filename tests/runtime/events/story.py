"""One session in which every event comes: what the hooks of each dialect are shown, in the order of a whole turn.

A prompt; a model that is busy at first; a tool that works, one that fails, one that is denied, one that a person is
asked about; a sub-agent; a stop that is denied; a message that somebody corrects; a history that is shortened; the
session's end. Then a trigger starts a session of its own.
"""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hookline.engine.book import Book, Layer
from hookline.hooks.hook import Hook
from hookline.hosts.session import Question
from hookline.patterns.pattern import pattern
from hookline.project import load_text
from hookline.runtime.app import Agent, App, Prompt, Side, Trigger, TriggerKind
from hookline.runtime.happenings import Decided
from hookline.runtime.models.model import ErrorCode
from hookline.runtime.models.script import Heard, Script, ScriptedModel, Section, Step
from hookline.runtime.serving import Serving
from hookline.runtime.triggers.fired import fired
from hookline.standard_agents import Definitions
from hookline.testing import FakeClock
from runtime.agents import Seen, calls, running, said

SESSION = "session_of_the_story"
USER = getpass.getuser()

NIGHTLY = Trigger("nightly", TriggerKind.CRON, "0 3 * * *", "Nightly: look at {{trigger.place}}.")
APP = App(
    (
        Agent("boss", Side(Prompt("boss_prompt", "You are the boss."), max_steps=20), name="Boss"),
        Agent("reviewer", Side(Prompt("reviewer_prompt", "You are the reviewer.")), description="reviews"),
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
    Step(say="Nothing more.", when=Heard(prompt=pattern("^And now"))),
    Step(say="All tidy.", when=Heard(prompt=pattern("^Nightly"))),
    Step(error=ErrorCode.RATE_LIMIT, message="too many requests"),
    calls(("write_file", {"path": "notes.txt", "content": "one\n"}), say="I write."),
    calls(("read_file", {"path": "missing.txt"})),
    calls(("bash", {"command": "rm -rf build"})),
    calls(("bash", {"command": "echo push"})),
    calls(("agent", {"agent": "reviewer", "prompt": "Look at notes.txt."})),
    Step(say="Done."),
    Step(say="Thanks."),
)


@dataclass(frozen=True, slots=True)
class Mark:
    """Where the story has come to."""

    text: str


@dataclass(frozen=True, slots=True)
class Fired:
    """A hook was asked; `name` is its event in its dialect's words."""

    hook: str
    event: str
    agent: str


async def played(
    workspace: Path, hooks: tuple[Hook, ...], definitions: Definitions | None = None
) -> list[Mark | Fired]:
    """The story with these hooks, asked before the story's own; who was asked, in order."""
    app = replace(APP, definitions=definitions) if definitions is not None else APP
    book = Book((Layer("told", hooks), Layer("story", load_text(_DENIES_AND_ASKS, "hookline.yaml").hooks)))
    seen = Seen()
    marks: list[tuple[int, str]] = []
    model = ScriptedModel(
        Script(
            steps=(Step(say="They tidied up."),),
            sections=(
                Section(pattern(r"the boss\."), _BOSS),
                Section(pattern(r"the reviewer\."), (Step(say="It is good."),)),
            ),
            context_limit=1000,
        )
    )

    def mark(text: str) -> None:
        marks.append((len(seen.happenings), text))

    async with running(workspace, book, app=app, model=model, watch=seen, ask=_yes, clock=FakeClock()) as (runtime, _):
        mark("a session begins")
        session = await runtime.start(id=SESSION)
        mark("the user says: Tidy up.")
        await said(session, "Tidy up.")
        mark("somebody corrects the prompt")
        first = (await session.main.get_messages())[0]
        await session.main.update_message(first["id"], {"content": "Tidy up, please."})
        mark("the user says: And now?")
        await said(session, "And now?")
        mark("the session ends")
        await session.end()
        mark("a trigger fires")
        at = datetime(2026, 1, 1, 3, tzinfo=UTC)
        await Serving(runtime).fire(fired(NIGHTLY, at, place="the logs"))
    return list(_told(seen, marks))


async def _yes(question: Question) -> bool:
    return True


def _told(seen: Seen, marks: list[tuple[int, str]]) -> Iterator[Mark | Fired]:
    waiting = list(marks)
    for at, happening in enumerate(seen.happenings):
        while waiting and waiting[0][0] <= at:
            yield Mark(waiting.pop(0)[1])
        if isinstance(happening, Decided):
            yield from _asked(happening)


def _asked(decided: Decided) -> Iterator[Fired]:
    for account in decided.decision.trace:
        if account.applied and not account.again:
            yield Fired(account.hook.id, decided.decision.event.name, decided.agent)


def value_at(told: Any, path: str) -> Any:
    """The value at a dotted path; None where there is none."""
    for step in path.split("."):
        if isinstance(told, list) and step.lstrip("-").isdigit():
            told = told[int(step)] if -len(told) <= int(step) < len(told) else None
        else:
            told = told.get(step) if isinstance(told, dict) else None
    return told
