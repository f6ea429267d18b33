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
from hookline.runtime.app import Agent, App, Prompt, Side
from hookline.runtime.happenings import Decided, Ended, Happening
from hookline.runtime.models.model import Request
from hookline.runtime.models.script import ScriptedModel, Step
from hookline.runtime.runtime import Runtime
from hookline.runtime.session import Session
from hookline.runtime.settings import Settings


def agent(id: str = "helper", **options: Any) -> Agent:
    return Agent(id, Side(Prompt("main", "You are a helper.")), **options)


def calls(*wanted: tuple[str, dict[str, Any] | str], say: str = "") -> Step:
    return Step(say=say, calls=wanted)


class Listening(ScriptedModel):
    """Keeps the requests that it was sent."""

    def __init__(self, steps: Sequence[Step | str], **options: Any) -> None:
        super().__init__(steps, **options)
        self.requests: list[Request] = []

    async def stream(self, request: Request) -> AsyncIterator[Any]:
        self.requests.append(request)
        async for piece in super().stream(request):
            yield piece


@dataclass
class Seen:
    """All that happened, in order."""

    happenings: list[Happening] = field(default_factory=list)

    def __call__(self, happening: Happening) -> None:
        self.happenings.append(happening)

    def of(self, kind: type[Any]) -> list[Any]:
        return [each for each in self.happenings if isinstance(each, kind)]

    @property
    def events(self) -> list[str]:
        return [each.decision.event.name for each in self.of(Decided)]

    def facts(self, event: str) -> dict[str, Any]:
        """Of the first such event that a hook had something to say about."""
        return next(each.decision.event.facts for each in self.of(Decided) if each.decision.event.name == event)

    @property
    def ended(self) -> Ended:
        found = self.of(Ended)
        assert found, "the exchange did not end"
        return found[-1]


@asynccontextmanager
async def running(
    workspace: Path,
    hooks: str | Book = "",
    steps: Sequence[Step | str] = ("done",),
    *,
    app: App | None = None,
    file: str = "hookline.yaml",
    model: ScriptedModel | None = None,
    store: str = "sqlite://",
    **settings: Any,
) -> AsyncIterator[tuple[Runtime, Listening | ScriptedModel]]:
    """`hooks` as if they stood in `file`, trusted."""
    book = hooks if isinstance(hooks, Book) else load_text(hooks, file) if hooks else Book()
    assert not book.problems
    said = model or Listening(steps)
    home = workspace / "home"
    home.mkdir(exist_ok=True)
    env = {"PATH": os.environ["PATH"]}
    chosen = Settings(
        home=home, env=env, app=app or App((agent(),)), book=book, model=said, store=store, sleep=_at_once, **settings
    )
    async with Runtime.open(workspace, chosen) as runtime:
        yield runtime, said


async def said(session: Session, prompt: str, seen: Seen | None = None) -> Seen:
    seen = seen or Seen()
    async for happening in session.say(prompt):
        seen(happening)
    return seen


def play(work: Callable[[], Awaitable[Any]]) -> Any:
    async def bounded() -> Any:
        async with asyncio.timeout(60):
            return await work()

    return asyncio.run(bounded())


async def _at_once(seconds: float) -> None:
    await asyncio.sleep(0.01 if seconds else 0)
