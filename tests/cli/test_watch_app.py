"""The screen: decisions of other processes, filtered and explained, and approvals that are answered."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from hookline.cli.waiting_approvals import WaitingApprovals
from hookline.hooks.event import Event
from hookline.project import load_text
from hookline.record.recorder import Recorder
from hookline.record.segment import RecordDirectory, record_directory
from runtime.scripted_runtime import open_runtime, send_prompt, tool_call_step

from .recorded_events import record_a_few, tool_event, write_hooks

pytest.importorskip("textual", reason="hookline[watch] is not installed")

from textual.pilot import Pilot
from textual.widgets import DataTable, Static

from hookline.cli.watch_app import ApprovalScreen, DecisionScreen, WatchApp

PROCESS = Path(__file__).parents[1] / "record/record_process.py"
ASK = "hooks: [{id: ask-push, on: tool.before, when: {tool: bash}, then: {ask: Push now?}}]"


@pytest.fixture
def directory(project: Path) -> RecordDirectory:
    return record_directory(project / "state")


@pytest.fixture
def recorder(directory: RecordDirectory) -> Recorder:
    return Recorder(directory)


def run(directory: RecordDirectory, play: Callable[[Pilot[None]], Awaitable[None]], store: str | None = None) -> None:
    async def drive() -> None:
        app = WatchApp(directory, WaitingApprovals(store, directory.path))
        async with app.run_test(size=(120, 30)) as pilot:
            await pilot.pause()
            await play(pilot)

    asyncio.run(asyncio.wait_for(drive(), 60))


def table(pilot: Pilot[None], name: str = "decisions") -> list[list[str]]:
    shown = pilot.app.screen_stack[0].query_one(f"#{name}", DataTable)
    return [[cell.plain for cell in shown.get_row(row.key)] for row in shown.ordered_rows]


def column(pilot: Pilot[None], at: int) -> list[str]:
    return [row[at] for row in table(pilot)]


def status(pilot: Pilot[None]) -> str:
    return str(pilot.app.screen_stack[0].query_one("#status", Static).render())


async def until(pilot: Pilot[None], holds: Callable[[], bool]) -> None:
    while not holds():
        await pilot.pause(0.05)


def why(pilot: Pilot[None]) -> str:
    return str(pilot.app.screen.query_one("#why", Static).render())


def test_decisions_are_shown_as_they_come(directory: RecordDirectory, recorder: Recorder) -> None:
    record_a_few(recorder)

    async def play(pilot: Pilot[None]) -> None:
        assert column(pilot, 1)[:3] == ["deny", "ask", "silent"]
        assert column(pilot, 4)[2:5] == ["ok", "ok", "failed"]
        assert "7 decisions" in status(pilot)
        recorder.decide_now(write_hooks(), tool_event("rm later", call="c9"))
        await until(pilot, lambda: len(table(pilot)) == 8)
        assert table(pilot)[-1][1:] == ["deny", "claude-code", "no-rm", "", "Bash rm later"]
        assert pilot.app.query_one("#decisions", DataTable).cursor_row == 7, "the last one is followed"
        await pilot.press("ctrl+home")
        recorder.decide_now(write_hooks(), tool_event("ls", call="c10"))
        await until(pilot, lambda: len(table(pilot)) == 9)
        assert pilot.app.query_one("#decisions", DataTable).cursor_row == 0, "unless you look at another"
        recorder.decide_now(write_hooks(), tool_event("ls", call="c10", name="tool.failed", ok=False))
        await until(pilot, lambda: table(pilot)[8][4] == "failed")

    run(directory, play)


def test_another_process_writes(directory: RecordDirectory) -> None:
    async def play(pilot: Pilot[None]) -> None:
        state = directory.path.parent
        argv = [sys.executable, str(PROCESS), "write", str(state), str(state / "acks"), "1", "40"]
        process = await asyncio.create_subprocess_exec(*argv)
        await until(pilot, lambda: len(table(pilot)) == 40)
        assert await process.wait() == 0
        assert {row[5].split()[2] for row in table(pilot)} == set((state / "acks").read_text().replace(";", "").split())

    directory.path.parent.mkdir(parents=True)
    run(directory, play)


def test_a_call_is_seen_in_80_columns(directory: RecordDirectory, recorder: Recorder) -> None:
    book = load_text(f"hooks: [{{id: {'long-' * 10}id, on: tool.before, then: deny}}]", "hookline.yaml")
    tool = {"name": f"mcp.{'server' * 10}.run", "input": {"command": "ls"}}
    recorder.decide_now(book, Event("tool.before", {"host": {"name": "host" * 10}, "tool": tool}))

    async def play(pilot: Pilot[None]) -> None:
        assert len(table(pilot)) == 1
        await pilot.pause()
        shown = pilot.app.query_one("#decisions", DataTable)
        assert sum(each.get_render_width(shown) for each in shown.ordered_columns[:-1]) <= 65

    run(directory, play)


def test_words_find_decisions(directory: RecordDirectory, recorder: Recorder) -> None:
    record_a_few(recorder)

    async def play(pilot: Pilot[None]) -> None:
        await pilot.press("slash", *"deny rm")
        assert column(pilot, 5) == ["Bash rm x"]
        assert "1 of 7 decisions" in status(pilot)
        recorder.decide_now(write_hooks(), tool_event("rm y", call="c8"))
        recorder.decide_now(write_hooks(), tool_event("ls y", call="c9"))
        await until(pilot, lambda: column(pilot, 5) == ["Bash rm x", "Bash rm y"])
        await pilot.press("enter", "q")  # q in the table quits; in the field it was a letter
        assert not pilot.app.is_running or pilot.app.return_code == 0

    run(directory, play)


def test_escape_shows_all_again(directory: RecordDirectory, recorder: Recorder) -> None:
    record_a_few(recorder)

    async def play(pilot: Pilot[None]) -> None:
        await pilot.press("slash", *"nothing has this", "escape")
        assert len(table(pilot)) == 7

    run(directory, play)


def test_enter_explains_a_decision(directory: RecordDirectory, recorder: Recorder, project: Path) -> None:
    record_a_few(recorder)

    async def play(pilot: Pilot[None]) -> None:
        await pilot.press("ctrl+home", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, DecisionScreen) and "decided" in why(pilot))
        assert "decided: deny: Do not remove. (hook no-rm, hookline.yaml:2)" in why(pilot)
        assert "Under the hooks that were in force" in why(pilot)
        assert "skipped: no-rm already stopped the event" in why(pilot)
        await pilot.press("t")
        await until(pilot, lambda: "Under today's hooks" in why(pilot))
        await pilot.press("escape")
        assert not isinstance(pilot.app.screen, DecisionScreen)

    run(directory, play)


def test_an_explanation_fits_the_screen(directory: RecordDirectory, recorder: Recorder) -> None:
    book = load_text(
        f"hooks: [{{id: a, on: tool.before, then: {{deny: {'Write what you need instead. ' * 9}}}}}]", "h.yaml"
    )
    recorder.decide_now(book, tool_event("ls"))

    async def play(pilot: Pilot[None]) -> None:
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, DecisionScreen) and "decided" in why(pilot))

        def widest() -> int:
            """Of the lines below the first, which is never wrapped."""
            return max(map(len, why(pilot).splitlines()[1:]))

        assert 100 < widest() <= 114
        await pilot.resize_terminal(60, 30)
        await until(pilot, lambda: 40 < widest() <= 54)

    run(directory, play)


def test_a_record_without_facts_is_shown_as_it_is(directory: RecordDirectory, recorder: Recorder) -> None:
    book = load_text("record: {facts: none}\nhooks: [{id: a, on: tool.before, then: deny}]", "hookline.yaml")
    recorder.decide_now(book, tool_event("ls"))

    async def play(pilot: Pilot[None]) -> None:
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, DecisionScreen) and "were not recorded" in why(pilot))
        assert '"verdict": "deny"' in why(pilot)

    run(directory, play)


def test_an_input_of_several_fields_is_shown_as_json(directory: RecordDirectory, recorder: Recorder) -> None:
    tool = {"name": "Edit", "input": {"old": "a", "new": "ü"}}
    recorder.decide_now(write_hooks(), Event("tool.before", {"tool": tool}))

    async def play(pilot: Pilot[None]) -> None:
        assert table(pilot)[0][5] == 'Edit {"old": "a", "new": "ü"}'

    run(directory, play)


def test_texts_of_an_agent_are_no_markup(directory: RecordDirectory, recorder: Recorder) -> None:
    command = "[red]echo[/red] \x1b[2J $(x) [/]"
    recorder.decide_now(write_hooks(), tool_event(command))

    async def play(pilot: Pilot[None]) -> None:
        shown = table(pilot)[0][5]
        assert "[red]echo[/red]" in shown
        assert "\x1b" not in shown
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, DecisionScreen) and "[red]echo[/red]" in why(pilot))

    run(directory, play)


@pytest.mark.parametrize(("key", "ran"), [("y", True), pytest.param("n", False, marks=pytest.mark.slow)])
@pytest.mark.slow
def test_an_approval_is_answered(project: Path, directory: RecordDirectory, key: str, ran: bool) -> None:
    """A call of hookline's own agent waits in the store; the screen is another reader of it."""
    store = f"sqlite:///{project}/sessions.db"

    async def play(pilot: Pilot[None]) -> None:
        steps = [tool_call_step(("bash", {"command": "touch pushed"})), "done"]
        async with open_runtime(project, ASK, steps, store=store) as (runtime, _):
            session = await runtime.start()
            talking = asyncio.ensure_future(send_prompt(session, "push"))
            await until(pilot, lambda: len(table(pilot, "approvals")) == 1)
            assert table(pilot, "approvals")[0][1:4] == ["bash", "ask-push", "touch pushed"]
            assert "Push now?" in table(pilot, "approvals")[0][4]
            assert "1 waiting for approval" in status(pilot)
            await pilot.press(key)
            assert not talking.done(), "nothing is answered before it is shown whole"
            await pilot.press("a")
            await until(pilot, lambda: isinstance(pilot.app.screen, ApprovalScreen))
            assert "".join(str(each.render()) for each in pilot.app.screen.query(Static)).count("(hook ask-push") == 1
            await pilot.press("escape")
            assert len(table(pilot, "approvals")) == 1, "escape leaves it waiting"
            await pilot.press("a")
            await until(pilot, lambda: isinstance(pilot.app.screen, ApprovalScreen))
            await pilot.press(key)
            await talking
            await until(pilot, lambda: not table(pilot, "approvals"))

    run(directory, play, store)
    assert (project / "pushed").exists() is ran


def test_no_approval_waits(directory: RecordDirectory) -> None:
    async def play(pilot: Pilot[None]) -> None:
        await pilot.press("a")
        assert not isinstance(pilot.app.screen, ApprovalScreen)
        assert not pilot.app.query_one("#approvals").display

    run(directory, play)


def test_a_store_that_cannot_be_reached_is_told(directory: RecordDirectory, project: Path) -> None:
    (project / "not-a-database").write_text("hello " * 1000)

    async def play(pilot: Pilot[None]) -> None:
        await until(pilot, lambda: "not-a-database" in status(pilot) or "database" in status(pilot))

    run(directory, play, f"sqlite:///{project}/not-a-database")


def test_the_screen_does_not_wait_for_a_database(directory: RecordDirectory, recorder: Recorder) -> None:
    """One that takes a connection and never says anything."""
    record_a_few(recorder)

    async def play(pilot: Pilot[None]) -> None:
        recorder.decide_now(write_hooks(), tool_event("rm later"))
        await until(pilot, lambda: len(table(pilot)) == 8)

    with socket.create_server(("127.0.0.1", 0)) as silent:
        run(directory, play, f"postgresql://a@127.0.0.1:{silent.getsockname()[1]}/none")
