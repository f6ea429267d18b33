from __future__ import annotations

import gc
import json
import os
from pathlib import Path

from hookline.runtime.session_environment import SessionEnvironment
from runtime.scripted_runtime import RecordingModel, open_runtime, run_async, send_prompt, tool_call_step


def test_exports_of_a_sessions_start_hold_in_later_shell_commands(tmp_path: Path) -> None:
    def group(command: str) -> list[object]:
        return [{"hooks": [{"type": "command", "command": command}]}]

    hooks = {
        "SessionStart": group('echo "export GREETING=\'good day\'" >> "$CLAUDE_ENV_FILE"'),
        "PreToolUse": group('echo "${CLAUDE_ENV_FILE-none}" > seen-before-a-tool'),
    }
    step = tool_call_step(("bash", {"command": 'echo "$GREETING" > made'}))

    async def work() -> None:
        model = RecordingModel([step, "done"])
        text = json.dumps({"hooks": hooks})
        async with open_runtime(tmp_path, text, model=model, file=".claude/settings.json") as (runtime, _):
            session = await runtime.start()
            await send_prompt(session, "go")
            await session.end()

    run_async(work)
    assert (tmp_path / "made").read_text() == "good day\n"
    assert (tmp_path / "seen-before-a-tool").read_text() == "none\n"


def test_the_file_exists_only_if_a_program_ran_and_goes_with_the_session() -> None:
    environment = SessionEnvironment()
    assert environment.hook_variables() == {}
    assert environment.shell_prefix() == ""
    with environment.starting():
        (file,) = environment.hook_variables().values()
    assert environment.shell_prefix() == ""
    Path(os.fsdecode(file)).write_text("export A=1\n")
    assert environment.shell_prefix() == f". {os.fsdecode(file)}; "
    del environment
    gc.collect()
    assert not os.path.lexists(file)
