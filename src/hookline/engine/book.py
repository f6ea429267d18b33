"""The hooks in force: immutable layers, each with its own index.

Which hooks there are and how often each fired, as plain data.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from hookline.engine.decision import Decision
from hookline.engine.index import HookIndex
from hookline.engine.limits import CountingHost
from hookline.engine.round import Round
from hookline.errors import HooklineError, MustWait
from hookline.hooks.event import Event, FactPath
from hookline.hooks.events import EVENTS, event_name_in
from hookline.hooks.hook import Hook
from hookline.hooks.host import NOBODY, FireLimiter, Host


class Layer:
    """Hooks that came together: the user's, a project's, a skill's. Compiled once, never changed."""

    __slots__ = ("hooks", "indexes", "name")

    def __init__(self, name: str, hooks: Iterable[Hook]) -> None:
        self.name = name
        self.hooks = tuple(hooks)
        by_event: dict[str, list[Hook]] = {}
        for hook in self.hooks:
            by_event.setdefault(hook.event, []).append(hook)
        self.indexes = {
            event: HookIndex(sorted(of_event, key=lambda hook: hook.order)) for event, of_event in by_event.items()
        }


class Book:
    """What decides. A round in flight keeps the layers that it began with.

    `host` is asked where `decide` is given nobody; it keeps the counts as long as the book lives. `problems` are
    those that were found while the files were read.
    """

    __slots__ = ("_by_event", "_waiting", "host", "layers", "problems")

    def __init__(self, layers: Iterable[Layer] = (), host: Host = NOBODY, problems: Iterable[Any] = ()) -> None:
        self.layers = tuple(layers)
        self.host = CountingHost() if host is NOBODY else host
        self.problems = tuple(problems)
        self._by_event: dict[str, tuple[tuple[int, HookIndex], ...]] = {
            name: tuple((n, layer.indexes[name]) for n, layer in enumerate(self.layers) if name in layer.indexes)
            for name in EVENTS
        }
        self._waiting = frozenset(
            name for name, indexes in self._by_event.items() if any(index.waits for _, index in indexes)
        )

    @property
    def hooks(self) -> tuple[Hook, ...]:
        """Every hook, in the order in which those of one event are asked."""
        ranked = [
            (hook.order, n, at, hook) for n, layer in enumerate(self.layers) for at, hook in enumerate(layer.hooks)
        ]
        return tuple(row[3] for row in sorted(ranked, key=lambda row: row[:3]))

    async def decide(self, event: Event, host: Host = NOBODY, explain: bool = False) -> Decision:
        indexes = self._indexes_for(event)
        return (
            await Round(indexes, event, self._host_or_default(host), explain).decide() if indexes else Decision(event)
        )

    def decide_now(self, event: Event, host: Host = NOBODY, explain: bool = False) -> Decision:
        """The same decision without an event loop; raises MustWait before anyone is asked if a hook has to wait."""
        indexes = self._indexes_for(event)
        if event.name in self._waiting:
            waiting = Round(indexes, event, self._host_or_default(host), False).waiting_hook()
            if waiting is not None:
                raise MustWait(f"hook {waiting.id} has to wait for its answer; use `await book.decide(event)`")
        if not indexes:
            return Decision(event)
        deciding = Round(indexes, event, self.host if host is NOBODY else host, explain).decide()
        try:
            deciding.send(None)
        except StopIteration as done:
            decision: Decision = done.value
            return decision
        deciding.close()
        raise MustWait("a hook that said it answers at once did not; use `await book.decide(event)`")

    def hears(self, event_name: str) -> bool:
        """False if no hook is on this event, so nobody need be asked."""
        return bool(self._by_event.get(event_name))

    def reads(self, event_name: str) -> frozenset[FactPath]:
        """The facts that any hook on this event reads: what a host need not gather, it may leave out."""
        hooks = (entry.hook for _, index in self._by_event.get(event_name, ()) for entry in index.entries)
        return frozenset(path for hook in hooks for path in hook.reads())

    def with_layer(self, layer: Layer) -> Book:
        """The same book with this layer added, or in place of the one with its name."""
        held = [layer if old.name == layer.name else old for old in self.layers]
        return Book(held if layer in held else (*held, layer), self.host, self.problems)

    def without_layer(self, name: str) -> Book:
        return Book((layer for layer in self.layers if layer.name != name), self.host, self.problems)

    def _indexes_for(self, event: Event) -> tuple[tuple[int, HookIndex], ...]:
        try:
            return self._by_event[event.name]
        except KeyError:
            raise HooklineError(f"there is no event {event.name!r}; the events are {', '.join(EVENTS)}") from None

    def _host_or_default(self, host: Host) -> Host:
        return self.host if host is NOBODY else host


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pauses the garbage collector while many small values are made; it finds nothing and takes most of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.freeze()  # together these two move what was made to the oldest generation, without a look at it
            gc.unfreeze()
            gc.enable()


def introspect(book: Book, limits: FireLimiter, session: str) -> list[dict[str, Any]]:
    """One row for each hook, in the order in which they are asked.

    `fires` is None for a hook whose fires nobody counts. `last_fire` is a moment of the host's clock, in seconds.
    """
    return [_hook_row(hook, limits, session) for hook in book.hooks]


def _hook_row(hook: Hook, limits: FireLimiter, session: str) -> dict[str, Any]:
    limit = hook.limit
    counted = limit.is_counted or any((limit.max_fires, limit.cooldown, limit.cooldown_turns))
    fires, last = limits.fires(hook, session) if counted else (None, None)
    return {
        "id": hook.id,
        "event": hook.event,
        "event_as_written": event_name_in(hook.origin.dialect, hook.event) or hook.event,
        "agent": hook.scope.agent,
        "enabled": hook.enabled,
        "tags": list(hook.tags),
        "order": hook.order,
        "fires": fires,
        "last_fire": last,
        "max_fires": limit.max_fires,
        "cooldown": _to_seconds(limit.cooldown),
        "cooldown_turns": limit.cooldown_turns,
        "file": hook.origin.file,
        "line": hook.origin.line,
        "dialect": hook.origin.dialect,
    }


def _to_seconds(length: timedelta | None) -> float | None:
    return None if length is None else length.total_seconds()
