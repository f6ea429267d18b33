"""Ask the host's model whether it may be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from hookline.hooks.actions.json_result import (
    DuplicateKey,
    block_outcome,
    parse_answer_object,
    text_value,
    unreadable_error,
)
from hookline.hooks.event import Event, FactPath
from hookline.hooks.host import Host
from hookline.hooks.outcome import SILENT, Outcome
from hookline.hooks.protocols import May
from hookline.hooks.templates import DataTemplate

ARGUMENTS_PLACEHOLDER: Final = "$ARGUMENTS"
_ANSWER_INSTRUCTION: Final = (
    'Answer with one JSON object and nothing else: {"ok": true}, or {"ok": false, "reason": "why not"}.'
)


@dataclass(frozen=True, slots=True)
class AskModel:
    """The model answers `{"ok": true}`, or `{"ok": false, "reason": …}`, which blocks.

    `given` is handed over as JSON in the place of $ARGUMENTS, else after the prompt. It is what somebody said: a model
    may be talked into anything, so this is no guard to rely on.
    """

    prompt: str
    arguments: DataTemplate
    instant = False
    constant = None
    label = "the action judge"
    may = May.DENY | May.NOTES

    def changes(self) -> tuple[FactPath, ...]:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return self.arguments.reads()

    def describe(self) -> Iterator[tuple[str, str]]:
        yield "ask the model", self.prompt

    async def run(self, event: Event, host: Host) -> Outcome:
        given = self.arguments.render_json(event)
        asked = ARGUMENTS_PLACEHOLDER in self.prompt
        prompt = self.prompt.replace(ARGUMENTS_PLACEHOLDER, given) if asked else f"{self.prompt}\n\n{given}"
        answer = _extract_object(await host.complete(f"{prompt}\n\n{_ANSWER_INSTRUCTION}"))
        if answer is None or not isinstance(answer.get("ok"), bool):
            raise unreadable_error("got no answer from the model that could be read", event)
        return SILENT if answer["ok"] else block_outcome(text_value(answer, "reason"), event)


def _extract_object(text: str) -> dict[str, Any] | None:
    """Models like to put words and fences around an object."""
    start, end = text.find("{"), text.rfind("}")
    try:
        return parse_answer_object(text[start : end + 1]) if 0 <= start < end else None
    except DuplicateKey:
        return None
