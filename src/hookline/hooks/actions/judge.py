"""Ask the host's model whether it may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from hookline.hooks.action import May
from hookline.hooks.actions.object_answer import SaidTwice, blocked, object_in, text_in, unreadable
from hookline.hooks.event import Event, Path
from hookline.hooks.filled import Filled
from hookline.hooks.host import Host
from hookline.hooks.outcome import SILENT, Outcome

ARGUMENTS: Final = "$ARGUMENTS"
_ANSWER: Final = 'Answer with one JSON object and nothing else: {"ok": true}, or {"ok": false, "reason": "why not"}.'


@dataclass(frozen=True, slots=True)
class Judge:
    """The model answers `{"ok": true}`, or `{"ok": false, "reason": …}`, which blocks.

    `given` is handed over as JSON in the place of $ARGUMENTS, else after the prompt. It is what somebody said: a model
    may be talked into anything, so this is no guard to rely on.
    """

    prompt: str
    given: Filled
    instant = False
    constant = None
    may = May.DENY | May.NOTES

    def changes(self) -> tuple[Path, ...]:
        return ()

    def reads(self) -> tuple[Path, ...]:
        return self.given.reads()

    async def run(self, event: Event, host: Host) -> Outcome:
        given = self.given.text(event)
        asked = ARGUMENTS in self.prompt
        prompt = self.prompt.replace(ARGUMENTS, given) if asked else f"{self.prompt}\n\n{given}"
        answer = _object_within(await host.complete(f"{prompt}\n\n{_ANSWER}"))
        if answer is None or not isinstance(answer.get("ok"), bool):
            raise unreadable("got no answer from the model that could be read", event)
        return SILENT if answer["ok"] else blocked(text_in(answer, "reason"), event)


def _object_within(text: str) -> dict[str, Any] | None:
    """Models like to put words and fences around an object."""
    start, end = text.find("{"), text.rfind("}")
    try:
        return object_in(text[start : end + 1]) if 0 <= start < end else None
    except SaidTwice:
        return None
