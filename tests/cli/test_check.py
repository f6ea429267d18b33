from __future__ import annotations

import json
from pathlib import Path

import pytest

from hookline.cli.agent_options import machine
from hookline.hosts.agents.agent_tools import SeenTools, seen_tools_directory

BAD = """\
hooks:
  - id: a
    on: tool.befor
    then: deny
  - id: b
    on: stop
    then: deny
"""
WARNED = "hooks: [{id: a, on: tool.before, then: {run: 'true'}}]\n"


def test_each_problem_has_file_line_and_what_to_write(hookline):
    Path("hookline.yaml").write_text(BAD)
    result = hookline("check")
    assert result.exit_code == 1
    first, *_, last = result.stdout.splitlines()
    assert first.startswith("hookline.yaml:3  ")
    assert "Did you mean tool.before?" in first
    assert last == "1 file, 1 hook: 1 error, 0 warnings"


def test_only_warnings_are_exit_0(hookline):
    Path("hookline.yaml").write_text(WARNED)
    result = hookline("check")
    assert result.exit_code == 0
    assert "(warning)" in result.stdout


def test_no_file_is_said(hookline):
    result = hookline("check")
    assert result.exit_code == 0
    assert "hookline init" in result.stdout


def test_files_and_directories_may_be_named(hookline):
    Path("sub").mkdir()
    Path("sub/hookline.yaml").write_text(BAD)
    Path("good.yaml").write_text("hooks: [{id: a, on: stop, then: deny}]")
    result = hookline("check", "good.yaml", "sub", "--json")
    assert result.exit_code == 1
    read = json.loads(result.stdout)
    assert [(p["code"], p["line"], p["severity"]) for p in read["problems"]] == [("unknown-event", 3, "error")]
    assert [file["hooks"] for file in read["files"]] == [1, 1]


def test_a_file_that_is_not_there_or_nobody_knows_is_an_error(hookline):
    Path("odd.json").write_text('{"a": 1}')
    for name, place in (("missing.yaml", "missing.yaml  "), ("odd.json", "odd.json:1  ")):
        result = hookline("check", name)
        assert result.exit_code == 1
        assert result.stdout.startswith(place)


def test_it_runs_and_imports_nothing(hookline):
    Path("hookline.yaml").write_text(
        "hooks: [{id: a, on: session.start, then: {run: touch ran}, on_error: open},"
        " {id: b, on: session.start, then: {script: 'throw 1'}, on_error: open}]"
    )
    assert hookline("check").exit_code == 0
    assert hookline("list").exit_code == 0
    assert not Path("ran").exists()


def test_hooks_that_contradict_each_other_are_warned_about(hookline):
    Path("hookline.yaml").write_text(
        "hooks: [{id: a, on: tool.before, then: deny}, {id: b, on: tool.before, order: 5, then: {ask: really}}]"
    )
    result = hookline("check", "--json")
    assert result.exit_code == 0
    problems = json.loads(result.stdout)["problems"]
    assert problems
    assert {problem["severity"] for problem in problems} == {"warning"}


def test_without_a_word_it_checks_the_users_files_too(hookline, project):
    own = project.parent / "home/.config/hookline/hookline.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(BAD)
    assert hookline("check").stdout.startswith("~/.config/hookline/hookline.yaml:3  ")


@pytest.mark.parametrize("folder", [".microai", ".ai_agents", ".claude"])
@pytest.mark.parametrize(("hooks", "exit_code", "mark"), [("", 1, ""), ('"hooks": {},', 0, " (warning)")])
def test_hooks_beside_the_key_hooks_are_an_error_if_there_are_no_others(hookline, folder, hooks, exit_code, mark):
    Path(folder).mkdir()
    text = f'{{"model": "x", {hooks}\n "PreToolUse": [{{"matcher": "Bash", "command": "true"}}]}}'
    Path(folder, "settings.json").write_text(text)
    result = hookline("check", f"{folder}/settings.json")
    assert result.exit_code == exit_code
    assert f"{folder}/settings.json:2  PreToolUse: hooks beside the key hooks are not read." in result.stdout
    assert f'Write "hooks": {{"PreToolUse": […]}}.{mark}\n' in result.stdout


def test_a_script_that_cannot_be_read_is_an_error_and_is_not_run(hookline):
    rules = [
        {"id": "bad", "action": "script", "script": "log(1)\nreturn {decision: }"},
        {"id": "good", "action": "script", "script": "for (;;) {}"},
    ]
    Path("hub.json").write_text(json.dumps({"hooks": {"PreToolUse": rules}}, indent=1))
    result = hookline("check", "hub.json")
    assert result.exit_code == 1
    assert "hub.json:7  bad has a syntax error on line 2 of its script: " in result.stdout
    assert "1 file, 2 hooks: 1 error, 0 warnings" in result.stdout


def test_tools_that_no_table_knows_are_named_on_stderr(hookline):
    seen = SeenTools(seen_tools_directory(machine()))
    seen.remember("cline", {"name": "shellTool", "input": {}})
    done = hookline("check")
    assert "cline has called tools that hookline does not know: shellTool." in done.stderr
    assert "shellTool" not in done.stdout
    Path("hookline.yaml").write_text("hooks: []\n")
    assert "shellTool" not in hookline("check", "hookline.yaml").stderr


def test_hooks_of_a_python_folder_are_counted(hookline):
    Path("agents").mkdir()
    Path("agents/a.py").write_text(
        "from hookline.standard_agents import define_agent, define_hook\n"
        "@define_hook(hook='filter_messages', id='last_ten')\n"
        "async def last_ten(state, messages):\n    return messages[-10:]\n"
        "define_agent(name='support', hooks=['last_ten'])\n"
    )
    Path("hookline.yaml").write_text("standard_agents: agents\n")
    assert hookline("check").stdout.splitlines()[-1] == "1 file, 1 hook: no problems"
    assert json.loads(hookline("check", "--json").stdout)["files"][0]["hooks"] == 1


def test_a_pack_of_two_files_does_not_shadow_itself(hookline, project):
    own = project.parent / "home/.config/hookline/hookline.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("extends: hookline:recommended\n")
    (project / "hookline.yaml").write_text("extends: hookline:recommended\n")
    assert hookline("check").stdout.endswith("hooks: no problems\n")


def test_entries_of_hookline_are_no_hooks_to_warn_about(hookline, project):
    assert hookline("install", "copilot-cli", "--project").exit_code == 0
    file = project / ".github/hooks/hookline.json"
    assert "userPromptTransformed" in file.read_text()
    assert "warning" not in hookline("check").output
    entries = json.loads(file.read_text())
    entries["hooks"]["userPromptTransformed"].append({"type": "command", "bash": "true"})
    file.write_text(json.dumps(entries))
    assert "userPromptTransformed[1]: only GitHub Copilot has userPromptTransformed" in hookline("check").output
