"""An event made from the solver's model, and the command that fires it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from hookline.hooks.event import EVERY_ITEM, FactPath
from hookline.hooks.tool_name import likely_kind, mcp_address
from hookline.hooks.tools import MCP_CLAUDE, ToolKind
from hookline.prove.event_space import EventSpace, field_path
from hookline.prove.model_search import FoundModel
from hookline.prove.text_variable import TextVariable
from hookline.prove.tool_space import (
    PREFIXING_HOST,
    REQUIRED_FIELDS,
    KnownTool,
    KnownTools,
    McpTools,
    NamedTool,
    Tools,
    UnknownTools,
    common_names,
    requires,
)

_MAX_EXAMPLES: Final = 4
_FILLING: Final = "x"  # the text of a field that a call needs and nothing tests


def build_examples(space: EventSpace, found: FoundModel) -> Iterator[dict[str, Any]]:
    """The facts of events as the model has it. Several if a reading has several texts: any of them may be the one given."""
    for number in range(min(_MAX_EXAMPLES, max(map(len, found.texts.values()), default=1) or 1)):
        yield _build_example(space, found, number)
    absent = frozenset(field_path(each.path) for each in space.texts.values() if not found.texts.get(each))
    if space.kind is not None and any(("tool", "input", field) in absent for field in REQUIRED_FIELDS[space.kind]):
        yield _build_example(space, found, 0, absent)


def _build_example(
    space: EventSpace, found: FoundModel, number: int, absent: frozenset[FactPath] = frozenset()
) -> dict[str, Any]:
    """absent: facts that it lacks even if a call needs them."""
    facts: dict[str, Any] = {}
    known: KnownTool | None = None
    if space.tools:
        tools = next(each for each in space.tools if found.model.value(each.selected))
        known = _known_tool(tools, found)
        facts["tool"] = _describe_tool(tools, known, found)
        if found.model.value(tools.host_names_servers):
            facts["host"] = {"name": PREFIXING_HOST}
    for variable in space.texts.values():
        texts = found.texts.get(variable)
        if texts:
            _put(facts, _fact_path(variable, known), texts[min(number, len(texts) - 1)])
    if space.kind is not None:
        _fill_required(facts["tool"], space.kind, known, absent)
        _declare_kind(facts["tool"], space.kind)
    return facts


def _declare_kind(tool: dict[str, Any], kind: ToolKind) -> None:
    """An MCP server may say what its tool does, if neither its name nor its fields do."""
    if mcp_address(tool["name"]) is not None and kind is not ToolKind.OTHER and likely_kind(tool) is not kind:
        tool["kind"] = str(kind)


def fire_command(event: str, facts: dict[str, Any], configs: Iterable[str] = (), dialect: str | None = None) -> str:
    """The command that shows what the hooks say to this event. dialect: as which the files were read, if not as detected."""
    words = ["hookline", "fire", event, *(word for path in configs for word in ("--config", path))]
    words += [] if dialect is None else ["--dialect", dialect]
    tool = facts.get("tool")
    if facts.keys() <= {"tool"} and isinstance(tool, dict) and tool.keys() <= {"name", "input"}:
        words += ["--tool", tool["name"], "--input", _json(tool["input"])]
    elif facts.keys() == {"prompt"} and isinstance(facts["prompt"], str):
        words += ["--prompt", facts["prompt"]]
    else:
        words += ["--facts", _json(facts)]
    return shlex.join(words)


def case_command(event: str, facts: dict[str, Any], config: Path | None, dialect: str | None) -> str:
    """The same for hooks of a case file. Those that stand in it cannot be fired: then it is the event, as in a case."""
    if config is None:
        return f"event: {_json({'name': event, **facts})}"
    return fire_command(event, facts, (str(config),), dialect)


def _json(value: Any) -> str:
    """Characters that a terminal does not show are escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(value)


def _known_tool(tools: Tools, found: FoundModel) -> KnownTool | None:
    if not isinstance(tools, KnownTools):
        return None
    return next(tool for tool, chosen in tools.tools.items() if found.model.value(chosen))


def _describe_tool(tools: Tools, known: KnownTool | None, found: FoundModel) -> dict[str, Any]:
    if known is not None:
        declared = {"kind": str(known.kind)} if known.has_declared_kind else {}
        return {"name": known.name, **declared, "input": {}}
    if isinstance(tools, NamedTool):
        declared = {"kind": str(tools.kind)} if tools.is_declared else {}
        return {"name": tools.name, **declared, "input": dict(tools.input)}
    declared = {"kind": str(tools.kind)} if isinstance(tools, UnknownTools) and tools.is_declared else {}
    return {"name": _tool_name(tools, found), **declared, "input": {}}


def _tool_name(tools: Tools, found: FoundModel) -> str:
    """One of the names that the model needs, as Claude Code or Cursor would spell it."""
    names = [text for variable in tools.names.values() for text in found.texts.get(variable, ())]
    common = next(iter(common_names(tools.kind)), "tool")
    if isinstance(tools, UnknownTools):
        own = found.texts.get(tools.names["name"], ()) if "name" in tools.names else ()
        return next(iter(own), common)
    addresses = [address for name in names if (address := mcp_address(name)) is not None]
    server, tool = addresses[0] if addresses else ("server", common)
    if isinstance(tools, McpTools) and not tools.knows_server:
        return f"MCP:{tool}"
    return MCP_CLAUDE.format(server=server, tool=tool)


def _fact_path(variable: TextVariable, known: KnownTool | None) -> FactPath:
    path = field_path(variable.path)
    if path[:2] == ("tool", "input") and known is not None and isinstance(path[2], str):
        return (*path[:2], known.field(path[2]), *path[3:])
    return path


def _put(value: dict[str, Any], path: FactPath, text: str) -> None:
    """Sets the fact at `path`, if nothing else stands in its way. A `*` becomes a list of one item."""
    for at, step in enumerate(path):
        rest = path[at + 1 :]
        if not rest:
            value[str(step)] = text
            return
        if rest[0] == EVERY_ITEM:
            inner: dict[str, Any] = {}
            _put(inner, ("item", *rest[1:]), text)
            value.setdefault(str(step), [inner["item"]])
            return
        below = value.setdefault(str(step), {})
        if not isinstance(below, dict):
            return
        value = below


def _fill_required(tool: dict[str, Any], kind: ToolKind, known: KnownTool | None, absent: frozenset[FactPath]) -> None:
    for field in requires(tool["name"], kind):
        if ("tool", "input", field) in absent:
            continue
        tool["input"].setdefault(field if known is None else known.field(field), _FILLING)
