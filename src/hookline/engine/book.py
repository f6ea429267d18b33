"""The active hooks: immutable layers, each with its own index."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from hookline.engine.decision import Decision
from hookline.engine.fast_path import EventHooks
from hookline.engine.index import HookIndex
from hookline.engine.limits import CountingHost
from hookline.errors import HooklineError, MustWait
from hookline.hooks.event import Event, FactPath
from hookline.hooks.events import EVENTS, lacks_tool
from hookline.hooks.hook import Hook
from hookline.hooks.hook_files import NO_FILES, HookFile, HookFiles
from hookline.hooks.host import NO_HOST, FireLimiter, Host, current_hook
from hookline.hooks.outcome import Verdict
from hookline.hooks.protocols import May
from hookline.hooks.record_settings import DEFAULT_SETTINGS, RecordSettings
from hookline.lazy_dataclasses import replace
from hookline.lazy_imports import lazy_module

if TYPE_CHECKING:
    from hookline.engine import round as rounds
else:  # the fast path needs none
    rounds = lazy_module("hookline.engine.round")


class Layer:
    """Hooks that were loaded together: the user's, a project's, a skill's. Compiled once, never changed."""

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
    """The hooks that decide. It never changes, so a decision in progress keeps the hooks that it started with.

    `host` is used if you pass none to `decide`; it keeps the fire counts while the book lives. `problems` are those
    found while reading the files. `files` are the files whose hooks these are, and `record` says what is recorded.
    """

    __slots__ = ("_by_event", "files", "host", "layers", "problems", "record")

    def __init__(
        self,
        layers: Iterable[Layer] = (),
        host: Host = NO_HOST,
        problems: Iterable[Any] = (),
        files: HookFiles = NO_FILES,
        record: RecordSettings = DEFAULT_SETTINGS,
    ) -> None:
        self.layers = tuple(layers)
        self.host = CountingHost() if host is NO_HOST else host
        self.problems = tuple(problems)
        self.files = files
        self.record = record
        by_event: dict[str, list[tuple[int, HookIndex]]] = {}
        for number, layer in enumerate(self.layers):
            for name, index in layer.indexes.items():
                by_event.setdefault(name, []).append((number, index))
        self._by_event = {name: EventHooks(tuple(indexes)) for name, indexes in by_event.items()}

    @property
    def hooks(self) -> tuple[Hook, ...]:
        """Every hook, in the order in which those of one event run."""
        ranked = [
            (hook.order, number, position, hook)
            for number, layer in enumerate(self.layers)
            for position, hook in enumerate(layer.hooks)
        ]
        return tuple(row[3] for row in sorted(ranked, key=lambda row: row[:3]))

    async def decide(self, event: Event, host: Host = NO_HOST, explain: bool = False) -> Decision:
        hooks = self._by_event.get(event.name)
        if hooks is None:
            return _decide_nothing(event)
        started = None
        if not explain and current_hook.get() is None:  # only a round skips the hook whose call this is
            answer = hooks.decide_fast(event, False, self.host if host is NO_HOST else host)
            if isinstance(answer, Decision):
                return answer
            started = answer
        decision = await rounds.Round(hooks.indexes, event, self._host_or_default(host), explain, started).decide()
        return _deny_without_tool(decision, hooks) if lacks_tool(event) else decision

    def decide_now(self, event: Event, host: Host = NO_HOST, explain: bool = False) -> Decision:
        """Decides without an event loop. If a hook needs one, raises MustWait before any hook runs."""
        hooks = self._by_event.get(event.name)
        if hooks is None:
            return _decide_nothing(event)
        started = None
        if not explain and current_hook.get() is None:
            answer = hooks.decide_fast(event, hooks.waits, self.host if host is NO_HOST else host)
            if isinstance(answer, Decision):
                return answer
            started = answer
        if hooks.waits:
            waiting = rounds.Round(hooks.indexes, event, self._host_or_default(host), False).waiting_hook()
            if waiting is not None:
                raise MustWait(f"hook {waiting.id} needs an event loop; use `await book.decide(event)`")
        round = rounds.Round(hooks.indexes, event, self._host_or_default(host), explain, started)
        deciding = round.decide()
        try:
            deciding.send(None)
        except StopIteration as done:
            return _deny_without_tool(done.value, hooks)
        deciding.close()
        round.release_claims()
        raise MustWait("an action with `instant = True` waited; use `await book.decide(event)`")

    def hears(self, event_name: str) -> bool:
        """False if no hook is on this event, so you need not call `decide`."""
        return event_name in self._by_event

    def reads(self, event_name: str) -> frozenset[FactPath]:
        """The facts that hooks on this event read. A host may leave out all others."""
        hooks = self._by_event.get(event_name)
        indexes = () if hooks is None else hooks.indexes
        return frozenset(path for _, index in indexes for hook in index.hooks for path in hook.reads())

    def with_layer(self, layer: Layer, files: Iterable[HookFile] = ()) -> Book:
        """A book with this layer added, or in place of the layer with the same name. `files` are those of its hooks."""
        layers = [layer if old.name == layer.name else old for old in self.layers]
        known = self.files.with_files(layer.name, tuple(files))
        return Book(layers if layer in layers else (*layers, layer), self.host, self.problems, known, self.record)

    def without_layer(self, name: str) -> Book:
        layers = (layer for layer in self.layers if layer.name != name)
        return Book(layers, self.host, self.problems, self.files.with_files(name, ()), self.record)

    def _host_or_default(self, host: Host) -> Host:
        return self.host if host is NO_HOST else host


def _deny_without_tool(decision: Decision, hooks: EventHooks) -> Decision:
    """The decision, or a deny if the event does not say which tool it is about: the guards could not look for it."""
    event = decision.event
    if decision.verdict >= Verdict.ASK or not lacks_tool(event) or not EVENTS[event.name].accepts & May.DENY:
        return decision
    guards = [hook for _, index in hooks.indexes for hook in index.hooks if hook.may & (May.DENY | May.ASK)]
    if not guards:
        return decision
    reason = f"{event.name} does not name its tool, so its hooks cannot say whether it may run"
    return replace(decision, verdict=Verdict.DENY, reason=reason)


def _decide_nothing(event: Event) -> Decision:
    """The decision about an event that no hook is on."""
    if event.name not in EVENTS:
        raise HooklineError(f"there is no event {event.name!r}; the events are {', '.join(EVENTS)}")
    return Decision(event)


def introspect(book: Book, limits: FireLimiter, session: str) -> list[dict[str, Any]]:
    """One row for each hook, in the order in which they run, as plain data.

    `fires` is None for a hook whose fires are not counted. `last_fire` is in seconds of the host's clock.
    """
    return [_hook_row(hook, limits, session) for hook in book.hooks]


def _hook_row(hook: Hook, limits: FireLimiter, session: str) -> dict[str, Any]:
    limit = hook.limit
    counted = limit.is_counted or any((limit.max_fires, limit.cooldown, limit.cooldown_turns))
    fires, last = limits.fires(hook, session) if counted else (None, None)
    return {
        "id": hook.id,
        "event": hook.event,
        "event_as_written": hook.event_name,
        "agent": hook.scope.agent,
        "enabled": hook.enabled,
        "tags": list(hook.tags),
        "order": hook.order,
        "fires": fires,
        "last_fire": last,
        "max_fires": limit.max_fires,
        "cooldown": None if limit.cooldown is None else limit.cooldown.total_seconds(),
        "cooldown_turns": limit.cooldown_turns,
        "file": hook.origin.file,
        "line": hook.origin.line,
        "dialect": hook.origin.dialect,
    }
