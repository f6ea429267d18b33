"""What a payload says → facts. A payload may say anything, in any type; what is not as expected is not told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from hookline.hooks.tools import TONGUES, Kind, kind_of
from hookline.hosts import patch

_PATCHING: Final = {"apply_patch", "ApplyPatch", "applyPatch", "patch"}
_PATCH_FIELDS: Final = ("command", "patch", "patchText", "input", "patch_text")

Facts = dict[str, Any]
Call = tuple[Kind, Any]


def text(held: Any, *names: str) -> str:
    """The first of these that is a text with something in it."""
    for name in names if isinstance(held, Mapping) else ():
        found = held.get(name)
        if isinstance(found, str) and found:
            return found
    return ""


def mapping(held: Any, *names: str) -> dict[str, Any]:
    found = (held.get(name) for name in names) if isinstance(held, Mapping) else ()
    return next((each for each in found if isinstance(each, dict)), {})


def items(held: Any, name: str) -> list[dict[str, Any]]:
    found = held.get(name) if isinstance(held, Mapping) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def opened(value: Any) -> Any:
    """An object that was sent as JSON text, as some agents do; anything else as it is."""
    if not isinstance(value, str):
        return value
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return found if isinstance(found, dict) else value


def told(**facts: Any) -> Facts:
    """The facts that are known: an empty text or mapping is none."""
    return {name: value for name, value in facts.items() if value not in ("", None, {})}


def ended(ok: bool, result: Any = None, error: str = "") -> Facts:
    """The facts of a tool that has run."""
    facts: Facts = {"ok": ok} if result is None else {"ok": ok, "result": result}
    return facts if ok else {**facts, "error": error or "it failed"}


def shell_ended(exit_code: int, result: Any) -> Facts:
    """The facts of a command that has run, in an agent that takes its exit code for a part of the result."""
    return ended(exit_code == 0, result, f"exit code {exit_code}")


def kind_in(tongue: str, name: str) -> Kind:
    """The kind of a host's tool by the host's own column of the table, else by anybody's."""
    spoken = TONGUES.get(tongue)
    own = spoken.names.items() if spoken else ()
    return next((kind for kind, names in own if name in names), None) or kind_of(name)


def mcp_name(server: str, tool: str) -> str:
    return f"mcp__{server}__{tool}" if server and tool else tool


def calls(name: str, kind: Kind, input: Any) -> list[Call]:
    """What one tool call does, as one call for each thing that a guard may judge: a patch's files, a list of edits.

    Never none. What is given twice, in the list and beside it, or as two patches, is judged both ways: nobody here
    knows which one the tool reads.
    """
    if name in _PATCHING:
        found = [input] if isinstance(input, str) else [each for field in _PATCH_FIELDS if (each := text(input, field))]
        if found:
            return [call for each in found for call in patch.calls(each)]
    for listed in ("edits", "operations"):
        parts = items(input, listed)
        if parts and len(parts) == len(input[listed]):
            around = {key: value for key, value in input.items() if key != listed}
            whole = [(kind, input)] if any(key in around for part in parts for key in part) else []
            return [*whole, *((kind, {**around, **part}) for part in parts)]
    return [(kind, input)]


def tools(tongue: str, name: str, id: str, input: Any, kind: Kind | None = None) -> list[Facts]:
    """The `tool` facts of one call in the agent, one for each of its parts."""
    found = calls(name, kind or kind_in(tongue, name), input)
    return [{"name": name, "kind": str(each), **({"id": id} if id else {}), "input": part} for each, part in found]
