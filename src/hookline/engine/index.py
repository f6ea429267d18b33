"""Which hooks could hold for an event, at a cost that does not grow with their number.

A condition says what it needs: texts of the event that must match a pattern. Equal needs are one. Each hook hangs on
its rarest need, and a sieve for each subject tells which needs a text may meet. The index may only err on
the side of asking too much: `holds` has the last word.

Which of many patterns a text may match, told by the words that each of them needs: re2.Filter, kept in bounds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from time import perf_counter
from typing import Any, Final

import re2

from hookline.engine.decision import accept_outcome
from hookline.errors import UndecidedError
from hookline.hooks.event import Changes, Event, FactPath, touches
from hookline.hooks.hook import GLOBAL_SCOPE, UNLIMITED, Hook
from hookline.hooks.protocols import Need, Subject
from hookline.patterns.encoding import encode_utf8

_MAX_FILTER_LENGTH: Final = 65_536  # characters of patterns in one filter; RE2 does not make one that needs more memory
_WINDOW_BYTES: Final = 16_384  # bytes between two looks at the clock


class PatternFilter:
    """May only err on the side of too much. Patterns are known by their number."""

    __slots__ = ("_always_possible", "_parts")

    def __init__(self, sources: Sequence[str]) -> None:
        self._parts: list[tuple[range, Any]] = []
        self._always_possible: set[int] = set()  # nothing can be said about these
        for part in _split_sources(sources):
            self._add_part(part, sources)

    def unfiltered(self) -> set[int]:
        """Patterns that pass whatever the text: they have no word that must occur."""
        return self.possible_matches(("",))

    def possible_matches(self, texts: Iterable[str], deadline: float = float("inf")) -> set[int]:
        """The patterns that one of these texts may match; all that are left when the deadline passes."""
        found = set(self._always_possible)
        for text in texts:
            data = encode_utf8(text)
            for part, filter in self._parts:
                if len(data) > _WINDOW_BYTES and not _scan_in_time(filter, data, deadline):
                    found.update(part)
                else:
                    passed = filter.Match(data, True)
                    found.update(passed if part.start == 0 else [part.start + n for n in passed])
        return found

    def _add_part(self, part: range, sources: Sequence[str]) -> None:
        built = _build_filter([sources[n] for n in part])
        if built is not None:
            self._parts.append((part, built))
        elif len(part) == 1:
            self._always_possible.add(part[0])
        else:
            middle = len(part) // 2
            self._add_part(part[:middle], sources)
            self._add_part(part[middle:], sources)


def _split_sources(sources: Sequence[str]) -> Iterable[range]:
    start = length = 0
    for n, source in enumerate(sources):
        if length + len(source) > _MAX_FILTER_LENGTH and n > start:
            yield range(start, n)
            start, length = n, 0
        length += len(source)
    yield range(start, len(sources))


def _build_filter(sources: Iterable[str]) -> Any:
    """None where RE2 does not make one."""
    options = re2.Options()
    options.log_errors = False
    built = re2.Filter()
    try:
        for source in sources:
            built.Add(source.encode(), options)
        built.Compile()
    except re2.error:
        return None
    return built._filter  # the public wrapper costs as much again


def _scan_in_time(filter: Any, data: bytes, deadline: float) -> bool:
    """Tries a long text in windows first, for a filter cannot be stopped.

    Their answers are of no use, a pattern may need words in two of them; but all of the text takes no longer than
    they did, and a text made to be slow is found out within one.
    """
    for start in range(0, len(data), _WINDOW_BYTES):
        if perf_counter() > deadline:
            return False
        filter.Match(data[start : start + _WINDOW_BYTES], True)
    return perf_counter() < deadline


_MAX_UNINDEXED_HOOKS: Final = 2  # hooks that are quicker asked than looked up
_MAX_UNFILTERED_PATTERNS: Final = 4  # patterns on one subject that are quicker asked directly
_MAX_CACHED_LENGTH: Final = 64  # characters of texts whose answer is remembered
_CACHE_SIZE: Final = 1024
_NARROWING_THRESHOLD: Final = (
    32  # possible hooks from which on their other needs are looked at before each is confirmed
)


class SubjectIndex:
    """All needs on one subject, and the hooks that hang on them."""

    __slots__ = ("_attached", "_cache", "_filter", "needs", "reads", "subject")

    def __init__(self, subject: Subject, needs: Sequence[Need]) -> None:
        self.subject = subject
        self.reads: tuple[FactPath, ...] = subject.reads()
        self.needs = tuple(needs)
        self._filter = (
            PatternFilter([need.pattern.prefilter or "" for need in needs])
            if len(needs) > _MAX_UNFILTERED_PATTERNS
            else None
        )
        self._attached: dict[int, list[int]] = {}
        self._cache: dict[tuple[str, ...], list[int]] = {}

    def unfiltered_needs(self) -> set[int]:
        """Needs that the sieve can say nothing about."""
        return self._filter.unfiltered() if self._filter else set()

    def attach(self, need: int, hook: int) -> None:
        self._attached.setdefault(need, []).append(hook)

    @property
    def has_hooks(self) -> bool:
        return bool(self._attached)

    def possible_needs(self, texts: tuple[str, ...], deadline: float) -> set[int]:
        """The needs that these texts may meet."""
        return self._filter.possible_matches(texts, deadline) if self._filter else set(range(len(self.needs)))

    def matching_hooks(self, event: Event, deadline: float, index: HookIndex) -> tuple[list[int], bool]:
        """Positions of the hooks whose rarest need is met, or could not be decided.

        True beside them if only this shelf's own texts led to them.
        """
        texts = self.subject.texts(event)
        if not texts:
            return [], True
        short = sum(map(len, texts)) <= _MAX_CACHED_LENGTH
        if short:
            known = self._cache.get(texts)
            if known is not None:
                return known, True
        found, own = self._search_needs(texts, event, deadline, index)
        if short and own:
            if len(self._cache) >= _CACHE_SIZE:
                self._cache.clear()
            self._cache[texts] = found
        return found, own

    def _search_needs(
        self, texts: tuple[str, ...], event: Event, deadline: float, index: HookIndex
    ) -> tuple[list[int], bool]:
        hanging = self._attached
        passed = self.possible_needs(texts, deadline)
        if len(passed) > _NARROWING_THRESHOLD:
            return index.narrow(self, passed, event, deadline), False
        possible = [need for need in passed if need in hanging]
        found: list[int] = []
        for need in possible:
            search = self.needs[need].pattern.search
            try:
                met = perf_counter() > deadline or any(search(text, deadline) for text in texts)
            except UndecidedError:
                met = True
            if met:
                found += hanging[need]
        return found, True


class IndexEntry:
    """A hook as the rounds need it."""

    __slots__ = ("answer", "hook", "plain")

    def __init__(self, hook: Hook) -> None:
        constant = hook.then.constant
        taken, refused = accept_outcome(constant, hook.event) if constant is not None else (None, None)
        self.hook = hook
        self.answer = None if refused else taken  # the outcome, where nothing but the condition is to be asked
        self.plain = hook.enabled and hook.wait and hook.scope == GLOBAL_SCOPE and hook.limit == UNLIMITED


class HookIndex:
    """One event's hooks of one layer, in the order in which they are asked."""

    __slots__ = (
        "_always",
        "_attached_to",
        "_by_need",
        "_need_positions",
        "_subjects",
        "_used_subjects",
        "entries",
        "waits",
    )

    def __init__(self, hooks: Sequence[Hook]) -> None:
        self.entries = tuple(IndexEntry(hook) for hook in hooks)
        self.waits = any(not hook.then.instant or not hook.wait for hook in hooks)
        needs = [_indexable_needs(hook) if len(hooks) > _MAX_UNINDEXED_HOOKS else () for hook in hooks]
        self._subjects = _build_subject_indexes(needs)
        places = {need: (shelf, n) for shelf in self._subjects for n, need in enumerate(shelf.needs)}
        self._need_positions = [tuple(places[need] for need in of_hook) for of_hook in needs]
        self._attached_to: list[SubjectIndex | None] = [None] * len(needs)
        self._by_need: dict[SubjectIndex, tuple[list[list[int]], list[int]]] = {}
        self._always = self._attach_hooks()
        self._used_subjects = tuple(shelf for shelf in self._subjects if shelf.has_hooks)

    def candidates(
        self, event: Event, deadline: float, known: dict[SubjectIndex, list[int]] | None = None, changes: Changes = ()
    ) -> list[int]:
        """Positions of the hooks that may hold, in order. With `known`, only what `changes` touch is asked again."""
        found = self._always
        for shelf in self._used_subjects:
            if known is not None and shelf in known and not touches(shelf.reads, changes):
                hooks = known[shelf]
            else:
                hooks, own = shelf.matching_hooks(event, deadline, self)
                if known is not None and own:
                    known[shelf] = hooks
                elif known is not None:
                    known.pop(shelf, None)
            if hooks:
                found = found + hooks
        return sorted(found) if len(found) > 1 else found

    def narrow(self, asked: SubjectIndex, passed: set[int], event: Event, deadline: float) -> list[int]:
        """Those of the many hooks hanging on `asked` whose needs on the other subjects may be met as well.

        The shelf that leaves the fewest is looked at alone, so that all of them need not be.
        """
        possible = {asked: passed}
        for shelf in self._subjects:
            if shelf is not asked:
                texts = shelf.subject.texts(event)
                possible[shelf] = shelf.possible_needs(texts, deadline) if texts else set()
        fewest = min(self._subjects, key=lambda shelf: self._candidate_count(shelf, possible[shelf]))
        needing = self._hooks_by_need(fewest)
        hooks = dict.fromkeys(
            [*self._hooks_without_need(fewest), *(hook for need in possible[fewest] for hook in needing[need])]
        )
        return [hook for hook in hooks if self._attached_to[hook] is asked and self._may_hold(hook, possible)]

    def _may_hold(self, hook: int, possible: dict[SubjectIndex, set[int]]) -> bool:
        return all(number in possible[shelf] for shelf, number in self._need_positions[hook])

    def _candidate_count(self, shelf: SubjectIndex, possible: set[int]) -> int:
        needing = self._hooks_by_need(shelf)
        return len(self._hooks_without_need(shelf)) + sum(len(needing[need]) for need in possible)

    def _hooks_by_need(self, shelf: SubjectIndex) -> list[list[int]]:
        """For each of the shelf's needs, the hooks that have it."""
        return self._group_by_need(shelf)[0]

    def _hooks_without_need(self, shelf: SubjectIndex) -> list[int]:
        return self._group_by_need(shelf)[1]

    def _group_by_need(self, shelf: SubjectIndex) -> tuple[list[list[int]], list[int]]:
        """Made when first asked for: most books never have many possible hooks."""
        known = self._by_need.get(shelf)
        if known is None:
            needing: list[list[int]] = [[] for _ in shelf.needs]
            needless: list[int] = []
            for hook, places in enumerate(self._need_positions):
                numbers = [number for on, number in places if on is shelf]
                for number in numbers:
                    needing[number].append(hook)
                if not numbers:
                    needless.append(hook)
            known = self._by_need[shelf] = needing, needless
        return known

    def _attach_hooks(self) -> list[int]:
        """Hangs each hook on its rarest need; returns those that have none."""
        common = Counter(place for places in self._need_positions for place in places)
        unfiltered = {shelf: shelf.unfiltered_needs() for shelf in self._subjects}
        always: list[int] = []
        for position, places in enumerate(self._need_positions):
            if not places:
                always.append(position)
                continue
            shelf, number = min(places, key=lambda place: (place[1] in unfiltered[place[0]], common[place]))
            shelf.attach(number, position)
            self._attached_to[position] = shelf
        return always


def _indexable_needs(hook: Hook) -> tuple[Need, ...]:
    return tuple(need for need in hook.when.needs() if need.pattern.prefilter is not None)


def _build_subject_indexes(needs_of_hooks: Iterable[tuple[Need, ...]]) -> tuple[SubjectIndex, ...]:
    by_subject: dict[Subject, dict[Need, None]] = {}
    for needs in needs_of_hooks:
        for need in needs:
            by_subject.setdefault(need.subject, {})[need] = None
    return tuple(SubjectIndex(subject, tuple(needs)) for subject, needs in by_subject.items())
