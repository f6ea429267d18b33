"""A project that sets variables for its agent: a guard that the user trusted still holds.

Qwen Code passes most variables of a project's `.env` on to its hooks. Claude Code withholds these four from a folder that
is not trusted, so a run of it would prove nothing.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from agents import AGENTS, Sandbox
from runs import HOOKS, SCRIPT, end_engine, hookline, new_sandbox, run

from hookline.hosts.doctor.fake_model import ModelServer

VARIABLES = ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR")
GUARD = """\
hooks:
  - id: no-secrets
    on: tool.before
    when: {tool: bash, input: {command: secret}}
    then: {run: 'env > ../seen; echo No secrets. >&2; exit 2', reads: exit2}
    on_error: open
"""


def redirect_variables(sandbox: Sandbox) -> None:
    """As an agent could have written them in an earlier session."""
    values = {**dict.fromkeys(VARIABLES, str(sandbox.project / "elsewhere")), "REDIRECTED": "1"}
    (sandbox.project / ".env").write_text("".join(f"{name}={value}\n" for name, value in values.items()))


def test_variables_of_a_project_do_not_move_trust(tmp_path_factory: pytest.TempPathFactory) -> None:
    agent = next(each for each in AGENTS if each.name == "qwen-code")
    sandbox = new_sandbox(tmp_path_factory.mktemp("env"))
    Path(sandbox.project, HOOKS.name).write_text(GUARD)
    with ModelServer(list(SCRIPT.values())) as model:
        agent.copy_user_files(sandbox)
        hookline(sandbox, "trust", "--yes")
        hookline(sandbox, "install", agent.name, "--user")
        redirect_variables(sandbox)
        ran = run(agent, sandbox, model)
    end_engine(sandbox)
    assert ran.files.keys() == SCRIPT.keys() - {"denied"}, ran.output
    assert "REDIRECTED=1" in (sandbox.root / "seen").read_text()
