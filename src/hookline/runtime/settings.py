"""How an agent is run."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from hookline.engine.book import Book
from hookline.hooks.host import Clock, SystemClock
from hookline.project.trust_store import Trust, trust_file_path
from hookline.runtime.approvals import AskCallback
from hookline.runtime.apps.app import App
from hookline.runtime.models.model import Model
from hookline.runtime.storage.store import file_url
from hookline.runtime.updates import Update


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How an agent is run; what is not said is found in the directory and the user's home."""

    home: Path = field(default_factory=Path.home)
    env: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    app: App | None = None
    app_file: Path | None = None
    config: Path | None = None  # hooks of this file only, which is trusted
    book: Book | None = None
    model: str | Model | None = None
    tools: tuple[Callable[..., Any], ...] = ()  # Python functions that the agent may call
    store: str | None = None  # a URL
    watch: Callable[[Update], None] | None = None  # told of all that happens, from a session's first event on
    ask: AskCallback | None = None  # called where hooks want a person to look
    unattended: bool = False  # nobody can be asked: a question is a no at once
    patience: timedelta = timedelta(minutes=10)  # with a question
    idle: timedelta = timedelta(minutes=30)  # after which a session ends
    explain: bool = False  # decisions tell why each hook did not act
    clock: Clock = field(default_factory=SystemClock)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    @property
    def trust(self) -> Trust:
        return Trust(trust_file_path(self.home, self.env_path("XDG_STATE_HOME")))

    def env_path(self, name: str) -> Path | None:
        """A relative path in such a variable counts as unset, as its specification says."""
        value = self.env.get(name, "")
        return Path(value) if os.path.isabs(value) else None

    @property
    def default_store(self) -> str:
        """In the user's state, never in the workspace: a repository could bring a store with answers in it."""
        state = self.env_path("XDG_STATE_HOME") or self.home / ".local" / "state"
        return file_url(state / "hookline" / "sessions.db")
