"""One event through the hooks: who is asked, what is heard, what counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from logging import getLogger
from time import perf_counter
from types import MappingProxyType
from typing import Final

from hookline.engine.accept import accepted
from hookline.engine.account import Account, Decision
from hookline.engine.budget import Budget
from hookline.engine.index import Entry, Index, Shelf
from hookline.engine.limits import session_of
from hookline.errors import InDoubt, Unavailable, Undecided
from hookline.hooks.action import May
from hookline.hooks.attempt import Sum, attempt, instead_of
from hookline.hooks.event import Changes, Event
from hookline.hooks.events import EVENTS, METADATA
from hookline.hooks.hook import UNLIMITED, Hook
from hookline.hooks.host import Asking, Host, asking
from hookline.hooks.outcome import Failure, FailureKind, Outcome, Verdict

_log = getLogger("hookline")

Rank = tuple[int, int, int]  # order, layer, position
Ranked = tuple[Rank, Entry]

_UNDECIDED: Final = "its condition could not be decided in time"
_TOO_SLOW: Final = Failure(FailureKind.TIMEOUT, "could not be asked: " + _UNDECIDED)
_PLAIN: Final = {FailureKind.EXIT, FailureKind.RAISED}  # these failures' texts are somebody's own words
_waiting: set[str] = set()  # hooks of which the log has said that they are not trusted


# A round starts with these, and most end with them.
_NO_GROUPS: Final[Mapping[str, Rank]] = MappingProxyType({})
_NO_NAMES: Final[frozenset[str]] = frozenset()
_NO_RANKS: Final[frozenset[Rank]] = frozenset()
_NO_ASKS: Final[Mapping[Rank, tuple[str, str]]] = MappingProxyType({})


class Round:
    """One decision in the making. Each hook sees the event as the hooks before it left it."""

    __slots__ = (
        "_above",
        "_accounts",
        "_asks",
        "_changed_by",
        "_claimed",
        "_ended_later",
        "_explain",
        "_failures",
        "_host",
        "_indexes",
        "_known",
        "_over",
        "_possible",
        "_silenced",
        "_time",
        "_undecided",
        "event",
        "heard",
    )

    def __init__(self, indexes: Sequence[tuple[int, Index]], event: Event, host: Host, explain: bool) -> None:
        self.event = event
        self.heard = Sum()
        self._indexes = indexes
        self._host = host
        self._explain = explain
        self._time = Budget()
        self._known: dict[int, dict[Shelf, list[int]]] | None = None
        self._silenced = _NO_GROUPS  # group → the hook that ended it; those before it still count
        self._ended_later = _NO_NAMES
        self._claimed = _NO_RANKS
        self._changed_by: Rank | None = None
        self._asks = _NO_ASKS  # who wants a person to be asked: the reason, and the hook
        self._failures: tuple[Failure, ...] = ()
        self._accounts: list[Account] = []
        self._over = ""
        self._undecided = False  # of the hook that was looked at last
        self._possible: dict[int, frozenset[int]] | None = None  # by layer: what the index did not rule out
        asked = asking.get()
        self._above = asked.stack if asked else ()

    async def decide(self) -> Decision:
        queue = self.candidates()
        at = 0
        while at < len(queue):
            rank, entry = queue[at]
            at += 1
            why = self._passes(rank, entry)
            if why is not None:
                if self._explain:
                    self._accounts.append(Account(entry.hook, not_asked=why))
                continue
            if self._undecided and not entry.hook.guards:
                changes = self._hear(rank, entry.hook, self._counted(entry.hook, _TOO_SLOW))
            elif entry.plain and entry.answer is not None:
                self._accounts.append(Account(entry.hook, entry.answer, undecided=self._undecided))
                changes = self._hear(rank, entry.hook, entry.answer)
            else:
                changes = await self._ask(rank, entry.hook)
            if self._over and not self._explain:
                break
            if changes:
                queue, at = [later for later in self.candidates(changes) if later[0] > rank], 0
        if self._changed_by is not None and not self._over:
            await self._ask_again(self._changed_by)
        return self._decision()

    def candidates(self, changes: Changes = ()) -> list[Ranked]:
        """The hooks that may hold, in order; all of them where the account must name each."""
        found: list[Ranked] = []
        for number, index in self._indexes:
            known = None if self._known is None else self._known.setdefault(number, {})
            positions: Sequence[int] = index.candidates(self.event, self._time.deadline, known, changes)
            if self._explain:
                self._possible = {**(self._possible or {}), number: frozenset(positions)}
                positions = range(len(index.entries))
            entries = index.entries
            for at in positions:
                entry = entries[at]
                found.append(((entry.hook.order, number, at), entry))
        if len(self._indexes) > 1:
            found.sort(key=lambda ranked: ranked[0])
        return found

    def waits(self) -> Hook | None:
        """A hook that would have to be waited for, as far as it can be known before anyone is asked."""
        if not any(index.waits for _, index in self._indexes):
            return None
        candidates = [entry.hook for rank, entry in self.candidates() if self._passes(rank, entry) is None]
        if any(hook.may_change for hook in candidates):
            hooks = [entry.hook for _, index in self._indexes for entry in index.entries]
            candidates = [hook for hook in hooks if hook.enabled and hook.scope.covers(self.event)]
        return next((hook for hook in candidates if not hook.then.instant or not hook.wait), None)

    async def _ask(self, rank: Rank, hook: Hook) -> Changes:
        """Asks one hook and hears its answer; returns what it changed."""
        try:
            give_back = self._claim(rank, hook)
            if give_back is None:
                self._skip(hook, "its limit holds it back: it fired often or lately enough")
                return ()
            if not hook.wait:
                self._start(hook, give_back)
                return ()
        except Unavailable as missing:
            failure = Failure(FailureKind.UNAVAILABLE, str(missing))
            return self._hear(rank, hook, self._counted(hook, failure))
        fired = False
        try:
            outcome, fired = await self._attempt(hook, again=False)
        finally:
            if not fired:
                give_back()
        return self._hear(rank, hook, outcome)

    async def _attempt(self, hook: Hook, again: bool) -> tuple[Outcome, bool]:
        """The outcome that counts, and whether the hook fired: it did not fail and had something to do."""
        begun, left = perf_counter(), self._time.left()
        answer = await attempt(hook.then, self.event, self._host, hook.timeout, self._asking(hook, again))
        took = perf_counter() - begun
        self._time.resume(took, left)  # waiting is not matching
        fired = isinstance(answer, Outcome) and answer.applied
        return self._counted(hook, answer, took, again), fired

    def _asking(self, hook: Hook, again: bool = False) -> Asking:
        return Asking(hook.id, again, self._above, one_of(hook))

    def _counted(self, hook: Hook, answer: Outcome | Failure, took: float = 0.0, again: bool = False) -> Outcome:
        """The action's own outcome as far as the event accepts it; where it failed, the hook's on_error."""
        failure: Failure | None = None
        if isinstance(answer, Failure):
            failure = self._failed(named(answer, hook))
            answer = instead_of(failure, hook.on_error)
        outcome, refused = accepted(answer, self.event.name)
        if refused is not None:
            failure = self._failed(replace(refused, hook=hook.id))
        self._accounts.append(Account(hook, outcome, failure, took, again=again, undecided=self._undecided))
        return outcome

    def _hear(self, rank: Rank, hook: Hook, outcome: Outcome) -> Changes:
        changes = self._change(rank, outcome)
        self.heard.hear(outcome, hook.id)
        if outcome.verdict is Verdict.ASK:
            self._asks = {**self._asks, rank: (outcome.reason, hook.id)}
        if outcome.final and hook.group:
            self._silenced = {hook.group: rank, **self._silenced}
        if outcome.verdict is Verdict.DENY or outcome.halt:
            self._over = hook.id
        return changes

    def _change(self, rank: Rank, outcome: Outcome) -> Changes:
        if not outcome.changes or outcome.verdict is Verdict.DENY:
            return ()
        judged, changes = self.event, outcome.changes
        self.event = judged.changed(changes)
        if not self.event.differs_from(judged, changes):
            return ()
        if self._known is None:
            self._known = {}
        if self.event.differs_from(judged, tuple(change for change in changes if change[0][:1] != METADATA)):
            self.heard.forget_allow()
            self._changed_by = rank
        return changes

    async def _ask_again(self, last: Rank) -> None:
        """What was judged is what runs: whoever was passed before the last change sees the event as it now is."""
        explain, self._explain = self._explain, False
        self._known = None
        self._asks = {rank: asked for rank, asked in self._asks.items() if rank >= last}
        for rank, entry in self.candidates():
            if rank >= last:
                break
            hook = entry.hook
            if not hook.wait or not hook.may_stop or self._passes(rank, entry) is not None:
                continue
            if rank not in self._claimed and not self._allowed(hook):
                continue
            if self._undecided and not hook.guards:
                outcome = self._counted(hook, _TOO_SLOW, again=True)
            else:
                outcome, _ = await self._attempt(hook, again=True)
            self._hear_again(rank, hook, outcome)
            if outcome.verdict is Verdict.DENY or outcome.halt:
                self._over = hook.id
                break
        self._explain = explain
        self._ask_about_what_is_left()

    def _ask_about_what_is_left(self) -> None:
        """A person reads the words of the first hook that asks about the event as it now is."""
        heard = self.heard
        if heard.verdict is Verdict.ASK and not heard.halt:
            before = f"{heard.reason} (asked before a hook changed it)".lstrip()
            heard.reason, heard.by = self._asks[min(self._asks)] if self._asks else (before, heard.by)

    def _hear_again(self, rank: Rank, hook: Hook, outcome: Outcome) -> None:
        """Only what stops counts; the rest was heard the first time."""
        if outcome.verdict < Verdict.ASK and not outcome.halt:
            return
        if outcome.verdict is Verdict.ASK:
            self._asks = {**self._asks, rank: (outcome.reason, hook.id)}
        told = tuple(note for note in outcome.notes if note not in self.heard.notes)
        self.heard.hear(replace(outcome, changes=(), requests=(), notes=told), hook.id)

    def _passes(self, rank: Rank, entry: Entry) -> str | None:
        """Why the hook is not asked about the event, or None if it is.

        A hook that may stop the event is not passed over because its condition could not be decided: either it guards,
        or it counts as failed. Where the event can be read in several ways, one in which the hook holds is enough,
        except for an allow.
        """
        hook = entry.hook
        self._undecided = False
        if self._over:
            return f"not asked: {self._over} ended the round"
        if hook.group in self._silenced and rank > self._silenced[hook.group]:
            return "an earlier hook of its group ended the group"
        if self._above and one_of(hook) in self._above:
            return "its own call of a tool led here"
        if not entry.plain:
            if not hook.enabled:
                return "it is switched off"
            if not hook.scope.covers(self.event):
                return "the event is outside of its scope"
        if self._explain and self._possible and rank[2] not in self._possible[rank[1]]:
            return self._why_not(hook)
        try:
            holds = self._holds(hook)
        except InDoubt as doubt:
            return str(doubt) if hook.only_allows else None
        if holds is None:
            self._undecided = True
            return None if hook.may_stop else _UNDECIDED
        if holds:
            return None
        return self._why_not(hook) if self._explain else ""

    def _holds(self, hook: Hook) -> bool | None:
        """None if there was no time to decide it; what is easily decided, is for a while after that."""
        time = self._time
        if time.overdrawn():
            return None
        try:
            return hook.when.holds(self.event, time.deadline)
        except Undecided:
            return self._holds(hook) if time.prolonged() else None

    def _why_not(self, hook: Hook) -> str:
        begun, left = perf_counter(), self._time.left()
        try:
            return hook.when.why_not(self.event)
        except Undecided:
            return _UNDECIDED
        except InDoubt as doubt:
            return str(doubt)
        finally:
            self._time.resume(perf_counter() - begun, left)  # nor is explaining

    def _allowed(self, hook: Hook) -> bool:
        if hook.limit is UNLIMITED or hook.limit == UNLIMITED:
            return True
        try:
            return self._host.limits.allows(hook, self.event, self._host.clock.now())
        except Unavailable:
            return True

    def _claim(self, rank: Rank, hook: Hook) -> Callable[[], None] | None:
        if hook.limit is UNLIMITED or hook.limit == UNLIMITED:
            return _nothing
        claim = self._host.limits.claim(hook, self.event, self._host.clock.now())
        if claim is not None:
            self._claimed |= {rank}
        return claim

    def _start(self, hook: Hook, give_back: Callable[[], None]) -> None:
        """In the background: nobody waits, so nothing that it answers can count."""
        try:
            self._host.later(partial(self._work, hook, self.event, give_back), session_of(self.event))
        except Unavailable:
            give_back()
            raise
        self._accounts.append(Account(hook))

    async def _work(self, hook: Hook, event: Event, give_back: Callable[[], None]) -> None:
        fired = False
        try:
            if hook.group not in self._ended_later:
                fired = await self._fired_later(hook, event)
        finally:
            if not fired:
                give_back()

    async def _fired_later(self, hook: Hook, event: Event) -> bool:
        answer = await attempt(hook.then, event, self._host, hook.timeout, self._asking(hook))
        if not isinstance(answer, Failure):
            return answer.applied
        failure = named(answer, hook)
        _say(failure)
        if instead_of(failure, hook.on_error).final and hook.group:
            self._ended_later |= {hook.group}
        return False

    def _skip(self, hook: Hook, why: str) -> None:
        if self._explain:
            self._accounts.append(Account(hook, not_asked=why))

    def _failed(self, failure: Failure) -> Failure:
        self._failures += (failure,)
        _say(failure, {"failure": failure})
        return failure

    def _decision(self) -> Decision:
        heard = self.heard
        verdict, reason = heard.verdict, heard.reason
        if heard.halt and EVENTS[self.event.name].accepts & May.DENY:
            verdict = Verdict.DENY
        if verdict is Verdict.DENY and not reason:
            reason = f"Blocked by hook {heard.by}"
        return Decision(
            self.event,
            verdict,
            reason,
            heard.by,
            heard.halt,
            heard.notes,
            heard.requests,
            self._failures,
            tuple(self._accounts),
        )


def one_of(hook: Hook) -> str:
    return "\0".join(hook.key)


def named(failure: Failure, hook: Hook) -> Failure:
    """A failure that says whose it is; only a program's or a script's own words stand alone."""
    text = failure.text if failure.kind in _PLAIN else f"hook {hook.id} {failure.text}"
    return replace(failure, text=text, hook=hook.id)


def _say(failure: Failure, extra: Mapping[str, object] | None = None) -> None:
    """That a hook waits for trust is news only once."""
    if failure.kind is FailureKind.NOT_TRUSTED:
        if failure.hook in _waiting:
            return
        _waiting.add(failure.hook)
    _log.warning("[%s] %s: %s", failure.hook, failure.kind, failure.text, extra=extra)


def _nothing() -> None:
    pass
