"""Facts that were given on the command line: any JSON, of any size and shape, is either facts or a clear error."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any, Final, NoReturn

from hookline.config.problem import printable, short
from hookline.errors import HooklineError

LARGEST: Final = 10_000_000  # characters
DEEPEST: Final = 100


def given_facts(facts: str | None, tool: str | None, input: str | None, prompt: str | None) -> dict[str, Any]:
    """What --facts says, with the tool, its input and the prompt as their own options say them."""
    known = {} if facts is None else json_object(_text_of(facts), "--facts")
    if tool is not None or input is not None:
        known["tool"] = _tool(known.get("tool", {}), tool, input)
    if prompt is not None:
        known["prompt"] = prompt
    _refuse_odd_tools(known)
    return known


def _refuse_odd_tools(facts: dict[str, Any]) -> None:
    """A tool that no condition could see would pass every guard."""
    tool = facts.get("tool", {})
    if not isinstance(tool, dict):
        raise HooklineError(_not_an_object("--facts: tool", tool, "--facts"))
    if not isinstance(tool.get("name", ""), str):
        raise HooklineError(f"--facts: tool.name is expected to be text, not {_kind(tool['name'])}")
    if not isinstance(tool.get("input", {}), dict):
        raise HooklineError(_not_an_object("--facts: tool.input", tool["input"], "--facts"))


def _tool(held: Any, name: str | None, input: str | None) -> dict[str, Any]:
    if not isinstance(held, dict):
        raise HooklineError("--facts: tool is not an object, so --tool and --input have no place in it")
    tool = dict(held)
    if name is not None:
        tool["name"] = name
    if input is not None:
        tool["input"] = json_object(input, "--input")
    return tool


def json_object(text: str, what: str) -> dict[str, Any]:
    value = json_value(text, what)
    if not isinstance(value, dict):
        raise HooklineError(_not_an_object(what, value, what))
    return value


def _not_an_object(what: str, value: Any, option: str) -> str:
    return f"{what}: an object is expected, not {_kind(value)}. Write {{…}}, such as {_EXAMPLES[option]}"


def _kind(value: Any) -> str:
    kinds = {list: "a list", dict: "an object", str: "text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


_EXAMPLES: Final = {
    "--facts": '\'{"tool": {"name": "bash", "input": {"command": "ls"}}}\'',
    "--input": '\'{"command": "ls"}\'',
}


def json_value(text: str, what: str) -> Any:
    if len(text) > LARGEST:
        raise HooklineError(f"{what}: more than {LARGEST // 1_000_000} MB of JSON are not read")
    try:
        value = json.loads(text, parse_constant=_no_number, parse_float=_finite, object_pairs_hook=_each_once)
    except json.JSONDecodeError as error:
        near = short(printable(text[error.pos : error.pos + 40]))
        at = f"line {error.lineno}, column {error.colno}"
        raise HooklineError(f"{what}: this is not JSON: {error.msg} at {at}" + (f": {near}" if near else "")) from None
    except ValueError as error:  # of ours, or a number with too many digits
        raise HooklineError(f"{what}: {str(error).partition(';')[0]}") from None
    except RecursionError:
        raise HooklineError(f"{what}: values are nested more than {DEEPEST} deep") from None
    if _is_deeper(value, DEEPEST):
        raise HooklineError(f"{what}: values are nested more than {DEEPEST} deep")
    return value


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    held = dict(pairs)
    if len(held) < len(pairs):
        twice = next(key for at, (key, _) in enumerate(pairs) if key in dict(pairs[:at]))
        raise ValueError(f"{short(printable(twice))!r} stands twice in one object")
    return held


def _is_deeper(value: Any, most: int) -> bool:
    level = [value]
    for _ in range(most):
        level = [held for each in level for held in _inside(each)]
        if not level:
            return False
    return True


def _inside(value: Any) -> list[Any]:
    held = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [each for each in held if isinstance(each, (dict, list))]


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number in JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{short(text)} is too large a number")
    return number


def _text_of(facts: str) -> str:
    """`-` is stdin, `@FILE` a file, anything else the JSON itself."""
    if facts == "-":
        return _decoded(sys.stdin.buffer.read(LARGEST + 1), "stdin")
    if not facts.startswith("@"):
        return facts
    path = Path(facts[1:])
    try:
        with path.open("rb") as file:
            return _decoded(file.read(LARGEST + 1), str(path))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise HooklineError(f"--facts: {printable(str(path))} cannot be read: {reason}") from None


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise HooklineError(f"--facts: {printable(name)} is not UTF-8: byte {error.start}") from None
