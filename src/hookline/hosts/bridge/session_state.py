"""Per-session state in a file, because the next call of the agent may run in another process."""

from __future__ import annotations

import fcntl
import hashlib
import json
import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from hookline.engine.limits import FireCounts, session_id, shift_times
from hookline.hooks.event import Event
from hookline.hooks.events import ENDING_EVENTS
from hookline.hooks.hook import Hook, Limit
from hookline.hooks.host import Clock, SystemClock
from hookline.lazy_dataclasses import dataclass, field, replace

_STATE_VERSION: Final = 1
_MAX_AGE: Final = 30 * 86_400.0  # seconds
_NAMELESS_MAX_AGE: Final = (
    12 * 3_600.0
)  # an agent that does not name its sessions starts a new one after this much silence
_MAX_MESSAGES: Final = 200
_MAX_CONTEXTS: Final = 20
_MAX_CONTEXT_LENGTH: Final = 10_000  # characters

log = logging.getLogger("hookline")


@dataclass(frozen=True, slots=True)
class UserMessage:
    text: str
    version: str = ""  # of the file that it is about: with another one, the same text is shown again
    each_time: bool = False  # it is shown although the user has seen it

    @property
    def key(self) -> str:
        return f"{self.text}\0{self.version}" if self.version else self.text


@dataclass(slots=True)
class SessionState:
    """The state of one session. Times are wall-clock times, which all processes share."""

    counts: list[dict[str, Any]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    halt_reason: str = ""  # why a hook halted the agent, if the agent could not be halted
    closed: bool = False  # halted at the session's start: prompts are denied too
    context: list[str] = field(default_factory=list)  # for the agent, on its next event that can carry it
    denied_stops: int = 0  # in a row
    turn: int = 0  # grows with each prompt after which something was counted

    def as_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"counts": self.counts, "said": self.said, "context": self.context, "turn": self.turn}
        found |= {"halted": self.halt_reason, "closed": self.closed, "denied_stops": self.denied_stops}
        return {"version": _STATE_VERSION, **found}


_NO_STATE: Final = SessionState()


class SessionStore:
    """Counts by hook and session, exact across threads and processes: each claim locks the session's file.

    If files cannot be written, counts live as long as the process.
    """

    def __init__(self, directory: Path, clock: Clock | None = None) -> None:
        self._directory = directory
        self._prefix = f"{directory}/"
        self._clock = clock or SystemClock()
        self._in_memory: dict[str, SessionState] = {}

    def claim(self, hook: Hook, event: Event, now: float) -> Callable[[], None] | None:
        session = session_id(event)
        if not session:
            hook = _without_unattributed_limit(hook)
        with self._locked_state(_session_key(event)) as state:
            counts = _load_counts(session, state, now, self._clock.wall())
            may_fire = counts.claim(hook, event, now) is not None
            if not may_fire and hook.limit.count is None:
                return None
            before = _find_row(state, hook)
            _store_counts(state, counts.snapshot(session), now, self._clock.wall())
            claimed = _find_row(state, hook)
        if not may_fire:
            return None
        return lambda: self._release_claim(hook, event, claimed, before)

    def allows(self, hook: Hook, event: Event, now: float) -> bool:
        if not session_id(event):
            hook = _without_unattributed_limit(hook)
        with self._locked_state(_session_key(event)) as state:
            return _load_counts(session_id(event), state, now, self._clock.wall()).allows(hook, event, now)

    def fires(self, hook: Hook, session: str) -> tuple[int, float | None]:
        with self._locked_state(session) as state:
            return _load_counts(session, state, self._clock.now(), self._clock.wall()).fires(hook, session)

    def remember(self, event: Event, what: str, happened: bool) -> None:
        session, now = session_id(event), self._clock.now()
        with self._locked_state(_session_key(event)) as state:
            counts = _load_counts(session, state, now, self._clock.wall())
            counts.remember(event, what, happened)
            _store_counts(state, counts.snapshot(session), now, self._clock.wall())

    def recalls(self, event: Event, what: str) -> bool:
        state = self._peek(_session_key(event))
        return _load_counts(session_id(event), state, self._clock.now(), self._clock.wall()).recalls(event, what)

    def take_new_messages(self, event: Event, messages: Iterable[UserMessage]) -> list[str]:
        """Returns the messages that the user has not seen in this session, or sees each time, and marks them as seen."""
        with self._locked_state(_session_key(event)) as state:
            new = [each for each in dict.fromkeys(messages) if each.each_time or each.key not in state.said]
            once = [each.key for each in new if not each.each_time]
            if once:
                state.said = [*state.said, *once][-_MAX_MESSAGES:]
            return [each.text for each in new]

    def halt(self, event: Event, reason: str) -> None:
        with self._locked_state(_session_key(event)) as state:
            state.halt_reason, state.closed = reason, event.name == "session.start"

    def halt_reason(self, event: Event) -> str:
        """Why a hook halted the agent; "" if none did."""
        return self._peek(_session_key(event)).halt_reason

    def resume(self, event: Event) -> None:
        """Ends a halt, at a new prompt or a new start of the session."""
        if self.halt_reason(event):
            with self._locked_state(_session_key(event)) as state:
                if not state.closed or event.name == "session.start":
                    state.halt_reason, state.closed = "", False

    def begin_turn(self, event: Event) -> None:
        """Agents do not number their turns: for them, one lasts until the next prompt."""
        if self._peek(_session_key(event)).counts:
            with self._locked_state(_session_key(event)) as state:
                state.turn += 1

    def denied_stops(self, event: Event) -> int:
        """How often in a row hooks have kept the agent from stopping."""
        return self._peek(_session_key(event)).denied_stops

    def count_stop(self, event: Event, *, denied: bool) -> None:
        if denied or self.denied_stops(event):
            with self._locked_state(_session_key(event)) as state:
                state.denied_stops = state.denied_stops + 1 if denied else 0

    def keep_context(self, event: Event, texts: Iterable[str]) -> None:
        with self._locked_state(_session_key(event)) as state:
            state.context = [*state.context, *(text[:_MAX_CONTEXT_LENGTH] for text in texts)][-_MAX_CONTEXTS:]

    def take_context(self, event: Event) -> list[str]:
        """Returns the notes kept for the agent and clears them."""
        if not self._peek(_session_key(event)).context:
            return []
        with self._locked_state(_session_key(event)) as state:
            taken, state.context = state.context, []
            return taken

    def end(self, event: Event) -> None:
        name = _session_key(event)
        self._in_memory.pop(name, None)
        for path in self._paths(name):
            path.unlink(missing_ok=True)

    def delete_old(self) -> None:
        """Deletes sessions that never ended and have not been used for long."""
        try:
            for entry in os.scandir(self._directory):
                if time.time() - entry.stat(follow_symlinks=False).st_mtime > _MAX_AGE:
                    os.unlink(entry.path)
        except OSError as error:
            log.debug("cannot delete old session files: %s", error)

    def _release_claim(self, hook: Hook, event: Event, mine: dict[str, Any], before: dict[str, Any]) -> None:
        with self._locked_state(_session_key(event)) as state:
            row = _find_row(state, hook)
            if not row:  # the session has ended
                return
            row["fires"] = max(0, row["fires"] - 1)
            if (row["last"], row["fires"] + 1) == (mine["last"], mine["fires"]):  # not written since
                row["last"], row["last_turn"] = before.get("last"), before.get("last_turn")

    def _peek(self, name: str) -> SessionState:
        """Reads without the lock, which is safe because files are replaced whole. Most sessions have no file."""
        path = f"{self._prefix}{_key_digest(name)}.json"
        if os.access(path, os.F_OK):  # unlike a failed stat, it raises no exception
            return _read_state(Path(path), name)
        return self._in_memory.get(name, _NO_STATE)

    @contextmanager
    def _locked_state(self, name: str) -> Iterator[SessionState]:
        try:
            path, lock = self._paths(name)
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            log.debug("counts are kept in memory only: %s", error)
            yield self._in_memory.setdefault(name, SessionState())
            return
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            state = _read_state(path, name)
            was = json.dumps(state.as_json())
            yield state
            if json.dumps(state.as_json()) != was:
                _write_state(path, state)
        finally:
            os.close(descriptor)

    def _paths(self, name: str) -> tuple[Path, Path]:
        digest = _key_digest(name)
        return self._directory / f"{digest}.json", self._directory / f"{digest}.lock"


@lru_cache(1024)
def _key_digest(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _session_key(event: Event) -> str:
    """The session's id; for an agent that sends none, the agent and its workspace."""
    session = session_id(event)
    return session or f"\0{event.read(('host', 'name'))}\0{event.facts.get('workspace')}"


def _without_unattributed_limit(hook: Hook) -> Hook:
    """Without a session's id, other sessions' fires would use up the limit of a guard: it fires every time.

    A count only adds fires, so it stays, and so does the limit of a hook that keeps an agent from stopping.
    """
    if hook.event in ENDING_EVENTS or not (hook.may_stop or hook.on_error.changes):
        return hook
    return replace(hook, limit=Limit(is_counted=True, count=hook.limit.count))


def _load_counts(session: str, state: SessionState, now: float, wall: float) -> FireCounts:
    rows = [shift_times(row, lambda time: now - max(0, wall - time)) for row in state.counts]
    counts = FireCounts(state.turn)
    counts.restore(session, rows)
    return counts


def _store_counts(state: SessionState, rows: list[dict[str, Any]], now: float, wall: float) -> None:
    state.counts = [shift_times(row, lambda time: wall - (now - time)) for row in rows]


def _find_row(state: SessionState, hook: Hook) -> dict[str, Any]:
    return next((row for row in state.counts if row["hook"] == list(hook.key)), {})


def _read_state(path: Path, name: str) -> SessionState:
    try:
        with path.open("rb") as file:
            if name.startswith("\0") and time.time() - os.fstat(file.fileno()).st_mtime > _NAMELESS_MAX_AGE:
                return SessionState()
            stored = json.load(file)
        return _parse_state(stored)
    except FileNotFoundError:
        return SessionState()
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        log.warning("ignoring an unreadable session file: %s", type(error).__name__)
        return SessionState()


def _parse_state(stored: dict[str, Any]) -> SessionState:
    if stored["version"] != _STATE_VERSION:
        raise ValueError("another version")
    counts = [
        {
            "hook": [str(part) for part in row["hook"]],
            "fires": int(row["fires"]),
            "last": None if row["last"] is None else float(row["last"]),
            "last_turn": None if row["last_turn"] is None else int(row["last_turn"]),
            **_parse_met(row),
        }
        for row in stored["counts"]
        if len(row["hook"]) == 3
    ]
    said, context = ([str(text) for text in stored.get(key, [])] for key in ("said", "context"))
    halted, closed = str(stored.get("halted", "")), stored.get("closed") is True
    denied_stops, turn = int(stored.get("denied_stops", 0)), int(stored.get("turn", 0))
    return SessionState(counts, said, halted, closed, context, denied_stops, turn)


def _parse_met(row: dict[str, Any]) -> dict[str, Any]:
    if "met" not in row:
        return {}
    turn = None if row["met_turn"] is None else int(row["met_turn"])
    return {"met": int(row["met"]), "met_turn": turn, "met_times": [float(each) for each in row["met_times"]]}


def _write_state(path: Path, state: SessionState) -> None:
    new = path.with_suffix(".new")
    try:
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            json.dump(state.as_json(), file)
        os.replace(new, path)
    except OSError as error:
        log.warning("cannot write the session file: %s", error)
