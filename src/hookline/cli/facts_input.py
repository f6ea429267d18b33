"""Parses the facts given on the command line. Any text gives either facts or a clear error."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any, Final, NoReturn

from hookline.errors import HooklineError
from hookline.formatting import printable, shorten

MAX_CHARACTERS: Final = 10_000_000
MAX_NESTING: Final = 100


def read_facts(facts: str | None, tool: str | None, input: str | None, prompt: str | None) -> dict[str, Any]:
    """--facts, with --tool, --input and --prompt put over it."""
    parsed = {} if facts is None else parse_json_object_argument(_read_facts_text(facts), "--facts")
    if tool is not None or input is not None:
        parsed["tool"] = _merge_tool(parsed.get("tool", {}), tool, input)
    if prompt is not None:
        parsed["prompt"] = prompt
    _check_tool(parsed)
    return parsed


def _check_tool(facts: dict[str, Any]) -> None:
    """A malformed tool would match no condition and so pass every guard."""
    tool = facts.get("tool", {})
    if not isinstance(tool, dict):
        raise HooklineError(_describe_not_object("--facts: tool", tool, "--facts"))
    if not isinstance(tool.get("name", ""), str):
        raise HooklineError(f"--facts: tool.name must be text, not {_json_type_name(tool['name'])}")
    if not isinstance(tool.get("input", {}), dict):
        raise HooklineError(_describe_not_object("--facts: tool.input", tool["input"], "--facts"))


def _merge_tool(given: Any, name: str | None, input: str | None) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise HooklineError("--facts: tool is not an object, so --tool and --input cannot be put into it")
    tool = dict(given)
    if name is not None:
        tool["name"] = name
    if input is not None:
        tool["input"] = parse_json_object_argument(input, "--input")
    return tool


def parse_json_object_argument(text: str, what: str) -> dict[str, Any]:
    value = parse_json_argument(text, what)
    if not isinstance(value, dict):
        raise HooklineError(_describe_not_object(what, value, what))
    return value


def _describe_not_object(what: str, value: Any, option: str) -> str:
    return f"{what}: expected an object, not {_json_type_name(value)}. Write {{…}}, such as {_EXAMPLES[option]}"


def _json_type_name(value: Any) -> str:
    kinds = {list: "a list", dict: "an object", str: "text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


_EXAMPLES: Final = {
    "--facts": '\'{"tool": {"name": "bash", "input": {"command": "ls"}}}\'',
    "--input": '\'{"command": "ls"}\'',
}


def parse_json_argument(text: str, what: str) -> Any:
    if len(text) > MAX_CHARACTERS:
        raise HooklineError(f"{what}: the JSON is larger than {MAX_CHARACTERS // 1_000_000} MB")
    try:
        value = json.loads(
            text, parse_constant=_reject_constant, parse_float=_parse_finite, object_pairs_hook=_reject_duplicates
        )
    except json.JSONDecodeError as error:
        near = shorten(printable(text[error.pos : error.pos + 40]))
        at = f"line {error.lineno}, column {error.colno}"
        raise HooklineError(f"{what}: invalid JSON: {error.msg} at {at}" + (f": {near}" if near else "")) from None
    except ValueError as error:  # from our own checks, or a number with too many digits
        raise HooklineError(f"{what}: {str(error).partition(';')[0]}") from None
    except RecursionError:
        raise HooklineError(f"{what}: values are nested more than {MAX_NESTING} deep") from None
    if _is_deeper(value, MAX_NESTING):
        raise HooklineError(f"{what}: values are nested more than {MAX_NESTING} deep")
    return value


def _reject_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    parsed = dict(pairs)
    if len(parsed) < len(pairs):
        duplicate = next(key for at, (key, _) in enumerate(pairs) if key in dict(pairs[:at]))
        raise ValueError(f"{shorten(printable(duplicate))!r} appears twice in one object")
    return parsed


def _is_deeper(value: Any, most: int) -> bool:
    level = [value]
    for _ in range(most):
        level = [held for each in level for held in _child_containers(each)]
        if not level:
            return False
    return True


def _child_containers(value: Any) -> list[Any]:
    held = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [each for each in held if isinstance(each, (dict, list))]


def _reject_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not a number in JSON")


def _parse_finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{shorten(text)} is too large for a number")
    return number


def _read_facts_text(facts: str) -> str:
    """`-` is stdin, `@FILE` a file, anything else the JSON itself."""
    if facts == "-":
        return _decode_utf8(sys.stdin.buffer.read(MAX_CHARACTERS + 1), "stdin")
    if not facts.startswith("@"):
        return facts
    path = Path(facts[1:])
    try:
        with path.open("rb") as file:
            return _decode_utf8(file.read(MAX_CHARACTERS + 1), str(path))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise HooklineError(f"--facts: {printable(str(path))} cannot be read: {reason}") from None


def _decode_utf8(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise HooklineError(f"--facts: {printable(name)} is not UTF-8: byte {error.start}") from None
