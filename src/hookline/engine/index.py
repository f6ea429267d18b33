"""Finds the hooks whose condition may hold for an event, at a cost that does not grow with their number.

A condition says what it needs: texts of the event that must match a pattern. Equal needs are stored once. Each hook is
attached to its rarest need, and one filter per subject finds the needs that a text may meet. The index may return too
many hooks, never too few: `holds` decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from time import perf_counter
from typing import Any, Final

import re2

from hookline.errors import UndecidedError
from hookline.hooks.attempt import accept_outcome
from hookline.hooks.event import Changes, Event, FactPath, touches
from hookline.hooks.hook import GLOBAL_SCOPE, UNLIMITED, Hook
from hookline.hooks.protocols import Need, Subject
from hookline.patterns.encoding import encode_utf8

_MAX_FILTER_LENGTH: Final = 65_536  # characters of patterns in one filter; RE2 refuses to build larger ones
_WINDOW_BYTES: Final = 16_384  # between two checks of the time
_MAX_UNINDEXED_HOOKS: Final = 2  # so few hooks are faster to evaluate than to look up
_MAX_UNFILTERED_PATTERNS: Final = 4  # so few patterns on one subject are faster to search directly
_MAX_CACHED_LENGTH: Final = 64  # characters of texts whose result is cached
_CACHE_SIZE: Final = 1024
_NARROWING_THRESHOLD: Final = 32  # with more possible needs, check the hooks' other needs before searching each


class PatternFilter:
    """Which of many patterns a text may match, found by the words that each pattern needs: re2.Filter with limits.

    It may return too many patterns, never too few. A pattern is named by its number.
    """

    __slots__ = ("_always_possible", "_parts")

    def __init__(self, sources: Sequence[str]) -> None:
        self._parts: list[tuple[range, Any]] = []
        self._always_possible: set[int] = set()  # patterns that RE2 cannot filter
        for part in _split_sources(sources):
            self._add_part(part, sources)

    def unfiltered_patterns(self) -> set[int]:
        """Patterns that pass for every text: no word must occur in it."""
        return self.possible_matches(("",))

    def possible_matches(self, texts: Iterable[str], deadline: float = float("inf")) -> set[int]:
        """The patterns that one of these texts may match; every remaining one if the deadline passes."""
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
    """None if RE2 refuses to build one."""
    options = re2.Options()
    options.log_errors = False
    built = re2.Filter()
    try:
        for source in sources:
            built.Add(source.encode(), options)
        built.Compile()
    except re2.error:
        return None
    return built._filter  # the public wrapper doubles the cost


def _scan_in_time(filter: Any, data: bytes, deadline: float) -> bool:
    """Tries a long text window by window first, because a running filter cannot be stopped.

    The results are ignored, since a pattern may need words from two windows. But the whole text takes no longer than
    its windows did, and a text built to be slow is detected within one.
    """
    for start in range(0, len(data), _WINDOW_BYTES):
        if perf_counter() > deadline:
            return False
        filter.Match(data[start : start + _WINDOW_BYTES], True)
    return perf_counter() < deadline


class SubjectIndex:
    """All needs on one subject, and the hooks that are attached to them."""

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
        """Needs that the filter cannot rule out for any text."""
        return self._filter.unfiltered_patterns() if self._filter else set()

    def attach(self, need: int, hook: int) -> None:
        self._attached.setdefault(need, []).append(hook)

    @property
    def has_hooks(self) -> bool:
        return bool(self._attached)

    def possible_needs(self, texts: tuple[str, ...], deadline: float) -> set[int]:
        """The needs that these texts may meet."""
        return self._filter.possible_matches(texts, deadline) if self._filter else set(range(len(self.needs)))

    def matching_hooks(self, event: Event, deadline: float, index: HookIndex) -> tuple[list[int], bool]:
        """Positions of the hooks whose rarest need is met, or could not be decided in time.

        The flag is True if the result depends on this subject's texts alone.
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
        attached = self._attached
        passed = self.possible_needs(texts, deadline)
        if len(passed) > _NARROWING_THRESHOLD:
            return index.narrow(self, passed, event, deadline), False
        possible = [need for need in passed if need in attached]
        found: list[int] = []
        for need in possible:
            search = self.needs[need].pattern.search
            try:
                met = perf_counter() > deadline or any(search(text, deadline) for text in texts)
            except UndecidedError:
                met = True
            if met:
                found += attached[need]
        return found, True


class IndexEntry:
    """A hook with what a round needs, computed once."""

    __slots__ = ("answer", "hook", "plain")

    def __init__(self, hook: Hook) -> None:
        constant = hook.then.constant
        accepted, rejection = accept_outcome(constant, hook.event) if constant is not None else (None, None)
        self.hook = hook
        self.answer = None if rejection else accepted  # a fixed outcome that needs no run
        self.plain = hook.enabled and hook.wait and hook.scope == GLOBAL_SCOPE and hook.limit == UNLIMITED


class HookIndex:
    """The hooks of one event in one layer, in the order in which they run."""

    __slots__ = (
        "_always",
        "_attached_to",
        "_by_need",
        "_need_positions",
        "_subjects",
        "_used_subjects",
        "entries",
        "groups",
        "waits",
    )

    def __init__(self, hooks: Sequence[Hook]) -> None:
        self.entries = tuple(IndexEntry(hook) for hook in hooks)
        self.groups = frozenset(hook.group for hook in hooks)
        self.waits = any(not hook.then.instant or not hook.wait for hook in hooks)
        needs = [_indexable_needs(hook) if len(hooks) > _MAX_UNINDEXED_HOOKS else () for hook in hooks]
        self._subjects = _build_subject_indexes(needs)
        places = {need: (subject, n) for subject in self._subjects for n, need in enumerate(subject.needs)}
        self._need_positions = [tuple(places[need] for need in of_hook) for of_hook in needs]
        self._attached_to: list[SubjectIndex | None] = [None] * len(needs)
        self._by_need: dict[SubjectIndex, tuple[list[list[int]], list[int]]] = {}
        self._always = self._attach_hooks()
        self._used_subjects = tuple(subject for subject in self._subjects if subject.has_hooks)

    def candidates(
        self, event: Event, deadline: float, known: dict[SubjectIndex, list[int]] | None = None, changes: Changes = ()
    ) -> list[int]:
        """Positions of the hooks that may hold, in order. With `known`, only subjects that `changes` touch are searched."""
        found = self._always
        for subject in self._used_subjects:
            if known is not None and subject in known and not touches(subject.reads, changes):
                hooks = known[subject]
            else:
                hooks, own = subject.matching_hooks(event, deadline, self)
                if known is not None and own:
                    known[subject] = hooks
                elif known is not None:
                    known.pop(subject, None)
            if hooks:
                found = found + hooks
        return sorted(found) if len(found) > 1 else found

    def narrow(self, searched: SubjectIndex, passed: set[int], event: Event, deadline: float) -> list[int]:
        """The hooks attached to `searched` whose needs on the other subjects may be met too.

        Only the hooks of the subject that leaves the fewest are checked.
        """
        possible = {searched: passed}
        for subject in self._subjects:
            if subject is not searched:
                texts = subject.subject.texts(event)
                possible[subject] = subject.possible_needs(texts, deadline) if texts else set()
        fewest = min(self._subjects, key=lambda subject: self._candidate_count(subject, possible[subject]))
        needing, without = self._group_by_need(fewest)
        hooks = dict.fromkeys([*without, *(hook for need in possible[fewest] for hook in needing[need])])
        return [hook for hook in hooks if self._attached_to[hook] is searched and self._may_hold(hook, possible)]

    def _may_hold(self, hook: int, possible: dict[SubjectIndex, set[int]]) -> bool:
        return all(number in possible[subject] for subject, number in self._need_positions[hook])

    def _candidate_count(self, subject: SubjectIndex, possible: set[int]) -> int:
        needing, without = self._group_by_need(subject)
        return len(without) + sum(len(needing[need]) for need in possible)

    def _group_by_need(self, subject: SubjectIndex) -> tuple[list[list[int]], list[int]]:
        """For each need of the subject the hooks that have it, and the hooks that have none of them.

        Computed on first use: most books never have many possible hooks.
        """
        known = self._by_need.get(subject)
        if known is None:
            needing: list[list[int]] = [[] for _ in subject.needs]
            without: list[int] = []
            for hook, places in enumerate(self._need_positions):
                numbers = [number for on, number in places if on is subject]
                for number in numbers:
                    needing[number].append(hook)
                if not numbers:
                    without.append(hook)
            known = self._by_need[subject] = needing, without
        return known

    def _attach_hooks(self) -> list[int]:
        """Attaches each hook to its rarest need; returns the hooks that have none."""
        frequency = Counter(place for places in self._need_positions for place in places)
        unfiltered = {subject: subject.unfiltered_needs() for subject in self._subjects}
        always: list[int] = []
        for position, places in enumerate(self._need_positions):
            if not places:
                always.append(position)
                continue
            subject, number = min(places, key=lambda place: (place[1] in unfiltered[place[0]], frequency[place]))
            subject.attach(number, position)
            self._attached_to[position] = subject
        return always


def _indexable_needs(hook: Hook) -> tuple[Need, ...]:
    return tuple(need for need in hook.when.needs() if need.pattern.prefilter is not None)


def _build_subject_indexes(needs_of_hooks: Iterable[tuple[Need, ...]]) -> tuple[SubjectIndex, ...]:
    by_subject: dict[Subject, dict[Need, None]] = {}
    for needs in needs_of_hooks:
        for need in needs:
            by_subject.setdefault(need.subject, {})[need] = None
    return tuple(SubjectIndex(subject, tuple(needs)) for subject, needs in by_subject.items())
