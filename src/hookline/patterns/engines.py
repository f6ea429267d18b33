"""The two engines behind a pattern, RE2 and the regex module, each limited in time and memory.

Also estimates what a search may cost, and replaces matches.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from re2 import _re2  # the public wrapper costs twice a short search

from hookline.errors import UndecidedError
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import lazy_module, threading
from hookline.patterns.encoding import SURROGATE_OFFSET, encode_utf8
from hookline.patterns.syntax_tree import (
    ALL_CHARACTERS,
    NO_CHARACTERS,
    Alternation,
    BackReference,
    BadPattern,
    Boundary,
    CharacterSet,
    Group,
    LookAround,
    Ranges,
    RegexNode,
    Repeat,
    Sequence,
    are_disjoint,
    children,
    complement,
    union,
)

if TYPE_CHECKING:
    import queue
else:
    queue = lazy_module("queue")

T = TypeVar("T")

SEARCH_SECONDS = 0.1  # for one search
REPLACE_SECONDS: Final = 1.0  # for one replacement, whatever the deadline
_MAX_REPLACE_BYTES = 16_000_000
_MAX_ALWAYS_BEGUN = 64
_RANGES_PER_STEP = 16


@cache
def _search_slots() -> threading.BoundedSemaphore:
    """Concurrent searches; each may need much memory."""
    return threading.BoundedSemaphore(2)


def search_with_timeout(work: Callable[[], T], seconds: float) -> T:
    """Runs a search that cannot be stopped in a thread. Raises TimeoutError; the abandoned thread ends a moment later."""
    started = time.perf_counter()
    slots = _search_slots()
    if seconds <= 0 or not slots.acquire(timeout=seconds):
        raise TimeoutError
    answers: queue.Queue[tuple[Any, BaseException | None]] = queue.Queue(1)
    threading.Thread(target=_run_search, args=(work, answers, slots), name="hookline-search", daemon=True).start()
    value: T = _wait_for_answer(answers, seconds - (time.perf_counter() - started))
    return value


def _run_search(
    work: Callable[[], T],
    answers: queue.Queue[tuple[Any, BaseException | None]],
    slots: threading.BoundedSemaphore,
) -> None:
    try:
        answers.put((work(), None))
    except BaseException as error:
        answers.put((None, error))
    finally:
        slots.release()


def _wait_for_answer(answers: queue.Queue[tuple[Any, BaseException | None]], seconds: float) -> Any:
    try:
        value, error = answers.get(timeout=max(seconds, 0.001))
    except queue.Empty:
        raise TimeoutError from None
    if error is not None:
        raise error
    return value


def expanded_size(node: RegexNode) -> int:
    """The steps of the pattern with every counted repetition written out; a set of many ranges counts as many."""
    if isinstance(node, CharacterSet):
        return 1 + len(node.ranges) // _RANGES_PER_STEP
    inner = 1 + sum(expanded_size(child) for child in children(node))
    if isinstance(node, Repeat):
        return inner * max(node.least, node.most or 1, 1)
    return inner


def max_match_width(node: RegexNode) -> int | None:
    """The most characters that a match can have; None if there is no limit."""
    match node:
        case CharacterSet():
            return 1
        case Boundary() | LookAround():
            return 0
        case BackReference():
            return None
        case Repeat():
            inner = max_match_width(node.part)
            return 0 if inner == 0 else None if inner is None or node.most is None else inner * node.most
        case Group(part):
            return max_match_width(part)
        case Sequence(parts):
            return _sum_widths([max_match_width(part) for part in parts])
        case Alternation(options):
            return (
                None
                if any(max_match_width(option) is None for option in options)
                else max(max_match_width(o) or 0 for o in options)
            )


def _sum_widths(widths: list[int | None]) -> int | None:
    total = 0
    for one in widths:
        if one is None:
            return None
        total += one
    return total


def state_breadth(node: RegexNode, before: Ranges | None = None, looped: bool = False) -> int:
    """How many positions of the pattern a search may have to track independently of each other.

    A linear engine answers quickly from its state table unless there are many such positions: alternations and wide
    character sets with a counted repetition that can start again before an earlier start has ended.
    before: the characters that may come just before this part; None if it may begin anywhere.
    looped: the part is inside a repetition.
    """
    match node:
        case CharacterSet():
            again = looped and before is not None and not are_disjoint(before, _effective_ranges(node))
            return 1 if again or not _is_one_letter(node) else 0
        case Repeat():
            return _repeat_breadth(node, before, looped)
        case Alternation(options):
            earlier = ALL_CHARACTERS if before is None else before
            return max(1, sum(state_breadth(option, earlier, looped) for option in options))
        case Sequence(parts):
            total = 0
            for part in parts:
                total += state_breadth(part, before, looped)
                before = _characters_before_next(part, before)
            return total
        case _:
            return sum(state_breadth(child, before, looped) for child in children(node))


def _repeat_breadth(repeat: Repeat, before: Ranges | None, looped: bool) -> int:
    part = repeat.part
    while isinstance(part, Group):
        part = part.part
    always_begun = before is None and max(repeat.least, repeat.most or 1) <= _MAX_ALWAYS_BEGUN
    if isinstance(part, CharacterSet) and (
        always_begun or (before is not None and are_disjoint(before, _effective_ranges(part)))
    ):
        return 1  # always started, or never started twice: its length so far is the whole state
    inner = state_breadth(
        part, ALL_CHARACTERS if before is None else union(before, _last_characters(part)), looped or repeat.most != 1
    )
    once = inner if repeat.least == repeat.most else max(inner, 1)
    return once * max(repeat.least, repeat.most or 1, 1)


def _is_one_letter(chars: CharacterSet) -> bool:
    if chars.properties or chars.negated or not chars.ranges:
        return False
    first = chr(chars.ranges[0][0]).casefold()
    size = sum(high - low + 1 for low, high in chars.ranges)
    return size <= 4 and all(
        chr(code).casefold() == first for low, high in chars.ranges for code in range(low, high + 1)
    )


def _effective_ranges(chars: CharacterSet) -> Ranges:
    if chars.properties:
        return ALL_CHARACTERS
    return complement(chars.ranges) if chars.negated else chars.ranges


def _may_be_empty(node: RegexNode) -> bool:
    match node:
        case CharacterSet():
            return False
        case Boundary() | LookAround() | BackReference():
            return True
        case Repeat():
            return node.least == 0 or _may_be_empty(node.part)
        case Alternation(options):
            return any(_may_be_empty(option) for option in options)
        case _:
            return all(_may_be_empty(child) for child in children(node))


def _last_characters(node: RegexNode) -> Ranges:
    """The characters that the part may end with."""
    match node:
        case CharacterSet():
            return _effective_ranges(node)
        case BackReference():
            return ALL_CHARACTERS
        case Boundary() | LookAround():
            return NO_CHARACTERS
        case Sequence(parts):
            found: Ranges = NO_CHARACTERS
            for part in reversed(parts):
                found = union(found, _last_characters(part))
                if not _may_be_empty(part):
                    break
            return found
        case _:
            return union(*(_last_characters(child) for child in children(node)))


def _characters_before_next(part: RegexNode, before: Ranges | None) -> Ranges:
    """The characters that may come before whatever follows the part."""
    if part is Boundary.TEXT_START:
        return NO_CHARACTERS
    if not _may_be_empty(part):
        return _last_characters(part)
    return ALL_CHARACTERS if before is None else union(_last_characters(part), before)


def replace_matches(
    linear: LinearEngine | None, backtracking: BacktrackingEngine | None, text: str, new: str, deadline: float
) -> str:
    """Replaces each match, from left to right, by the literal `new`. Raises UndecidedError if time runs out."""
    limit = min(deadline, time.perf_counter() + REPLACE_SECONDS)
    if backtracking is not None:
        return backtracking.replace(text, new, limit)
    assert linear is not None
    data = encode_utf8(text)
    replaced = _replace_bytes(linear, data, new.encode("utf-8", "surrogatepass"), limit)
    if replaced is data:
        return text
    result = replaced.decode("utf-8", "surrogatepass")
    return result if _is_encodable(text) else _restore_surrogates(result)


def _replace_bytes(linear: LinearEngine, data: bytes, new: bytes, limit: float) -> bytes:
    pieces: list[bytes] = []
    copied = at = 0
    while at <= len(data):
        if time.perf_counter() > limit or len(data) - at > _MAX_REPLACE_BYTES:
            raise UndecidedError
        start, end = linear.match(linear.anchor, data, at, len(data))[0]
        if start < 0:
            break
        if end == start:  # an empty match replaces nothing
            at = end + 1
            while at < len(data) and data[at] & 0xC0 == 0x80:  # the rest of a character
                at += 1
            continue
        pieces += [data[copied:start], new]
        copied = at = end
    return b"".join([*pieces, data[copied:]]) if pieces else data


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _restore_surrogates(text: str) -> str:
    low, high = 0xD800 + SURROGATE_OFFSET, 0xDFFF + SURROGATE_OFFSET
    return "".join(chr(ord(c) - SURROGATE_OFFSET) if low <= ord(c) <= high else c for c in text)


ANYWHERE = _re2.RE2.Anchor.UNANCHORED
WHOLE = _re2.RE2.Anchor.ANCHOR_BOTH

_SECONDS_PER_STEP = 7e-9  # RE2's time for a byte and an instruction without its state table
_SECONDS_PER_WINDOW = SEARCH_SECONDS / 8
_MAX_ABANDONED_SECONDS = 5  # how long a search in a thread may go on after its time
_MAX_INSTRUCTIONS = 200_000
_MAX_TABLE_BYTES = 16_000_000
_SAFE_BREADTH = 5  # hostile texts of 1 MB took less than SEARCH_SECONDS
_TOLERABLE_BREADTH = 12  # hostile texts of 1 MB took about SEARCH_SECONDS
_BYTES_PER_CHARACTER = 4
_MAX_DIRECT_LENGTH = 65_536  # in longer texts, the regex module checks its timeout too rarely
_MAX_BACKTRACKING_LENGTH = 2_000_000  # needs about 300 MB for a moment


@dataclass(frozen=True, slots=True)
class PatternCost:
    """What decides how long a search may take: see `state_breadth` and `max_match_width`."""

    breadth: int
    width: int | None


class CostEstimator(Protocol):
    def __call__(self) -> PatternCost | None:
        """The pattern's cost, or None if it is unknown. Called for long texts only."""


class LinearEngine:
    """RE2. Its time grows with the text alone while its state table is enough, and with text × pattern otherwise."""

    __slots__ = ("anchor", "match", "size", "surely_quick")

    def __init__(self, source: str, *, whole: bool) -> None:
        options = _re2.RE2.Options()
        options.log_errors = False
        options.never_capture = True
        compiled = _re2.RE2(source.encode(), options)
        if not compiled.ok():
            raise BadPattern(compiled.error().decode("utf-8", "replace"))
        self.size: int = compiled.ProgramSize()
        if self.size > _MAX_INSTRUCTIONS:
            raise BadPattern("it is too large")
        self.match: Any = compiled.Match
        self.anchor = WHOLE if whole else ANYWHERE
        self.surely_quick = self._searchable_bytes(SEARCH_SECONDS / 2)

    def matches(self, data: bytes) -> bool:
        return bool(self.match(self.anchor, data, 0, len(data))[0][0] >= 0)

    def search(self, data: bytes, estimate_cost: CostEstimator, limit: float) -> bool:
        if len(data) <= self.surely_quick:
            return self.matches(data)
        cost = estimate_cost()
        if cost is not None:
            long = len(data) > _MAX_TABLE_BYTES
            if cost.breadth <= _SAFE_BREADTH and not long:
                return self.matches(data)
            if cost.width is not None:
                return self._search_in_windows(data, cost.width * _BYTES_PER_CHARACTER, limit)
            if cost.breadth <= _TOLERABLE_BREADTH and not long:
                return self.matches(data)
        return self._search_in_thread(data, limit)

    def _search_in_windows(self, data: bytes, widest: int, limit: float) -> bool:
        """Searches windows that overlap by the widest match, so none is missed, and checks the time between them."""
        if self.anchor is WHOLE:
            return len(data) <= widest and self._search_in_thread(data, limit)
        step = self._searchable_bytes(_SECONDS_PER_WINDOW) - widest
        if step < widest:
            return self._search_in_thread(data, limit)
        return any(
            self._search_window(data, start, min(start + step + widest, len(data)), limit)
            for start in range(0, len(data), step)
        )

    def _search_window(self, data: bytes, start: int, end: int, limit: float) -> bool:
        if time.perf_counter() + _SECONDS_PER_WINDOW > limit:
            raise UndecidedError
        return bool(self.match(self.anchor, data, start, end)[0][0] >= 0)

    def _search_in_thread(self, data: bytes, limit: float) -> bool:
        """Nearly every text takes microseconds. One that is made to be slow costs its time and no more: RE2 lets other
        threads run, and the search that nobody waits for ends by itself.
        """
        if len(data) > self._searchable_bytes(_MAX_ABANDONED_SECONDS):
            raise UndecidedError
        try:
            return search_with_timeout(lambda: self.matches(data), limit - time.perf_counter())
        except TimeoutError:
            raise UndecidedError from None

    def _searchable_bytes(self, seconds: float) -> int:
        return int(seconds / (self.size * _SECONDS_PER_STEP))


class BacktrackingEngine:
    """The regex module, for look-around and back-references. It may take any time, so it gets a timeout."""

    __slots__ = ("_compiled", "_whole")

    def __init__(self, source: str, *, whole: bool) -> None:
        import regex  # 6 ms to import, and few patterns need it

        try:
            self._compiled = regex.compile(source, regex.V0 | regex.UNICODE, cache_pattern=False)
        except regex.error as error:
            raise BadPattern(str(error)) from None
        self._whole = whole

    def replace(self, text: str, new: str, limit: float) -> str:
        def sub(left: float) -> str:
            return self._compiled.sub(lambda found: new if found[0] else "", text, timeout=left, concurrent=True)

        return _run_within(sub, text, limit)

    def search(self, text: str, limit: float) -> bool:
        ask = self._compiled.fullmatch if self._whole else self._compiled.search
        return _run_within(lambda left: ask(text, timeout=left, concurrent=True) is not None, text, limit)


def _run_within(ask: Callable[[float], T], text: str, limit: float) -> T:
    """Runs a search within the remaining time; for a long text in a thread, so that the caller waits no longer."""
    if len(text) > _MAX_BACKTRACKING_LENGTH:
        raise UndecidedError(
            f"look-around and back-references work on at most {_MAX_BACKTRACKING_LENGTH} characters, "
            f"and this text has {len(text)}"
        )
    left = limit - time.perf_counter()
    if left <= 0:
        raise UndecidedError
    try:
        return ask(left) if len(text) <= _MAX_DIRECT_LENGTH else search_with_timeout(lambda: ask(left), left)
    except (TimeoutError, MemoryError):
        raise UndecidedError from None
