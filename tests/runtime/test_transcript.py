"""The transcript that Claude Code's hooks read in our own agent."""

from __future__ import annotations

import json
import os
import stat
import time
from pathlib import Path
from typing import Any

from runtime.scripted_runtime import RecordingModel, open_runtime, run_async, send_prompt, tool_call_step

COPY = 'p=$(jq -r .transcript_path); cat "$p" > seen-$(ls | grep -c seen); true'
STEPS = [
    tool_call_step(("bash", {"command": "echo one"}), say="I look."),
    tool_call_step(("read_file", {"path": "nothing"})),
    "All done.",
]


def run_session(workspace: Path, hooks: dict[str, str], prompts: int = 1, *, id: str | None = None) -> Path:
    """Returns the directory of the transcripts."""
    text = json.dumps({"hooks": {name: [{"hooks": [{"type": "command", "command": c}]}] for name, c in hooks.items()}})

    async def work() -> None:
        model = RecordingModel([*STEPS, *["Again."] * prompts])
        async with open_runtime(workspace, text, model=model, file=".claude/settings.json") as (runtime, _):
            session = await runtime.start(id=id)
            for number in range(prompts):
                await send_prompt(session, f"prompt {number}")

    run_async(work)
    return workspace / "home/.local/state/hookline/transcripts"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_hook_reads_the_session_in_claudes_format(tmp_path: Path) -> None:
    run_session(tmp_path, {"Stop": COPY})
    read = lines(tmp_path / "seen-0")
    assert [(each["type"], each["message"]["role"]) for each in read] == [
        ("user", "user"),
        ("assistant", "assistant"),
        ("assistant", "assistant"),
        ("user", "user"),
        ("assistant", "assistant"),
        ("user", "user"),
        ("assistant", "assistant"),
    ]
    contents = [each["message"]["content"] for each in read]
    assert contents[0] == "prompt 0"
    assert contents[1] == [{"type": "text", "text": "I look."}]
    (called,) = contents[2]
    assert (called["type"], called["name"], called["input"]) == ("tool_use", "Bash", {"command": "echo one"})
    (result,) = contents[3]
    assert (result["type"], result["tool_use_id"], result["is_error"]) == ("tool_result", called["id"], False)
    assert "one" in result["content"]
    assert contents[4][0]["name"] == "Read"
    assert contents[4][0]["input"] == {"file_path": "nothing"}
    assert contents[5][0]["is_error"] is True
    assert contents[6] == [{"type": "text", "text": "All done."}]
    assert read[2]["message"]["stop_reason"] == "tool_use"
    assert read[6]["message"]["stop_reason"] == "end_turn"
    assert [each["parentUuid"] for each in read] == [None, *(each["uuid"] for each in read[:-1])]
    assert all(each["cwd"] == str(tmp_path) and each["timestamp"].endswith("Z") for each in read)
    assert len({each["sessionId"] for each in read}) == 1


def test_the_file_grows_with_the_session_and_belongs_to_the_user_alone(tmp_path: Path) -> None:
    directory = run_session(tmp_path, {"Stop": COPY, "PreToolUse": "cat >/dev/null"}, prompts=2)
    first, second = lines(tmp_path / "seen-0"), lines(tmp_path / "seen-1")
    assert second[: len(first)] == first
    assert second[len(first)]["message"]["content"] == "prompt 1"
    assert second[len(first)]["parentUuid"] == first[-1]["uuid"]
    (file,) = directory.iterdir()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (directory, file)] == [0o700, 0o600]


def test_nothing_is_written_without_a_program(tmp_path: Path) -> None:
    assert not run_session(tmp_path, {}).exists()


def test_an_odd_id_stays_in_the_directory_and_old_files_go(tmp_path: Path) -> None:
    directory = tmp_path / "home/.local/state/hookline/transcripts"
    directory.mkdir(parents=True)
    old = directory / "old.jsonl"
    old.write_text("")
    os.utime(old, (0, time.time() - 31 * 86_400))
    run_session(tmp_path, {"Stop": COPY}, id="../../odd")
    (file,) = directory.iterdir()
    assert file != old
    assert not list(tmp_path.rglob("odd*"))
