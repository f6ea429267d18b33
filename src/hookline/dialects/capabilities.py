"""What an app file uses besides hooks, and which of it needs the user's trust.

When in doubt, it asks: an entry is harmless only if everything in it is known to be harmless.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from hookline.config.document import Document, KeyPath, problems_of, problems_within
from hookline.dialects.dialect import Capability
from hookline.lazy_imports import json, lazy_pattern

PROVIDERS: Final = ("anthropic", "google", "groq", "mistral", "ollama", "openai", "openai-chat", "openai-responses")
"""Their models are reached at the provider's own address, or at the one in the user's environment."""

PROMPT_KEYS: Final = ("system_prompt", "prompt", "instructions", "description")
"""The keys under which an agent of an app file has text for the model."""

_MODEL_NAME: Final = lazy_pattern(rf"(?!.*//)(?:(?:{'|'.join(PROVIDERS)}):[\w./@:-]+|[\w.-]+)\Z", re.ASCII)
_ENTRY_EFFECTS: Final = {"mcp": "run", "lsp": "run", "triggers": "start", "models": "reach", "agents": "tell"}
_KEY_EFFECTS: Final = {"agent": "tell", "store": "reach", "model": "reach", "private_hosts": "reach"}
_HARMLESS_KEYS: Final = {
    "agents": {"id", "name", "model", "tools", "subagents", "max_steps", "max_turns", "stop_on_response", "stop_tool"},
    "models": {"model", "fallbacks", "context_limit"},
}


def native_capabilities(document: Document) -> tuple[Capability, ...]:
    value = document.value
    if not isinstance(value, dict):
        return ()
    found: list[tuple[str, KeyPath, str, Any]] = [
        (key, (key,), what, value[key]) for key, what in _KEY_EFFECTS.items() if key in value
    ]
    for key, what in _ENTRY_EFFECTS.items():
        found += [(key, path, what, entry) for path, entry in _entries(value.get(key), (key,))]
    return tuple(
        _build_capability(document, path, what, entry)
        for key, path, what, entry in found
        if entry is not None and not _is_harmless(key, entry)
    )


def digitorn_capabilities(document: Document) -> tuple[Capability, ...]:
    value = document.value
    if not isinstance(value, dict):
        return ()
    return tuple(_build_capability(document, path, what, entry) for path, what, entry in _app_file_entries(value))


def _app_file_entries(value: dict[str, Any]) -> Iterator[tuple[KeyPath, str, Any]]:
    for path, agent in _entries(value.get("agents"), ("agents",)):
        if problems_of(agent):
            yield path, "tell", agent
        if not isinstance(agent, dict):
            continue
        yield from (((*path, key), "tell", agent[key]) for key in PROMPT_KEYS if agent.get(key))
        if not _is_harmless_brain(agent.get("brain")):
            yield (*path, "brain"), "reach", agent["brain"]
    for key in ("mcp", "triggers"):
        yield from ((path, _ENTRY_EFFECTS[key], entry) for path, entry in _entries(value.get(key), (key,)))


def _is_harmless_brain(brain: Any) -> bool:
    if problems_within(brain):
        return False
    if not isinstance(brain, dict):
        return brain is None or _is_harmless_model(brain)
    model = f"{brain['provider']}:{brain.get('model')}" if brain.get("provider") else brain.get("model")
    return not brain.get("base_url") and (model is None or _is_harmless_model(model))


def _is_harmless(key: str, entry: Any) -> bool:
    if problems_within(entry):  # a key with two values: either may count
        return False
    if key == "model" or (key == "models" and not isinstance(entry, dict)):
        return _is_harmless_model(entry)
    harmless_keys = _HARMLESS_KEYS.get("agents" if key == "agent" else key)
    if harmless_keys is None or not isinstance(entry, dict) or not entry.keys() <= harmless_keys:
        return False
    fallbacks = entry.get("fallbacks")
    models = [entry.get("model"), *(fallbacks if isinstance(fallbacks, list) else [fallbacks])]
    return all(_is_harmless_model(model) for model in models if model is not None)


def _is_harmless_model(model: Any) -> bool:
    return isinstance(model, str) and bool(_MODEL_NAME.match(model))


def _entries(value: Any, path: KeyPath) -> list[tuple[KeyPath, Any]]:
    """Each entry of a mapping or list; any other value, or a damaged one, is a single entry."""
    if problems_of(value):
        return [(path, value)]
    if isinstance(value, dict):
        return [((*path, key), entry) for key, entry in value.items()]
    if isinstance(value, list):
        return [((*path, index), entry) for index, entry in enumerate(value)]
    return [] if value is None else [(path, value)]


def _build_capability(document: Document, path: KeyPath, what: str, entry: Any) -> Capability:
    return Capability(
        ".".join(map(str, path)), what, _as_text(entry), document.line(path), _as_text(_part_naming_files(what, entry))
    )


def _part_naming_files(what: str, entry: Any) -> Any:
    if what == "start":  # a trigger names files to watch, not files that it needs
        return ""
    return _without_prose(entry) if what == "tell" else entry


def _without_prose(entry: Any) -> Any:
    """A prompt may mention files, but only a mapping with `file` reads one."""
    if isinstance(entry, dict):
        prose_keys = (*PROMPT_KEYS, "text")
        others = {key: value for key, value in entry.items() if not (key in prose_keys and isinstance(value, str))}
        return {key: _without_prose(value) if isinstance(value, dict) else value for key, value in others.items()}
    return "" if isinstance(entry, str) else entry


def _as_text(entry: Any) -> str:
    return entry if isinstance(entry, str) else json.dumps(entry, ensure_ascii=False, default=repr)
