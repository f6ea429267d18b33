"""The demo: an agent with a scripted model, and hooks of every format in one session."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol

from hookline.engine.book import Book
from hookline.errors import HooklineError
from hookline.hosts.python.session import Question
from hookline.project import Trust, find_sources, trust_file_path
from hookline.runtime.runtime import Runtime
from hookline.runtime.settings import Settings
from hookline.runtime.storage.store import file_url
from hookline.runtime.updates import Ending, ExchangeEnded, Update

PROMPT: Final = "Clean up this project, fix app.py, check the config, then deploy and publish."
PROJECT: Final = Path(__file__).parent / "project"
FILES: Final = {
    "settings.ini": "[service]\nurl = https://api.example.com\napi_key = sk-live-4f9a8b7c6d\n",
    "old_build/report.txt": "numbers from last year\n",
    "test_app.py": "from app import double\n\nassert double(21) == 42\nprint('tests passed')\n",
}


class DemoDisplay(Protocol):
    """Shows the demo to the user."""

    def __call__(self, update: Update) -> None: ...
    def show_prompt(self, text: str) -> None: ...
    def say(self, text: str) -> None: ...


async def run_demo(stage: DemoDisplay) -> None:
    """Raises HooklineError if the session does not finish."""
    with demo_project() as (workspace, settings):
        async with Runtime.open(workspace, settings(stage)) as runtime:
            stage.say(_describe_hooks(runtime.book))
            session = await runtime.start()
            stage.show_prompt(PROMPT)
            last: Update | None = None
            async for update in session.say(PROMPT):
                last = update
            await session.end()
            if not isinstance(last, ExchangeEnded) or last.ending is not Ending.ANSWERED:
                raise HooklineError("the demo did not finish")


class _SettingsFactory(Protocol):
    def __call__(self, stage: DemoDisplay) -> Settings: ...


@contextmanager
def demo_project() -> Iterator[tuple[Path, _SettingsFactory]]:
    """A temporary project with the demo's files, trusted as by `hookline trust`, in its own home."""
    with tempfile.TemporaryDirectory(prefix="hookline-demo-") as name:
        place = Path(name).resolve()
        workspace, home = place / "project", place / "home"
        shutil.copytree(PROJECT, workspace, ignore=shutil.ignore_patterns("__pycache__"))
        home.mkdir()
        (workspace / ".git").mkdir()  # nothing above it belongs to the project
        for file, text in FILES.items():
            (workspace / file).parent.mkdir(parents=True, exist_ok=True)
            (workspace / file).write_text(text, encoding="utf-8")
        Trust(trust_file_path(home)).accept(find_sources(workspace, home))

        def settings(stage: DemoDisplay) -> Settings:
            store = file_url(place / "sessions.db")
            return Settings(home=home, env={}, store=store, watch=stage, ask=_answer_no, explain=True)

        yield workspace, settings


async def _answer_no(question: Question) -> bool:
    return False


def _describe_hooks(book: Book) -> str:
    counted = Counter((hook.origin.dialect, hook.origin.file) for hook in book.hooks)
    lines = [f"  {dialect:<16}{file:<26}{count}" for (dialect, file), count in counted.items()]
    return "\n".join(("A session with hooks of six formats, offline. Only its model is scripted.", "", *lines))
