from pathlib import Path

from hookline.runtime.apps.app import App, NamedModel
from hookline.runtime.apps.app_loader import load_app
from hookline.runtime.apps.fields import DEFAULT_PROMPT

TEXT = """
app: {name: Reviews, version: 3}
runtime:
  max_turns: 30
  workspace: {whatever: true}
  hooks: []
agents:
  - id: reviewer
    role: specialist
    description: Reviews code
    brain: {provider: openai, model: gpt-5, temperature: 0.1}
    system_prompt: You review.
    modules: [filesystem, memory, lsp]
    max_turns: 900
    hooks: []
  - id: boss
    role: coordinator
    brain: {provider: ollama, model: llama3, base_url: "http://localhost:1", context_window: 8000}
    modules: {shell: {}, github: {}}
    tools: [Read, web.search]
    colour: red
  - {id: plain}
  - text
mcp:
  servers:
    github: {command: [npx, github-server]}
"""


def app(tmp_path: Path, text: str = TEXT) -> App:
    (tmp_path / "app.yaml").write_text(text)
    return load_app(tmp_path, tmp_path / "nobody", file=tmp_path / "app.yaml")


def test_the_coordinator_is_talked_to_and_starts_the_specialists(tmp_path: Path) -> None:
    found = app(tmp_path)
    assert found.problems == ()
    assert [agent.id for agent in found.agents] == ["boss", "reviewer", "plain"]
    assert [agent.subagents for agent in found.agents] == [("reviewer",), (), ("reviewer",)]


def test_brains_and_prompts(tmp_path: Path) -> None:
    found = app(tmp_path)
    boss, reviewer, plain = found.agents
    assert found.models == {"brain-of-boss": NamedModel("ollama:llama3@http://localhost:1", (), 8000)}
    assert (boss.model, reviewer.model, plain.model) == ("brain-of-boss", "openai:gpt-5", None)
    assert (boss.side_a.prompt.text, reviewer.side_a.prompt.text) == (DEFAULT_PROMPT, "You review.")
    assert (boss.side_a.max_steps, reviewer.side_a.max_steps) == (30, 250)
    assert reviewer.description == "Reviews code"


def test_modules_are_their_tools_by_our_names_too(tmp_path: Path) -> None:
    boss, reviewer, plain = app(tmp_path).agents
    assert reviewer.side_a.prompt.tools == ("filesystem.*", "memory.*", "lsp.*")
    tools = boss.side_a.prompt.tools or ()
    assert {"shell.*", "bash", "github.*", "mcp.github.*", "Read", "read_file", "web_search"} <= set(tools)
    assert "write_file" not in tools
    assert plain.side_a.prompt.tools is None


def test_its_servers(tmp_path: Path) -> None:
    assert [(server.name, server.command) for server in app(tmp_path).servers] == [("github", ("npx", "github-server"))]


def test_what_is_not_ours_is_no_problem_and_an_agent_without_id_is(tmp_path: Path) -> None:
    found = app(tmp_path, "agents:\n  - {role: specialist}\n  - {id: a, tools: 3, brain: [x], max_turns: lots}\n")
    assert [(problem.code, problem.line) for problem in found.problems] == [("missing-key", 2)]
    assert [agent.id for agent in found.agents] == ["a"]
