"""Ask the host's model for a yes or no."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hookline.hooks.actions.description import describe_input
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
from hookline.lazy_dataclasses import dataclass

ARGUMENTS_PLACEHOLDER: Final = "$ARGUMENTS"
_ANSWER_INSTRUCTION: Final = (
    'Answer with one JSON object and nothing else: {"ok": true}, or {"ok": false, "reason": "why not"}.'
)


@dataclass(frozen=True, slots=True)
class AskModel:
    """The model answers `{"ok": true}`, or `{"ok": false, "reason": …}`, which blocks.

    `arguments` replace $ARGUMENTS in the prompt as JSON, or follow the prompt. Do not rely on this as a guard: the
    arguments may talk the model into anything.
    """

    prompt: str
    arguments: DataTemplate
    investigates: bool = False  # the model may read files of the workspace before it answers
    instant = False
    constant = None
    label = "the action judge"
    may = May.DENY | May.NOTES

    def changes(self) -> tuple[FactPath, ...]:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return self.arguments.reads()

    def describe(self) -> Iterator[tuple[str, str]]:
        yield "ask the model, which may read files" if self.investigates else "ask the model", self.prompt
        yield from describe_input("arguments", self.arguments)

    async def run(self, event: Event, host: Host) -> Outcome:
        arguments = self.arguments.render_json(event)
        if ARGUMENTS_PLACEHOLDER in self.prompt:
            prompt = self.prompt.replace(ARGUMENTS_PLACEHOLDER, arguments)
        else:
            prompt = f"{self.prompt}\n\n{arguments}"
        question = f"{prompt}\n\n{_ANSWER_INSTRUCTION}"
        answer = _extract_object(
            await (host.investigate(question, event) if self.investigates else host.complete(question))
        )
        if answer is None or not isinstance(answer.get("ok"), bool):
            raise unreadable_error("got no answer from the model that could be read", event)
        return SILENT if answer["ok"] else block_outcome(text_value(answer, "reason"), event)


def _extract_object(text: str) -> dict[str, Any] | None:
    """Models often put text and code fences around the object."""
    start, end = text.find("{"), text.rfind("}")
    try:
        return parse_answer_object(text[start : end + 1]) if 0 <= start < end else None
    except DuplicateKey:
        return None
