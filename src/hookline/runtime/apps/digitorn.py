"""The app of a digitorn file. Keys that are not ours are none of our business."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hookline.config.document import Document
from hookline.config.problem import Problem, Severity
from hookline.config.shape import Reader
from hookline.dialects.wanted import SPOKEN
from hookline.hooks.tools import NATIVE, TONGUES
from hookline.runtime.app import MOST_STEPS, Agent, ModelNamed, Prompt, Side
from hookline.runtime.apps import parts
from hookline.runtime.apps.described import DEFAULT_PROMPT, Base, Described, Placed

MODULES: Final = ("filesystem", "memory", "lsp", "workspace")
"""Modules that the runtime has itself."""

_COORDINATES: Final = ("coordinator", "orchestrator", "main", "primary")
_SPOKEN: Final = SPOKEN[:-1]


def described(document: Document, base: Base) -> Described:
    problems: list[Problem] = []
    at = Reader.of(document, problems)
    if not isinstance(at.value, dict):
        return Described()
    runtime = at.get("runtime") or at.get("execution")
    turns = _whole(runtime, "max_turns")
    agents = tuple(_agents(at.get("agents"), turns))
    return Described(
        tuple(placed for placed, _ in agents),
        models=tuple(model for _, model in agents if model is not None),
        servers=parts.servers(_servers(at.get("mcp"))),
        triggers=parts.triggers(at.get("triggers")),
        skills=parts.skills(at.get("skills"), base),
        problems=tuple(problems),
    )


def _servers(at: Reader | None) -> Reader | None:
    """`mcp: {servers: {…}}` as well as `mcp: {…}`."""
    below = None if at is None else at.get("servers")
    return below if below is not None and isinstance(below.value, dict) else at


def _agents(at: Reader | None, turns: int | None) -> Iterator[tuple[Placed[Agent], Placed[ModelNamed] | None]]:
    """Whoever coordinates comes first: it is talked to."""
    if at is None or not isinstance(at.value, list):
        return
    found = [place for place in at.items() if isinstance(place.value, dict)]
    specialists = tuple(id for place in found if _role(place) == "specialist" and (id := _text(place, "id")))
    for place in sorted(found, key=lambda each: _role(each) not in _COORDINATES):
        id = _text(place, "id")
        if id is None:
            place.problem("missing-key", f"{place.place}: id is missing.", "Write id: name.", severity=Severity.WARNING)
            continue
        model, named = _brain(place, id)
        placed = Placed(id, _agent(place, id, model, specialists, turns), at.document.file, place.line)
        yield placed, named


def _agent(at: Reader, id: str, model: str | None, specialists: tuple[str, ...], turns: int | None) -> Agent:
    said = next((text for key in _SPOKEN if (text := _text(at, key))), DEFAULT_PROMPT)
    steps = _whole(at, "max_turns") or turns
    return Agent(
        id,
        Side(Prompt(id, said, None, _tools(at)), max_steps=None if steps is None else min(steps, MOST_STEPS)),
        name=_text(at, "name") or "",
        description=_text(at, "description") or "",
        model=model,
        subagents=() if _role(at) == "specialist" else tuple(each for each in specialists if each != id),
    )


def _brain(at: Reader, id: str) -> tuple[str | None, Placed[ModelNamed] | None]:
    """The model's name; one with a limit of its own is a model of the app, named after its agent."""
    brain = at.get("brain")
    if brain is None or not isinstance(brain.value, dict):
        return (brain.value if brain is not None and isinstance(brain.value, str) else None), None
    provider, model, url = _text(brain, "provider"), _text(brain, "model"), _text(brain, "base_url")
    if model is None:
        return None, None
    full = parts.located(f"{provider}:{model}" if provider else model, url)
    limit = _whole(brain, "context_limit") or _whole(brain, "context_window")
    if limit is None:
        return full, None
    name = f"brain-of-{id}"
    return name, Placed(name, ModelNamed(full, (), limit), at.document.file, brain.line)


def _tools(at: Reader) -> tuple[str, ...] | None:
    """What an agent may use, if it says so: modules and single tools."""
    listed = [_listed(place.value) for key in ("modules", "tools") if (place := at.get(key)) is not None]
    if not listed:
        return None
    return tuple(dict.fromkeys(tool for names in listed for name in names for tool in _tools_of(name)))


def _listed(value: Any) -> list[str]:
    if isinstance(value, dict):
        return list(value)
    if isinstance(value, list):
        entries = [each.get("id") or each.get("name") if isinstance(each, dict) else each for each in value]
        return [each for each in entries if isinstance(each, str)]
    return [value] if isinstance(value, str) else []


def _tools_of(name: str) -> Iterator[str]:
    """A module is all of its tools; a module or tool that the runtime calls otherwise is found by both names."""
    is_module = "." not in name and name not in _TOOLS
    yield f"{name}.*" if is_module else name
    if name in MODULES:
        return
    for kind, theirs in TONGUES["digitorn"].names.items():
        if any(each == name or (is_module and each.startswith(f"{name}.")) for each in theirs):
            yield from NATIVE.names.get(kind, ())
    if is_module:
        yield f"mcp.{name.removeprefix('mcp_')}.*"


_TOOLS: Final = frozenset(
    name for tongue in (NATIVE, TONGUES["digitorn"]) for names in tongue.names.values() for name in names
)


def _role(at: Reader) -> str:
    return (_text(at, "role") or "").lower()


def _text(at: Reader, key: str) -> str | None:
    value = at.value.get(key)
    return value if isinstance(value, str) and value else None


def _whole(at: Reader | None, key: str) -> int | None:
    value = at.value.get(key) if at is not None and isinstance(at.value, dict) else None
    return value if type(value) is int and value > 0 else None
