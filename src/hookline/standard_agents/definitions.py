"""What a program has defined so far: hooks, prompts, agents, tools and models."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, Literal, Protocol, TypeVar

from hookline.errors import HooklineError
from hookline.lazy_dataclasses import dataclass, field


class DefinitionError(HooklineError):
    """A definition is invalid."""


class NotDefined(HooklineError):
    """Nothing of this name was defined."""


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """Where a definition was made."""

    file: str = ""
    line: int = 1


@dataclass(frozen=True, slots=True)
class HookDefinition:
    hook: str  # one of the twelve
    id: str
    execute: Callable[..., Any] = field(compare=False)
    place: SourceLocation = field(default=SourceLocation(), compare=False)


@dataclass(frozen=True, slots=True)
class PromptDefinition:
    name: str
    prompt: str = ""
    model: str | None = None
    tools: tuple[str, ...] = ()
    hooks: tuple[str, ...] | None = None  # None: the agent's hooks apply
    tool_description: str = ""
    place: SourceLocation = field(default=SourceLocation(), compare=False)


@dataclass(frozen=True, slots=True)
class Side:
    """One of two sides that take turns: an AI with its prompt, and what ends its turn and the session."""

    prompt: str
    label: str = ""
    stop_on_response: bool = True
    stop_tool: str | None = None
    max_steps: int | None = None
    session_stop: str | None = None  # a tool whose success ends the session
    session_fail: str | None = None


@dataclass(frozen=True, slots=True)
class AgentDefinition:
    name: str
    type: Literal["ai_human", "dual_ai"] = "ai_human"
    side_a: Side | None = None
    side_b: Side | None = None
    hooks: tuple[str, ...] | None = None
    max_session_turns: int | None = None
    description: str = ""
    place: SourceLocation = field(default=SourceLocation(), compare=False)


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    name: str
    description: str
    execute: Callable[..., Any] = field(compare=False)
    args: Mapping[str, Any] | None = None  # JSON Schema of its input; None: it takes no input
    place: SourceLocation = field(default=SourceLocation(), compare=False)


@dataclass(frozen=True, slots=True)
class ModelDefinition:
    name: str
    provider: str
    model: str
    fallbacks: tuple[str, ...] = ()
    place: SourceLocation = field(default=SourceLocation(), compare=False)


class _Definition(Protocol):
    @property
    def place(self) -> SourceLocation: ...


D = TypeVar("D", bound=_Definition)


class Definitions:
    """A set of definitions. Each hook id is unique, and so is each name within its kind."""

    def __init__(self) -> None:
        self.hooks: dict[str, HookDefinition] = {}
        self.prompts: dict[str, PromptDefinition] = {}
        self.agents: dict[str, AgentDefinition] = {}
        self.tools: dict[str, ToolDefinition] = {}
        self.models: dict[str, ModelDefinition] = {}
        self._parts: tuple[Definitions, ...] = ()
        self.unfinished: dict[str, SourceLocation] = {}  # hooks whose decorator has not been applied to a function yet

    @classmethod
    def join(cls, parts: Iterable[Definitions]) -> Definitions:
        """Everything that is in one of the parts; of two with the same name, the first. It keeps the parts alive."""
        new = cls()
        new._parts = tuple(parts)
        for part in new._parts:
            for mine, theirs in zip(new._by_kind(), part._by_kind(), strict=True):
                for name, definition in theirs.items():
                    mine.setdefault(name, definition)
        return new

    def _by_kind(self) -> tuple[dict[str, Any], ...]:
        return self.hooks, self.prompts, self.agents, self.tools, self.models

    def add(self, definition: _Definition) -> None:
        """Raises DefinitionError if the name is taken."""
        match definition:
            case HookDefinition(id=id):
                _add_unique(self.hooks, id, definition, "hook")
            case PromptDefinition(name=name):
                _add_unique(self.prompts, name, definition, "prompt")
            case AgentDefinition(name=name):
                _add_unique(self.agents, name, definition, "agent")
            case ToolDefinition(name=name):
                _add_unique(self.tools, name, definition, "tool")
            case ModelDefinition(name=name):
                _add_unique(self.models, name, definition, "model")
            case _:
                raise DefinitionError(f"{type(definition).__name__} is not a definition")

    def agent(self, name: str) -> AgentDefinition:
        return _look_up(self.agents, name, "agent")

    def prompt(self, name: str) -> PromptDefinition:
        return _look_up(self.prompts, name, "prompt")

    def model(self, name: str) -> ModelDefinition:
        return _look_up(self.models, name, "model")


def _add_unique(known: dict[str, D], name: str, definition: D, kind: str) -> None:
    first = known.setdefault(name, definition)
    if first is not definition:
        where = f", first in {first.place.file}:{first.place.line}" if first.place.file else ""
        word = "id" if kind == "hook" else "name"
        raise DefinitionError(f"the {kind} {name} is defined twice{where}. Give one of them another {word}.")


def _look_up(known: dict[str, D], name: str, kind: str) -> D:
    try:
        return known[name]
    except (KeyError, TypeError):
        names = ", ".join(known) or "none"
        raise NotDefined(f"there is no {kind} {name!r}. Defined: {names}") from None


_DEFAULT: Final = Definitions()
_current: ContextVar[Definitions] = ContextVar("standard_agents_definitions", default=_DEFAULT)


def current_definitions() -> Definitions:
    """The set that new definitions are added to."""
    return _current.get()


@contextmanager
def collecting(into: Definitions | None = None) -> Iterator[Definitions]:
    """Collects everything that is defined inside: `with collecting() as definitions:`."""
    definitions = Definitions() if into is None else into
    token = _current.set(definitions)
    try:
        yield definitions
    finally:
        _current.reset(token)
