"""Finds the hooks whose condition may hold for an event, at a cost that does not grow with their number.

A condition says what it needs: texts of the event that must match a pattern. A pattern says which words are in every text
that it matches. Each hook is attached to those of its words that the fewest other hooks have, and one filter per subject
finds the words in a text. The index may return too many hooks, never too few: `holds` decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from hookline.engine.decision import Conclusion, conclude
from hookline.engine.flat_condition import (
    Holds,
    QuickSearch,
    conjuncts,
    find_rejection,
    flatten_condition,
    is_path,
    is_repeatable,
    join_searches,
    needs_closer_look,
)
from hookline.engine.word_filter import SpelledSearch, WordFilter
from hookline.errors import UNANSWERED, UndecidedError
from hookline.hooks.attempt import CombinedOutcome, accept_outcome
from hookline.hooks.conditions.logic import AnyOf, find_conditions
from hookline.hooks.conditions.text import Matches
from hookline.hooks.event import Changes, Event, FactPath, touches
from hookline.hooks.hook import COUNTED, GLOBAL_SCOPE, UNLIMITED, Hook
from hookline.hooks.host import CurrentHook
from hookline.hooks.match_deadline import in_time
from hookline.hooks.outcome import Verdict
from hookline.hooks.protocols import Condition, Subject, TextPattern
from hookline.hooks.tool_input import OtherNames, ToolField
from hookline.lazy_imports import lazy_class
from hookline.patterns.required_words import WORD_EDGE, WordSet, fold_word, shortest_length

if TYPE_CHECKING:
    from hookline.hooks.conditions.past_events import HappenedBefore
    from hookline.hooks.conditions.shell_commands import RunPrograms
else:
    HappenedBefore = lazy_class("hookline.hooks.conditions.past_events", "HappenedBefore")
    RunPrograms = lazy_class("hookline.hooks.conditions.shell_commands", "RunPrograms")

_MAX_UNINDEXED_HOOKS: Final = 2  # so few hooks are faster to evaluate than to look up
_MAX_CACHED_LENGTH: Final = 256  # characters of texts whose result is cached
_CACHE_SIZE: Final = 1024
_NARROWING_THRESHOLD: Final = 32  # with more possible hooks, their words on other subjects are checked
_LONG_TEXT: Final = 16_384  # characters; other subjects are checked before it is read
FEW_HOOKS: Final = 4  # so few may each search a long text, and are asked without a look at the clock between them
_MAX_NARROWED_HOOKS: Final = 20_000  # in larger books, a filter for each subject would take too much memory
_PATH_COST: Final = 4  # finding the spellings of a path takes as long as asking several hooks
_SHORT_WORD_COST: Final = {1: 64, 2: 8, 3: 2}  # by length: such words are in many texts


_Row = tuple[int, WordSet]  # a hook by its position, and words of which it needs one


class SubjectIndex:
    """The words on one subject, and the hooks that have them."""

    __slots__ = ("_by_text", "_cache", "_filter", "_hooks", "_is_cacheable", "_texts", "reads", "subject")

    def __init__(self, subject: Subject, rows: Sequence[_Row], spellings: Mapping[str, str | None]) -> None:
        by_word: dict[str, list[int]] = {}
        for hook, words in rows:
            for word in words:
                by_word.setdefault(word, []).append(hook)
        self.subject = subject
        self.reads: tuple[FactPath, ...] = subject.reads()
        self._texts = subject.texts
        self._is_cacheable = subject.is_cacheable
        self._by_text = by_word if isinstance(subject, RunPrograms) else None  # each of its texts is a whole word
        searched = () if self._by_text else tuple(by_word)
        self._filter = WordFilter(searched, [spellings.get(word) for word in searched])
        self._hooks = tuple(map(tuple, by_word.values()))
        self._cache: dict[tuple[str, ...], list[int]] = {}

    def possible_hooks(self, event: Event, deadline: float, index: HookIndex | None = None) -> list[int]:
        """Positions of the hooks that have one of their words in a text, perhaps several times.

        index: asked for the hooks that its other subjects leave, before a long text is read.
        """
        try:
            texts = self._texts(event, deadline)
        except UNANSWERED:
            return self._every_hook()
        if not self._is_cacheable:
            if index is not None and texts and len(texts[0]) > _LONG_TEXT:
                left = index.possible_elsewhere(self.subject, event, deadline)
                if left is not None and len(left) <= FEW_HOOKS:
                    return sorted(left)
            return self._find_hooks(texts, deadline) if texts else []
        known = self._cache.get(texts)
        if known is None:
            known = self._find_hooks(texts, deadline)
            if sum(map(len, texts)) <= _MAX_CACHED_LENGTH:
                if len(self._cache) >= _CACHE_SIZE:
                    self._cache.clear()
                self._cache[texts] = known
        return known

    def quick_search(self) -> QuickSearch:
        find, subject = self._filter.find_spelled, self.subject
        if find is None or not isinstance(subject, ToolField) or subject.direct_name is None:
            return needs_closer_look
        return _search_field(*subject.direct_name, find, self._hooks)

    def is_long(self, event: Event, deadline: float) -> bool:
        try:
            return sum(map(len, self._texts(event, deadline))) > _LONG_TEXT
        except UNANSWERED:
            return True

    def _find_hooks(self, texts: tuple[str, ...], deadline: float) -> list[int]:
        found: list[int] = []
        if self._by_text is not None:
            for text in texts:
                found += self._by_text.get(text, ())
            return found
        try:
            for text in texts if len(texts) == 1 else in_time(texts, deadline):
                for word in self._filter.find(text, deadline):
                    found += self._hooks[word]
        except UndecidedError:
            return self._every_hook()
        return found

    def _every_hook(self) -> list[int]:
        """None is ruled out if there was no time to search."""
        return [hook for hooks in self._hooks for hook in hooks]


def _search_field(
    name: str, other_names: OtherNames, find: SpelledSearch, hooks: Sequence[Sequence[int]]
) -> QuickSearch:
    """One function on purpose: it is all that most events need."""

    def search(event: Event) -> Sequence[int] | None:
        facts = event.facts
        try:
            tool = facts["tool"] if type(facts) is dict else None
            input = tool["input"] if type(tool) is dict and tool["name"] else None
            value = input.get(name) if type(input) is dict else None
        except KeyError:
            return None
        if type(value) is not str or not other_names.isdisjoint(input):  # type: ignore[arg-type]
            return None
        words = find(value)
        if not words:
            return words
        found = [hook for word in words for hook in hooks[word]] if len(words) > 1 else hooks[words[0]]
        if len(found) > _NARROWING_THRESHOLD:
            return None
        return sorted(set(found)) if len(found) > 1 else found

    return search


class IndexEntry:
    """A hook with what a decision needs, computed once: when it is first a candidate, because most of many never are."""

    __slots__ = (
        "answer",
        "current_hook",
        "decision",
        "group",
        "holds",
        "hook",
        "is_counted",
        "is_repeatable",
        "order",
        "plain",
        "reads_memory",
        "waits",
    )

    def __init__(self, hook: Hook) -> None:
        constant = hook.then.constant
        accepted, rejection = accept_outcome(constant, hook.event) if constant is not None else (None, None)
        self.hook = hook
        self.order = hook.order
        self.group = hook.group
        self.waits = not hook.then.instant or not hook.wait
        self.answer = None if rejection else accepted  # a fixed outcome that needs no run
        is_active = hook.enabled and hook.wait and hook.scope == GLOBAL_SCOPE
        self.plain = is_active and hook.limit == UNLIMITED
        self.is_counted = is_active and hook.limit == COUNTED  # its fires are, but it has no limit
        self.holds: Holds = flatten_condition(hook)
        self.is_repeatable = is_repeatable(hook.when)
        self.reads_memory = not self.is_repeatable and any(find_conditions(hook.when, HappenedBefore))
        self.decision = self._conclude_alone()
        self.current_hook: CurrentHook | None = None  # for runs without callers; made at the first one

    def _conclude_alone(self) -> Conclusion | None:
        """The decision if this is the only hook that fires; None unless it stops the event by a fixed outcome."""
        answer = self.answer
        if answer is None or not (self.plain or (self.is_counted and answer.applied)):
            return None
        if answer.verdict is not Verdict.DENY and (not answer.halt or answer.changes):
            return None
        combined = CombinedOutcome()
        combined.add(answer, self.hook.id)
        return conclude(combined, self.hook.event)


Rank = tuple[int, int, int]  # order, layer, position
RankedEntry = tuple[Rank, IndexEntry]


class HookIndex:
    """The hooks of one event in one layer, in the order in which they run."""

    __slots__ = (
        "_always",
        "_entries",
        "_others",
        "_subjects",
        "groups",
        "hooks",
        "is_searched",
        "waits",
    )

    def __init__(self, hooks: Sequence[Hook]) -> None:
        self.hooks = tuple(hooks)
        self.groups = frozenset(hook.group for hook in hooks)
        self.waits = any(not hook.then.instant or not hook.wait for hook in hooks)
        self._entries: list[IndexEntry | None] = [None] * len(hooks)
        by_subject = _words_by_subject(hooks) if len(hooks) > _MAX_UNINDEXED_HOOKS else {}
        attached = _attach_hooks(by_subject, hooks)
        self._always = [position for position, choices in enumerate(attached) if not choices]
        subjects = _index_subjects(by_subject, attached)
        self._subjects = tuple(index for _, index in subjects)
        self._others = _index_other_subjects(by_subject, subjects, len(hooks))
        self.is_searched = bool(self._subjects)  # False: every hook is a candidate

    def entry(self, position: int) -> IndexEntry:
        known = self._entries[position]
        if known is None:
            known = self._entries[position] = IndexEntry(self.hooks[position])
        return known

    def quick_search(self) -> QuickSearch:
        """Made when the first event comes: most books of a project never see one."""
        if not self.is_searched and len(self.hooks) <= FEW_HOOKS:
            return join_searches([find_rejection(hook.when) for hook in self.hooks])
        return self._subjects[0].quick_search() if len(self._subjects) == 1 and not self._always else needs_closer_look

    def candidates(
        self, event: Event, deadline: float, known: dict[SubjectIndex, list[int]] | None = None, changes: Changes = ()
    ) -> list[int]:
        """Positions of the hooks that may hold, in order. With `known`, only subjects that `changes` touch are searched."""
        found = self._always
        searched = self if self._others else None
        for subject in self._subjects:
            if known is None:
                hooks = subject.possible_hooks(event, deadline, searched)
            elif subject in known and not touches(subject.reads, changes):
                hooks = known[subject]
            else:
                hooks = known[subject] = subject.possible_hooks(event, deadline)
            if hooks:
                found = found + hooks
        if len(found) > _NARROWING_THRESHOLD:
            return self._narrow(found, event, deadline)
        return sorted(set(found)) if len(found) > 1 else found

    def _narrow(self, found: list[int], event: Event, deadline: float) -> list[int]:
        """Those of the hooks that have a word on their other subjects too."""
        left = set(found)
        for index, without_words in self._others:
            if len(left) <= _NARROWING_THRESHOLD:
                break
            possible = index.possible_hooks(event, deadline)
            if len(possible) + len(without_words) < len(self.hooks):
                left &= without_words.union(possible)
        return sorted(left)

    def possible_elsewhere(self, searched: Subject, event: Event, deadline: float) -> frozenset[int] | None:
        """The hooks that have a word on every other subject with a short text; None if none of these rules any out."""
        left: frozenset[int] | None = None
        for index, without_words in self._others:
            if index.subject is searched or index.is_long(event, deadline):
                continue
            possible = index.possible_hooks(event, deadline)
            if len(possible) + len(without_words) < len(self.hooks):
                hooks = without_words.union(possible)
                left = hooks if left is None else left & hooks
        return left


class _SubjectWords:
    """The words on one subject: the sets of each hook, by its position, and how each word is spelled, if that is sure."""

    __slots__ = ("sets", "spellings", "subject")

    def __init__(self, subject: Subject) -> None:
        self.subject = subject
        self.sets: dict[int, tuple[WordSet, ...]] = {}
        self.spellings: dict[str, str | None] = {}

    def add(self, position: int, pattern: TextPattern) -> None:
        sets, text = pattern.words, pattern.required_text
        if not sets:
            return
        self.sets[position] = self.sets[position] + sets if position in self.sets else sets
        folded = None if text is None else fold_word(text)
        for words in sets:
            for word in words:
                spelling = text if len(words) == 1 and word.strip(WORD_EDGE) == folded else None
                if self.spellings.setdefault(word, spelling) != spelling:
                    self.spellings[word] = None


_BySubject = dict[Subject, _SubjectWords]


def _words_by_subject(hooks: Sequence[Hook]) -> _BySubject:
    found: _BySubject = {}
    known: dict[int, _SubjectWords] = {}  # by id: hashing a subject takes longer than all the rest
    for position, hook in enumerate(hooks):
        for subject, pattern in _needs(hook.when):
            words = known.get(id(subject))
            if words is None:
                words = known[id(subject)] = found.setdefault(subject, _SubjectWords(subject))
            words.add(position, pattern)
    return {subject: words for subject, words in found.items() if words.sets}


def _needs(condition: Condition) -> list[tuple[Subject, TextPattern]]:
    """What the condition needs, without an object for each need of the usual conditions."""
    found: list[tuple[Subject, TextPattern]] = []
    for part in conjuncts(condition):
        if type(part) is Matches:
            found.append((part.subject, part.pattern))
        else:
            found += [(need.subject, need.pattern) for need in part.needs()]
    return found


_Choice = tuple[Subject, WordSet]


def _attach_hooks(by_subject: _BySubject, hooks: Sequence[Hook]) -> list[tuple[_Choice, ...]]:
    """For each hook the set of words that the fewest others have, or one for each alternative; () if it has no words."""
    chosen: list[tuple[_Choice, ...]] = [()] * len(hooks)
    costs: list[tuple[int, int]] = [(0, 0)] * len(hooks)
    for subject, of_subject in by_subject.items():
        subject_cost = _PATH_COST if is_path(subject) else 1
        shared = Counter(word for sets in of_subject.sets.values() for words in sets for word in words)
        for position, sets in of_subject.sets.items():
            for words in sets:
                shortest = shortest_length(words)
                others = shared[words[0]] if len(words) == 1 else sum([shared[word] for word in words])
                cost = others * _SHORT_WORD_COST.get(shortest, 1) * subject_cost, -shortest
                if not chosen[position] or cost < costs[position]:
                    chosen[position], costs[position] = ((subject, words),), cost
    if len(hooks) > _MAX_UNINDEXED_HOOKS:
        for position, hook in enumerate(hooks):
            if not chosen[position]:
                chosen[position] = choices = _choose_words(hook.when) or ()
                for subject, words in choices:
                    if subject in by_subject:
                        by_subject[subject].spellings.update(dict.fromkeys(words))
    return chosen


def _choose_words(condition: Condition) -> tuple[_Choice, ...] | None:
    """Sets of words of which one has a word in every event for which the condition holds; None if no word is sure.

    For a condition with `any` that is one set for each of its parts.
    """
    sets = [(need.subject, words) for need in condition.needs() for words in need.pattern.words]
    if sets:
        return (min(sets, key=_cost),)
    for part in conjuncts(condition):
        if isinstance(part, AnyOf):
            alternatives = [_choose_words(each) for each in part.parts]
            found = [choice for choices in alternatives if choices for choice in choices]
            if all(alternatives):
                return tuple(found)
    return None


def _cost(choice: _Choice) -> tuple[int, int]:
    subject, words = choice
    shortest = shortest_length(words)
    return len(words) * _SHORT_WORD_COST.get(shortest, 1) * (_PATH_COST if is_path(subject) else 1), -shortest


_IndexedRows = list[tuple[list[_Row], SubjectIndex]]


def _index_subjects(by_subject: _BySubject, attached: Sequence[tuple[_Choice, ...]]) -> _IndexedRows:
    found: dict[Subject, list[_Row]] = {}
    known: dict[int, list[_Row]] = {}  # by id, as above
    for position, choices in enumerate(attached):
        for subject, words in choices:
            rows = known.get(id(subject))
            if rows is None:
                rows = known[id(subject)] = found.setdefault(subject, [])
            rows.append((position, words))
    spellings = {subject: words.spellings for subject, words in by_subject.items()}
    return [(rows, SubjectIndex(subject, rows, spellings.get(subject, {}))) for subject, rows in found.items()]


def _index_other_subjects(
    by_subject: _BySubject, attached: _IndexedRows, count: int
) -> tuple[tuple[SubjectIndex, frozenset[int]], ...]:
    """For each subject an index of all hooks that have words on it, and the hooks that have none.

    Made now and not when it is first needed: that would take the time of a decision.
    """
    if not _NARROWING_THRESHOLD < count <= _MAX_NARROWED_HOOKS:
        return ()
    every, found = frozenset(range(count)), list[tuple[SubjectIndex, frozenset[int]]]()
    for subject, words in by_subject.items():
        rows = [(at, sets[0] if len(sets) == 1 else max(sets, key=shortest_length)) for at, sets in words.sets.items()]
        same = next((index for other, index in attached if index.subject is subject and other == rows), None)
        found.append((same or SubjectIndex(subject, rows, words.spellings), every.difference(words.sets)))
    return tuple(found)
