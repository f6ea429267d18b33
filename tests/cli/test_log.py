from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.recorded_events import record, record_a_few, tool_event, write_hooks
from hookline.record.record_log import LOG_KEYS
from hookline.record.recorder import Recorder


def rows(result: Any) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_without_a_record_it_says_so(hookline):
    result = hookline("log")
    assert result.exit_code == 1
    assert "nothing is recorded yet" in result.stderr


def test_rows_are_json_with_fixed_keys_newest_last(hookline, recorder):
    record_a_few(recorder)
    found = rows(hookline("log", "--json"))
    assert all(tuple(row) == LOG_KEYS for row in found)
    assert [row["verdict"] for row in found] == ["deny", "ask", "silent", "silent", "silent", "silent", "silent"]
    assert [row["at"] for row in found] == sorted(row["at"] for row in found)
    first = {
        key: found[0][key] for key in ("host", "session", "event", "tool", "input", "reason", "hook", "file", "line")
    }
    assert first == {
        "host": "claude-code",
        "session": "s1",
        "event": "tool.before",
        "tool": "Bash",
        "input": {"command": "rm x"},
        "reason": "Do not remove.",
        "hook": "no-rm",
        "file": "hookline.yaml",
        "line": 2,
    }
    assert found[6]["input"] == {"prompt": "deploy it"}


def test_what_came_of_a_call_is_linked_to_it(hookline, recorder):
    record_a_few(recorder)
    found = rows(hookline("log", "--json", "--event", "PreToolUse"))
    assert [row["outcome"] for row in found] == [None, None, "ok", "failed"]


def test_a_refused_question(hookline, recorder):
    book = write_hooks()
    record(recorder, book, tool_event("git push", call="c1"))
    recorder.write_answer(book, tool_event("git push", call="c1"), approved=False)
    assert [row["outcome"] for row in rows(hookline("log", "--json"))] == ["refused"]
    assert "[refused] ask-push: git push" in hookline("log").stdout


@pytest.mark.parametrize(
    ("options", "inputs"),
    [
        (["--verdict", "deny"], ["rm x"]),
        (["--hook", "ask-push"], ["git push"]),
        (["--hook", "hint"], ["deploy it"]),
        (["--host", "codex"], ["deploy it"]),
        (["--session", "s2"], ["deploy it"]),
        (["--event", "UserPromptSubmit"], ["deploy it"]),
        (["--tool", "Bash", "--verdict", "ask"], ["git push"]),
        (["--tool", "bash", "--verdict", "ask"], ["git push"]),
        (["--text", "PUSH"], ["git push"]),
        (["--limit", "1"], ["deploy it"]),
        (["--since", "1h", "--limit", "1"], ["deploy it"]),
        (["--since", "1h", "--verdict", "deny"], ["rm x"]),
        (["--since", "2000-01-01", "--verdict", "deny"], ["rm x"]),
        (["--since", "2999-01-01"], []),
        (["--session", "s3"], []),
    ],
    ids=" ".join,
)
def test_filters(hookline, recorder, options, inputs):
    record_a_few(recorder)
    found = rows(hookline("log", "--json", *options))
    assert [next(iter(row["input"].values())) for row in found] == inputs


@pytest.mark.parametrize("text", ['"Nothing', "\\d+", 'hing \\d+"', "\n"])
def test_a_text_with_characters_that_json_escapes(hookline, recorder, text):
    command = 'grep "nothing \\d+"\nls'
    record(recorder, write_hooks(), tool_event(command), tool_event("no quote, no thing"))
    assert [row["input"] for row in rows(hookline("log", "--json", "--text", text))] == [{"command": command}]


def test_outcomes_of_all_rows_since_a_time(hookline, recorder):
    record_a_few(recorder)
    found = rows(hookline("log", "--json", "--since", "1h"))
    assert found == rows(hookline("log", "--json"))
    assert [row["outcome"] for row in found] == [None, None, "ok", "ok", "failed", "failed", None]


def test_a_wrong_time_is_named(hookline):
    assert "'soon' is not a time. Write 2h" in hookline("log", "--since", "soon").stderr


def test_the_table_fits_80_columns(hookline, recorder):
    record_a_few(recorder)
    record(recorder, write_hooks(), tool_event("rm " + "x" * 200 + "\x1b[2J\n" + "y" * 100))
    lines = hookline("log").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[1].split()[1] == "deny"
    assert lines[1].endswith("no-rm: rm x")
    assert "[failed] false" in lines[5]
    assert not any("\x1b" in line for line in lines)


def test_csv(hookline, recorder):
    record_a_few(recorder)
    head, first, *_ = csv.reader(io.StringIO(hookline("log", "--csv").stdout))
    assert tuple(head) == LOG_KEYS
    assert dict(zip(head, first, strict=True))["input"] == "rm x"
    assert hookline("log", "--csv", "--json").exit_code == 1


def test_a_long_command_is_whole_in_a_spreadsheet(hookline, recorder):
    record(recorder, write_hooks(), tool_event(command := f"echo {'x' * 1000} end"))
    assert command in hookline("log", "--csv").stdout


@pytest.mark.parametrize("command", ["=1+1", "+1", "-1", "@SUM(A1)"])
def test_a_command_is_no_formula_in_a_spreadsheet(hookline, recorder, command):
    record(recorder, write_hooks(), tool_event(command))
    *_, row = csv.DictReader(io.StringIO(hookline("log", "--csv").stdout))
    assert row["input"] == f"'{command}"


def test_lines_of_a_reason_stay_in_one_cell_of_a_table(hookline, recorder):
    hook = '{id: two, on: tool.before, then: {deny: "one\\n=two\\r\\e[31m, three"}}'
    record(recorder, write_hooks(f"hooks:\n  - {hook}\n"), tool_event("ls"))
    result = hookline("log", "--csv")
    assert "\x1b" not in result.stdout
    *_, row = csv.DictReader(io.StringIO(result.stdout))
    assert row["reason"].startswith("one\n=two")
    assert row["reason"].endswith(", three")
    assert (row["hook"], row["line"]) == ("two", "2")


def test_wide_characters_fit_80_columns(hookline, recorder):
    record(recorder, write_hooks(), tool_event("漢" * 60))
    *_, line = hookline("log").stdout.splitlines()
    assert 79 <= len(line) + line.count("漢") <= 80


def test_nothing_found_is_said(hookline, recorder):
    record_a_few(recorder)
    assert hookline("log", "--session", "x").stdout == "No decision matches.\n"
    assert hookline("log", "--session", "x", "--json").stdout == ""


def test_follow_shows_what_another_process_decides(command, recorder: Recorder):
    write_hooks()
    program = (
        "import sys; from cli.recorded_events import *; from hookline.record.recorder import recorder_of;"
        "from hookline.project.private_file import state_directory;"
        "record(recorder_of(state_directory()), write_hooks(), *(tool_event(f'rm {n}') for n in range(3)))"
    )
    record(recorder, write_hooks(), tool_event("rm before"))
    with subprocess.Popen([*command, "log", "--follow", "--json"], stdout=subprocess.PIPE, text=True) as following:
        assert following.stdout is not None
        shown = [json.loads(following.stdout.readline())]
        path = os.pathsep.join((str(Path(__file__).parent.parent), os.environ.get("PYTHONPATH", "")))
        subprocess.run([sys.executable, "-c", program], check=True, timeout=60, env={**os.environ, "PYTHONPATH": path})
        record(recorder, write_hooks(), tool_event("rm after"))
        shown += [json.loads(following.stdout.readline()) for _ in range(4)]
        following.terminate()
    assert [row["input"]["command"] for row in shown] == ["rm before", "rm 0", "rm 1", "rm 2", "rm after"]


@pytest.mark.parametrize("form", [[], ["--csv"]])
def test_follow_shows_each_line_at_once_and_ends_with_its_reader(command, recorder: Recorder, form: list[str]):
    """`hookline log --follow | grep deny`"""
    record(recorder, write_hooks(), tool_event("rm before"))
    with subprocess.Popen([*command, "log", "--follow", *form], stdout=subprocess.PIPE, text=True) as following:
        assert following.stdout is not None
        assert following.stdout.readline()  # the day, or the names of the columns
        assert "rm before" in following.stdout.readline()
        record(recorder, write_hooks(), tool_event("rm after"))
        assert "rm after" in following.stdout.readline()
        following.stdout.close()
        record(recorder, write_hooks(), tool_event("rm unread"))
        assert following.wait(60) == 0


def test_a_record_that_is_not_a_directory(hookline):
    state = Path("../home/.local/state/hookline")
    state.mkdir(parents=True)
    (state / "record").symlink_to("nowhere")
    result = hookline("log")
    assert (result.exit_code, "record is not a directory" in result.stderr) == (1, True)
