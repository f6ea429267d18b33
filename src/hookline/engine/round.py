"""Runs the hooks for one event and combines their outcomes into a decision."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from time import perf_counter
from types import MappingProxyType
from typing import Final

from hookline.engine.decision import Decision, TraceEntry, conclude
from hookline.engine.fast_path import StartedMatch
from hookline.engine.index import HookIndex, IndexEntry, Rank, RankedEntry, SubjectIndex
from hookline.engine.limits import session_id
from hookline.engine.match_budget import MatchBudget
from hookline.errors import AmbiguousField, ConditionError, UnavailableError, UndecidedError
from hookline.hooks.attempt import (
    CombinedOutcome,
    accept_outcome,
    attempt,
    combine_outcomes,
    is_weakened,
    outcome_of_failure,
)
from hookline.hooks.conditions.past_events import provide_memory
from hookline.hooks.conditions.tool import tool_matchers
from hookline.hooks.event import Changes, Event
from hookline.hooks.events import METADATA_PATH
from hookline.hooks.field_readings import strictest_answer
from hookline.hooks.hook import UNLIMITED, Hook
from hookline.hooks.host import CurrentHook, Host, current_hook
from hookline.hooks.outcome import SILENT, Failure, FailureKind, Outcome, Verdict
from hookline.hooks.readings import find_reading, holds_in_readings
from hookline.lazy_dataclasses import replace
from hookline.lazy_imports import lazy_logger

_log = lazy_logger("hookline")

EndedGroup = tuple[Rank, Hook]  # the group's hooks after this rank do not run; the hook that ended it

_NOT_IN_TIME: Final = Failure(FailureKind.TIMEOUT, "could not be evaluated in time")
_ALLOW_NEEDS_ALL: Final = "an allow must hold for every command, path and item of the call, and for one of them: "
_GROUP_ENDED: Final = "skipped: an earlier hook ended its group"
_BEFORE_ALL: Final[Rank] = (-sys.maxsize, -1, -1)
_OWN_TEXT_KINDS: Final = {FailureKind.EXIT, FailureKind.RAISED}  # their text comes from the program or the exception
_MESSAGE_EVENTS: Final = "message."  # a hook is also asked about the messages that it stores itself
_logged_untrusted: set[str] = set()  # hooks whose missing trust is already logged

# Shared empty values: most rounds never need their own.
_NO_GROUPS: Final[Mapping[str, EndedGroup]] = MappingProxyType({})
_NO_NAMES: Final[frozenset[str]] = frozenset()
_NO_RANKS: Final[frozenset[Rank]] = frozenset()
_NO_ASKS: Final[Mapping[Rank, tuple[str, str]]] = MappingProxyType({})


class Round:
    """One decision. Each hook sees the event as the hooks before it left it.

    A group is the hooks of one dialect. A deny ends the round for its own group: the hooks of other groups run as if it
    had not happened, but the decision stays that deny, about the event as it was then. A halt ends the round for all.
    """

    __slots__ = (
        "_asks",
        "_budget",
        "_call_stack",
        "_changed_by",
        "_claimed",
        "_ended_background_groups",
        "_ended_groups",
        "_explain",
        "_failures",
        "_first_candidates",
        "_halted_by",
        "_host",
        "_index_cache",
        "_indexes",
        "_possible",
        "_releases",
        "_stopped_event",
        "_trace",
        "_undecided",
        "_unsure",
        "combined",
        "event",
    )

    def __init__(
        self,
        indexes: Sequence[tuple[int, HookIndex]],
        event: Event,
        host: Host,
        explain: bool,
        started: StartedMatch | None = None,
    ) -> None:
        self.event = event
        self.combined = CombinedOutcome()
        self._indexes = indexes
        self._host = host
        self._explain = explain
        self._budget = MatchBudget() if started is None else started.budget
        self._first_candidates = None if started is None else started.candidates
        self._index_cache: dict[int, dict[SubjectIndex, list[int]]] | None = None
        self._ended_groups = _NO_GROUPS
        self._ended_background_groups = _NO_NAMES
        self._halted_by = ""
        self._stopped_event: Event | None = None  # as it was at the first deny or halt
        self._claimed = _NO_RANKS
        self._releases: tuple[Callable[[], None], ...] = ()  # of the claims, for a round that is not finished
        self._changed_by: Rank | None = None
        self._asks = _NO_ASKS  # the reason and id of each hook that asks for approval
        self._failures: tuple[Failure, ...] = ()
        self._trace: list[TraceEntry] = []
        self._undecided: Failure | None = None  # why the condition of the current hook could not be evaluated
        self._unsure: tuple[str, str] | None = None  # what in the condition of the current hook may be true
        self._possible: dict[int, frozenset[int]] | None = (
            None  # by layer: what the index did not rule out; only to explain
        )
        caller = current_hook.get()
        self._call_stack = caller.stack if caller else ()

    async def decide(self) -> Decision:
        queue: Sequence[RankedEntry] = self.candidates() if self._first_candidates is None else self._first_candidates
        position = 0
        while position < len(queue):
            rank, entry = queue[position]
            position += 1
            skip_reason = self._skip_reason(rank, entry)
            if skip_reason is not None:
                if self._explain:
                    self._trace.append(TraceEntry(entry.hook, skip_reason=skip_reason))
                continue
            if self._undecided is not None and not entry.hook.fires_undecided(self.event):
                changes = self._add_outcome(rank, entry.hook, self._resolve_undecided(entry.hook))
            elif entry.plain and entry.answer is not None and self._undecided is None:
                self._trace.append(TraceEntry(entry.hook, entry.answer, self.event, unsure=self._unsure))
                changes = self._add_outcome(rank, entry.hook, entry.answer)
            else:
                changes = await self._run_hook(rank, entry)
            if self._stopped_event is not None and position < len(queue) and not self._explain and self._is_over():
                break
            if changes:
                queue, position = [later for later in self.candidates(changes) if later[0] > rank], 0
        if self._changed_by is not None and not self._is_over():
            await self._recheck(self._changed_by)
        return self._build_decision()

    def _is_over(self) -> bool:
        """True after a halt, and once every group has denied."""
        if self._halted_by or self._stopped_event is None:
            return bool(self._halted_by)
        ended = self._ended_groups
        groups = {group for _, index in self._indexes for group in index.groups}
        return all(group in ended and ended[group][0] is _BEFORE_ALL for group in groups)

    def candidates(self, changes: Changes = ()) -> list[RankedEntry]:
        """The hooks whose condition may hold, in order; to explain, every hook."""
        found: list[RankedEntry] = []
        for number, index in self._indexes:
            known = None if self._index_cache is None else self._index_cache.setdefault(number, {})
            positions: Sequence[int] = index.candidates(self.event, self._budget.deadline, known, changes)
            if self._explain:
                self._possible = {**(self._possible or {}), number: frozenset(positions)}
                positions = range(len(index.hooks))
            for position in positions:
                entry = index.entry(position)
                found.append(((entry.hook.order, number, position), entry))
        if len(self._indexes) > 1:
            found.sort(key=lambda ranked: ranked[0])
        return found

    def _skip_reason(self, rank: Rank, entry: IndexEntry) -> str | None:
        """Why the hook does not run for the event, or None if it does.

        A hook is never skipped because its condition could not be evaluated: it runs if it guards, and fails otherwise.
        If the event can be read in several ways, it is enough that the condition holds for one of them, except for a
        hook that only allows.
        """
        hook = entry.hook
        self._undecided = self._unsure = None
        if self._halted_by:
            return f"skipped: {self._halted_by} already stopped the agent"
        if hook.group in self._ended_groups and rank > self._ended_groups[hook.group][0]:
            return self._why_ended(hook.group)
        if self._call_stack and hook_key(hook) in self._call_stack and not self.event.name.startswith(_MESSAGE_EVENTS):
            return "skipped: its own tool call caused this event"
        if not entry.plain:
            if not hook.enabled:
                return "it is disabled"
            if not hook.scope.covers(self.event):
                return "the event is outside its scope"
        if self._explain and self._possible and rank[2] not in self._possible[rank[1]]:
            return self._why_not(hook)
        try:
            holds = self._holds(entry)
        except AmbiguousField as ambiguity:
            return self._ambiguous_skip_reason(hook, ambiguity)
        if holds is None or holds:
            return None
        return self._why_not(hook) if self._explain else ""

    def _ambiguous_skip_reason(self, hook: Hook, ambiguity: AmbiguousField) -> str | None:
        """Like _skip_reason, after the condition was found to hold for some readings of the event only."""
        try:
            holds = holds_in_readings(hook.when, self.event, self._budget.deadline, every=hook.only_allows)
        except UndecidedError:
            if self._budget.extend():
                return self._ambiguous_skip_reason(hook, ambiguity)
            self._undecided = _NOT_IN_TIME
            return None
        except Exception as error:  # a condition may be third-party code
            self._undecided = _condition_failure(error)
            return None
        if holds:
            self._unsure = ambiguity.unsure
            return None
        if not self._explain:
            return ""
        return _ALLOW_NEEDS_ALL + self._why_not(hook) if hook.only_allows else self._why_not(hook)

    def _why_ended(self, group: str) -> str:
        rank, by = self._ended_groups[group]
        return f"skipped: {by.id} already stopped the event" if rank is _BEFORE_ALL else _GROUP_ENDED

    def _holds(self, entry: IndexEntry) -> bool | None:
        """None if the condition raised, or if the match budget ran out: `_undecided` says why.

        Quick conditions are still decided for a while after the budget ran out.
        """
        budget = self._budget
        if entry.reads_memory:
            self._provide_memory()
        if not budget.is_overdrawn():
            try:
                return entry.holds(self.event, budget.deadline)
            except UndecidedError:
                if budget.extend():
                    return self._holds(entry)
            except AmbiguousField:
                raise
            except Exception as error:  # a condition may be third-party code
                self._undecided = _condition_failure(error)
                return None
        self._undecided = _NOT_IN_TIME
        return None

    def _provide_memory(self) -> None:
        try:
            provide_memory(self.event, self._host.limits)
        except UnavailableError:
            return  # the condition says that there is none

    def _why_not(self, hook: Hook) -> str:
        started, remaining = perf_counter(), self._budget.remaining()
        try:
            return _explain_mismatch(hook, self.event)
        except UndecidedError:
            return f"its condition {_NOT_IN_TIME.text}"
        except Exception as error:
            return f"its condition {_condition_failure(error).text}"
        finally:
            self._budget.resume(perf_counter() - started, remaining)  # explaining is not matching

    async def _run_hook(self, rank: Rank, entry: IndexEntry) -> Changes:
        """Runs one hook, adds its outcome and returns what it changed."""
        hook = entry.hook
        try:
            release_claim = self._claim(rank, hook)
            if release_claim is None:
                if self._explain:
                    self._trace.append(TraceEntry(hook, skip_reason=_limit_reason(hook)))
                return ()
            if not hook.wait:
                if self._undecided is not None:
                    self._record_undecided(hook, self._undecided)
                self._start_background(entry, release_claim)
                return ()
        except UnavailableError as missing:
            failure = Failure(FailureKind.UNAVAILABLE, str(missing))
            return self._add_outcome(rank, hook, self._resolve_outcome(hook, failure))
        fired = False
        try:
            outcome, fired = await self._attempt(entry, again=False)
        finally:
            if not fired:
                self._releases = tuple(each for each in self._releases if each is not release_claim)
                release_claim()
        return self._add_outcome(rank, hook, outcome)

    def _claim(self, rank: Rank, hook: Hook) -> Callable[[], None] | None:
        if hook.limit is UNLIMITED or hook.limit == UNLIMITED:
            return _do_nothing
        claim = self._host.limits.claim(hook, self.event, self._host.clock.now())
        if claim is not None:
            self._claimed |= {rank}
            self._releases += (claim,)
        return claim

    def _is_within_limit(self, hook: Hook) -> bool:
        if hook.limit is UNLIMITED or hook.limit == UNLIMITED:
            return True
        try:
            return self._host.limits.allows(hook, self.event, self._host.clock.now())
        except UnavailableError:
            return True

    async def _attempt(self, entry: IndexEntry, again: bool) -> tuple[Outcome, bool]:
        """The outcome, and whether the hook fired: it did not fail and had something to do."""
        started, remaining = perf_counter(), self._budget.remaining()
        hook, who = entry.hook, self._current_hook(entry, again)
        answer = await strictest_answer(
            hook, self.event, lambda event: attempt(hook.then, event, self._host, hook.timeout, who)
        )
        took = perf_counter() - started
        self._budget.resume(took, remaining)  # running an action is not matching
        fired = isinstance(answer, Outcome) and answer.applied
        return self._resolve_outcome(hook, answer, took, again), fired

    def _current_hook(self, entry: IndexEntry, again: bool = False) -> CurrentHook:
        known = entry.current_hook
        if known is None:
            hook = entry.hook
            known = entry.current_hook = CurrentHook(
                hook.id,
                key=hook_key(hook),
                tool_matchers=tuple(tool_matchers(hook.when)),
                wording=hook.origin.wording,
                event_name=hook.event_name,
            )
        return replace(known, is_recheck=again, callers=self._call_stack) if again or self._call_stack else known

    def _resolve_outcome(
        self, hook: Hook, answer: Outcome | Failure, took: float = 0.0, again: bool = False
    ) -> Outcome:
        """The part of the action's outcome that the event accepts; if the action failed, the hook's on_error.

        A verdict, change or halt that the event does not accept is a failure too: the on_error is added to the rest.
        """
        undecided = "" if self._undecided is None else self._undecided.text
        failure = None if self._undecided is None else self._record_undecided(hook, self._undecided)
        has_failed = isinstance(answer, Failure)
        if isinstance(answer, Failure):
            if failure is None or answer is not self._undecided:
                failure = self._record_failure(label_failure(answer, hook))
            answer = outcome_of_failure(failure, hook.on_error)
        outcome, rejection = accept_outcome(answer, hook.event, hook.origin.wording, hook.event_name)
        if rejection is not None:
            failure = self._record_failure(replace(rejection, hook=hook.id))
            if not has_failed and hook.on_error is not SILENT and is_weakened(answer, outcome):
                declared, _ = accept_outcome(outcome_of_failure(failure, hook.on_error), self.event.name)
                outcome = replace(combine_outcomes((outcome, declared)), applied=outcome.applied)
        self._trace.append(
            TraceEntry(hook, outcome, self.event, failure, took, again=again, undecided=undecided, unsure=self._unsure)
        )
        return outcome

    def _resolve_undecided(self, hook: Hook, again: bool = False) -> Outcome:
        """What a hook that does not guard answers if its condition could not be evaluated: its on_error."""
        assert self._undecided is not None
        outcome = self._resolve_outcome(hook, self._undecided, again=again)
        if hook.wait and outcome != SILENT:
            return outcome
        self._trace[-1].skip_reason = f"its condition {self._undecided.text}"
        return SILENT

    def _record_undecided(self, hook: Hook, failure: Failure) -> Failure:
        """Once for each hook, even if it is checked again."""
        recorded = replace(failure, text=f"the condition of hook {hook.id} {failure.text}", hook=hook.id)
        return recorded if recorded in self._failures else self._record_failure(recorded)

    def _record_failure(self, failure: Failure) -> Failure:
        self._failures += (failure,)
        _log_failure(failure, {"failure": failure})
        return failure

    def _add_outcome(self, rank: Rank, hook: Hook, outcome: Outcome) -> Changes:
        changes = self._apply_changes(rank, outcome)
        self.combined.add(outcome, hook.id)
        if outcome.verdict is Verdict.ASK:
            self._asks = {**self._asks, rank: (outcome.reason, hook.id)}
        if outcome.final and hook.group:
            self._ended_groups = {hook.group: (rank, hook), **self._ended_groups}
        if outcome.verdict is Verdict.DENY or outcome.halt:
            self._stop(hook, outcome.halt)
        return changes

    def _stop(self, hook: Hook, halt: bool) -> None:
        if self._stopped_event is None:
            self._stopped_event = self.event
        if halt:
            self._halted_by = hook.id
        ended = (_BEFORE_ALL, hook)
        others = self._ended_groups
        self._ended_groups = {**others, hook.group: ended} if others else {hook.group: ended}

    def _apply_changes(self, rank: Rank, outcome: Outcome) -> Changes:
        if not outcome.changes or outcome.verdict is Verdict.DENY:
            return ()
        before, changes = self.event, outcome.changes
        self.event = before.with_changes(changes)
        if not self.event.differs_from(before, changes):
            return ()
        if self._index_cache is None:
            self._index_cache = {}
        if self.event.differs_from(before, tuple(change for change in changes if change[0][:1] != METADATA_PATH)):
            self.combined.forget_allow()
            self._changed_by = rank
        return changes

    async def _recheck(self, last_change: Rank) -> None:
        """Runs the guards before the last change again, on the final event: what hooks checked is what runs.

        A hook that only changes the event, and stops it only by failing, is not a guard.
        """
        explain, self._explain = self._explain, False
        self._index_cache = None
        self._asks = {rank: ask for rank, ask in self._asks.items() if rank >= last_change}
        for rank, entry in self.candidates():
            if rank >= last_change:
                break
            hook = entry.hook
            if not hook.wait or not hook.judges or self._skip_reason(rank, entry) is not None:
                continue
            if rank not in self._claimed and not self._is_within_limit(hook):
                continue
            if self._undecided is not None and not hook.fires_undecided(self.event):
                outcome = self._resolve_undecided(hook, again=True)
            else:
                outcome, _ = await self._attempt(entry, again=True)
            self._add_recheck_outcome(rank, hook, outcome)
            if self._is_over():
                break
        self._explain = explain
        self._update_ask_reason()

    def _add_recheck_outcome(self, rank: Rank, hook: Hook, outcome: Outcome) -> None:
        """Only ask, deny, halt and a withheld result count; the rest was added the first time."""
        declared = hook.on_error.changes
        withheld = outcome.changes[-len(declared) :] if declared else ()
        if [path for path, _ in withheld] != [path for path, _ in declared]:
            withheld = ()
        if outcome.verdict < Verdict.ASK and not outcome.halt and not withheld:
            return
        if withheld:
            self.event = self.event.with_changes(withheld)
        if outcome.verdict is Verdict.ASK:
            self._asks = {**self._asks, rank: (outcome.reason, hook.id)}
        new_notes = tuple(note for note in outcome.notes if note not in self.combined.notes)
        self.combined.add(replace(outcome, changes=(), requests=(), notes=new_notes), hook.id)
        if outcome.verdict is Verdict.DENY or outcome.halt:
            self._stop(hook, outcome.halt)

    def _update_ask_reason(self) -> None:
        """Shows the reason of the first hook that asks about the final event."""
        combined = self.combined
        if combined.verdict is Verdict.ASK and not combined.halt:
            before = f"{combined.reason} (asked before a hook changed it)".lstrip()
            combined.reason, combined.by = self._asks[min(self._asks)] if self._asks else (before, combined.by)

    def _start_background(self, entry: IndexEntry, release_claim: Callable[[], None]) -> None:
        """Nothing waits for a background hook, so its answer never counts."""
        hook = entry.hook
        try:
            self._host.run_in_background(
                partial(self._run_background, entry, self.event, release_claim), session_id(self.event)
            )
        except UnavailableError:
            release_claim()
            raise
        self._trace.append(TraceEntry(hook, event=self.event))

    async def _run_background(self, entry: IndexEntry, event: Event, release_claim: Callable[[], None]) -> None:
        fired = False
        try:
            if entry.group not in self._ended_background_groups:
                fired = await self._attempt_background(entry, event)
        finally:
            if not fired:
                release_claim()

    async def _attempt_background(self, entry: IndexEntry, event: Event) -> bool:
        hook, who = entry.hook, self._current_hook(entry)
        answer = await attempt(hook.then, event, self._host, hook.timeout, who)
        if not isinstance(answer, Failure):
            return answer.applied
        failure = label_failure(answer, hook)
        _log_failure(failure)
        if outcome_of_failure(failure, hook.on_error).final and hook.group:
            self._ended_background_groups |= {hook.group}
        return False

    def _build_decision(self) -> Decision:
        stopped = self._stopped_event
        return Decision(
            self.event if stopped is None or stopped is self.event else self._without_later_changes(stopped),
            *conclude(self.combined, self.event.name),
            self._failures,
            tuple(self._trace),
        )

    def _without_later_changes(self, stopped: Event) -> Event:
        """What hooks changed after a deny does not count, except what they leave for each other."""
        return stopped.with_changes(((METADATA_PATH, self.event.read(METADATA_PATH)),))

    def release_claims(self) -> None:
        """For a round that is given up and decided again: a hook that may fire once would not fire a second time."""
        for release in self._releases:
            release()
        self._releases = ()

    def waiting_hook(self) -> Hook | None:
        """A hook that may need an event loop, as far as that can be known before any hook runs."""
        if not any(index.waits for _, index in self._indexes):
            return None
        candidates = [entry.hook for rank, entry in self.candidates() if self._skip_reason(rank, entry) is None]
        if any(hook.may_change for hook in candidates):
            hooks = [hook for _, index in self._indexes for hook in index.hooks]
            candidates = [hook for hook in hooks if hook.enabled and hook.scope.covers(self.event)]
        return next((hook for hook in candidates if not hook.then.instant or not hook.wait), None)


def hook_key(hook: Hook) -> str:
    return "\0".join(hook.key)


def _limit_reason(hook: Hook) -> str:
    """Why its limit keeps it from firing."""
    count = hook.limit.count
    reached = "skipped: max_fires or cooldown reached"
    if count is None:
        return reached
    waits = f"skipped: its count is not reached ({count})"
    return waits if hook.limit.keys == ("count",) else f"{waits}, or max_fires or cooldown is"


def _explain_mismatch(hook: Hook, event: Event) -> str:
    """The part of its condition that did not hold. If the event can be read in several ways, in one such reading."""
    reading = find_reading(hook.when, event, holds=False)
    return hook.when.why_not(event if reading is None else reading) or "its condition does not hold"


def _condition_failure(error: Exception) -> Failure:
    """The text of an exception may contain a secret; that of a ConditionError is ours."""
    why = str(error) if isinstance(error, ConditionError) else f"it raised {type(error).__name__}"
    return Failure(FailureKind.RAISED, f"could not be evaluated: {why}")


def label_failure(failure: Failure, hook: Hook) -> Failure:
    """Adds the hook's id; the text of a program or an exception stays as it is. What the host lacks is a sentence of its own."""
    if failure.kind in _OWN_TEXT_KINDS:
        return replace(failure, hook=hook.id)
    colon = ":" if failure.kind is FailureKind.UNAVAILABLE else ""
    return replace(failure, text=f"hook {hook.id}{colon} {failure.text}", hook=hook.id)


def _log_failure(failure: Failure, extra: Mapping[str, object] | None = None) -> None:
    """Logs once per hook that it is not trusted."""
    if failure.kind is FailureKind.NOT_TRUSTED:
        if failure.hook in _logged_untrusted:
            return
        _logged_untrusted.add(failure.hook)
    _log.warning("[%s] %s: %s", failure.hook, failure.kind, failure.text, extra=extra)


def _do_nothing() -> None:
    pass
