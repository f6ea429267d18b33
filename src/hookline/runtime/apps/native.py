"""Reads the app from a `hookline.yaml`."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from hookline.config.document import Document
from hookline.config.node import Node
from hookline.config.problem import Problem
from hookline.runtime.apps import fields
from hookline.runtime.apps.app import MAX_STEPS, Agent, AgentSide, Prompt
from hookline.runtime.apps.fields import BaseDirectory, Declaration, PartialApp, default_prompt

DEFAULT_AGENT_ID: Final = "agent"
PROMPT_KEYS: Final = ("name", "text", "file", "model", "tools")
AGENT_KEYS: Final = ("id", "name", "description", "model", "tools", "subagents", "max_turns", "side_a", "side_b")
SIDE_KEYS: Final = (
    "prompt",
    "label",
    "stop_on_response",
    "stop_tool",
    "max_steps",
    "session_stop",
    "session_fail",
)
_MAX_PROMPT_BYTES: Final = 1_000_000


def read_app(document: Document, base: BaseDirectory) -> PartialApp:
    problems: list[Problem] = []
    at = Node.of(document, problems)
    if not isinstance(at.value, dict):
        return PartialApp()
    agents = tuple(_read_agents(at, base))
    return PartialApp(
        agents,
        fields.read_model_name(at),
        fields.read_models(at.get("models")),
        fields.read_servers(at.get("mcp")),
        fields.read_language_servers(at.get("lsp")),
        fields.read_triggers(at.get("triggers")),
        fields.read_skill_folders(at.get("skills"), base),
        fields.read_store_url(at.get("store")),
        fields.read_private_hosts(at.get("private_hosts")),
        problems=tuple(problems),
    )


def _read_agents(at: Node, base: BaseDirectory) -> Iterator[Declaration[Agent]]:
    one, several = at.get("agent"), at.get("agents")
    if one is not None and one.value is not None:
        yield from _declare_agent(one, _read_agent(one, base, DEFAULT_AGENT_ID))
    if several is None or several.value is None:
        return
    if isinstance(several.value, dict):
        for id, place in several.entries():
            yield from _declare_agent(place, _read_agent(place, base, id))
    else:
        for place in several.items():
            yield from _declare_agent(place, _read_agent(place, base, None))


def _declare_agent(at: Node, agent: Agent | None) -> Iterator[Declaration[Agent]]:
    if agent is not None:
        yield Declaration(agent.id, agent, at.document.file, at.line)


def _read_agent(at: Node, base: BaseDirectory, known_id: str | None) -> Agent | None:
    at.check_keys((*AGENT_KEYS, *SIDE_KEYS), "an agent")
    if at.mapping() is None:
        return None
    id = fields.optional_text(at, "id") or known_id
    if id is None:
        at.add_problem("missing-key", f"{at.location}: id is missing.", "Write id: name.")
        return None
    tools = fields.optional_names(at, "tools")
    first, second = at.get("side_a"), at.get("side_b")
    if first is not None:
        _report_misplaced_keys(at)
    return Agent(
        id,
        _read_side(first or at, base, id, tools, own=first is not None),
        None if second is None else _read_side(second, base, f"{id}.b", tools, own=True),
        fields.optional_text(at, "name") or "",
        fields.optional_text(at, "description") or "",
        fields.read_model_name(at),
        fields.optional_names(at, "subagents"),
        fields.optional_count(at, "max_turns"),
    )


def _report_misplaced_keys(at: Node) -> None:
    for key in SIDE_KEYS:
        place = at.get(key)
        if place is not None:
            text = f"{place.location}: {key} belongs in side_a."
            place.add_problem("twice", text, "Move it there.", at_key=True)


def _read_side(at: Node, base: BaseDirectory, name: str, tools: tuple[str, ...] | None, *, own: bool) -> AgentSide:
    if own:
        at.check_keys((*SIDE_KEYS, "model", "tools"), "a side of an agent")
        tools = tools if at.get("tools") is None else fields.optional_names(at, "tools")
    answers, steps = at.get("stop_on_response"), at.get("max_steps")
    return AgentSide(
        _read_prompt(at, base, name, fields.read_model_name(at) if own else None, tools),
        fields.optional_text(at, "label") or "",
        answers is None or answers.flag() is not False,
        fields.optional_text(at, "stop_tool"),
        None if steps is None else steps.integer(least=1, most=MAX_STEPS),
        fields.optional_text(at, "session_stop"),
        fields.optional_text(at, "session_fail"),
    )


def _read_prompt(at: Node, base: BaseDirectory, name: str, model: str | None, tools: tuple[str, ...] | None) -> Prompt:
    written = at.get("prompt")
    if written is None:
        return default_prompt(name, model, tools)
    if isinstance(written.value, str):
        return Prompt(name, written.value, model, tools)
    written.check_keys(PROMPT_KEYS, "a prompt")
    if written.mapping() is None:
        return default_prompt(name, model, tools)
    text, file = written.get("text"), written.get("file")
    if (text is None) is (file is None):
        written.add_problem(
            "missing-key", f"{written.location}: a prompt needs either text or file.", "Write one of them."
        )
    said = text.text(empty=True) if text is not None else None if file is None else _read_prompt_file(file, base)
    return Prompt(
        fields.optional_text(written, "name") or name,
        said or "",
        fields.read_model_name(written) or model,
        tools if written.get("tools") is None else fields.optional_names(written, "tools"),
    )


def _read_prompt_file(at: Node, base: BaseDirectory) -> str | None:
    named = at.text()
    path = None if named is None else base.resolve(named)
    if named is None:
        return None
    if path is None:
        at.add_problem("outside-project", f"{at.location}: {named} is outside the project.", "Name a file inside it.")
        return None
    try:
        return _read_regular_file(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        at.add_problem("cannot-read", f"{at.location}: {named} cannot be read: {reason}.")
        return None


def _read_regular_file(path: Path) -> str:
    """Only a regular file: opening a pipe could wait forever."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("not a regular file")
        data = file.read(_MAX_PROMPT_BYTES + 1)
    if len(data) > _MAX_PROMPT_BYTES:
        raise ValueError(f"larger than {_MAX_PROMPT_BYTES // 1_000_000} MB")
    return data.decode("utf-8")
