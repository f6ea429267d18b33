"""A hook: an event, a condition, an action, and when it may fire."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from enum import StrEnum

from hookline.hooks.event import Event, FactPath
from hookline.hooks.events import ENDING_EVENTS, EVENTS
from hookline.hooks.outcome import SILENT, Outcome
from hookline.hooks.protocols import Action, Condition, May, may_of
from hookline.hooks.wording import NATIVE_WORDING, Wording
from hookline.lazy_dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a hook is written, and in which words."""

    file: str
    line: int
    dialect: str
    event_name: str = ""  # as its file calls its event; empty: as its dialect usually does
    wording: Wording = field(default=NATIVE_WORDING, compare=False, repr=False)
    degradation: tuple[tuple[str, str], ...] = field(default=(), compare=False, repr=False)
    """What its author lets become of it in a format without a capability that it uses: the capability → the strategy."""
    unconverted: tuple[str, ...] = field(default=(), compare=False, repr=False)
    """Keys of its file that are for other tools, so that writing it in any dialect loses them."""
    extended_by: str = field(default="", compare=False, repr=False)
    """The file that extends the pack, if another file gives this hook of the pack other options; each keeps its own counts."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The agent, prompt or session that a hook is limited to. None means any."""

    agent: str | None = None  # an agent's id or name
    prompt: str | None = None
    session: str | None = None

    def covers(self, event: Event) -> bool:
        facts = event.facts
        if self.agent is not None:
            agent = facts.get("agent")
            if not isinstance(agent, dict) or self.agent not in (agent.get("id"), agent.get("name")):
                return False
        if self.prompt is not None and event.read(("agent", "prompt")) != self.prompt:
            return False
        return self.session is None or event.read(("session", "id")) == self.session

    def reads(self) -> tuple[FactPath, ...]:
        agent: tuple[FactPath, ...] = (("agent", "id"), ("agent", "name")) if self.agent is not None else ()
        prompt: tuple[FactPath, ...] = (("agent", "prompt"),) if self.prompt is not None else ()
        session: tuple[FactPath, ...] = (("session", "id"),) if self.session is not None else ()
        return (*agent, *prompt, *session)


GLOBAL_SCOPE = Scope()


class Period(StrEnum):
    """What a count counts within."""

    SESSION = "session"
    TURN = "turn"
    MINUTE = "minute"
    HOUR = "hour"

    @property
    def seconds(self) -> float | None:
        return {Period.MINUTE: 60.0, Period.HOUR: 3600.0}.get(self)


@dataclass(frozen=True, slots=True)
class EventCount:
    """A hook acts from the event after the first `more_than` that meet its condition."""

    more_than: int
    per: Period = Period.SESSION

    def __str__(self) -> str:
        return f"more than {self.more_than} such events in {'an' if self.per is Period.HOUR else 'a'} {self.per}"


@dataclass(frozen=True, slots=True)
class Limit:
    """How often a hook may fire in a session. Without a count, the first fire is always allowed."""

    max_fires: int | None = None
    cooldown: timedelta | None = None
    cooldown_turns: int | None = None
    is_counted: bool = False  # count its fires even without a limit
    count: EventCount | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """The limits that it has, by the names that every dialect with limits gives them."""
        return tuple(name for name in _LIMIT_KEYS if getattr(self, name) is not None)

    def reads(self) -> tuple[FactPath, ...]:
        if self == UNLIMITED:
            return ()
        has_turns = self.cooldown_turns is not None or (self.count is not None and self.count.per is Period.TURN)
        return (("session", "id"), ("turn", "number")) if has_turns else (("session", "id"),)


_LIMIT_KEYS = ("max_fires", "cooldown", "cooldown_turns", "count")
UNLIMITED = Limit()
COUNTED = Limit(is_counted=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    id: str
    event: str
    when: Condition
    then: Action
    origin: Origin
    scope: Scope = GLOBAL_SCOPE
    order: int = 0  # lower runs first; ties keep the order of loading
    group: str = ""  # a deny, or a final outcome, ends the hooks of the same group: its dialect's
    timeout: timedelta = timedelta(seconds=60)
    wait: bool = True  # False: it runs in the background
    on_error: Outcome = SILENT  # the answer to an error or a timeout; without a reason it gets the failure's text
    limit: Limit = UNLIMITED
    enabled: bool = True
    tags: tuple[str, ...] = ()
    ignored_by: tuple[str, ...] = ()  # coding agents that run the hooks of its file themselves, but not this one
    is_trusted: bool = True  # False: nothing that its file says may reach an agent

    @property
    def key(self) -> tuple[str, str, str]:
        """The key of its counts. It stays the same when the file is reloaded."""
        return (self.origin.extended_by + self.origin.file, self.id, self.scope.agent or "")

    @property
    def event_name(self) -> str:
        """The event as its file calls it."""
        return self.origin.event_name or self.origin.wording.event(self.event)

    @property
    def guards(self) -> bool:
        """Its action is instant and can only stop, so it fires if its condition cannot be evaluated."""
        halts = bool(self.then.may & EVENTS[self.event].accepts & May.HALT)  # also after a tool
        stops = self.may_stop and bool(self.then.may & (May.DENY | May.ASK | May.HALT))
        return self.then.instant and (stops or halts) and not self.may & (May.ALLOW | May.CHANGE)

    def fires_undecided(self, event: Event) -> bool:
        """Whether it fires if its condition cannot be evaluated. It keeps an agent from stopping only once."""
        return self.guards and not (self.event in ENDING_EVENTS and event.read(("stop", "active")) is True)

    @property
    def only_allows(self) -> bool:
        """It can allow but never stop, so it does not fire on an ambiguous event."""
        return bool(self.then.may & May.ALLOW) and not self.then.may & (May.DENY | May.ASK | May.HALT)

    @property
    def may(self) -> May:
        """What its action or its on_error may ask for."""
        on_error = may_of(self.on_error)
        return self.then.may if on_error is May.NOTHING else self.then.may | on_error  # to join them costs microseconds

    @property
    def may_change(self) -> bool:
        return bool(self.may & May.CHANGE) or any(True for _ in self.then.changes())

    @property
    def may_stop(self) -> bool:
        """It may deny, ask, or halt on an event that can be denied."""
        halt = May.HALT if EVENTS[self.event].accepts & May.DENY else May.NOTHING
        return bool(self.may & (May.DENY | May.ASK | halt))

    @property
    def judges(self) -> bool:
        """It may stop the event or withhold a result, and not only because it fails to change it."""
        changes = bool(self.then.may & May.CHANGE) or any(True for _ in self.then.changes())
        stops = bool(self.then.may & (May.DENY | May.ASK | May.HALT))
        return (self.may_stop or bool(self.on_error.changes)) and (stops or not changes)

    def reads(self) -> Iterator[FactPath]:
        """Every fact that it reads, to decide whether to fire and to act."""
        for part in (self.scope, self.limit, self.when, self.then):
            yield from part.reads()

    def __str__(self) -> str:
        return self.id
