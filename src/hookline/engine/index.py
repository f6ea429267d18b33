"""Which hooks could hold for an event, at a cost that does not grow with their number.

A condition says what it needs: texts of the event that must match a pattern. Equal needs are one. Each hook hangs on
its rarest need, and a sieve for each subject tells which needs a text may meet. The index may only err on
the side of asking too much: `holds` has the last word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from time import perf_counter
from typing import Final

from hookline.engine.accept import accepted
from hookline.engine.sieve import Sieve
from hookline.errors import Undecided
from hookline.hooks.condition import Need, Subject
from hookline.hooks.event import Changes, Event, Path, touches
from hookline.hooks.hook import EVERYWHERE, UNLIMITED, Hook

_ALL: Final = 2  # hooks that are quicker asked than looked up
_FEW: Final = 4  # patterns on one subject that are quicker asked directly
_SHORT: Final = 64  # characters of texts whose answer is remembered
_REMEMBERED: Final = 1024
_MANY: Final = 32  # possible hooks from which on their other needs are looked at before each is confirmed


class Shelf:
    """All needs on one subject, and the hooks that hang on them."""

    __slots__ = ("_hanging", "_remembered", "_sieve", "needs", "reads", "subject")

    def __init__(self, subject: Subject, needs: Sequence[Need]) -> None:
        self.subject = subject
        self.reads: tuple[Path, ...] = subject.reads()
        self.needs = tuple(needs)
        self._sieve = Sieve([need.pattern.needed or "" for need in needs]) if len(needs) > _FEW else None
        self._hanging: dict[int, list[int]] = {}
        self._remembered: dict[tuple[str, ...], list[int]] = {}

    def unfiltered(self) -> set[int]:
        """Needs that the sieve can say nothing about."""
        return self._sieve.unsifted() if self._sieve else set()

    def hang(self, need: int, hook: int) -> None:
        self._hanging.setdefault(need, []).append(hook)

    @property
    def used(self) -> bool:
        return bool(self._hanging)

    def possible(self, texts: tuple[str, ...], deadline: float) -> set[int]:
        """The needs that these texts may meet."""
        return self._sieve.passed(texts, deadline) if self._sieve else set(range(len(self.needs)))

    def hooks(self, event: Event, deadline: float, index: Index) -> tuple[list[int], bool]:
        """Positions of the hooks whose rarest need is met, or could not be decided.

        True beside them if only this shelf's own texts led to them.
        """
        texts = self.subject.texts(event)
        if not texts:
            return [], True
        short = sum(map(len, texts)) <= _SHORT
        if short:
            known = self._remembered.get(texts)
            if known is not None:
                return known, True
        found, own = self._confirmed(texts, event, deadline, index)
        if short and own:
            if len(self._remembered) >= _REMEMBERED:
                self._remembered.clear()
            self._remembered[texts] = found
        return found, own

    def _confirmed(self, texts: tuple[str, ...], event: Event, deadline: float, index: Index) -> tuple[list[int], bool]:
        hanging = self._hanging
        passed = self.possible(texts, deadline)
        if len(passed) > _MANY:
            return index.narrowed(self, passed, event, deadline), False
        possible = [need for need in passed if need in hanging]
        found: list[int] = []
        for need in possible:
            search = self.needs[need].pattern.search
            try:
                met = perf_counter() > deadline or any(search(text, deadline) for text in texts)
            except Undecided:
                met = True
            if met:
                found += hanging[need]
        return found, True


class Entry:
    """A hook as the rounds need it."""

    __slots__ = ("answer", "hook", "plain")

    def __init__(self, hook: Hook) -> None:
        constant = hook.then.constant
        taken, refused = accepted(constant, hook.event) if constant is not None else (None, None)
        self.hook = hook
        self.answer = None if refused else taken  # the outcome, where nothing but the condition is to be asked
        self.plain = hook.enabled and hook.wait and hook.scope == EVERYWHERE and hook.limit == UNLIMITED


class Index:
    """One event's hooks of one layer, in the order in which they are asked."""

    __slots__ = ("_always", "_by_need", "_hung", "_places", "_shelves", "_used", "entries", "waits")

    def __init__(self, hooks: Sequence[Hook]) -> None:
        self.entries = tuple(Entry(hook) for hook in hooks)
        self.waits = any(not hook.then.instant or not hook.wait for hook in hooks)
        needs = [_indexable(hook) if len(hooks) > _ALL else () for hook in hooks]
        self._shelves = _shelves(needs)
        places = {need: (shelf, n) for shelf in self._shelves for n, need in enumerate(shelf.needs)}
        self._places = [tuple(places[need] for need in of_hook) for of_hook in needs]
        self._hung: list[Shelf | None] = [None] * len(needs)
        self._by_need: dict[Shelf, tuple[list[list[int]], list[int]]] = {}
        self._always = self._hang()
        self._used = tuple(shelf for shelf in self._shelves if shelf.used)

    def candidates(
        self, event: Event, deadline: float, known: dict[Shelf, list[int]] | None = None, changes: Changes = ()
    ) -> list[int]:
        """Positions of the hooks that may hold, in order. With `known`, only what `changes` touch is asked again."""
        found = self._always
        for shelf in self._used:
            if known is not None and shelf in known and not touches(shelf.reads, changes):
                hooks = known[shelf]
            else:
                hooks, own = shelf.hooks(event, deadline, self)
                if known is not None and own:
                    known[shelf] = hooks
                elif known is not None:
                    known.pop(shelf, None)
            if hooks:
                found = found + hooks
        return sorted(found) if len(found) > 1 else found

    def narrowed(self, asked: Shelf, passed: set[int], event: Event, deadline: float) -> list[int]:
        """Those of the many hooks hanging on `asked` whose needs on the other subjects may be met as well.

        The shelf that leaves the fewest is looked at alone, so that all of them need not be.
        """
        possible = {asked: passed}
        for shelf in self._shelves:
            if shelf is not asked:
                texts = shelf.subject.texts(event)
                possible[shelf] = shelf.possible(texts, deadline) if texts else set()
        fewest = min(self._shelves, key=lambda shelf: self._left_by(shelf, possible[shelf]))
        needing = self._needing(fewest)
        hooks = dict.fromkeys([*self._needless(fewest), *(hook for need in possible[fewest] for hook in needing[need])])
        return [hook for hook in hooks if self._hung[hook] is asked and self._may_hold(hook, possible)]

    def _may_hold(self, hook: int, possible: dict[Shelf, set[int]]) -> bool:
        return all(number in possible[shelf] for shelf, number in self._places[hook])

    def _left_by(self, shelf: Shelf, possible: set[int]) -> int:
        needing = self._needing(shelf)
        return len(self._needless(shelf)) + sum(len(needing[need]) for need in possible)

    def _needing(self, shelf: Shelf) -> list[list[int]]:
        """For each of the shelf's needs, the hooks that have it."""
        return self._by_shelf(shelf)[0]

    def _needless(self, shelf: Shelf) -> list[int]:
        return self._by_shelf(shelf)[1]

    def _by_shelf(self, shelf: Shelf) -> tuple[list[list[int]], list[int]]:
        """Made when first asked for: most books never have many possible hooks."""
        known = self._by_need.get(shelf)
        if known is None:
            needing: list[list[int]] = [[] for _ in shelf.needs]
            needless: list[int] = []
            for hook, places in enumerate(self._places):
                numbers = [number for on, number in places if on is shelf]
                for number in numbers:
                    needing[number].append(hook)
                if not numbers:
                    needless.append(hook)
            known = self._by_need[shelf] = needing, needless
        return known

    def _hang(self) -> list[int]:
        """Hangs each hook on its rarest need; returns those that have none."""
        common = Counter(place for places in self._places for place in places)
        unfiltered = {shelf: shelf.unfiltered() for shelf in self._shelves}
        always: list[int] = []
        for position, places in enumerate(self._places):
            if not places:
                always.append(position)
                continue
            shelf, number = min(places, key=lambda place: (place[1] in unfiltered[place[0]], common[place]))
            shelf.hang(number, position)
            self._hung[position] = shelf
        return always


def _indexable(hook: Hook) -> tuple[Need, ...]:
    return tuple(need for need in hook.when.needs() if need.pattern.needed is not None)


def _shelves(needs_of_hooks: Iterable[tuple[Need, ...]]) -> tuple[Shelf, ...]:
    by_subject: dict[Subject, dict[Need, None]] = {}
    for needs in needs_of_hooks:
        for need in needs:
            by_subject.setdefault(need.subject, {})[need] = None
    return tuple(Shelf(subject, tuple(needs)) for subject, needs in by_subject.items())
