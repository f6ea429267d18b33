"""Reads the app from a digitorn file. Unknown keys are ignored: they belong to digitorn."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hookline.config.document import Document
from hookline.config.node import Node
from hookline.config.problem import Problem, Severity
from hookline.dialects.capabilities import PROMPT_KEYS
from hookline.hooks.tools import NATIVE, VOCABULARIES
from hookline.runtime.apps import fields
from hookline.runtime.apps.app import MAX_STEPS, Agent, AgentSide, NamedModel, Prompt
from hookline.runtime.apps.fields import DEFAULT_PROMPT, BaseDirectory, Declaration, PartialApp

MODULES: Final = ("filesystem", "memory", "lsp", "workspace")
"""Modules with the same name in the runtime."""

_COORDINATOR_ROLES: Final = ("coordinator", "orchestrator", "main", "primary")
_PROMPT_KEYS: Final = PROMPT_KEYS[:-1]


def read_app(document: Document, base: BaseDirectory) -> PartialApp:
    problems: list[Problem] = []
    at = Node.of(document, problems)
    if not isinstance(at.value, dict):
        return PartialApp()
    runtime = at.get("runtime") or at.get("execution")
    turns = _positive_integer(runtime, "max_turns")
    agents = tuple(_read_agents(at.get("agents"), turns))
    return PartialApp(
        tuple(placed for placed, _ in agents),
        models=tuple(model for _, model in agents if model is not None),
        servers=fields.read_servers(_servers_node(at.get("mcp"))),
        triggers=fields.read_triggers(at.get("triggers")),
        skills=fields.read_skill_folders(at.get("skills"), base),
        problems=tuple(problems),
    )


def _servers_node(at: Node | None) -> Node | None:
    """Accepts `mcp: {servers: {…}}` and `mcp: {…}`."""
    below = None if at is None else at.get("servers")
    return below if below is not None and isinstance(below.value, dict) else at


def _read_agents(
    at: Node | None, turns: int | None
) -> Iterator[tuple[Declaration[Agent], Declaration[NamedModel] | None]]:
    """The coordinator comes first: it is the agent that you talk to."""
    if at is None or not isinstance(at.value, list):
        return
    found = [place for place in at.items() if isinstance(place.value, dict)]
    specialists = tuple(id for place in found if _role(place) == "specialist" and (id := _optional_text(place, "id")))
    for place in sorted(found, key=lambda each: _role(each) not in _COORDINATOR_ROLES):
        id = _optional_text(place, "id")
        if id is None:
            place.add_problem(
                "missing-key", f"{place.location}: id is missing.", "Write id: name.", severity=Severity.WARNING
            )
            continue
        model, named = _read_brain(place, id)
        placed = Declaration(id, _read_agent(place, id, model, specialists, turns), at.document.file, place.line)
        yield placed, named


def _read_agent(at: Node, id: str, model: str | None, specialists: tuple[str, ...], turns: int | None) -> Agent:
    said = next((text for key in _PROMPT_KEYS if (text := _optional_text(at, key))), DEFAULT_PROMPT)
    steps = _positive_integer(at, "max_turns") or turns
    return Agent(
        id,
        AgentSide(Prompt(id, said, None, _read_tools(at)), max_steps=None if steps is None else min(steps, MAX_STEPS)),
        name=_optional_text(at, "name") or "",
        description=_optional_text(at, "description") or "",
        model=model,
        subagents=() if _role(at) == "specialist" else tuple(each for each in specialists if each != id),
    )


def _read_brain(at: Node, id: str) -> tuple[str | None, Declaration[NamedModel] | None]:
    """The model's name. A model with its own limit becomes a named model of the app."""
    brain = at.get("brain")
    if brain is None or not isinstance(brain.value, dict):
        return (brain.value if brain is not None and isinstance(brain.value, str) else None), None
    provider, model, url = (
        _optional_text(brain, "provider"),
        _optional_text(brain, "model"),
        _optional_text(brain, "base_url"),
    )
    if model is None:
        return None, None
    full = fields.with_url(f"{provider}:{model}" if provider else model, url)
    limit = _positive_integer(brain, "context_limit") or _positive_integer(brain, "context_window")
    if limit is None:
        return full, None
    name = f"brain-of-{id}"
    return name, Declaration(name, NamedModel(full, (), limit), at.document.file, brain.line)


def _read_tools(at: Node) -> tuple[str, ...] | None:
    """The modules and tools that the agent lists; None if it lists none."""
    listed = [_entry_names(place.value) for key in ("modules", "tools") if (place := at.get(key)) is not None]
    if not listed:
        return None
    return tuple(dict.fromkeys(tool for names in listed for name in names for tool in _tool_patterns(name)))


def _entry_names(value: Any) -> list[str]:
    if isinstance(value, dict):
        return list(value)
    if isinstance(value, list):
        entries = [each.get("id") or each.get("name") if isinstance(each, dict) else each for each in value]
        return [each for each in entries if isinstance(each, str)]
    return [value] if isinstance(value, str) else []


def _tool_patterns(name: str) -> Iterator[str]:
    """A module stands for all its tools. If the runtime uses another name, both names match."""
    is_module = "." not in name and name not in _KNOWN_TOOLS
    yield f"{name}.*" if is_module else name
    if name in MODULES:
        return
    for kind, theirs in _DIGITORN.names.items():
        spellings = [form for each in theirs for form in _DIGITORN.all_forms(each)]
        if any(each == name or (is_module and each.startswith(f"{name}.")) for each in spellings):
            yield from NATIVE.names.get(kind, ())
    if is_module:
        yield f"mcp.{name.removeprefix('mcp_')}.*"


_DIGITORN: Final = VOCABULARIES["digitorn"]
_KNOWN_TOOLS: Final = frozenset(
    name
    for vocabulary in (NATIVE, _DIGITORN)
    for names in vocabulary.names.values()
    for each in names
    for name in vocabulary.all_forms(each)
)


def _role(at: Node) -> str:
    return (_optional_text(at, "role") or "").lower()


def _optional_text(at: Node, key: str) -> str | None:
    value = at.value.get(key)
    return value if isinstance(value, str) and value else None


def _positive_integer(at: Node | None, key: str) -> int | None:
    value = at.value.get(key) if at is not None and isinstance(at.value, dict) else None
    return value if type(value) is int and value > 0 else None
