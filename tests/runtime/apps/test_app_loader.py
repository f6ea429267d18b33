import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hookline.config.problem import Severity
from hookline.project import find_sources, load_all
from hookline.runtime.apps.app_loader import app_source, load_app
from hookline.runtime.apps.fields import DEFAULT_PROMPT

RISKY = {
    "mcp": "mcp: {git: 'python server.py'}",
    "mcp url": "mcp: {far: {url: 'http://example.com'}}",
    "lsp": "lsp: {py: {command: ruff server, files: '*.py'}}",
    "triggers": "triggers: [{http: /a, prompt: x, open: true}]",
    "base url": "models: {m: {model: 'openai:x', base_url: 'http://example.com'}}\nmodel: m",
    "url in a model": "model: openai:x@http://example.com",
    "script": "model: script:evil.yaml",
    "script of an agent": "agent: {model: 'script:evil.yaml'}",
    "script as a fallback": "models: {m: {model: 'openai:x', fallbacks: ['script:evil.yaml']}}\nmodel: m",
    "store": "store: postgresql://example.com/x",
    "private hosts": "private_hosts: [localhost:8080]",
    "prompt": "agent: {prompt: Obey the project.}",
    "prompt of a side": "agent: {side_a: {prompt: Obey.}}",
    "description": "agents: {a: {description: Obey.}}",
}


def risks(app: Any) -> list[Any]:
    words = [side.prompt.text for agent in app.agents for side in (agent.side_a, agent.side_b) if side is not None]
    words += [agent.description for agent in app.agents if agent.description]
    models = [app.model, *(agent.model for agent in app.agents), *app.models.values()]
    there = [*app.private_hosts, *app.servers, *app.language_servers, *app.triggers, app.store, *models]
    return [each for each in there if each is not None] + [text for text in words if text != DEFAULT_PROMPT]


@pytest.mark.parametrize("text", RISKY.values(), ids=RISKY)
def test_what_could_do_harm_waits_for_trust(project: Any, text: str) -> None:
    project.write("hookline.yaml", text + "\n")
    before = project.load()
    assert risks(before) == []
    [problem] = before.problems
    assert (problem.code, problem.file, problem.severity) == ("not-trusted", "hookline.yaml", Severity.WARNING)
    assert "hookline trust" in problem.hint
    project.accept()
    after = project.load()
    assert after.problems == ()
    assert risks(after) != []


@pytest.mark.parametrize("text", RISKY.values(), ids=RISKY)
def test_a_file_that_the_user_named_is_trusted(project: Any, text: str) -> None:
    named = project.write("mine.yaml", text + "\n")
    app = project.load(named)
    assert app.problems == ()
    assert risks(app) != []


@pytest.mark.parametrize("text", RISKY.values(), ids=RISKY)
def test_the_users_own_files_are_trusted(project: Any, text: str) -> None:
    own = project.home / ".config" / "hookline" / "hookline.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(text + "\n")
    assert risks(project.load()) != []


def test_what_does_no_harm_needs_no_trust(project: Any) -> None:
    project.write(
        "hookline.yaml",
        "model: fast\nmodels: {fast: 'groq:llama-3', big: {model: 'ollama:llama3:8b', fallbacks: [fast]}}\n"
        "agents: [{id: a, name: A, tools: [read_file], model: big, subagents: [b], max_steps: 3}, {id: b}]\n",
    )
    app = project.load()
    assert app.problems == ()
    assert (app.model, [agent.model for agent in app.agents]) == ("fast", ["big", None])


def test_an_agent_without_its_words_is_still_there_for_its_hooks(project: Any) -> None:
    project.write("hookline.yaml", "agents: [{id: a, prompt: Obey., tools: [read_file]}]\n")
    [agent] = project.load().agents
    assert (agent.id, agent.side_a.prompt.text, agent.side_a.prompt.tools) == ("a", DEFAULT_PROMPT, ("read_file",))


def test_a_file_that_a_server_runs_is_part_of_what_was_accepted(project: Any) -> None:
    project.write("server.py", "good")
    app = project.load_trusted("mcp: {git: 'python server.py'}\n")
    assert [server.name for server in app.servers] == ["git"]
    project.write("server.py", "evil")
    assert project.load().servers == ()


def test_a_digitorn_file_waits_too(project: Any) -> None:
    text = "agents: [{id: a, system_prompt: Obey., brain: {provider: openai, model: x, base_url: 'http://x'}}]\nruntime: {}\n"
    project.write("app.yaml", text)
    assert risks(project.load()) == []
    project.accept()
    assert len(risks(project.load())) == 2


def test_python_folders_wait_too(project: Any) -> None:
    project.write("agents/a.py", "raise SystemExit('ran')")
    project.write("hookline.yaml", "standard_agents: agents\n")
    assert [problem.code for problem in project.load().problems] == ["not-trusted"]
    project.accept()
    assert [problem.code for problem in project.load().problems] == ["cannot-import"]


def test_hooks_are_as_they_were_while_the_app_waits(project: Any) -> None:
    project.write("hookline.yaml", "mcp: {a: b}\nhooks: [{id: guard, on: tool.before, then: {deny: no}}]\n")
    book = load_all(find_sources(project.root, project.home), project.trust)
    assert [hook.then.constant is not None for hook in book.hooks] == [True]


def test_the_nearer_file_counts_and_the_users_own_is_the_last(project: Any) -> None:
    own = project.home / ".config" / "hookline" / "hookline.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("model: openai:user\nagent: {prompt: The user's.}\nmcp: {git: one}\n")
    project.write(
        "hookline.yaml", "model: openai:project\nagents: [{id: p, prompt: The project's.}]\nmcp: {git: two}\n"
    )
    project.write("hookline.local.yaml", "model: openai:local\n")
    project.accept()
    app = project.load()
    assert (app.model, [agent.id for agent in app.agents]) == ("openai:local", ["p", "agent"])
    assert [server.command for server in app.servers] == [("two",)]
    assert [(each.code, each.severity) for each in app.problems] == [("duplicate-id", Severity.WARNING)]


def test_what_is_not_trusted_takes_nobodys_place(project: Any) -> None:
    own = project.home / ".config" / "hookline" / "hookline.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("agent: {tools: [read_file], prompt: Careful.}\n")
    project.write("hookline.yaml", "agent: {prompt: Obey., tools: [bash]}\n")
    [agent] = project.load().agents
    assert (agent.side_a.prompt.text, agent.side_a.prompt.tools) == ("Careful.", ("read_file",))


def test_two_files_of_one_project_may_not_describe_one_agent(project: Any) -> None:
    project.write("hookline.yaml", "agents: [{id: a, tools: [x]}]\n")
    project.write(".hookline/more.yaml", "agents: [{id: a, tools: [y]}]\n")
    app = project.load()
    assert [(each.code, each.severity) for each in app.problems] == [("duplicate-id", Severity.ERROR)]
    assert len(app.agents) == 1


def test_a_file_that_cannot_be_read_is_a_problem(project: Any) -> None:
    project.write("hookline.yaml", "agent: {prompt: x\n")
    app = project.load()
    assert app.problems
    assert [agent.id for agent in app.agents] == ["agent"]


def test_a_named_file_that_is_not_there_is_a_problem(project: Any) -> None:
    assert [each.code for each in project.load(project.root / "nothing.yaml").problems] == ["no-file"]


def test_a_projects_folders_and_prompts_stay_inside_of_it(project: Any, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    (project.root / "link").symlink_to(outside)
    app = project.load_trusted("agent: {prompt: {file: link/secret.md}}\nskills: [../outside, link]\n")
    assert [each.code for each in app.problems] == ["outside-project"] * 3
    assert app.skills == ()


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("agent: {prompt: x}\n", "native"),
        ("agents: [{id: a}]\n", "native"),
        ("agents: [{id: a, brain: {model: x}}]\n", "digitorn"),
        ("standard_agents: x\n", None),  # its content says it
        ("nothing: of ours\n", None),
    ],
)
def test_a_named_file_is_known_by_what_it_says(tmp_path: Path, text: str, dialect: str | None) -> None:
    (tmp_path / "mine.yaml").write_text(text)
    assert app_source(tmp_path / "mine.yaml").dialect == dialect


def hookline(project: Any, *words: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HOOKLINE", "XDG_"))}
    env = {**kept, "HOME": str(project.home)}
    argv = [str(Path(sys.executable).parent / "hookline"), *words]
    return subprocess.run(argv, cwd=project.root, env=env, capture_output=True, text=True, timeout=60)


def test_check_says_what_is_wrong_with_an_app(project: Any) -> None:
    project.write("hookline.yaml", "agent:\n  promt: x\nmcp:\n  a: {}\n")
    done = hookline(project, "check")
    assert done.returncode == 1
    assert 'hookline.yaml:2  agent: "promt" is not a key of an agent. Did you mean prompt?' in done.stdout
    assert "hookline.yaml:4  mcp.a: a server needs either command or url." in done.stdout


def test_check_says_what_is_wrong_with_a_skill(project: Any) -> None:
    project.write(".hookline/skills/x/SKILL.md", "---\nname: x y\n---\nDo it.\n")
    done = hookline(project, "check")
    assert (done.returncode, ".hookline/skills/x/SKILL.md:2  'x y' is not a valid skill name." in done.stdout) == (
        1,
        True,
    )


def test_trust_shows_what_it_accepts(project: Any) -> None:
    project.write("server.py", "")
    project.write("hookline.yaml", "mcp: {git: 'python server.py'}\nlsp: {py: {command: ruff server, files: '*.py'}}\n")
    project.write(".hookline/skills/x/SKILL.md", "---\nname: x\n---\nDo it.\n")
    done = hookline(project, "trust", "--yes")
    assert done.returncode == 0, done.stderr
    for line in ("  mcp.git  line 1", "    run: python server.py", "  runs the file server.py", "      Do it."):
        assert line in done.stdout.splitlines()
    assert "ruff server" in done.stdout
    assert json.loads(hookline(project, "trust", "--json").stdout) == []
    app = load_app(project.root, project.home)
    assert (app.problems, len(app.servers), len(app.language_servers)) == ((), 1, 1)


AGENT_PACKAGES = (
    "alembic",
    "cronsim",
    "httpx2",
    "jsonschema",
    "mcp",
    "pydantic",
    "pydantic_ai",
    "sqlalchemy",
    "starlette",
    "uvicorn",
    "watchfiles",
)
CHECK_WITHOUT_AGENT_PACKAGES = f"""
import sys
sys.modules.update(dict.fromkeys({AGENT_PACKAGES!r}))
from hookline.cli.main import cli
cli.main(["check"])
"""


def test_check_reads_an_app_without_the_packages_of_the_agent_extra(project: Any) -> None:
    app = """
    agent: {prompt: Hello., model: openai:x}
    mcp: {git: git-server}
    lsp: {py: {command: ruff server, files: '*.py'}}
    triggers:
      - {cron: 0 9 * * *, prompt: Good morning.}
      - {files: src/**, prompt: 'Look at {{trigger.path}}.'}
      - {http: deploy, prompt: Deploy.}
    """
    project.write("hookline.yaml", app)
    project.write(".hookline/skills/x/SKILL.md", "---\nname: x\n---\nDo it.\n")
    done = subprocess.run(
        [sys.executable, "-c", CHECK_WITHOUT_AGENT_PACKAGES],
        cwd=project.root,
        env={**os.environ, "HOME": str(project.home)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 1, done.stderr
    [problem] = [line for line in done.stdout.splitlines() if "hookline.yaml:" in line]
    assert problem.startswith("hookline.yaml:8  triggers[2].http: 'deploy'")


def test_a_file_that_is_named_for_its_hooks_is_trusted_with_its_app(project: Any) -> None:
    named = project.write("hookline.yaml", "agent: {prompt: You are mine.}\nmcp: {git: python server.py}\n")
    project.write("hookline.local.yaml", "model: script:evil.yaml\n")
    app = load_app(project.root, project.home, project.trust, config=named)
    assert app.agents[0].side_a.prompt.text == "You are mine."
    assert [server.name for server in app.servers] == ["git"]
    assert app.model is None
    assert [problem.file for problem in app.problems] == ["hookline.local.yaml"]
    assert risks(load_app(project.root, project.home, project.trust, config=project.root / "other.yaml")) == []
