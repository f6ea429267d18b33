from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from hookline.cli.dry_run import RecordingHost
from hookline.errors import UnavailableError
from hookline.hooks.event import Event
from hookline.hooks.host import Command, Notice
from hookline.project import load_text


def test_a_hooks_program_is_recorded_under_its_hook_and_not_run(tmp_path):
    made = tmp_path / "made"
    book = load_text(f"hooks: [{{id: touch, on: tool.before, then: {{run: touch {made}}}}}]", "hooks.yaml")
    host = RecordingHost()
    asyncio.run(book.decide(Event("tool.before", {"tool": {"name": "bash", "input": {}}}), host))
    assert host.requests == [{"hook": "touch", "would": "run", "text": f"touch {made}"}]
    assert not made.exists()


def test_calls_prompts_and_notices_are_recorded_in_order():
    host = RecordingHost()

    async def work():
        result = await host.call_tool("read", {"path": "é"})
        program = await host.run_program(Command(argv=("echo", "a b")))
        text = await host.complete("Is it good?")
        await host.publish(Notice("slack", title="Done", message="all of it"))
        return result.was_called, program.exit_code, text

    assert asyncio.run(work()) == (False, 0, "")
    assert [(each["would"], each["text"]) for each in host.requests] == [
        ("call", 'read {"path": "é"}'),
        ("run", "echo 'a b'"),
        ("ask the model", "Is it good?"),
        ("notify", "Done all of it"),
    ]


def test_background_work_runs_when_the_host_is_drained():
    host, ran = RecordingHost(), []

    async def work():
        ran.append(True)

    host.run_in_background(work, "s")
    assert ran == []
    asyncio.run(host.drain(timedelta(seconds=1)))
    assert ran == [True]


def test_there_are_no_threads():
    with pytest.raises(UnavailableError):
        RecordingHost().thread("t")


def test_the_command_shows_what_hooks_would_do(hookline):
    Path("hooks.yaml").write_text("hooks: [{id: touch, on: tool.before, then: {run: touch made}}]")
    result = hookline("fire", "tool.before", "--tool", "bash", "--config", "hooks.yaml", "--dry-run")
    assert result.exit_code == 0, result.output
    assert "touch made" in result.stdout
    assert not Path("made").exists()
