"""How often each hook fired. Counts are exact across threads and tasks: one lock, never held across an await."""

from __future__ import annotations

from _thread import allocate_lock as Lock  # `threading` takes a millisecond to import
from collections.abc import Callable
from typing import Any, Final

from hookline.hooks.event import Event
from hookline.hooks.hook import EventCount, Hook, Limit, Period
from hookline.hooks.host import NullHost
from hookline.lazy_dataclasses import dataclass

CountKey = tuple[tuple[str, str, str], str]  # hook key, session id
_MEMORY: Final = "after"  # in the place of a hook's id: what happened in the session, for conditions
_MAX_ID_BITS: Final = 256  # a larger number is no session id


@dataclass(slots=True)
class FireCount:
    fires: int = 0
    last: float | None = None
    last_turn: int | None = None
    claims: int = 0  # total; a claim equal to it is the latest, which set `last`
    before: tuple[float | None, int | None] = (None, None)  # `last` and `last_turn` before the latest claim
    met: int = 0  # events that met the hook's condition, in the session or in the turn `met_turn`
    met_turn: int | None = None
    met_times: tuple[float, ...] = ()  # of the latest events, as many as the hook's count needs


class FireCounts:
    """Counts in memory, by hook and session."""

    def __init__(self, turn: int | None = None) -> None:
        """`turn` is that of events that name none, for the hooks that count events in a turn."""
        self._turn = turn
        self._counts: dict[CountKey, FireCount] = {}
        self._lock = Lock()

    def claim(self, hook: Hook, event: Event, now: float) -> Callable[[], None] | None:
        key, turn = (hook.key, session_id(event)), _turn_number(event)
        with self._lock:
            count = self._counts.setdefault(key, FireCount())
            if hook.limit.count is not None:
                _add_event(count, hook.limit.count, now, self._counted_turn(turn))
            if not self._may_fire(hook.limit, count, now, turn):
                return None
            before, claim = (count.last, count.last_turn), count.claims + 1
            count.fires, count.last, count.last_turn, count.claims = count.fires + 1, now, turn, claim
            count.before = before
        return lambda: self._release_claim(key, count, claim, before)

    def allows(self, hook: Hook, event: Event, now: float) -> bool:
        with self._lock:
            count = self._counts.get((hook.key, session_id(event)), FireCount())
            return self._may_fire(hook.limit, count, now, _turn_number(event))

    def fires(self, hook: Hook, session: str) -> tuple[int, float | None]:
        with self._lock:
            count = self._counts.get((hook.key, session), FireCount())
            return count.fires, count.last

    def give_back(self, hook: Hook, session: str) -> None:
        """Takes back the hook's latest fire, because the host found nothing to do for it."""
        with self._lock:
            count = self._counts.get((hook.key, session))
            if count is not None and count.fires:
                count.fires -= 1
                count.last, count.last_turn = count.before

    def forget(self, session: str) -> None:
        """Drops the counts of a session that is over."""
        with self._lock:
            for key in [key for key in self._counts if key[1] == session]:
                del self._counts[key]

    def snapshot(self, session: str) -> list[dict[str, Any]]:
        """The session's counts as plain data, to store with it."""
        with self._lock:
            return [_count_row(key[0], count) for key, count in self._counts.items() if key[1] == session]

    def restore(self, session: str, saved: list[dict[str, Any]]) -> None:
        with self._lock:
            for row in saved:
                file, id, agent = row["hook"]
                count = FireCount(row["fires"], row["last"], row["last_turn"])
                count.met, count.met_turn = row.get("met", 0), row.get("met_turn")
                count.met_times = tuple(row.get("met_times", ()))
                self._counts[((file, id, agent), session)] = count

    def remember(self, event: Event, what: str, happened: bool) -> None:
        with self._lock:
            self._counts.setdefault((("", _MEMORY, what), session_id(event)), FireCount()).fires = int(happened)

    def recalls(self, event: Event, what: str) -> bool:
        with self._lock:
            count = self._counts.get((("", _MEMORY, what), session_id(event)))
            return count is not None and count.fires > 0

    def _may_fire(self, limit: Limit, count: FireCount, now: float, turn: int | None) -> bool:
        if limit.count is not None and not _is_reached(limit.count, count, now, self._counted_turn(turn)):
            return False
        return _is_within_limit(limit, count, now, turn)

    def _counted_turn(self, turn: int | None) -> int | None:
        return self._turn if turn is None else turn

    def _release_claim(
        self, key: CountKey, count: FireCount, claim: int, before: tuple[float | None, int | None]
    ) -> None:
        with self._lock:
            if self._counts.get(key) is not count:  # the session was forgotten, or restored
                return
            count.fires -= 1
            if count.claims == claim:  # no later claim
                count.last, count.last_turn = before


class CountingHost(NullHost):
    """A host that only counts fires."""

    def __init__(self) -> None:
        self._counts = FireCounts()

    @property
    def limits(self) -> FireCounts:
        return self._counts


def session_id(event: Event) -> str:
    session = event.facts.get("session")
    id = session.get("id") if isinstance(session, dict) else None
    if isinstance(id, int) and id.bit_length() <= _MAX_ID_BITS:
        return str(id)
    return id if isinstance(id, str) else ""


def _turn_number(event: Event) -> int | None:
    """The session's count if the host knows it: an agent's own turns start again at 0 for each sub-agent."""
    for path in (("session", "turns"), ("turn", "number")):
        turn = event.read(path)
        if isinstance(turn, int) and not isinstance(turn, bool):
            return turn
    return None


def _count_row(key: tuple[str, str, str], count: FireCount) -> dict[str, Any]:
    row = {"hook": list(key), "fires": count.fires, "last": count.last, "last_turn": count.last_turn}
    if count.met:
        row |= {"met": count.met, "met_turn": count.met_turn, "met_times": list(count.met_times)}
    return row


def shift_times(row: dict[str, Any], shift: Callable[[float], float]) -> dict[str, Any]:
    """The row of a snapshot with its times changed."""
    shifted = {**row, "last": None if row["last"] is None else shift(row["last"])}
    return {**shifted, "met_times": [shift(each) for each in row["met_times"]]} if "met_times" in row else shifted


def _add_event(count: FireCount, wanted: EventCount, now: float, turn: int | None) -> None:
    if wanted.per is Period.TURN and turn != count.met_turn:
        count.met = 0
    count.met, count.met_turn = count.met + 1, turn
    if wanted.per.seconds is not None:
        count.met_times = (*count.met_times, now)[-wanted.more_than - 1 :]


def _is_reached(wanted: EventCount, count: FireCount, now: float, turn: int | None) -> bool:
    seconds = wanted.per.seconds
    if seconds is not None:
        return sum(now - each < seconds for each in count.met_times) > wanted.more_than
    return count.met > wanted.more_than and (wanted.per is not Period.TURN or turn == count.met_turn)


def _is_within_limit(limit: Limit, count: FireCount, now: float, turn: int | None) -> bool:
    if limit.max_fires is not None and count.fires >= limit.max_fires:
        return False
    if count.last is None:
        return True
    if limit.cooldown is not None and now - count.last < limit.cooldown.total_seconds():
        return False
    if limit.cooldown_turns is None or turn is None or count.last_turn is None:
        return True
    return turn - count.last_turn >= limit.cooldown_turns
