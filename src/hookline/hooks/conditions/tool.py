"""What kind of tool it is."""

from __future__ import annotations

from dataclasses import dataclass

from hookline.hooks.condition import NEVER, Need
from hookline.hooks.event import Event, Path
from hookline.hooks.tools import Kind, declared_kind


@dataclass(frozen=True, slots=True)
class KindIs:
    kind: Kind

    def holds(self, event: Event, deadline: float = NEVER) -> bool:
        return "tool" in event.facts and declared_kind(event.facts["tool"]) is self.kind

    def needs(self) -> tuple[Need, ...]:
        return ()

    def reads(self) -> tuple[Path, ...]:
        return (("tool", "kind"), ("tool", "name"))

    def __str__(self) -> str:
        return f"the tool's kind is {self.kind}"

    def why_not(self, event: Event) -> str:
        return f"the tool's kind is {declared_kind(event.facts.get('tool'))}, not {self.kind}"
