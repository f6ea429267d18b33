"""A hook reads every key that its own agent always sends, whatever host it runs in.

The agents' own payloads say which these are: a hook that validates its input fails without them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest
from jsonschema import Draft7Validator

from agent_payloads import event_name, payloads
from hookline.dialects.agent_files.format import FORMATS
from hookline.dialects.claude_stdin import stdin_template
from hookline.dialects.dialect import AGENT_FILE_DIALECTS, get_dialect
from hookline.hooks.event import Event
from hookline.hooks.events import EVENTS, TOOL_EVENTS, events_by_name
from hookline.hooks.session_facts import SessionInfo, session_facts
from hookline.hosts.agents import AGENT_NAMES, get_agent

CAPTURES: Final = Path(__file__).parents[1] / "fixtures" / "captures"
SCHEMAS: Final = CAPTURES / "codex_schemas"
DIALECTS: Final = sorted({*AGENT_FILE_DIALECTS, "claude_code"} - {"windsurf", "kiro"})  # those two were never captured

NOT_SENT: Final = {
    "claude_code": {
        "effort": "how hard the model thinks; Claude Code's documentation calls it optional",
        "duration_ms": "no host but two says it, and Claude Code's documentation calls it optional",
        "tool_response": "the result of the host's own tool, which has other keys",
    },
    "cline": {
        "workspaceInfo.hint": "the folder's name, which is in rootPath",
    },
    "copilot_cli": {
        "initialPrompt": "optional in Copilot's documentation; a session of most agents has none when it starts",
        "initial_prompt": "as initialPrompt",
    },
    "cursor": {
        "command": "how Cursor started the MCP server, or its url: no agent tells",
    },
    "droid": {
        "CLAUDE_ENV_FILE": "a file whose variables Droid gives to later commands",
        "message_id": "an id within Droid's transcript, not in its documentation",
        "tool_execution_count": "not in Droid's documentation",
        "elapsed_time": "not in Droid's documentation",
        "session_duration_ms": "not in Droid's documentation",
        "message_count": "not in Droid's documentation",
    },
    "qwen_code": {
        "duration_ms": "optional; no host but two says it",
        "submitted_prompt": "optional: what the user typed in Qwen Code's own composer",
    },
}
"""By dialect: keys that its agent sent and hookline does not, and why."""


def _template(dialect: str, event: str) -> Any:
    if dialect == "claude_code":
        return stdin_template(event)
    get_dialect(dialect)
    return FORMATS[dialect].stdin_template(event)


def _least_facts(event: str) -> dict[str, Any]:
    """What `hookline fire EVENT --tool NAME` knows."""
    given = {"tool": {"name": "Bash", "kind": "shell", "input": {"command": "ls"}}} if event in TOOL_EVENTS else {}
    return session_facts(event, given, SessionInfo("s", "u", "/work", 0.0))


@cache
def _events_of_all_agents() -> tuple[Event, ...]:
    """What each agent's adapter makes of each of its payloads."""
    found = []
    for name in AGENT_NAMES:
        agent = get_agent(name)
        for file, payload in payloads(name).items():
            found += agent.read(event_name(file), payload, "/work").events
    return tuple(found)


def _events(event: str) -> Iterator[Event]:
    yield Event(event, _least_facts(event))
    yield from (each for each in _events_of_all_agents() if each.name == event)


def _captured(dialect: str) -> dict[str, dict[str, Any]]:
    events = events_by_name(dialect)
    files = sorted((CAPTURES / dialect).glob("*.json"))
    return {file.stem: json.loads(file.read_text("utf-8")) for file in files if event_name(file.stem) in events}


def _missing(sent: Any, ours: Any, path: str = "") -> Iterator[str]:
    if not isinstance(sent, dict) or not isinstance(ours, dict):
        return
    for key, value in sent.items():
        place = f"{path}.{key}" if path else key
        if key not in ours:
            yield place
        elif key not in ("tool_input", "toolArgs", "toolInput", "parameters", "input"):  # the tool's own fields
            yield from _missing(value, ours[key], place)


CASES: Final = [(dialect, file) for dialect in DIALECTS for file in _captured(dialect)]


@pytest.mark.parametrize(("dialect", "file"), CASES, ids=[f"{dialect}-{file}" for dialect, file in CASES])
def test_every_key_that_the_agent_sent_is_there(dialect: str, file: str) -> None:
    sent, name = _captured(dialect)[file], event_name(file)
    known, template = NOT_SENT.get(dialect, {}), _template(dialect, name)
    for event in _events(events_by_name(dialect)[name]):
        ours = template.render(event)
        assert [key for key in _missing(sent, ours) if _listed(key, known) is None] == [], event.facts
        assert _other_types(sent, ours) == [], event.facts


def _listed(key: str, known: dict[str, str]) -> str | None:
    return next((each for each in known if key == each or key.startswith(f"{each}.")), None)


def _other_types(sent: dict[str, Any], ours: dict[str, Any]) -> list[str]:
    """Keys whose value is of another JSON type. Results are what the host's tools return."""
    results = ("tool_response", "tool_result", "toolResult", "tool_output", "timestamp")
    return [
        key
        for key in sent.keys() & ours.keys()
        if key not in results and _json_type(sent[key]) != _json_type(ours[key]) and None not in (sent[key], ours[key])
    ]


def _json_type(value: Any) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return "number"
    return type(value).__name__


@pytest.mark.parametrize("dialect", sorted(NOT_SENT))
def test_an_exception_is_still_one(dialect: str) -> None:
    missing = set()
    for file, sent in _captured(dialect).items():
        name = event_name(file)
        for event in _events(events_by_name(dialect)[name]):
            ours = _template(dialect, name).render(event)
            missing |= {_listed(key, NOT_SENT[dialect]) for key in _missing(sent, ours)}
    assert missing == {*NOT_SENT[dialect]}


CODEX_EVENTS: Final = sorted(events_by_name("codex"))


@pytest.mark.parametrize("name", CODEX_EVENTS)
def test_a_hook_of_codex_reads_what_codex_s_own_schema_says(name: str) -> None:
    words = "".join(f"-{each.lower()}" if each.isupper() else each for each in name).strip("-")
    schema = json.loads((SCHEMAS / f"{words}.command.input.schema.json").read_text("utf-8"))
    validator, template = Draft7Validator(schema), _template("codex", name)
    for event in _events(events_by_name("codex")[name]):
        problems = [error.message for error in validator.iter_errors(template.render(event))]
        assert problems == [], event.facts


def test_every_event_is_one_that_some_agent_tells() -> None:
    assert {each.name for each in _events_of_all_agents()} <= {*EVENTS}
