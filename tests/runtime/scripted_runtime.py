"""An agent of ours with a scripted model, in a directory of its own: what tests of the loop begin with."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hookline.engine.book import Book
from hookline.project import load_text
from hookline.runtime.agent_session import AgentSession
from hookline.runtime.apps.app import Agent, AgentSide, App, Prompt
from hookline.runtime.models.model import CompletionRequest
from hookline.runtime.models.scripted import ScriptedModel, ScriptStep
from hookline.runtime.runtime import Runtime
from hookline.runtime.settings import Settings
from hookline.runtime.updates import DecisionMade, ExchangeEnded, Update


def make_agent(id: str = "helper", **options: Any) -> Agent:
    return Agent(id, AgentSide(Prompt("main", "You are a helper.")), **options)


def tool_call_step(*wanted: tuple[str, dict[str, Any] | str], say: str = "") -> ScriptStep:
    return ScriptStep(say=say, calls=wanted)


class RecordingModel(ScriptedModel):
    """Keeps the requests that it was sent."""

    def __init__(self, steps: Sequence[ScriptStep | str], **options: Any) -> None:
        super().__init__(steps, **options)
        self.requests: list[CompletionRequest] = []

    async def stream(self, request: CompletionRequest) -> AsyncIterator[Any]:
        self.requests.append(request)
        async for piece in super().stream(request):
            yield piece


@dataclass
class UpdateRecorder:
    """All that happened, in order."""

    happenings: list[Update] = field(default_factory=list)

    def __call__(self, happening: Update) -> None:
        self.happenings.append(happening)

    def of_type(self, kind: type[Any]) -> list[Any]:
        return [each for each in self.happenings if isinstance(each, kind)]

    @property
    def events(self) -> list[str]:
        return [each.decision.event.name for each in self.of_type(DecisionMade)]

    def facts(self, event: str) -> dict[str, Any]:
        """Of the first such event that a hook had something to say about."""
        return next(
            each.decision.event.facts for each in self.of_type(DecisionMade) if each.decision.event.name == event
        )

    @property
    def last_end(self) -> ExchangeEnded:
        found = self.of_type(ExchangeEnded)
        assert found, "the exchange did not end"
        return found[-1]


@asynccontextmanager
async def open_runtime(
    workspace: Path,
    hooks: str | Book = "",
    steps: Sequence[ScriptStep | str] = ("done",),
    *,
    app: App | None = None,
    file: str = "hookline.yaml",
    model: ScriptedModel | None = None,
    store: str = "sqlite://",
    env: dict[str, str] | None = None,
    **settings: Any,
) -> AsyncIterator[tuple[Runtime, RecordingModel | ScriptedModel]]:
    """`hooks` as if they stood in `file`, trusted."""
    book = hooks if isinstance(hooks, Book) else load_text(hooks, file) if hooks else Book()
    assert not book.problems
    said = model or RecordingModel(steps)
    home = workspace / "home"
    home.mkdir(exist_ok=True)
    chosen = Settings(
        home=home,
        env=env or {"PATH": os.environ["PATH"]},
        app=app or App((make_agent(),)),
        book=book,
        model=said,
        store=store,
        sleep=_short_sleep,
        **settings,
    )
    async with Runtime.open(workspace, chosen) as runtime:
        yield runtime, said


async def send_prompt(session: AgentSession, prompt: str, seen: UpdateRecorder | None = None) -> UpdateRecorder:
    seen = seen or UpdateRecorder()
    async for happening in session.say(prompt):
        seen(happening)
    return seen


def run_async(work: Callable[[], Awaitable[Any]]) -> Any:
    async def bounded() -> Any:
        async with asyncio.timeout(60):
            return await work()

    return asyncio.run(bounded())


async def _short_sleep(seconds: float) -> None:
    await asyncio.sleep(0.01 if seconds else 0)
