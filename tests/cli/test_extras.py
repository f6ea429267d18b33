"""Every verb of the core works without the packages of the extras, and the others say what to install."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from hookline.extras import install_command

ROOT = Path(__file__).parents[2]
MODULES = {
    "pydantic-ai-slim": "pydantic_ai",
    "z3-solver": "z3",
    "prompt-toolkit": "prompt_toolkit",
    "opentelemetry-sdk": "opentelemetry.sdk",
    "opentelemetry-exporter-otlp-proto-common": "opentelemetry.exporter.otlp.proto.common",
}


def package_names(requirements: list[str]) -> set[str]:
    return {requirement.split("[")[0].split(">")[0].split("=")[0] for requirement in requirements}


def extra_modules() -> list[str]:
    """What only an extra installs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    packages = {name for extra in extras if extra != "all" for name in package_names(extras[extra])}
    packages -= {"hookline", *package_names(project["dependencies"])}  # an extra may name another one
    return sorted(MODULES.get(name, name) for name in packages)


BLOCK = f"import sys; sys.modules.update(dict.fromkeys({extra_modules()}))\n"


def run_core(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    code = BLOCK + "from hookline.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env=dict(os.environ),
        **options,  # type: ignore[call-overload]
    )


@pytest.fixture
def trusted_project(project: Path) -> Path:
    """Hooks in two dialects, an app, and a case."""
    (project / "hookline.yaml").write_text(
        "hooks:\n"
        "  - {id: no-push, on: tool.before, when: {kind: shell}, then: {deny: no}}\n"
        "model: anthropic:claude-sonnet-4-5\n"
        "agent: {prompt: Work.}\n"
        "mcp: {notes: notes --stdio}\n"
        "triggers: [{id: nightly, cron: 0 3 * * *, prompt: Tidy up.}]\n"
    )
    (project / "hub.json").write_text('{"hooks": {"PreToolUse": [{"action": "script", "script": "return {}"}]}}')
    cases = project / "tests/hooks"
    cases.mkdir(parents=True)
    (cases / "push.yaml").write_text(
        "note: denied\nfile: ../../hookline.yaml\n"
        "event: {name: tool.before, tool: {name: bash, input: {command: ls}}}\nexpect: {verdict: deny}\n"
    )
    return project


@pytest.mark.parametrize(
    ("arguments", "code", "shown"),
    [
        (["init", "--force"], 0, "Wrote hookline.yaml"),
        (["check"], 0, "hook"),
        (["list"], 0, "no-push"),
        (["fire", "tool.before", "--config", "hookline.yaml", "--tool", "bash", "--input", "{}"], 2, "deny: no"),
        (
            [
                "fire",
                "tool.before",
                "--config",
                "hookline.yaml",
                "--tool",
                "bash",
                "--input",
                "{}",
                "--dry-run",
                "--explain",
            ],
            2,
            "deny: no",
        ),
        (["test"], 0, "1 passed"),
        (["trust", "--yes"], 0, "Trusted"),
        (["convert", "hookline.yaml", "--to", "claude_code"], None, ""),
        (["convert", "hookline.yaml", "--to", "digitorn"], None, ""),
        (["convert", "hub.json", "--dialect", "flo", "--to", "native"], None, ""),
        (["schema"], 0, "$schema"),
        (["schema", "digitorn"], 0, "$schema"),
        (["install", "claude-code"], 0, "Claude Code"),
        (["uninstall", "claude-code"], 0, "Claude Code"),
        (["doctor"], 1, ""),
        (["completion", "bash"], 0, "_hookline_completion"),
    ],
)
@pytest.mark.slow
def test_a_core_verb_needs_no_extra(trusted_project, arguments, code, shown):
    done = run_core(*arguments)
    assert "bug in hookline" not in done.stderr
    assert "pip install" not in done.stderr
    assert code is None or done.returncode == code, done.stderr
    assert shown in done.stdout


@pytest.mark.parametrize("arguments", [[], ["--demo"], ["-p", "hello"], ["--sessions"], ["--serve"]])
def test_run_says_what_to_install(project, arguments):
    done = run_core("run", *arguments)
    assert done.returncode == 1
    assert (
        done.stderr
        == f"hookline: hookline run needs hookline's agent, which is an extra. Install it: {install_command('agent')}\n"
    )


@pytest.mark.parametrize("verb", ["run", "watch", "prove"])
def test_its_help_is_shown_without_the_extra(project, verb):
    assert run_core(verb, "--help").returncode == 0


def test_watch_says_what_to_install(project):
    done = run_core("watch")
    assert done.returncode == 1
    assert (
        done.stderr
        == f"hookline: hookline watch needs textual, which is an extra. Install it: {install_command('watch')}\n"
    )


@pytest.mark.parametrize(
    ("arguments", "need"),
    [
        (["prove", "--denied", "tool: bash"], "hookline prove needs the solver z3"),
        (["test", "property.yaml"], "a property needs the solver z3"),
    ],
)
def test_a_proof_says_what_to_install(project, arguments, need):
    (project / "property.yaml").write_text("config: {hooks: []}\nproperties: [{never: {tool: bash}}]\n")
    done = run_core(*arguments)
    assert done.returncode == 1
    assert done.stderr == f"hookline: {need}, which is an extra. Install it: {install_command('prove')}\n"


@pytest.mark.parametrize("name", ["Runtime"])
def test_importing_the_agent_says_what_to_install(name):
    code = (
        BLOCK + f"from hookline.errors import HooklineError\n"
        f"try:\n    from hookline import {name}\n"
        f"except HooklineError as error:\n    print(isinstance(error, ImportError), error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert (
        done.stdout
        == f"True hookline.{name} needs hookline's agent, which is an extra. Install it: {install_command('agent')}\n"
    )


def test_the_python_host_needs_no_extra(tmp_path):
    code = (
        BLOCK + "import hookline.testing, hookline.standard_agents, hookline.register, hookline.pytest_plugin\n"
        "from hookline import guard, session, load, Session, Question\n"
    )
    subprocess.run([sys.executable, "-c", code], timeout=60, check=True, cwd=tmp_path)
