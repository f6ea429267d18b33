"""What the chat remembers of its session's hooks, for /hooks and /why."""

from __future__ import annotations

from collections import Counter, deque
from typing import Final

from hookline.cli.chat.words import changes_of, spoke
from hookline.engine.account import Decision
from hookline.hooks.hook import Hook
from hookline.runtime.happenings import Decided, Happening

_MOST: Final = 100


class Record:
    def __init__(self) -> None:
        self._fires: Counter[tuple[str, str, str]] = Counter()
        self._decisions: deque[Decision] = deque(maxlen=_MOST)

    def __call__(self, happening: Happening) -> None:
        if isinstance(happening, Decided):
            self._decisions.append(happening.decision)
            self._fires.update(account.hook.key for account in spoke(happening.decision))

    def fires(self, hook: Hook) -> int:
        return self._fires[hook.key]

    def decision(self, back: int = 1) -> Decision | None:
        """The last one that decided something, or where hooks only looked on, the last one; or one so many before it."""
        weighty = [each for each in self._decisions if each.verdict or each.halt or changes_of(each)]
        found = weighty or list(self._decisions)
        return found[-back] if 1 <= back <= len(found) else None
