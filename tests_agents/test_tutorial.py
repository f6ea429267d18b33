"""docs/tutorial.md with the real Claude Code: three commands, and the agent obeys the recommended pack."""

from __future__ import annotations

from pathlib import Path

from agents import AGENTS
from runs import end_engine, hookline, new_sandbox, run, run_doctor

from hookline.hosts.doctor.fake_model import ModelServer

CLAUDE_CODE = next(agent for agent in AGENTS if agent.name == "claude-code")


def test_three_commands_guard_the_agent(tmp_path: Path) -> None:
    sandbox = new_sandbox(tmp_path)
    (sandbox.project / "hookline.yaml").unlink()
    kept = sandbox.project / "src" / "app.py"
    kept.parent.mkdir()
    kept.write_text("print('hello')\n", "utf-8")
    hookline(sandbox, "init", "--pack", "recommended")
    hookline(sandbox, "install", "claude-code")
    found = run_doctor(CLAUDE_CODE, sandbox)
    with ModelServer(["rm -fr src", "echo passed > passed.txt"]) as model:
        done = run(CLAUDE_CODE, sandbox, model)
        told = str(model.requests[-1].results[0])
    end_engine(sandbox)
    assert found["proof"]["mark"] == "good", found["proof"]
    assert kept.exists()
    assert "no-recursive-delete" in told
    assert done.files["passed"] == "passed"
