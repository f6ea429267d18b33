"""What the last messages say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hookline.hooks.condition import NEVER, Need
from hookline.hooks.event import Event, Path


@dataclass(frozen=True, slots=True)
class RecentMessagesSay:
    """One of the last messages contains the keyword, in any case."""

    keyword: str
    last: int = 5

    def holds(self, event: Event, deadline: float = NEVER) -> bool:
        messages = event.facts.get("messages")
        if not isinstance(messages, list):
            return False
        wanted = self.keyword.casefold()
        return any(wanted in _text_of(message).casefold() for message in messages[-self.last :])

    def needs(self) -> tuple[Need, ...]:
        return ()

    def reads(self) -> tuple[Path, ...]:
        return (("messages",),)

    def __str__(self) -> str:
        return f"one of the last {self.last} messages contains {self.keyword!r}"

    def why_not(self, event: Event) -> str:
        return f"none of the last {self.last} messages contains {self.keyword!r}"


def _text_of(message: Any) -> str:
    content = message.get("content") if isinstance(message, dict) else message
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(_part_text(part) for part in content)
    return ""


def _part_text(part: Any) -> str:
    text = part.get("text") if isinstance(part, dict) else part
    return text if isinstance(text, str) else ""
