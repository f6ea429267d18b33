"""The app of a `hookline.yaml`."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from hookline.config.document import Document
from hookline.config.problem import Problem
from hookline.config.shape import Reader
from hookline.runtime.app import MOST_STEPS, Agent, Prompt, Side
from hookline.runtime.apps import parts
from hookline.runtime.apps.described import Base, Described, Placed, default_prompt

DEFAULT_ID: Final = "agent"
PROMPT_KEYS: Final = ("name", "text", "file", "model", "tools")
OWN_KEYS: Final = ("id", "name", "description", "model", "tools", "subagents", "max_turns", "side_a", "side_b")
SIDE_KEYS: Final = (
    "prompt",
    "label",
    "stop_on_response",
    "stop_tool",
    "max_steps",
    "session_stop",
    "session_fail",
)
_LARGEST_PROMPT: Final = 1_000_000  # bytes


def described(document: Document, base: Base) -> Described:
    problems: list[Problem] = []
    at = Reader.of(document, problems)
    if not isinstance(at.value, dict):
        return Described()
    agents = tuple(_agents(at, base))
    return Described(
        agents,
        parts.model_of(at),
        parts.models(at.get("models")),
        parts.servers(at.get("mcp")),
        parts.language_servers(at.get("lsp")),
        parts.triggers(at.get("triggers")),
        parts.skills(at.get("skills"), base),
        parts.store(at.get("store")),
        parts.private_hosts(at.get("private_hosts")),
        problems=tuple(problems),
    )


def _agents(at: Reader, base: Base) -> Iterator[Placed[Agent]]:
    one, several = at.get("agent"), at.get("agents")
    if one is not None and one.value is not None:
        yield from _placed(one, _agent(one, base, DEFAULT_ID))
    if several is None or several.value is None:
        return
    if isinstance(several.value, dict):
        for id, place in several.entries():
            yield from _placed(place, _agent(place, base, id))
    else:
        for place in several.items():
            yield from _placed(place, _agent(place, base, None))


def _placed(at: Reader, agent: Agent | None) -> Iterator[Placed[Agent]]:
    if agent is not None:
        yield Placed(agent.id, agent, at.document.file, at.line)


def _agent(at: Reader, base: Base, known_id: str | None) -> Agent | None:
    at.keys((*OWN_KEYS, *SIDE_KEYS), "an agent")
    if at.mapping() is None:
        return None
    id = parts.optional(at, "id") or known_id
    if id is None:
        at.problem("missing-key", f"{at.place}: id is missing.", "Write id: name.")
        return None
    tools = parts.names(at, "tools")
    first, second = at.get("side_a"), at.get("side_b")
    if first is not None:
        _refuse_twice(at)
    return Agent(
        id,
        _side(first or at, base, id, tools, own=first is not None),
        None if second is None else _side(second, base, f"{id}.b", tools, own=True),
        parts.optional(at, "name") or "",
        parts.optional(at, "description") or "",
        parts.model_of(at),
        parts.names(at, "subagents"),
        parts.count(at, "max_turns"),
    )


def _refuse_twice(at: Reader) -> None:
    for key in SIDE_KEYS:
        place = at.get(key)
        if place is not None:
            text = f"{place.place}: {key} belongs into side_a, which stands beside it."
            place.problem("twice", text, "Move it there.", at_key=True)


def _side(at: Reader, base: Base, name: str, tools: tuple[str, ...] | None, *, own: bool) -> Side:
    if own:
        at.keys((*SIDE_KEYS, "model", "tools"), "a side of an agent")
        tools = tools if at.get("tools") is None else parts.names(at, "tools")
    answers, steps = at.get("stop_on_response"), at.get("max_steps")
    return Side(
        _prompt(at, base, name, parts.model_of(at) if own else None, tools),
        parts.optional(at, "label") or "",
        answers is None or answers.flag() is not False,
        parts.optional(at, "stop_tool"),
        None if steps is None else steps.whole(least=1, most=MOST_STEPS),
        parts.optional(at, "session_stop"),
        parts.optional(at, "session_fail"),
    )


def _prompt(at: Reader, base: Base, name: str, model: str | None, tools: tuple[str, ...] | None) -> Prompt:
    written = at.get("prompt")
    if written is None:
        return default_prompt(name, model, tools)
    if isinstance(written.value, str):
        return Prompt(name, written.value, model, tools)
    written.keys(PROMPT_KEYS, "a prompt")
    if written.mapping() is None:
        return default_prompt(name, model, tools)
    text, file = written.get("text"), written.get("file")
    if (text is None) is (file is None):
        written.problem("missing-key", f"{written.place}: a prompt has a text or a file.", "Write one of them.")
    said = text.text(empty=True) if text is not None else None if file is None else _content(file, base)
    return Prompt(
        parts.optional(written, "name") or name,
        said or "",
        parts.model_of(written) or model,
        tools if written.get("tools") is None else parts.names(written, "tools"),
    )


def _content(at: Reader, base: Base) -> str | None:
    named = at.text()
    path = None if named is None else base.path(named)
    if named is None:
        return None
    if path is None:
        at.problem("outside-project", f"{at.place}: {named} is outside of the project.", "Name a file inside of it.")
        return None
    try:
        return _text_of(path)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        at.problem("cannot-read", f"{at.place}: {named} cannot be read: {reason}.")
        return None


def _text_of(path: Path) -> str:
    """Of a regular file, so that it never waits for a pipe."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("it is no regular file")
        data = file.read(_LARGEST_PROMPT + 1)
    if len(data) > _LARGEST_PROMPT:
        raise ValueError(f"it is larger than {_LARGEST_PROMPT // 1_000_000} MB")
    return data.decode("utf-8")
