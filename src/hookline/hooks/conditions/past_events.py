"""Conditions on what happened before in the session: `count` and `after`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from hookline.errors import ConditionError
from hookline.hooks.event import Event, FactPath
from hookline.hooks.hook import EventCount, Hook
from hookline.hooks.host import FireLimiter, Host
from hookline.hooks.match_deadline import NO_DEADLINE
from hookline.hooks.outcome import SILENT, Outcome
from hookline.hooks.protocols import May, Need
from hookline.hooks.readings import compute_once
from hookline.lazy_dataclasses import dataclass

_MEMORY: Final = "the memory of the host"  # a key of the event's cache


@dataclass(frozen=True, slots=True)
class CountReached:
    """Stands for a count in a condition until the hook is built: the hook's limit has it then."""

    count: EventCount

    def holds(self, event: Event, deadline: float = NO_DEADLINE) -> bool:
        raise ConditionError("count belongs at the top of when")

    def needs(self) -> tuple[Need, ...]:
        return ()

    def reads(self) -> Iterable[FactPath]:
        return (("session", "id"),)

    def __str__(self) -> str:
        return str(self.count)

    def why_not(self, event: Event) -> str:
        return f"there were not {self.count}"


@dataclass(frozen=True, slots=True)
class HappenedBefore:
    """In this session, the last call that `call` matches ended as wanted, and nothing of `since` came after it.

    Hooks of their own remember both; this one asks the host's memory. Without one it cannot be evaluated.
    """

    key: str  # of the memory
    words: str  # the condition, for people
    written: Any

    def holds(self, event: Event, deadline: float = NO_DEADLINE) -> bool:
        memory: FireLimiter | None = compute_once(event, _MEMORY, lambda *_: None)
        if memory is None:
            raise ConditionError("this host does not remember what happened in a session")
        return memory.recalls(event, self.key)

    def needs(self) -> tuple[Need, ...]:
        return ()

    def reads(self) -> Iterable[FactPath]:
        return (("session", "id"),)

    def __str__(self) -> str:
        return self.words

    def why_not(self, event: Event) -> str:
        return f"not yet in this session: {self.words}"


def provide_memory(event: Event, memory: FireLimiter) -> None:
    """Lets the conditions on this event ask what happened in its session."""
    compute_once(event, _MEMORY, lambda *_: memory)


@dataclass(frozen=True, slots=True)
class Remember:
    """The action that keeps what a condition `after` asks for."""

    key: str
    happened: bool
    words: str
    instant = True
    constant = None
    label = "the memory of a condition"
    may = May.NOTHING

    def changes(self) -> tuple[FactPath, ...]:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return (("session", "id"),)

    def describe(self) -> Iterator[tuple[str, str]]:
        yield "remember", f"{self.words}: {'yes' if self.happened else 'no'}"

    async def run(self, event: Event, host: Host) -> Outcome:
        host.limits.remember(event, self.key, self.happened)
        return SILENT


def is_observer(hook: Hook) -> bool:
    """True for a hook that nobody wrote: it observes calls for a condition `after` of another one."""
    return isinstance(hook.then, Remember)
