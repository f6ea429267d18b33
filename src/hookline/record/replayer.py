"""Decides recorded events anew, under other hooks, on a host that does nothing outside.

What a program, script, model or tool answered is taken from the record. A hook whose answer is not in the record, because it
is new or its action was changed, is named: nobody knows what it would have said. A caller may know how to ask some of them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any, Final, NamedTuple

from hookline.engine.book import Book, Layer
from hookline.engine.decision import Decision, TraceEntry, outcome_json
from hookline.engine.limits import FireCounts
from hookline.errors import MustWait
from hookline.hooks.actions.notify import Log
from hookline.hooks.actions.verified import VerifiedAction
from hookline.hooks.conditions.past_events import Remember
from hookline.hooks.event import REMOVED, Event, FactPath, parse_path
from hookline.hooks.events import EVENTS
from hookline.hooks.hook import UNLIMITED, Hook
from hookline.hooks.host import CurrentHook, NullHost, current_hook
from hookline.hooks.masking import MASK
from hookline.hooks.outcome import SILENT, ActionError, Audience, Compact, Failure, FailureKind, Note, Outcome, Verdict
from hookline.hooks.protocols import Action, May
from hookline.hooks.record_settings import RecordedFacts
from hookline.lazy_dataclasses import dataclass, field, replace
from hookline.record.facts import RecordableFacts
from hookline.record.record_reader import Record

_VERDICTS: Final = {verdict.word: verdict for verdict in Verdict}


class ReplayDifference(StrEnum):
    LOOSENED = "loosened"  # stopped then, not any more; or allowed now, where the host would have asked its user
    TIGHTENED = "tightened"
    CHANGED = "changed"  # the same verdict, but another hook, reason or note, or other changes
    UNDECIDED = "undecided"  # it would be another one, but the recorded facts are not those that hooks saw
    SAME = "same"


class Replayed(NamedTuple):
    """One recorded decision, and the one that would be made."""

    record: Record
    decision: Decision
    difference: ReplayDifference
    unknown: tuple[str, ...] = ()  # hooks whose answer nobody knows


@dataclass(frozen=True, slots=True)
class HooksThen:
    """The hooks that were in force when a record was made."""

    by_name: Mapping[tuple[str, str], Hook]  # by file and id
    files: frozenset[str]  # as records name them

    def is_same(self, hook: Hook, entry: Mapping[str, Any]) -> bool:
        """Whether the hook would do what the hook of this entry of a trace did.

        The text of a Python file is not kept: one of its hooks is the same if it stands on the same line.
        """
        then = self.by_name.get((hook.origin.file, hook.id))
        if then is not None:
            return then.then == hook.then
        return bool(self.files) and hook.origin.file not in self.files and entry.get("line") == hook.origin.line

    def is_moved(self, hook: Hook, entry: Mapping[str, Any]) -> bool:
        """Whether the hook of this entry, in another file, did what the hook would do: `--with` may name a changed copy."""
        then = self.by_name.get((entry.get("file", ""), hook.id))
        return hook.origin.file not in self.files and then is not None and then.then == hook.then

    def has_same_on_error(self, hook: Hook, entry: Mapping[str, Any]) -> bool:
        then = self.by_name.get((entry.get("file", ""), hook.id))
        return then is None or then.on_error == hook.on_error


NO_HOOKS_THEN: Final = HooksThen({}, frozenset())


AnswerUnrecorded = Callable[[Hook, Event], Awaitable[Outcome | None]]
"""What a hook answers whose answer is not in the record; None if nobody knows. Raises ActionError."""


@dataclass(slots=True)
class ReplayedAnswers:
    """What hooks answered to the event that is decided now."""

    answer_unrecorded: AnswerUnrecorded | None = None
    trace: list[dict[str, Any]] = field(default_factory=list)
    hooks_then: HooksThen = NO_HOOKS_THEN
    unknown: set[str] = field(default_factory=set)

    def begin(self, record: Record, hooks_then: HooksThen) -> None:
        self.trace = list(record.get("trace", ()))
        self.hooks_then = hooks_then
        self.unknown = set()

    async def find_unrecorded(self, hook: Hook, event: Event) -> Outcome:
        if isinstance(hook.then, Log):  # it never says anything
            return SILENT
        outcome = await self.answer_unrecorded(hook, event) if self.answer_unrecorded is not None else None
        if outcome is None:
            self.unknown.add(hook.id)
            return Outcome(applied=False)
        return outcome

    def take(self, hook: Hook) -> dict[str, Any] | None:
        of_this_id = [(at, entry) for at, entry in enumerate(self.trace) if entry.get("hook") == hook.id]
        for at, entry in of_this_id:
            if entry.get("file") == hook.origin.file:
                return self.trace.pop(at) if self.hooks_then.is_same(hook, entry) else None
        for at, entry in of_this_id:
            if self.hooks_then.is_moved(hook, entry):
                return self.trace.pop(at)
        return None


class ReplayedAction:
    """Stands for an action that would do something outside: it answers what was recorded."""

    def __init__(self, hook: Hook, answers: ReplayedAnswers) -> None:
        self._hook = hook
        self._answers = answers
        self._asked: tuple[CurrentHook | None, list[dict[str, Any]]] = (
            None,
            [],
        )  # who asked last, and in which event's trace
        self._entry: dict[str, Any] | None = None  # the answer of that time
        self.action = hook.then

    @property
    def instant(self) -> bool:
        return self.action.instant

    @property
    def constant(self) -> Outcome | None:
        return None

    @property
    def may(self) -> May:
        return self.action.may

    @property
    def label(self) -> str:
        return self.action.label

    def changes(self) -> Iterable[FactPath]:
        return self.action.changes()

    def reads(self) -> Iterable[FactPath]:
        return self.action.reads()

    def describe(self) -> Iterable[tuple[str, str]]:
        return self.action.describe()

    async def run(self, event: Event, host: Any) -> Outcome:
        who, trace = self._asked
        if who is None or who is not current_hook.get() or trace is not self._answers.trace:
            self._asked = current_hook.get(), self._answers.trace
            self._entry = self._answers.take(self._hook)
        entry = self._entry  # the same if the call is read under another of its names
        if entry is None:
            return await self._answers.find_unrecorded(self._hook, event)
        failure, applied = entry.get("failure"), entry.get("applied", True)
        if not isinstance(failure, dict) or failure["kind"] == FailureKind.NOT_ACCEPTED:
            return parse_outcome(entry.get("outcome"), applied=applied)
        if self._answers.hooks_then.has_same_on_error(self._hook, entry):
            return parse_outcome(
                entry.get("outcome"), applied=False
            )  # with what its on_error said; a failure is no fire
        text = failure["text"].removeprefix(f"hook {self._hook.id}").removeprefix(":").removeprefix(" ")
        raise ActionError(FailureKind(failure["kind"]), text)


def parse_outcome(value: Any, *, applied: bool = True) -> Outcome:
    """The outcome that a record's trace has."""
    if not isinstance(value, dict):
        return Outcome(applied=applied)
    changes = value.get("changes", {})
    return Outcome(
        _VERDICTS.get(value.get("verdict", ""), Verdict.SILENT),
        value.get("reason", ""),
        tuple((parse_path(path), REMOVED if new is None else new) for path, new in changes.items()),
        tuple(Note(note["text"], Audience(note["for"])) for note in value.get("notes", ())),
        (Compact(),) * len(value.get("requests", ())),
        value.get("halt", False),
        value.get("final", False),
        applied,
    )


class ReplayHost(NullHost):
    """Its clock is the record's, so limits count as they did."""

    def __init__(self) -> None:
        self._limits = FireCounts()
        self.record_clock = self.clock = _RecordClock()

    @property
    def limits(self) -> FireCounts:
        return self._limits

    def run_in_background(self, work: Callable[[], Awaitable[None]], session: str) -> None:
        """Nobody waits for such a hook, and what it does is outside."""


class _RecordClock:
    at = ""  # a time as in records; few events need it as a number

    def now(self) -> float:
        return datetime.fromisoformat(self.at).timestamp()

    def wall(self) -> float:
        return self.now()


class ReplayBook:
    """A book in which nothing is done outside, for any number of events."""

    def __init__(self, book: Book, answer_unrecorded: AnswerUnrecorded | None = None) -> None:
        self.answers = ReplayedAnswers(answer_unrecorded)
        self._host = ReplayHost()
        self._files = frozenset(file.shown_as for file in book.files.files)
        layers = [Layer(layer.name, [self._replayed(hook) for hook in layer.hooks]) for layer in book.layers]
        self.book = Book(layers, self._host)
        self.acts = any(isinstance(hook.then, ReplayedAction) for hook in self.book.hooks)

    @property
    def remembers(self) -> bool:
        """Whether what it decides depends on earlier events of the session: limits, `count` and `after`."""
        return any(hook.limit != UNLIMITED or isinstance(hook.then, Remember) for hook in self.book.hooks)

    @cached_property
    def hooks(self) -> HooksThen:
        by_name = {(hook.origin.file, hook.id): _with_own_action(hook) for hook in self.book.hooks}
        return HooksThen(by_name, self._files)

    async def decide(self, record: Record, hooks_then: HooksThen, *, explain: bool = False) -> Decision:
        self._host.record_clock.at = record["at"]
        self.answers.begin(record, hooks_then)
        return await self.book.decide(Event(record["event"], record["facts"]), self._host, explain)

    def decide_now(self, record: Record) -> Decision:
        """If nothing is taken from the record. Raises MustWait, before any hook runs."""
        self._host.record_clock.at = record["at"]
        return self.book.decide_now(Event(record["event"], record["facts"]), self._host)

    def _replayed(self, hook: Hook) -> Hook:
        action = hook.then.action if isinstance(hook.then, VerifiedAction) else hook.then
        if action.constant is not None or _is_pure(action):
            return replace(hook, then=action)
        own = replace(hook, then=action)
        return replace(own, then=ReplayedAction(own, self.answers))


def _with_own_action(hook: Hook) -> Hook:
    return replace(hook, then=hook.then.action) if isinstance(hook.then, ReplayedAction) else hook


def _is_pure(action: Action) -> bool:
    """Whether its answer follows from the event alone, and it does nothing else."""
    return action.instant and not isinstance(action, Log)


BookOf = Callable[[Record], Book]


class Replayer:
    """Replays records under the hooks that `book_of` gives for each. `then_of` gives those that were in force."""

    def __init__(self, book_of: BookOf, then_of: BookOf) -> None:
        self._book_of = book_of
        self._then_of = then_of
        self._books: dict[int, tuple[Book, ReplayBook]] = {}
        self.skipped = 0  # records without the facts that a decision needs

    async def decide(self, record: Record) -> Replayed | None:
        """None for a record that is no decision of hooks, or has no facts."""
        if record.get("kind") != "decision" or record.get("again"):
            return None
        if not has_facts(record):
            self.skipped += 1
            return None
        now = self._replayed(self._book_of(record))
        if not now.acts:
            try:
                decision = now.decide_now(record)
            except MustWait:
                decision = await now.decide(record, NO_HOOKS_THEN)
            return Replayed(record, decision, await self._compare(record, decision, now))
        decision = await now.decide(record, self._replayed(self._then_of(record)).hooks)
        unknown = tuple(sorted(now.answers.unknown))
        return Replayed(record, decision, await self._compare(record, decision, now), unknown)

    async def _compare(self, record: Record, decision: Decision, now: ReplayBook) -> ReplayDifference:
        difference = compare(record, decision)
        if difference is not ReplayDifference.UNDECIDED:
            return difference
        then = self._replayed(self._then_of(record))
        return difference if then is now else await compare_uncertain(record, decision, then)

    def _replayed(self, book: Book) -> ReplayBook:
        known = self._books.get(id(book))
        if known is None:
            known = self._books[id(book)] = (book, ReplayBook(book))
        return known[1]


def has_facts(record: Record) -> bool:
    """Whether the record has what a decision needs."""
    return isinstance(record.get("facts"), dict) and record.get("event") in EVENTS


def missing_hooks(record: Record, then: HooksThen) -> list[dict[str, Any]]:
    """The parts of a record's trace whose hooks are not in the kept texts, because they are written in Python."""
    return [entry for entry in record.get("trace", ()) if (entry.get("file"), entry.get("hook")) not in then.by_name]


def restore_trace(decision: Decision, record: Record) -> None:
    """The trace of a replayed decision gets the times and failures of the recorded one, where a hook took part in it."""
    recorded: dict[tuple[Any, Any], list[dict[str, Any]]] = {}
    for entry in record.get("trace", ()):
        recorded.setdefault((entry.get("file"), entry.get("hook")), []).append(entry)
    for ran in decision.trace:
        known = recorded.get((ran.hook.origin.file, ran.hook.id)) if not ran.skip_reason else None
        entry = known.pop(0) if known else {}
        ran.seconds = entry.get("ms", 0.0) / 1000
        failure = entry.get("failure")
        if ran.failure is None and isinstance(failure, dict):
            ran.failure = Failure(FailureKind(failure["kind"]), failure["text"], ran.hook.id)


def is_uncertain(record: Record) -> bool:
    """Whether the recorded facts are not those that the hooks saw: they were cut or masked."""
    return bool(record.get("cut")) or _has_mask(record.get("facts"))


def _has_mask(value: Any) -> bool:
    if isinstance(value, str):
        return MASK in value
    if isinstance(value, dict):
        return any(map(_has_mask, value)) or any(map(_has_mask, value.values()))
    return isinstance(value, list) and any(map(_has_mask, value))


def compare(record: Record, decision: Decision) -> ReplayDifference:
    """How a decision differs from the recorded one."""
    word = decision.verdict.word
    if "trace" not in record and not decision.trace and record.get("verdict") == word and not decision.halt:
        return ReplayDifference.SAME  # no hook took part, as in most decisions
    difference = _compare_strength(record, decision)
    if difference is None and record.get("verdict") == word and not changed_parts(record, decision):
        return ReplayDifference.SAME
    return ReplayDifference.UNDECIDED if is_uncertain(record) else difference or ReplayDifference.CHANGED


def changed_parts(record: Record, decision: Decision) -> list[str]:
    """What differs beside the verdict: `hook`, `reason`, `notes`, and the paths of facts such as `tool.input.command`."""
    notes = [{"for": str(note.audience), "text": note.text} for note in decision.notes]
    parts = {
        "hook": record.get("hook") == decision.by,
        "reason": _is_recorded_as(decision.reason, record.get("reason", "")),
        "notes": _is_recorded_as(notes, record.get("notes", [])),
    }
    before, after = _changes(map(_recorded_outcome, _trace(record))), _changes(map(_outcome, decision.trace))
    for path in {**before, **after}:
        parts[path] = path in before and path in after and _is_recorded_as(after[path], before[path])
    return [name for name, is_same in parts.items() if not is_same]


async def compare_uncertain(record: Record, decision: Decision, then: ReplayBook) -> ReplayDifference:
    """Masked and cut facts still show a difference if they are enough for the hooks of then to decide the same."""
    if compare(record, await then.decide(record, then.hooks)) is ReplayDifference.UNDECIDED:
        return ReplayDifference.UNDECIDED
    return _compare_strength(record, decision) or ReplayDifference.CHANGED


def _compare_strength(record: Record, decision: Decision) -> ReplayDifference | None:
    before = _strength(record.get("verdict", ""), bool(record.get("halt")))
    now = _strength(decision.verdict.word, decision.halt)
    if before == now:
        return None
    return ReplayDifference.LOOSENED if now < before else ReplayDifference.TIGHTENED


def _strength(verdict: str, halt: bool) -> int:
    """An allow is weaker than silence, which leaves the call to the rules of the host."""
    return 3 if halt else {"allow": -1, "ask": 1, "deny": 2}.get(verdict, 0)


def _trace(record: Record) -> Iterable[dict[str, Any]]:
    found: list[dict[str, Any]] = record.get("trace", [])
    return found


def _recorded_outcome(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    return entry.get("outcome") or {}


def _outcome(ran: TraceEntry) -> Mapping[str, Any]:
    return {} if ran.outcome is None or ran.skip_reason else outcome_json(ran.outcome)


def _changes(outcomes: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """By path: what the last hook that changed it made of it."""
    return {path: new for outcome in outcomes for path, new in outcome.get("changes", {}).items()}


def _is_recorded_as(value: Any, recorded: Any) -> bool:
    """Whether the value would be recorded like this: secrets in a record are masked, and long texts are cut."""
    return bool(value == recorded) or RecordableFacts(RecordedFacts.MASKED, masks=True).value(value) == recorded
