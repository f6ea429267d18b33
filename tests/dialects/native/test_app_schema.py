"""What the JSON Schema says about the keys that describe an agent. The runtime's reader is compared with it elsewhere."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from hookline.dialects.dialect import get_dialect
from hookline.dialects.native.app_schema import APP_KEYS

SCHEMA = jsonschema.Draft202012Validator(get_dialect("native").schema())

VALID: dict[str, list[Any]] = {
    "agent": [{}, {"prompt": "You plan.", "tools": ["grep"], "max_steps": 250}, {"prompt": {"file": "a.md"}}],
    "agents": [[{"id": "a"}], {"a": {"side_a": {"label": "Pro"}, "side_b": {}}}],
    "model": ["anthropic:claude"],
    "models": [{"quick": "groq:llama"}, {"own": {"model": "openai:local", "fallbacks": ["quick"]}}],
    "mcp": [{"git": "uvx mcp-server-git"}, {"far": {"url": "https://example.com", "headers": {"A": "b"}}}],
    "lsp": [{"python": {"command": ["ruff", "server"], "files": "*.py"}}],
    "triggers": [[{"cron": "0 3 * * *", "prompt": "Look."}], [{"http": "/deploy", "prompt": "Go.", "open": True}]],
    "skills": ["skills", ["a", "b"]],
    "store": ["sqlite:///a.db", "postgresql+asyncpg://host/db"],
    "private_hosts": ["wiki.internal", ["localhost:8080", "::1"]],
}
INVALID: dict[str, list[Any]] = {
    "agent": ["planner", {"max_steps": 251}, {"prompt": {"text": "a", "file": "b"}}, {"side_a": {"id": "x"}}],
    "agents": [[{"name": "no id"}], "a"],
    "model": ["", 1],
    "models": [{"bad name": "x"}, {"own": {"fallbacks": ["quick"]}}],
    "mcp": [{"far": {"url": "ftp://example.com"}}, {"git": {"args": ["x"]}}, {"git": {"command": "x", "url": "y"}}],
    "lsp": [{"python": {"command": "ruff"}}, {"python": {"files": "*.py"}}],
    "triggers": [
        [{"cron": "0 3 * * *"}],
        [{"http": "deploy", "prompt": "x"}],
        [{"cron": "x", "files": "y", "prompt": "z"}],
    ],
    "skills": [1, [""]],
    "store": ["mysql://host/db"],
    "private_hosts": ["https://wiki.internal"],
}


def test_every_key_has_samples() -> None:
    assert VALID.keys() == INVALID.keys() == APP_KEYS.keys()


@pytest.mark.parametrize("key", APP_KEYS)
def test_valid_values(key: str) -> None:
    assert [value for value in (None, *VALID[key]) if not SCHEMA.is_valid({key: value})] == []


@pytest.mark.parametrize("key", APP_KEYS)
def test_invalid_values(key: str) -> None:
    assert [value for value in INVALID[key] if SCHEMA.is_valid({key: value})] == []
