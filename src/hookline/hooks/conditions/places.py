"""Conditions on where the paths of a call lie: `outside` and `inside`."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from typing import Final

from hookline.errors import ConditionError
from hookline.hooks.call_paths import WORKSPACE, Place, UnreadPath, call_places, real_place, workspace_of
from hookline.hooks.event import Event, FactPath
from hookline.hooks.match_deadline import NO_DEADLINE
from hookline.hooks.path_spellings import relative_to
from hookline.hooks.protocols import Need, PureCondition
from hookline.hooks.readings import unanimous
from hookline.hooks.tool_name import guessed_kind, likely_kind
from hookline.hooks.tools import ToolKind
from hookline.lazy_dataclasses import dataclass

_PLACES: Final = "the places of a call"  # a key of Event.choices: conditions of one hook are about the same path


@dataclass(frozen=True, slots=True)
class LiesIn(PureCondition):
    """One of the paths of the call lies inside one of the directories, or outside all of them.

    Each path is a reading: a hook that only allows needs all of them. A path that cannot be read may be anywhere.
    """

    directories: tuple[str, ...]
    outside: bool
    holds_unparsed: bool = True  # a path that cannot be read counts for a guard

    def holds(self, event: Event, deadline: float = NO_DEADLINE) -> bool:
        places = call_places(event, deadline)
        if not places:
            return False
        roots = self._roots(event)
        answers = [self._answer(place, roots) for place in places]
        if True not in answers:
            return False
        tool = event.facts["tool"]
        has_guess = likely_kind(tool, event) is ToolKind.SHELL and guessed_kind(tool, event) is not None
        return unanimous(str(self), [*answers, False] if has_guess else answers, _PLACES, event, doubts=int(has_guess))

    def _roots(self, event: Event) -> list[str]:
        project = workspace_of(event)
        roots = [real_place(directory, project) for directory in self.directories]
        if "" in roots:
            raise ConditionError("the event does not say where its workspace is")
        return roots

    def _answer(self, place: Place, roots: list[str]) -> bool:
        if isinstance(place, UnreadPath):
            return (self.holds_unparsed or place.is_too_long) and place.is_outside == self.outside
        return any(relative_to(place, root) is not None for root in roots) != self.outside

    def needs(self) -> tuple[Need, ...]:
        return ()

    def reads(self) -> Iterable[FactPath]:
        return (("tool",), ("cwd",), ("workspace",))

    def __str__(self) -> str:
        where = " and ".join(f"the {name}" if name == WORKSPACE else name for name in self.directories)
        where = where if self.outside else where.replace(" and ", " or ")
        return f"a path of the call is {'outside' if self.outside else 'inside'} {where}"

    def why_not(self, event: Event) -> str:
        places = [place for place in call_places(event) if isinstance(place, str)]
        if not call_places(event):
            return "the call names no path"
        shown = ", ".join(reprlib.repr(place) for place in places[:3]) or "only paths that cannot be read"
        return f"{str(self).replace('a path of the call is', 'no path of the call is', 1)}; it names {shown}"
