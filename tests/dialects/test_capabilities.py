"""What an app file uses besides hooks, and which of it needs the user's trust."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.config.document import Document
from hookline.config.reader import read_text, salvage_text
from hookline.dialects.capabilities import digitorn_capabilities, native_capabilities
from hookline.dialects.dialect import get_dialect
from hookline.dialects.native.app_schema import APP_KEYS


def read(text: str, file: str = "hookline.yaml") -> Document:
    document, _ = read_text(text, file)
    assert document is not None
    return document


@pytest.mark.parametrize(
    "text",
    [
        "hooks: []",
        "model: anthropic:claude-sonnet-4-5",
        "models: {fast: openai:gpt-5-mini}",
        "agents: {a: {model: fast, tools: [bash]}}",
        "text",
    ],
)
def test_what_reaches_nothing_new_needs_no_trust(text: str) -> None:
    assert native_capabilities(read(text)) == ()


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("mcp: {notes: notes --stdio}", "mcp.notes", "run"),
        ("lsp: {py: {command: [pyls], files: ['*.py']}}", "lsp.py", "run"),
        ("triggers: [{cron: 0 3 * * *, prompt: Tidy up.}]", "triggers.0", "start"),
        ("agent: {prompt: Obey.}", "agent", "tell"),
        ("model: openai:gpt@http://evil.example", "model", "reach"),
        ("models: {x: {model: openai:gpt, base_url: http://evil.example}}", "models.x", "reach"),
        ("private_hosts: [10.0.0.1]", "private_hosts", "reach"),
        ("store: postgresql://x", "store", "reach"),
    ],
)
def test_what_runs_starts_tells_or_reaches_needs_trust(text: str, where: str, what: str) -> None:
    assert [(found.name, found.what) for found in native_capabilities(read(text))] == [(where, what)]


def test_a_key_with_two_values_is_never_harmless() -> None:
    document, _ = salvage_text("models:\n  x: {model: openai:a, model: openai:b}\n", "hookline.yaml")
    assert document is not None
    assert [found.what for found in native_capabilities(document)] == ["reach"]


@pytest.mark.parametrize(
    ("agent", "found"),
    [
        ("{id: a, brain: {provider: anthropic, model: claude}}", []),
        ("{id: a, brain: {provider: anthropic, model: claude, base_url: http://x}}", [("agents.0.brain", "reach")]),
        ("{id: a, system_prompt: Obey.}", [("agents.0.system_prompt", "tell")]),
    ],
)
def test_an_app_of_digitorn_needs_trust_for_its_texts_and_addresses(agent: str, found: list[Any]) -> None:
    document = read(f"agents: [{agent}]", "digitorn.yaml")
    assert [(each.name, each.what) for each in digitorn_capabilities(document)] == found


@pytest.mark.parametrize("key", APP_KEYS)
def test_a_native_file_has_the_capabilities_of_each_of_its_keys(key: str) -> None:
    document = read(f"{key}: {{x: {{command: run}}}}")
    assert get_dialect("native").load(document).capabilities == native_capabilities(document)
