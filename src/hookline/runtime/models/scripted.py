"""A model that answers from a script, for demos and tests: offline and deterministic. Also reads its YAML file."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from hookline.config.document import Document
from hookline.config.node import Node, format_value
from hookline.config.problem import Problem
from hookline.config.reader import FileFormat, read_file, read_text
from hookline.errors import ConfigError
from hookline.lazy_dataclasses import dataclass, field, replace
from hookline.patterns.pattern import BadPattern, Pattern, UndecidedError, pattern
from hookline.runtime.models.model import (
    Chunk,
    CompletionRequest,
    ErrorCode,
    ModelError,
    RequestedCall,
    TextChunk,
    TokenUsage,
)
from hookline.runtime.models.tokens import request_tokens, text_tokens

END_TEXT: Final = "The script is done."
SCRIPT_CONTEXT_LIMIT: Final = 200_000
_NO_DELAY: Final = timedelta(0)


@dataclass(frozen=True, slots=True)
class RequestMatcher:
    """Patterns that a request must match."""

    last: Pattern | None = None  # the last message of any role
    prompt: Pattern | None = None  # the last message of the user
    system: Pattern | None = None  # the system prompt

    def matches(self, request: CompletionRequest) -> bool:
        messages = request.messages
        texts = (
            (self.last, _join_contents(messages[-1:])),
            (self.prompt, _join_contents([each for each in messages if each.get("role") == "user"][-1:])),
            (self.system, _join_contents([each for each in messages if each.get("role") == "system"])),
        )
        return all(pattern is None or pattern.search(text) for pattern, text in texts)


@dataclass(frozen=True, slots=True)
class ScriptStep:
    """One answer: text, then tool calls, then a failure. An input that is text is sent unchanged, JSON or not."""

    say: str = ""
    calls: tuple[tuple[str, Mapping[str, Any] | str], ...] = ()
    error: ErrorCode | None = None
    message: str = "as the script says"
    after: timedelta | None = None  # when to retry
    delay: timedelta = _NO_DELAY  # before the answer starts
    spend: tuple[int, int] | None = None  # input, output; None: estimated
    when: RequestMatcher | None = None  # checked on every request, before the ordered steps
    once: bool = False  # for a step with `when`: use it only once


@dataclass(frozen=True, slots=True)
class ScriptSection:
    """Steps for requests whose system prompt matches: one of several agents."""

    system: Pattern
    steps: tuple[ScriptStep, ...]


@dataclass(frozen=True, slots=True)
class ModelScript:
    steps: tuple[ScriptStep, ...] = ()
    sections: tuple[ScriptSection, ...] = ()
    end: str = END_TEXT  # the answer to all later requests
    loop: bool = False  # start again at the end
    pace: timedelta = _NO_DELAY  # between two pieces of text
    context_limit: int = SCRIPT_CONTEXT_LIMIT


@dataclass(slots=True)
class _ScriptProgress:
    """The position of one conversation in the script."""

    next: int = 0
    calls: int = 0
    done: set[int] = field(default_factory=set)  # steps with `once`

    def next_step(self, script: ModelScript, steps: Sequence[ScriptStep], request: CompletionRequest) -> ScriptStep:
        for index, step in enumerate(steps):
            if step.when is not None and index not in self.done and step.when.matches(request):
                self.done |= {index} if step.once else set()
                return step
        ordered = [step for step in steps if step.when is None]
        if self.next >= len(ordered) and script.loop:
            self.next = 0
        self.next += 1
        return ordered[self.next - 1] if self.next <= len(ordered) else ScriptStep(say=script.end)

    def call_ids(self, request: CompletionRequest) -> Iterator[str]:
        """Continues after the ids in the history, which may come from an earlier process."""
        self.calls = max([self.calls, *_call_numbers(request)])
        while True:
            self.calls += 1
            yield f"call_{self.calls}"


class ScriptedModel:
    """Takes a ModelScript or steps: `ScriptedModel(["Hello.", ScriptStep(calls=(("bash", {"command": "ls"}),))])`.

    A string is a step that says it. `on_request` is called with every request. The object keeps the progress, so create
    one for each session; a section keeps it for each conversation, identified by the first user message.
    """

    def __init__(
        self,
        script: ModelScript | Sequence[ScriptStep | str],
        *,
        name: str = "script",
        context_limit: int | None = None,
        on_request: Callable[[CompletionRequest], object] | None = None,
    ) -> None:
        self.script = script if isinstance(script, ModelScript) else ModelScript(tuple(map(_to_step, script)))
        self.name = name
        self.context_limit = context_limit or self.script.context_limit
        self._on_request = on_request
        self._progress: dict[tuple[int, str], _ScriptProgress] = {}

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[Chunk]:
        if self._on_request is not None:
            self._on_request(request)
        step, ids = self._next_step(request)
        if step.delay:
            await asyncio.sleep(step.delay.total_seconds())
        for piece in _split_words(step.say):
            yield TextChunk(piece)
            await asyncio.sleep(self.script.pace.total_seconds())
        for (name, input), id in zip(step.calls, ids, strict=False):
            yield RequestedCall(id, name, input if isinstance(input, str) else json.dumps(input, ensure_ascii=False))
        if step.error is not None:
            raise ModelError(step.error, f"{self.name}: {step.message}", step.after)
        yield TokenUsage(*(step.spend or _estimate_usage(request, step)))

    async def close(self) -> None:
        """Does nothing."""

    def _next_step(self, request: CompletionRequest) -> tuple[ScriptStep, Iterator[str]]:
        try:
            number, steps = self._matching_steps(request)
            progress = self._progress_of(number, steps, request)
            return progress.next_step(self.script, steps, request), progress.call_ids(request)
        except UndecidedError:
            raise ModelError(ErrorCode.INTERNAL, f"{self.name}: matching a pattern took too long") from None

    def _matching_steps(self, request: CompletionRequest) -> tuple[int, tuple[ScriptStep, ...]]:
        for number, section in enumerate(self.script.sections, 1):
            if RequestMatcher(system=section.system).matches(request):
                return number, section.steps
        return 0, self.script.steps

    def _progress_of(self, number: int, steps: Sequence[ScriptStep], request: CompletionRequest) -> _ScriptProgress:
        users = [message for message in request.messages if message.get("role") == "user"]
        key = number, _join_contents(users[:1]) if number else ""
        progress = self._progress.setdefault(key, _ScriptProgress())
        begins = all(message.get("role") != "assistant" for message in request.messages)
        if number and begins and progress.next >= sum(step.when is None for step in steps):  # the same task again
            progress.next = 0
            progress.done.clear()
        return progress


def _to_step(step: ScriptStep | str) -> ScriptStep:
    return ScriptStep(say=step) if isinstance(step, str) else step


def _join_contents(messages: Sequence[dict[str, Any]]) -> str:
    return "\n".join(str(message.get("content") or "") for message in messages)


def _split_words(text: str) -> Iterator[str]:
    """Word by word, like a model."""
    words = text.split(" ")
    for word in words[:-1]:
        yield f"{word} "
    if words[-1]:
        yield words[-1]


def _call_numbers(request: CompletionRequest) -> Iterator[int]:
    for message in request.messages:
        id = str(message.get("tool_call_id") or "")
        digits = id.removeprefix("call_")
        if digits != id and digits.isascii() and digits.isdigit() and len(digits) < 10:
            yield int(digits)


def _estimate_usage(request: CompletionRequest, step: ScriptStep) -> tuple[int, int]:
    calls = sum(text_tokens(name + str(input)) for name, input in step.calls)
    return request_tokens(request), text_tokens(step.say) + calls


SCRIPT_KEYS: Final = ("version", "steps", "agents", "end", "loop", "pace", "context_limit")
STEP_KEYS: Final = ("say", "call", "calls", "error", "delay", "spend", "when", "once")
_ANSWER_KEYS: Final = ("say", "call", "calls", "error")
_MAX_TOKENS: Final = 10**9


def read_script(path: Path, shown_as: str) -> ModelScript:
    """Raises ConfigError with every problem."""
    return _parse_document(*read_file(path, shown_as))


def parse_script(text: str, file: str = "script.yaml") -> ModelScript:
    """Raises ConfigError with every problem."""
    return _parse_document(*read_text(text, file, FileFormat.YAML))


def _parse_document(document: Document | None, problems: Iterable[Problem]) -> ModelScript:
    found = list(problems)
    script = _parse_root(Node.of(document, found)) if document is not None else ModelScript()
    if found:
        raise ConfigError(sorted(found))
    return script


def _parse_root(reader: Node) -> ModelScript:
    if isinstance(reader.value, list):
        return ModelScript(steps=_parse_steps(reader))
    reader.check_keys(SCRIPT_KEYS, "a script")
    if (version := reader.get("version")) is not None and version.value != 1:
        version.add_problem(
            "version", f"version: {format_value(version.value)} is not known.", "Write 1, or leave it out."
        )
    steps, agents = reader.get("steps"), reader.get("agents")
    if reader.mapping() is not None and steps is None and agents is None:
        reader.add_problem("empty", "This script has no steps.", "Write steps: and a list of answers.")
    return ModelScript(
        steps=_parse_steps(steps) if steps else (),
        sections=tuple(_parse_section(name, each) for name, each in agents.entries()) if agents else (),
        end=_optional_text(reader, "end", END_TEXT),
        loop=_optional_flag(reader, "loop"),
        pace=_optional_duration(reader, "pace") or timedelta(0),
        context_limit=_optional_count(reader, "context_limit", SCRIPT_CONTEXT_LIMIT),
    )


def _parse_section(name: str, reader: Node) -> ScriptSection:
    """Without a pattern, it matches system prompts that contain the agent's name."""
    if isinstance(reader.value, list):
        return ScriptSection(_name_pattern(name), _parse_steps(reader))
    reader.check_keys({"system", "steps"}, "an agent of a script")
    system, steps = reader.get("system"), reader.get("steps")
    if reader.mapping() is not None and steps is None:
        reader.add_problem("empty", f"{reader.location}: there are no steps.", "Write steps: and a list of answers.")
    return ScriptSection(
        (system and _parse_pattern(system)) or _name_pattern(name), _parse_steps(steps) if steps else ()
    )


def _name_pattern(name: str) -> Pattern:
    letters = "".join(each if each.isalnum() or each in "_-" else "." for each in name)
    return pattern(rf"(?i)(?:^|\W){letters}(?:\W|$)")


def _parse_steps(reader: Node) -> tuple[ScriptStep, ...]:
    return tuple(_parse_step(item) for item in reader.items())


def _parse_step(reader: Node) -> ScriptStep:
    if isinstance(reader.value, str):
        return ScriptStep(say=reader.value)
    reader.check_keys(STEP_KEYS, "a step")
    if reader.mapping() is not None and not any(key in reader.value for key in _ANSWER_KEYS):
        reader.add_problem(
            "empty", f"{reader.location}: this step has no answer.", f"Write one of {', '.join(_ANSWER_KEYS)}."
        )
    when, once = reader.get("when"), reader.get("once")
    if once is not None and when is None:
        once.add_problem("no-effect", f"{once.location}: a step without `when` is used only once anyway.", "Remove it.")
    step = ScriptStep(
        say=_optional_text(reader, "say", ""),
        calls=tuple(_parse_calls(reader)),
        delay=_optional_duration(reader, "delay") or timedelta(0),
        spend=_parse_usage(reader.get("spend")),
        when=_parse_when(when) if when else None,
        once=_optional_flag(reader, "once"),
    )
    return _with_error(step, error) if (error := reader.get("error")) else step


def _parse_calls(reader: Node) -> Iterable[tuple[str, Any]]:
    if (call := reader.get("call")) is not None:
        yield from _parse_call(call)
    if (calls := reader.get("calls")) is not None:
        for item in calls.items():
            yield from _parse_call(item)


def _parse_call(reader: Node) -> Iterable[tuple[str, Any]]:
    if reader.mapping() is not None and len(reader.value) != 1:
        reader.add_problem(
            "wrong-type", f"{reader.location}: a call names exactly one tool.", "Write {tool: {key: value}}."
        )
        return
    for name, input in reader.entries():
        if input.value is None:
            yield name, {}
        elif isinstance(input.value, str) or input.mapping() is not None:
            yield name, input.value


def _with_error(step: ScriptStep, reader: Node) -> ScriptStep:
    codes = [code.value for code in ErrorCode]
    if isinstance(reader.value, str):
        code = reader.one_of(codes)
        return replace(step, error=ErrorCode(code) if code else None)
    reader.check_keys({"code", "message", "after"}, "an error")
    given = reader.get("code")
    if given is None and reader.mapping() is not None:
        reader.add_problem("missing-key", f"{reader.location}: the code is missing.", f"Known: {', '.join(codes)}.")
    code = given.one_of(codes) if given else None
    return replace(
        step,
        error=ErrorCode(code) if code else None,
        message=_optional_text(reader, "message", step.message),
        after=_optional_duration(reader, "after"),
    )


def _parse_when(reader: Node) -> RequestMatcher:
    if isinstance(reader.value, str):
        return RequestMatcher(last=_parse_pattern(reader))
    reader.check_keys({"last", "prompt", "system"}, "when")
    if reader.mapping() == {}:
        reader.add_problem("empty", f"{reader.location}: this matches every request.", "Write a pattern, or remove it.")
    found = {key: _parse_pattern(part) for key in ("last", "prompt", "system") if (part := reader.get(key))}
    return RequestMatcher(**found)


def _parse_pattern(reader: Node) -> Pattern | None:
    text = reader.text()
    if text is None:
        return None
    try:
        return pattern(text)
    except (BadPattern, UndecidedError) as error:
        reader.add_problem("bad-pattern", f"{reader.location}: {format_value(text)} is not a pattern: {error}.")
        return None


def _parse_usage(reader: Node | None) -> tuple[int, int] | None:
    if reader is None:
        return None
    reader.check_keys({"input", "output"}, "spend")
    return _optional_count(reader, "input", 0), _optional_count(reader, "output", 0)


def _optional_text(reader: Node, key: str, default: str) -> str:
    part = reader.get(key)
    text = part.text(empty=True) if part else None
    return default if text is None else text


def _optional_flag(reader: Node, key: str) -> bool:
    part = reader.get(key)
    return bool(part and part.flag())


def _optional_count(reader: Node, key: str, default: int) -> int:
    part = reader.get(key)
    number = part.integer(least=0 if default == 0 else 1, most=_MAX_TOKENS) if part else None
    return default if number is None else number


def _optional_duration(reader: Node, key: str) -> timedelta | None:
    part = reader.get(key)
    return part.duration() if part else None
