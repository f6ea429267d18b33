"""A model that says what its script says, offline and always the same: for demos and tests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from hookline.patterns.pattern import Pattern, Undecided
from hookline.runtime.models.model import ErrorCode, ModelError, Piece, Request, Said, Spent, Wants
from hookline.runtime.models.tokens import request_tokens, tokens_of

FAREWELL: Final = "The script is done."
CONTEXT_LIMIT: Final = 200_000
_NOW: Final = timedelta(0)


@dataclass(frozen=True, slots=True)
class Heard:
    """What a request must have for a step to answer it; each is searched for in a text."""

    last: Pattern | None = None  # the last message, whoever it is from
    prompt: Pattern | None = None  # the last message of the user
    system: Pattern | None = None  # the system prompt

    def holds(self, request: Request) -> bool:
        messages = request.messages
        texts = (
            (self.last, _content(messages[-1:])),
            (self.prompt, _content([each for each in messages if each.get("role") == "user"][-1:])),
            (self.system, _content([each for each in messages if each.get("role") == "system"])),
        )
        return all(pattern is None or pattern.search(text) for pattern, text in texts)


@dataclass(frozen=True, slots=True)
class Step:
    """One answer: text, then tool calls, then a failure. An input that is text goes out as it is, JSON or not."""

    say: str = ""
    calls: tuple[tuple[str, Mapping[str, Any] | str], ...] = ()
    error: ErrorCode | None = None
    message: str = "as the script says"
    after: timedelta | None = None  # when to try again
    delay: timedelta = _NOW  # before the answer begins
    spend: tuple[int, int] | None = None  # input, output; None: estimated
    when: Heard | None = None  # asked before the steps that stand in order, as often as it holds
    once: bool = False  # of a step with `when`


@dataclass(frozen=True, slots=True)
class Section:
    """Steps for those requests whose system prompt has the pattern: one of several agents."""

    system: Pattern
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Script:
    steps: tuple[Step, ...] = ()
    sections: tuple[Section, ...] = ()
    end: str = FAREWELL  # what every later request is answered
    loop: bool = False  # begin anew instead
    pace: timedelta = _NOW  # between two pieces of text
    context_limit: int = CONTEXT_LIMIT


@dataclass(slots=True)
class _Progress:
    """How far one conversation has come."""

    next: int = 0
    calls: int = 0
    done: set[int] = field(default_factory=set)  # steps with `once`

    def take(self, script: Script, steps: Sequence[Step], request: Request) -> Step:
        for index, step in enumerate(steps):
            if step.when is not None and index not in self.done and step.when.holds(request):
                self.done |= {index} if step.once else set()
                return step
        ordered = [step for step in steps if step.when is None]
        if self.next >= len(ordered) and script.loop:
            self.next = 0
        self.next += 1
        return ordered[self.next - 1] if self.next <= len(ordered) else Step(say=script.end)

    def ids(self, request: Request) -> Iterator[str]:
        """Beyond those of the conversation, which may have been begun by another process."""
        self.calls = max([self.calls, *_numbers(request)])
        while True:
            self.calls += 1
            yield f"call_{self.calls}"


class ScriptedModel:
    """From a file's Script, or from steps: `ScriptedModel(["Hello.", Step(calls=(("bash", {"command": "ls"}),))])`.

    A text alone is a step that says it. `heard` is told of every request. Progress is kept by this object, so each
    session has its own; the steps of a section are counted for each conversation, known by its first message.
    """

    def __init__(
        self,
        script: Script | Sequence[Step | str],
        *,
        name: str = "script",
        context_limit: int | None = None,
        heard: Callable[[Request], object] | None = None,
    ) -> None:
        self.script = script if isinstance(script, Script) else Script(tuple(map(_step, script)))
        self.name = name
        self.context_limit = context_limit or self.script.context_limit
        self._heard = heard
        self._progress: dict[tuple[int, str], _Progress] = {}

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        if self._heard is not None:
            self._heard(request)
        step, ids = self._answer(request)
        if step.delay:
            await asyncio.sleep(step.delay.total_seconds())
        for piece in _pieces(step.say):
            yield Said(piece)
            await asyncio.sleep(self.script.pace.total_seconds())
        for (name, input), id in zip(step.calls, ids, strict=False):
            yield Wants(id, name, input if isinstance(input, str) else json.dumps(input, ensure_ascii=False))
        if step.error is not None:
            raise ModelError(step.error, f"{self.name}: {step.message}", step.after)
        yield Spent(*(step.spend or _estimated(request, step)))

    async def close(self) -> None:
        """Nothing is open."""

    def _answer(self, request: Request) -> tuple[Step, Iterator[str]]:
        try:
            number, steps = self._steps(request)
            progress = self._progress_of(number, steps, request)
            return progress.take(self.script, steps, request), progress.ids(request)
        except Undecided:
            raise ModelError(ErrorCode.INTERNAL, f"{self.name}: a pattern took too long to be searched for") from None

    def _steps(self, request: Request) -> tuple[int, tuple[Step, ...]]:
        for number, section in enumerate(self.script.sections, 1):
            if Heard(system=section.system).holds(request):
                return number, section.steps
        return 0, self.script.steps

    def _progress_of(self, number: int, steps: Sequence[Step], request: Request) -> _Progress:
        users = [message for message in request.messages if message.get("role") == "user"]
        key = number, _content(users[:1]) if number else ""
        progress = self._progress.setdefault(key, _Progress())
        begins = all(message.get("role") != "assistant" for message in request.messages)
        if number and begins and progress.next >= sum(step.when is None for step in steps):  # the same task once more
            progress.next = 0
            progress.done.clear()
        return progress


def _step(step: Step | str) -> Step:
    return Step(say=step) if isinstance(step, str) else step


def _content(messages: Sequence[dict[str, Any]]) -> str:
    return "\n".join(str(message.get("content") or "") for message in messages)


def _pieces(text: str) -> Iterator[str]:
    """Word by word, as models speak."""
    words = text.split(" ")
    for word in words[:-1]:
        yield f"{word} "
    if words[-1]:
        yield words[-1]


def _numbers(request: Request) -> Iterator[int]:
    for message in request.messages:
        id = str(message.get("tool_call_id") or "")
        digits = id.removeprefix("call_")
        if digits != id and digits.isascii() and digits.isdigit() and len(digits) < 10:
            yield int(digits)


def _estimated(request: Request, step: Step) -> tuple[int, int]:
    calls = sum(tokens_of(name + str(input)) for name, input in step.calls)
    return request_tokens(request), tokens_of(step.say) + calls
