"""Searches for an event that a property is about and that the hooks do not stop.

The solver proposes an event, and the engine judges it. If a hook stops it, that hook's condition is excluded, and the search
goes on. If nothing is left, the property is proved. A single event is excluded too if the hook that stops it cannot be
translated, but then there is no proof.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from enum import StrEnum
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import z3

from hookline.engine.book import Book, Layer
from hookline.hooks.actions.verified import VerifiedAction
from hookline.hooks.conditions.logic import All, Always, AnyOf, Never, Not
from hookline.hooks.conditions.text import Equals, Exists, Matches
from hookline.hooks.conditions.tool import ToolKindIs
from hookline.hooks.events import EVENTS
from hookline.hooks.hook import Hook
from hookline.hooks.protocols import Condition, TextPattern
from hookline.hooks.tool_name import ToolName
from hookline.hooks.tools import ToolKind
from hookline.lazy_dataclasses import dataclass, field, replace
from hookline.prove.event_space import EventSpace, Search, TooManyReadings, named_tools
from hookline.prove.example_event import build_examples
from hookline.prove.formula import Formula, negate
from hookline.prove.judge import Judge, Judgement
from hookline.prove.model_search import FoundModel, ModelSearch
from hookline.prove.pattern_language import NotTranslatable, matched_texts
from hookline.prove.properties import Property
from hookline.prove.regular_language import Language
from hookline.prove.sure_guards import Guards, find_guards
from hookline.prove.tool_space import known_tools

_MAX_SKIPPED: Final = 50  # events that are excluded one by one, for each kind of tool and search
_MAX_LAST_SKIPPED: Final = 12
_FEW_ROUNDS: Final = 4  # then all hooks that touch the property are excluded at once
_MAX_AT_ONCE: Final = 300
_MAX_LANGUAGES: Final = 300_000  # new ones in a proof; each takes about 2 KB
_MAX_NAMES: Final = 16  # tools that are looked at one by one
_FIRST_KINDS: Final = (ToolKind.WRITE, ToolKind.EDIT, ToolKind.READ)


class ProofResult(StrEnum):
    PROVED = "proved"
    COUNTER_EXAMPLE = "counter-example"
    NOT_PROVED = "not proved"


@dataclass(frozen=True, slots=True)
class ProofAnswer:
    wanted: Property
    result: ProofResult
    facts: dict[str, Any] = field(default_factory=dict)  # of a counter-example
    reasons: tuple[str, ...] = ()  # why it is not proved
    is_vacuous: bool = False  # proved, because no event meets the condition, whatever the hooks are
    rounds: int = 0
    seconds: float = 0.0


class _OutOfTime(Exception):
    pass


class _OutOfMemory(Exception):
    pass


class _Unsolved(Exception):
    """The solver gave up. The message says why."""


Progress = Callable[[str], None]


def prove(
    book: Book, wanted: Property, directory: Path, timeout: timedelta, progress: Progress = lambda text: None
) -> ProofAnswer:
    """directory: where the session would run."""
    prover = _Prover(_without_file_checks(book), wanted, directory, timeout, progress)
    begun = time.monotonic()
    result, facts = prover.run()
    seconds = time.monotonic() - begun
    reasons = tuple(dict.fromkeys(prover.reasons)) if result is ProofResult.NOT_PROVED else ()
    is_vacuous = result is ProofResult.PROVED and not prover.has_events
    return ProofAnswer(wanted, result, facts, reasons, is_vacuous, prover.rounds, seconds)


def _without_file_checks(book: Book) -> Book:
    """A proof is about the files as they are now, so the actions of a trusted file are what they would be without a check."""
    if not any(isinstance(hook.then, VerifiedAction) for hook in book.hooks):
        return book
    return Book([Layer(layer.name, [_without_file_check(hook) for hook in layer.hooks]) for layer in book.layers])


def _without_file_check(hook: Hook) -> Hook:
    return replace(hook, then=hook.then.action) if isinstance(hook.then, VerifiedAction) else hook


class _Prover:
    def __init__(self, book: Book, wanted: Property, directory: Path, timeout: timedelta, progress: Progress) -> None:
        self.wanted = wanted
        self.judge = Judge(book, wanted, directory)
        hooks = [hook for hook in book.hooks if hook.event == wanted.event]
        self.guards: Guards = find_guards(hooks, wanted.stopping)
        self.deadline = time.monotonic() + timeout.total_seconds()
        self.most_languages = len(Language.made) + _MAX_LANGUAGES
        self.timeout = timeout
        self.progress = progress
        conditions = (wanted.condition, *(hook.when for hook in hooks[:_MAX_AT_ONCE]))
        self.names = tuple(dict.fromkeys(name for each in conditions for name in named_tools(each)))[:_MAX_NAMES]
        self.reasons: list[str] = []
        self.rounds = 0
        self.has_events = False  # the solver has found an event that meets the condition

    def run(self) -> tuple[ProofResult, dict[str, Any]]:
        try:
            return self._run()
        except _OutOfTime:
            self.reasons.append(f"there was no answer within {self.timeout.total_seconds():g} s")
        except _OutOfMemory:
            self.reasons.append("the patterns together have too many states to search them all")
        except _Unsolved as unsolved:
            self.reasons.append(f"the solver gave up ({unsolved})")
        except TooManyReadings:
            self.reasons.append("the property compares the tool's name in too many ways")
        return ProofResult.NOT_PROVED, {}

    def _run(self) -> tuple[ProofResult, dict[str, Any]]:
        """The plainest counter-example comes first, so all kinds of tools are searched in one way before the next."""
        spaces = [space for kind in self._kinds() if (space := _KindSearch(self, kind)).can_hold]
        for search in (Search.KNOWN, Search.COMMON, Search.PLAIN):
            for space in spaces:
                self.progress(f"searching for {search.words}{space.title}")
                facts = space.find(search)
                if facts is not None:
                    return ProofResult.COUNTER_EXAMPLE, facts
        is_proved = True
        for space in spaces:
            self.progress(f"proving{space.title}")
            found = space.prove()
            if isinstance(found, dict):
                return ProofResult.COUNTER_EXAMPLE, found
            is_proved = is_proved and found
        return (ProofResult.PROVED if is_proved else ProofResult.NOT_PROVED), {}

    def _kinds(self) -> list[ToolKind | None]:
        if "tool.name" not in EVENTS[self.wanted.event].facts:
            return [None]
        return [*_FIRST_KINDS, *(kind for kind in ToolKind if kind not in _FIRST_KINDS)]

    def check_time(self) -> None:
        if time.monotonic() > self.deadline:
            raise _OutOfTime
        if len(Language.made) > self.most_languages:
            raise _OutOfMemory

    def check(self, solver: Any) -> Any:
        """A model, or None if there is none."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise _OutOfTime
        solver.set("timeout", max(1, int(left * 1000)))
        answer = solver.check()
        if answer == z3.sat:
            return solver.model()
        if answer == z3.unsat:
            return None
        if time.monotonic() >= self.deadline:
            raise _OutOfTime
        raise _Unsolved(solver.reason_unknown())


class _KindSearch:
    """The search among the events of one kind of tool."""

    def __init__(self, prover: _Prover, kind: ToolKind | None) -> None:
        self.prover = prover
        self.space = EventSpace(kind, prover.names)
        self.wanted = self.space.condition(prover.wanted.condition, is_property=True)
        self.excluded: dict[int, Formula] = {}  # by id() of the hook: its condition
        self.sure = {id(hook): hook for hook in prover.guards.sure}
        self._can_run: dict[int, bool] = {}
        for hook, before in prover.guards.sure_unless if self.can_hold else ():
            if not any(map(self._may_run, before)):
                self.sure[id(hook)] = hook
        self.has_all = False
        self.searches: list[ModelSearch] = []
        self.avoided: set[int] = set()  # by id(): hooks whose answer nobody knows, and that are not asked any more

    @property
    def title(self) -> str:
        return "" if self.space.kind is None else f", tools of kind {self.space.kind}"

    @property
    def can_hold(self) -> bool:
        """False if the property is not about tools of this kind."""
        return self.wanted is not False

    def _may_run(self, hook: Hook) -> bool:
        """False only if its condition cannot hold for any tool of this kind, in any reading."""
        if id(hook) not in self._can_run:
            self._can_run[id(hook)] = self._has_model(hook.when)
        return self._can_run[id(hook)]

    def _has_model(self, condition: Condition) -> bool:
        space = EventSpace(self.space.kind, self.prover.names)
        searching = ModelSearch(space, Search.ANY, self.prover.check, self.prover.check_time)
        try:
            searching.require(space.condition(condition, is_property=True))
        except TooManyReadings:
            return True
        return searching.find() is not None

    def _start(self, search: Search) -> ModelSearch:
        started = ModelSearch(self.space, search, self.prover.check, self.prover.check_time)
        started.require(self.wanted)
        for condition in self.excluded.values():
            started.require(negate(condition))
        self.searches = [started]
        self.avoided = set()
        return started

    def find(self, search: Search) -> dict[str, Any] | None:
        """Events that cannot be excluded with a hook are skipped: this search proves nothing."""
        searching, skipped, rounds = self._start(search), 0, 0
        while skipped < _MAX_SKIPPED:
            found = self._next(searching)
            if found is None:
                return None
            facts, judgement = self._judge(found)
            if _is_counter_example(judgement):
                return facts
            rounds += 1
            if not self._exclude_stopping(judgement):
                skipped += 1
                self._explain(judgement)
                if not self._avoid(judgement, searching):
                    searching.skip(found)
            elif rounds >= _FEW_ROUNDS:
                self._exclude_touching()
        return None

    def prove(self) -> dict[str, Any] | bool:
        """The facts of a counter-example, or whether it is proved that there is none."""
        searching, skipped = self._start(Search.ANY), 0
        while skipped < _MAX_LAST_SKIPPED:
            found = self._next(searching)
            if found is None:
                return not skipped
            facts, judgement = self._judge(found)
            if _is_counter_example(judgement):
                return facts
            if not self._exclude_stopping(judgement) and not self._exclude_touching():
                skipped += 1
                self._explain(judgement)
                if not self._avoid(judgement, searching):
                    searching.skip(found)
        return False

    def _next(self, searching: ModelSearch) -> FoundModel | None:
        self.prover.rounds += 1
        found = searching.find()
        self.prover.has_events = self.prover.has_events or found is not None
        return found

    def _judge(self, found: FoundModel) -> tuple[dict[str, Any], Judgement]:
        """The first event that is a counter-example, else the last one that the property is about, else the last."""
        best: tuple[dict[str, Any], Judgement] | None = None
        for facts in build_examples(self.space, found):
            judgement = self.prover.judge.judge(facts)
            if _is_counter_example(judgement):
                return facts, judgement
            if best is None or judgement.meets_property or not best[1].meets_property:
                best = facts, judgement
        assert best is not None
        return best

    def _exclude_stopping(self, judgement: Judgement) -> bool:
        """Excludes the hooks that stopped an event. False if that excludes nothing new."""
        return sum(self._exclude(hook) for hook in judgement.stopped_by if id(hook) in self.sure) > 0

    def _avoid(self, judgement: Judgement, searching: ModelSearch) -> bool:
        """Looks only for events about which unsure hooks are not asked. What is found, or not found, is no proof."""
        unsure = [hook for hook in judgement.stopped_by if id(hook) not in self.sure]
        new = [hook for hook in (*judgement.unknown, *unsure) if id(hook) not in self.avoided]
        for hook in new:
            self.avoided.add(id(hook))
            searching.require(negate(self.space.condition(hook.when, is_property=False)))
        return bool(new)

    def _exclude(self, hook: Hook) -> bool:
        if id(hook) in self.excluded:
            return False
        condition = self.excluded[id(hook)] = self.space.condition(hook.when, is_property=False)
        for searching in self.searches:
            searching.require(negate(condition))
        return True

    def _exclude_touching(self) -> bool:
        """Excludes all hooks about these tools at once, if they are not too many: each round takes time."""
        if self.has_all:
            return False
        self.has_all = True
        touching = [hook for hook in self.sure.values() if id(hook) not in self.excluded and self._touches(hook.when)]
        return len(touching) <= _MAX_AT_ONCE and sum(map(self._exclude, touching)) > 0

    def _touches(self, condition: Condition) -> bool:
        """False only if the condition names tools of other kinds."""
        match condition:
            case All(parts):
                return all(map(self._touches, parts))
            case ToolKindIs(kind):
                return kind in (self.space.kind, ToolKind.OTHER)
            case Matches(ToolName() as subject, compiled) if self.space.kind is not None and not subject.own_names:
                return _names_kind(subject, compiled, self.space.kind)
            case _:
                return True

    def _explain(self, judgement: Judgement) -> None:
        unsure = self.prover.guards.unsure
        for hook in judgement.unknown:
            why = unsure.get(id(hook)) or f"its answer comes from {hook.then.label}"
            self.prover.reasons.append(f"{_place(hook)}: {why}")
        for hook in judgement.stopped_by:
            why = unsure.get(id(hook)) or "; ".join(untranslated_parts(hook.when)) or _DEPENDS_ON_READING
            self.prover.reasons.append(f"{_place(hook)}: {why}")
        if not judgement.meets_property:
            parts = "; ".join(untranslated_parts(self.prover.wanted.condition)) or _DEPENDS_ON_READING
            self.prover.reasons.append(f"the property: {parts}")


@lru_cache(maxsize=65_536)
def _names_kind(subject: ToolName, compiled: TextPattern, kind: ToolKind) -> bool:
    """Whether the matcher matches a tool of this kind by one of the names of the tables."""
    own = next(iter(subject.vocabulary.names.get(kind, ())), None)
    names = (tool.name for tool in known_tools() if tool.kind is kind)
    return any(compiled.search(name) for name in names) or (own is not None and compiled.search(own))


_DEPENDS_ON_READING: Final = "whether its condition is true depends on how the event can be read"


def _is_counter_example(judgement: Judgement) -> bool:
    return judgement.meets_property and not judgement.is_stopped and not judgement.unknown


def _place(hook: Hook) -> str:
    return f"{hook.id} ({hook.origin.file}:{hook.origin.line})"


def untranslated_parts(condition: Condition) -> Iterator[str]:
    """The parts of a condition that the solver cannot look into."""
    match condition:
        case All(parts) | AnyOf(parts):
            for part in parts:
                yield from untranslated_parts(part)
        case Not(part):
            yield from untranslated_parts(part)
        case Matches(_, compiled):
            try:
                matched_texts(compiled)
            except NotTranslatable as reason:
                yield f"{condition}: its pattern {reason}"
        case Always() | Never() | ToolKindIs() | Exists() | Equals(value=str()):
            return
        case _:
            yield f"{condition}: this condition cannot be translated"
