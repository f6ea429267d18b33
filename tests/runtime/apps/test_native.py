from datetime import timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from hookline.config.problem import Problem
from hookline.config.reader import read_text
from hookline.dialects.dialect import get_dialect
from hookline.runtime.apps import native
from hookline.runtime.apps.app import App, LanguageServer, McpServer, NamedModel
from hookline.runtime.apps.app_loader import load_app
from hookline.runtime.apps.fields import DEFAULT_PROMPT, BaseDirectory
from hookline.runtime.triggers.trigger import Trigger, TriggerKind

WHOLE = """
model: careful
models:
  careful: {model: anthropic:claude-sonnet-4-5, fallbacks: [quick], context_limit: 100000}
  quick: groq:llama
  own: {model: openai:local, base_url: http://localhost:8000/v1}
agents:
  - id: lead
    name: Lead
    description: Plans
    prompt: You plan.
    tools: [read_file, mcp.git.*]
    subagents: [reviewer]
    max_steps: 12
    max_turns: 40
    stop_tool: finish
  - id: reviewer
    model: quick
    prompt: {name: strict, text: You review., tools: [grep]}
  - id: debate
    tools: [read_file]
    side_a: {prompt: You are for it., label: Pro, stop_on_response: false, max_steps: 3}
    side_b: {prompt: {text: You are against it.}, tools: [], model: quick, session_stop: settled, session_fail: lost}
mcp:
  git: {command: uvx, args: [mcp-server-git, --quiet], env: {A: "1"}, timeout: 5s}
  words: npx -y 'some server'
  far: {url: "https://example.com/mcp", headers: {X: y}}
lsp:
  python: {command: [ruff, server], files: ["*.py"], language: python}
triggers:
  - {id: nightly, cron: "0 3 * * *", timezone: Europe/Berlin, prompt: Look., agent: reviewer}
  - {files: "src/**/*.py", prompt: "See {{trigger.path}}"}
  - {id: hook, http: /deploy, open: true, prompt: "{{trigger.body.version}}"}
skills: [skills]
store: sqlite:///sessions.db
private_hosts: [wiki.internal, "localhost:8080", "::1"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "skills").mkdir()
    return tmp_path


def app(folder: Path, text: str) -> App:
    path = folder / "hookline.yaml"
    path.write_text(text)
    return load_app(folder, folder / "nobody", file=path)


def problems(folder: Path, text: str) -> list[Problem]:
    return list(app(folder, text).problems)


def test_a_whole_file(folder: Path) -> None:
    found = app(folder, WHOLE)
    assert found.problems == ()
    assert (found.model, found.store) == ("careful", "sqlite:///sessions.db")
    assert found.private_hosts == ("wiki.internal", "localhost:8080", "::1")
    assert found.models == {
        "careful": NamedModel("anthropic:claude-sonnet-4-5", ("quick",), 100_000),
        "quick": NamedModel("groq:llama"),
        "own": NamedModel("openai:local@http://localhost:8000/v1"),
    }
    assert found.servers == (
        McpServer("git", ("uvx", "mcp-server-git", "--quiet"), {"A": "1"}, timeout=timedelta(seconds=5)),
        McpServer("words", ("npx", "-y", "some server")),
        McpServer("far", url="https://example.com/mcp", headers={"X": "y"}),
    )
    assert found.language_servers == (LanguageServer("python", ("ruff", "server"), ("*.py",), "python"),)
    assert found.triggers == (
        Trigger("nightly", TriggerKind.CRON, "0 3 * * *", "Look.", "reviewer", "Europe/Berlin"),
        Trigger("files-1", TriggerKind.FILE, "src/**/*.py", "See {{trigger.path}}"),
        Trigger("hook", TriggerKind.HTTP, "/deploy", "{{trigger.body.version}}", open=True),
    )
    assert found.skills == (folder / "skills",)


def test_the_agents_of_a_whole_file(folder: Path) -> None:
    lead, reviewer, debate = app(folder, WHOLE).agents
    assert (lead.id, lead.name, lead.description, lead.subagents) == ("lead", "Lead", "Plans", ("reviewer",))
    assert (lead.side_a.max_steps, lead.max_session_turns, lead.side_a.stop_tool) == (12, 40, "finish")
    assert (lead.side_a.prompt.text, lead.side_a.prompt.tools) == ("You plan.", ("read_file", "mcp.git.*"))
    assert (reviewer.model, reviewer.subagents, reviewer.side_b) == ("quick", None, None)
    assert (reviewer.side_a.prompt.name, reviewer.side_a.prompt.tools) == ("strict", ("grep",))
    assert debate.side_b is not None
    assert (debate.side_a.label, debate.side_a.stop_on_response, debate.side_a.max_steps) == ("Pro", False, 3)
    assert debate.side_a.prompt.tools == ("read_file",)
    assert (debate.side_b.prompt.tools, debate.side_b.prompt.model) == ((), "quick")
    assert (debate.side_b.session_stop, debate.side_b.session_fail) == ("settled", "lost")


@pytest.mark.parametrize("text", ["", "hooks: []\n", "agent: {}\n"])
def test_without_a_word_there_is_one_agent_with_every_tool(folder: Path, text: str) -> None:
    [agent] = app(folder, text).agents
    assert (agent.id, agent.side_a.prompt.text, agent.side_a.prompt.tools) == ("agent", DEFAULT_PROMPT, None)


def test_agents_may_be_a_mapping(folder: Path) -> None:
    found = app(folder, "agents:\n  a: {prompt: A}\n  b: {prompt: B}\n")
    assert [(agent.id, agent.side_a.prompt.text) for agent in found.agents] == [("a", "A"), ("b", "B")]


def test_a_prompt_may_be_a_file(folder: Path) -> None:
    (folder / "prompt.md").write_text("You are näm.")
    assert app(folder, "agent: {prompt: {file: prompt.md}}").agents[0].side_a.prompt.text == "You are näm."


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("agent:\n  promt: x\n", 2, "unknown-key"),
        ("agents:\n  - prompt: x\n", 2, "missing-key"),
        ("agent: text\n", 1, "wrong-type"),
        ("agent:\n  prompt: {}\n", 2, "missing-key"),
        ("agent:\n  prompt: {file: nothing.md}\n", 2, "cannot-read"),
        ("agent:\n  max_steps: 1000\n", 2, "out-of-range"),
        ("agent:\n  side_a: {prompt: x}\n  prompt: y\n", 3, "twice"),
        ("agent:\n  model: fast\n", 2, "unknown-model"),
        ("agent:\n  subagents: [nobody]\n", 2, "unknown-agent"),
        ("agents:\n  - {id: a}\n  - {id: a}\n", 3, "duplicate-id"),
        ("models:\n  a: {fallbacks: [b:c]}\n", 2, "missing-key"),
        ("models:\n  a: {model: b:c, fallbacks: [d]}\n", 2, "unknown-model"),
        ("models:\n  a: {model: b:c, base_url: here}\n", 2, "bad-url"),
        ("mcp:\n  a.b: x\n", 2, "bad-name"),
        ("mcp:\n  a: {}\n", 2, "missing-key"),
        ("mcp:\n  a: {command: x, url: 'http://x'}\n", 2, "missing-key"),
        ('mcp:\n  a: "it\'s"\n', 2, "bad-command"),
        ("mcp:\n  a: {url: 'file:///etc/passwd'}\n", 2, "bad-url"),
        ("lsp:\n  a: {command: x}\n", 2, "missing-key"),
        ("triggers:\n  - {prompt: x}\n", 2, "missing-key"),
        ("triggers:\n  - {cron: '* * * *', prompt: x}\n", 2, "bad-cron"),
        ("triggers:\n  - {cron: '0 0 * * *', timezone: Nowhere, prompt: x}\n", 2, "bad-cron"),
        ("triggers:\n  - {files: ../secrets, prompt: x}\n", 2, "outside-project"),
        ("triggers:\n  - {files: /etc/*, prompt: x}\n", 2, "outside-project"),
        ("triggers:\n  - {http: deploy, prompt: x}\n", 2, "bad-route"),
        ("triggers:\n  - {http: /a/../b, prompt: x}\n", 2, "bad-route"),
        ("triggers:\n  - {http: /a, prompt: '{{session.id}}'}\n", 2, "bad-template"),
        ("triggers:\n  - {http: /a}\n", 2, "missing-key"),
        ("triggers:\n  - {http: /a, prompt: x, agent: b}\n", 2, "unknown-agent"),
        ("triggers:\n  - {http: /a, prompt: x}\n  - {http: /a, prompt: y}\n", 3, "duplicate-id"),
        ("skills: nowhere\n", 1, "no-folder"),
        ("store: mysql://x\n", 1, "unknown-store"),
        ("private_hosts:\n  - wiki\n  - http://wiki/\n", 3, "bad-host"),
        ("private_hosts: ['*']\n", 1, "bad-host"),
    ],
)
def test_what_is_wrong_is_a_problem_with_its_line(folder: Path, text: str, line: int, code: str) -> None:
    assert [(problem.line, problem.code) for problem in problems(folder, text)] == [(line, code)]


def test_every_problem_comes_at_once(folder: Path) -> None:
    text = "agent: {promt: x}\nmcp: {a: {}}\nstore: 3\ntriggers: [{http: x, prompt: y}]\n"
    assert [problem.line for problem in problems(folder, text)] == [1, 2, 4, 3]


VALUES: list[dict[str, Any]] = [
    {"agent": {"prompt": "x", "tools": "bash"}},
    {"agent": {"prompt": {"text": "x", "file": "y"}}},
    {"agent": {"side_a": {"id": "x"}}},
    {"agents": [{"prompt": "x"}]},
    {"agents": {"a": {"max_turns": 0}}},
    {"models": {"a": "b:c", "d": {"model": "e:f"}}},
    {"models": {"a": {"context_limit": 3}}},
    {"mcp": {"a": ["x", "y"], "b": {"url": "http://x"}, "c": {"command": "x", "args": ["y"]}}},
    {"mcp": {"a": {"args": ["x"]}}},
    {"mcp": {"a": {"command": "x", "timeout": 3}}},
    {"lsp": {"a": {"command": "x"}}},
    {"lsp": {"a": {"command": ["x"], "files": "*.py"}}},
    {"triggers": [{"cron": "* * * * *", "http": "/a", "prompt": "x"}]},
    {"triggers": [{"files": "*.py", "prompt": "x", "agent": "y"}]},
    {"triggers": {"a": 1}},
    {"store": "sqlite://", "model": "a:b", "skills": None},
    {"store": "here"},
    {"private_hosts": "localhost"},
    {"private_hosts": ["localhost:80", "10.0.0.1", "::1"]},
    {"private_hosts": ["http://localhost"]},
    {"private_hosts": {"a": 1}},
]


@pytest.mark.parametrize("value", VALUES, ids=str)
def test_the_schema_and_the_reader_agree(folder: Path, value: dict[str, Any]) -> None:
    import json

    document, _ = read_text(json.dumps(value), "hookline.json")
    assert document is not None
    said = native.read_app(document, BaseDirectory(folder))
    valid = jsonschema.Draft202012Validator(get_dialect("native").schema()).is_valid(value)
    assert valid is (said.problems == ()), said.problems


def test_the_whole_file_is_valid() -> None:
    document, _ = read_text(WHOLE, "hookline.yaml")
    assert document is not None
    jsonschema.validate(document.value, get_dialect("native").schema())
