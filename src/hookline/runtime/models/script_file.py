"""A script from its YAML file, every problem with its line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from hookline.config.document import Document
from hookline.config.problem import Problem
from hookline.config.read import Kind, read_file, read_text
from hookline.config.shape import Reader, shown
from hookline.errors import ConfigError
from hookline.patterns.pattern import BadPattern, Pattern, Undecided, pattern
from hookline.runtime.models.model import ErrorCode
from hookline.runtime.models.script import CONTEXT_LIMIT, FAREWELL, Heard, Script, Section, Step

SCRIPT_KEYS: Final = ("version", "steps", "agents", "end", "loop", "pace", "context_limit")
STEP_KEYS: Final = ("say", "call", "calls", "error", "delay", "spend", "when", "once")
_ANSWERS: Final = ("say", "call", "calls", "error")
_MOST_TOKENS: Final = 10**9


def read_script(path: Path, shown_as: str) -> Script:
    """Raises ConfigError with every problem."""
    return _read(*read_file(path, shown_as))


def parse_script(text: str, file: str = "script.yaml") -> Script:
    """Raises ConfigError with every problem."""
    return _read(*read_text(text, file, Kind.YAML))


def _read(document: Document | None, problems: Iterable[Problem]) -> Script:
    found = list(problems)
    script = _script(Reader.of(document, found)) if document is not None else Script()
    if found:
        raise ConfigError(sorted(found))
    return script


def _script(reader: Reader) -> Script:
    if isinstance(reader.value, list):
        return Script(steps=_steps(reader))
    reader.keys(SCRIPT_KEYS, "a script")
    if (version := reader.get("version")) is not None and version.value != 1:
        version.problem("version", f"version: {shown(version.value)} is not known.", "Write 1, or leave it out.")
    steps, agents = reader.get("steps"), reader.get("agents")
    if reader.mapping() is not None and steps is None and agents is None:
        reader.problem("empty", "This script has no steps.", "Write steps: and a list of answers.")
    return Script(
        steps=_steps(steps) if steps else (),
        sections=tuple(_section(name, each) for name, each in agents.entries()) if agents else (),
        end=_text(reader, "end", FAREWELL),
        loop=_flag(reader, "loop"),
        pace=_duration(reader, "pace") or timedelta(0),
        context_limit=_whole(reader, "context_limit", CONTEXT_LIMIT),
    )


def _section(name: str, reader: Reader) -> Section:
    """Without a pattern of its own, it is for prompts in which the agent's name stands."""
    if isinstance(reader.value, list):
        return Section(_named(name), _steps(reader))
    reader.keys({"system", "steps"}, "an agent of a script")
    system, steps = reader.get("system"), reader.get("steps")
    if reader.mapping() is not None and steps is None:
        reader.problem("empty", f"{reader.place}: there are no steps.", "Write steps: and a list of answers.")
    return Section((system and _pattern(system)) or _named(name), _steps(steps) if steps else ())


def _named(name: str) -> Pattern:
    letters = "".join(each if each.isalnum() or each in "_-" else "." for each in name)
    return pattern(rf"(?i)(?:^|\W){letters}(?:\W|$)")


def _steps(reader: Reader) -> tuple[Step, ...]:
    return tuple(_step(item) for item in reader.items())


def _step(reader: Reader) -> Step:
    if isinstance(reader.value, str):
        return Step(say=reader.value)
    reader.keys(STEP_KEYS, "a step")
    if reader.mapping() is not None and not any(key in reader.value for key in _ANSWERS):
        reader.problem("empty", f"{reader.place}: this step gives no answer.", f"Write one of {', '.join(_ANSWERS)}.")
    when, once = reader.get("when"), reader.get("once")
    if once is not None and when is None:
        once.problem("no-effect", f"{once.place}: a step without when is taken once in any case.", "Remove it.")
    step = Step(
        say=_text(reader, "say", ""),
        calls=tuple(_calls(reader)),
        delay=_duration(reader, "delay") or timedelta(0),
        spend=_spend(reader.get("spend")),
        when=_when(when) if when else None,
        once=_flag(reader, "once"),
    )
    return _failing(step, error) if (error := reader.get("error")) else step


def _calls(reader: Reader) -> Iterable[tuple[str, Any]]:
    if (call := reader.get("call")) is not None:
        yield from _call(call)
    if (calls := reader.get("calls")) is not None:
        for item in calls.items():
            yield from _call(item)


def _call(reader: Reader) -> Iterable[tuple[str, Any]]:
    if reader.mapping() is not None and len(reader.value) != 1:
        reader.problem("wrong-type", f"{reader.place}: one tool is named here.", "Write {tool: {key: value}}.")
        return
    for name, input in reader.entries():
        if input.value is None:
            yield name, {}
        elif isinstance(input.value, str) or input.mapping() is not None:
            yield name, input.value


def _failing(step: Step, reader: Reader) -> Step:
    codes = [code.value for code in ErrorCode]
    if isinstance(reader.value, str):
        code = reader.one_of(codes)
        return replace(step, error=ErrorCode(code) if code else None)
    reader.keys({"code", "message", "after"}, "an error")
    given = reader.get("code")
    if given is None and reader.mapping() is not None:
        reader.problem("missing-key", f"{reader.place}: the code is missing.", f"Known: {', '.join(codes)}.")
    code = given.one_of(codes) if given else None
    return replace(
        step,
        error=ErrorCode(code) if code else None,
        message=_text(reader, "message", step.message),
        after=_duration(reader, "after"),
    )


def _when(reader: Reader) -> Heard:
    if isinstance(reader.value, str):
        return Heard(last=_pattern(reader))
    reader.keys({"last", "prompt", "system"}, "when")
    if reader.mapping() == {}:
        reader.problem("empty", f"{reader.place}: this would answer everything.", "Write a pattern, or remove it.")
    found = {key: _pattern(part) for key in ("last", "prompt", "system") if (part := reader.get(key))}
    return Heard(**found)


def _pattern(reader: Reader) -> Pattern | None:
    text = reader.text()
    if text is None:
        return None
    try:
        return pattern(text)
    except (BadPattern, Undecided) as error:
        reader.problem("bad-pattern", f"{reader.place}: {shown(text)} is not a pattern: {error}.")
        return None


def _spend(reader: Reader | None) -> tuple[int, int] | None:
    if reader is None:
        return None
    reader.keys({"input", "output"}, "spend")
    return _whole(reader, "input", 0), _whole(reader, "output", 0)


def _text(reader: Reader, key: str, default: str) -> str:
    part = reader.get(key)
    text = part.text(empty=True) if part else None
    return default if text is None else text


def _flag(reader: Reader, key: str) -> bool:
    part = reader.get(key)
    return bool(part and part.flag())


def _whole(reader: Reader, key: str, default: int) -> int:
    part = reader.get(key)
    number = part.whole(least=0 if default == 0 else 1, most=_MOST_TOKENS) if part else None
    return default if number is None else number


def _duration(reader: Reader, key: str) -> timedelta | None:
    part = reader.get(key)
    return part.duration() if part else None
