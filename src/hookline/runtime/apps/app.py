"""What an agent is, whatever file described it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Final

from hookline.config.problem import Problem
from hookline.runtime.triggers.trigger import Trigger
from hookline.standard_agents.definitions import Definitions

MAX_STEPS: Final = 250  # of one exchange, whatever an agent's own limit says


@dataclass(frozen=True, slots=True)
class Prompt:
    """A system prompt with what holds while it is active."""

    name: str
    text: str = ""
    model: str | None = None  # None: the agent's
    tools: tuple[str, ...] | None = None  # names or globs; None: what every agent has


@dataclass(frozen=True, slots=True)
class AgentSide:
    """One that speaks: an AI with its prompt, and when its turn and the session end."""

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
    side_b: AgentSide | None = None  # None: the other one is a person
    name: str = ""
    description: str = ""
    model: str | None = None  # `provider:model`, or a name in App.models; None: the app's
    subagents: tuple[str, ...] | None = None  # ids that it may start; None: all others of the app
    max_session_turns: int | None = None  # prompts of a session; of two AIs, their answers to one


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model by a name of the app's own."""

    model: str  # `provider:model`, with `@URL` for a server of one's own
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
    files: tuple[str, ...]  # globs of the files that it knows about
    language: str = ""  # the id that the protocol wants; "": the name
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class App:
    agents: tuple[Agent, ...]  # the first one is talked to
    model: str | None = None
    models: Mapping[str, NamedModel] = field(default_factory=dict)
    servers: tuple[McpServer, ...] = ()
    language_servers: tuple[LanguageServer, ...] = ()
    triggers: tuple[Trigger, ...] = ()
    skills: tuple[Path, ...] = ()  # folders that hold folders with a SKILL.md
    definitions: Definitions = field(default_factory=Definitions)  # what was defined in Python
    store: str | None = None  # a URL; None: SQLite beside the project
    private_hosts: tuple[str, ...] = ()  # host or host:port that `fetch` may reach though it is not public
    problems: tuple[Problem, ...] = ()

    def agent(self, id: str) -> Agent | None:
        return next((agent for agent in self.agents if agent.id == id), None)
