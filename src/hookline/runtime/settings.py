"""Settings of a runtime."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hookline.config.problem import OnProblem
from hookline.engine.book import Book, Layer
from hookline.hooks.hook_files import HookFile
from hookline.hooks.host import Clock, SystemClock
from hookline.lazy_dataclasses import dataclass, field
from hookline.project.trust_store import Trust, trust_file_path
from hookline.runtime.approvals import AskCallback
from hookline.runtime.apps.app import App
from hookline.runtime.interception import Emitter
from hookline.runtime.models.model import Model
from hookline.runtime.storage.store import Store, file_url
from hookline.runtime.tools.tool_definition import Tool
from hookline.runtime.updates import Update

if TYPE_CHECKING:
    from hookline.runtime.agent_session import AgentSession
    from hookline.runtime.runtime_host import ThreadHost
    from hookline.runtime.thread import StoredThread


class ExtraHooks(NamedTuple):
    """Hooks that are in no file of the workspace, with the texts that the record keeps."""

    layer: Layer
    files: tuple[HookFile, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How an agent runs. What you leave out is found in the directory and the user's home."""

    home: Path = field(default_factory=Path.home)
    env: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    app: App | None = None
    app_file: Path | None = None
    config: Path | None = None  # hooks of this file only, which is trusted
    dialect: str | None = None  # of `config`; None: recognised by its name and content
    book: Book | None = None
    model: str | Model | None = None
    tools: tuple[Callable[..., Any], ...] = ()  # Python functions that the agent may call
    tools_for: Callable[[AgentSession], tuple[Tool, ...]] | None = None  # more tools; they replace others of that name
    store: str | Store | None = None  # a URL, or an open store that several runtimes share and you close
    host_for: Callable[[AgentSession, StoredThread], ThreadHost] | None = None  # what hooks of a thread reach
    extra_hooks: Callable[[], tuple[ExtraHooks, ...]] | None = None  # in force beside those of the files
    watch: Callable[[Update], None] | None = None  # called with every update, from a session's first event on
    interceptors: Emitter | None = None  # of AGENT-HOOKS 0.1, asked after hooks
    ask: AskCallback | None = None  # called when hooks ask for approval
    unattended: bool = False  # approval requests are denied at once
    patience: timedelta = timedelta(minutes=10)  # how long to wait for an approval
    idle: timedelta = timedelta(minutes=30)  # after which a session ends
    on_problem: OnProblem = "raise"  # "warn": start although a file has errors, without what cannot be used
    explain: bool = False  # decisions include why each hook did not act
    clock: Clock = field(default_factory=SystemClock)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    @property
    def trust(self) -> Trust:
        return Trust(trust_file_path(self.home, self.env_path("XDG_STATE_HOME")))

    def env_path(self, name: str) -> Path | None:
        """A relative path counts as unset, as the XDG specification says."""
        value = self.env.get(name, "")
        return Path(value) if os.path.isabs(value) else None

    @property
    def default_store(self) -> str:
        """In the user's state directory, never in the workspace: a repository could contain a store with forged approvals."""
        return file_url(self.state_directory / "sessions.db")

    @property
    def state_directory(self) -> Path:
        return (self.env_path("XDG_STATE_HOME") or self.home / ".local" / "state") / "hookline"
