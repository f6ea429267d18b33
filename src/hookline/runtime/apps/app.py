"""An app: its agents, models, servers and triggers, independent of the file format."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final

from hookline.config.problem import Problem
from hookline.lazy_dataclasses import dataclass, field
from hookline.runtime.triggers.trigger import Trigger
from hookline.standard_agents.definitions import Definitions

MAX_STEPS: Final = 250  # of one exchange; an agent's own limit can only be lower


@dataclass(frozen=True, slots=True)
class Prompt:
    """A system prompt, with the model and tools to use with it."""

    name: str
    text: str = ""
    model: str | None = None  # None: the agent's model
    tools: tuple[str, ...] | None = None  # names or globs; None: all tools


@dataclass(frozen=True, slots=True)
class AgentSide:
    """One speaker: an AI with its prompt, and the conditions that end its turn or the session."""

    prompt: Prompt
    label: str = ""
    stop_on_response: bool = True  # an answer without a tool call ends its turn
    stop_tool: str | None = None
    max_steps: int | None = None
    session_stop: str | None = None  # a tool whose success ends the session
    session_fail: str | None = None


@dataclass(frozen=True, slots=True)
class Agent:
    id: str
    side_a: AgentSide
    side_b: AgentSide | None = None  # None: a person
    name: str = ""
    description: str = ""
    model: str | None = None  # `provider:model`, or a name in App.models; None: the app's model
    subagents: tuple[str, ...] | None = None  # ids that it may start; None: all other agents of the app
    max_session_turns: int | None = None  # prompts per session; for two AIs, answers per prompt


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model that the app gave a name."""

    model: str  # `provider:model`, with `@URL` for your own server
    fallbacks: tuple[str, ...] = ()
    context_limit: int | None = None


@dataclass(frozen=True, slots=True)
class McpServer:
    """An MCP server: a program, or a URL."""

    name: str
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout: timedelta = timedelta(seconds=60)  # of one call


@dataclass(frozen=True, slots=True)
class LanguageServer:
    name: str
    command: tuple[str, ...]
    files: tuple[str, ...]  # globs of the files that it handles
    language: str = ""  # language id of the protocol; "": the name
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class App:
    agents: tuple[Agent, ...]  # you talk to the first one
    model: str | None = None
    models: Mapping[str, NamedModel] = field(default_factory=dict)
    servers: tuple[McpServer, ...] = ()
    language_servers: tuple[LanguageServer, ...] = ()
    triggers: tuple[Trigger, ...] = ()
    skills: tuple[Path, ...] = ()  # folders that contain skill folders
    definitions: Definitions = field(default_factory=Definitions)  # defined in Python
    store: str | None = None  # a URL; None: the default SQLite database
    private_hosts: tuple[str, ...] = ()  # private host or host:port that `fetch` may access
    problems: tuple[Problem, ...] = ()

    def agent(self, id: str) -> Agent | None:
        return next((agent for agent in self.agents if agent.id == id), None)
