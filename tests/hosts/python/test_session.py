"""Hooks around the tools of a Python agent."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from datetime import timedelta
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

import hookline
from hookline import ConfigError, Denied, Halted, HooklineError, Question
from hookline.errors import InvalidEvent
from hookline.hooks.outcome import Verdict
from hookline.hosts.python import session as session_module
from hookline.hosts.python.session import AskCallback
from hookline.project.private_file import state_directory
from hookline.record.record_log import LogFilter, RecordLog
from hookline.record.record_reader import read_records
from hookline.record.segment import record_directory


def awaited(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    @wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


def begun(config: Path, **options: Any) -> hookline.Session:
    return hookline.session(config.parent, config=config, **options)


def shell(command: str, *, times: int = 1) -> str:
    return f"ran {command} {times}"


async def async_shell(command: str) -> str:
    return f"ran {command}"


@awaited
async def test_async_tools(config: Path) -> None:
    async def bash(command: str) -> str:
        return f"ran {command}"

    async with begun(config) as session:
        guarded = session.guard(bash)
        assert await guarded("ls") == "ran ls"
        with pytest.raises(Denied, match=r"Not rm\.") as denied:
            await guarded(command="rm x")
        assert (denied.value.by, denied.value.exit_code) == ("no-rm", 2)
        assert await session.guard(bash, on_deny="return")("rm x") == f"Not rm. (hook no-rm, {config}:3)"
        assert session.take_notes() == "Be brief."
        assert session.take_notes() == ""
    assert (config.parent / "ended").read_text() == "1\n"


def test_sync_tools_and_a_sync_session(config: Path) -> None:
    with begun(config) as session:
        bash = session.guard(shell, name="bash")
        assert bash("ls", times=2) == "ran ls 2"
        with pytest.raises(Denied):
            bash("rm x")
        assert session.run(session.prompt("hi")) == "hi\nPlease."
        with pytest.raises(Denied, match="No keys"):
            session.run(session.prompt("use sk-123"))
    assert (config.parent / "ended").read_text() == "1\n"
    assert not [thread for thread in threading.enumerate() if thread.name == "hookline"]


@awaited
async def test_a_sync_tool_in_an_async_agent(config: Path) -> None:
    async with begun(config) as session:
        bash = session.guard(shell, name="bash", kind="shell")
        assert bash("ls") == "ran ls 1"
        assert await asyncio.to_thread(bash, "ls") == "ran ls 1"
        with pytest.raises(Denied):
            await asyncio.to_thread(bash, "rm x")


@pytest.mark.parametrize(("answer", "runs"), [(True, True), (False, False), ("yes", False), (None, False)])
def test_a_person_is_asked(config: Path, answer: Any, runs: bool) -> None:
    asked: list[Question] = []

    def ask(question: Question) -> Any:
        asked.append(question)
        return answer

    push = f"Push? (hook push, {config}:5)"
    with begun(config, ask=ask) as session:
        bash = session.guard(shell, name="bash", on_deny="return")
        assert bash("git push") == ("ran git push 1" if runs else push)
    assert asked == [Question(push, "bash", {"command": "git push", "times": 1}, "push")]


@awaited
async def test_without_somebody_to_ask_it_is_a_deny(config: Path) -> None:
    async def yes(question: Question) -> bool:
        return True

    async with begun(config) as session:
        with pytest.raises(Denied, match="Push"):
            await asyncio.to_thread(session.guard(shell, name="bash"), "git push")
    async with begun(config, ask=yes) as session:
        assert session.guard(shell, name="bash")("git push") == "ran git push 1"


async def _never(question: Question) -> bool:
    await asyncio.Event().wait()
    return True


def _too_late(question: Question) -> bool:
    time.sleep(0.1)
    return True


@pytest.mark.parametrize("ask", [_never, _too_late])
@pytest.mark.parametrize("default", ["allow", "deny"])
def test_without_an_answer_in_time_the_default_counts(tmp_path: Path, default: str, ask: AskCallback) -> None:
    path = tmp_path / "hookline.yaml"
    then = f"{{ask: {{question: 'Push?', default: {default}, within: 20ms}}}}"
    path.write_text(f"hooks: [{{on: tool.before, then: {then}}}]")
    with begun(path, ask=ask) as session:
        answer = session.guard(shell, name="bash", on_deny="return")("git push")
    assert (answer == "ran git push 1") is (default == "allow")
    mine = [each for each in read_records(record_directory(state_directory())) if each.get("session") == session.id]
    assert [(each["approved"], each["by"]) for each in mine if each["kind"] == "answer"] == [
        (default == "allow", "nobody answered")
    ]


def test_a_late_no_is_a_no(tmp_path: Path) -> None:
    path = tmp_path / "hookline.yaml"
    path.write_text("hooks: [{on: tool.before, then: {ask: {question: 'Push?', default: allow, within: 20ms}}}]")
    with begun(path, ask=lambda question: _too_late(question) is None) as session:
        answer = session.guard(shell, name="bash", on_deny="return")("git push")
    assert answer != "ran git push 1"


def test_hooks_may_call_the_tools_and_are_judged_too(tmp_path: Path) -> None:
    path = tmp_path / "hookline.yaml"
    path.write_text("""
hooks:
  - {id: lint, on: tool.after, when: {tool: write}, then: {call: lint, with: {path: '{{input.path}}'}, tell: always}, on_error: tell}
  - {id: no, on: tool.before, when: {tool: lint, input: {path: 'b'}}, then: {deny: Never b.}}
""")
    with hookline.session(tmp_path, config=path) as session:
        write = session.guard(lambda path: "written", name="write")
        session.guard(lambda path: f"{path} is clean", name="lint")
        write("a")
        assert session.take_notes() == "a is clean"
        write("b")
        assert "Never b." in session.take_notes()


@awaited
async def test_what_is_no_event_kind_or_answer_is_refused(config: Path) -> None:
    async with begun(config) as session:
        with pytest.raises(HooklineError, match="is not an event"):
            await session.decide("tool.befor")
        with pytest.raises(HooklineError, match="not a kind"):
            session.guard(shell, kind="shel")
        with pytest.raises(HooklineError, match="on_deny"):
            session.guard(shell, on_deny="ignore")


@pytest.mark.parametrize(
    "facts",
    [{}, {"tool": {}}, {"tool": {"name": ""}}, {"Tool": {"name": "bash", "input": {}}}, {"tool": "bash"}, None, []],
)
@pytest.mark.parametrize("event", ["tool.before", "PreToolUse", "tool.after", "approval.request"])
def test_an_event_about_a_tool_needs_the_tool(config: Path, event: str, facts: Any) -> None:
    with pytest.raises(InvalidEvent):
        asyncio.run(begun(config).fire(event, facts))


@pytest.mark.parametrize("tool", [{"name": "bash"}, {"name": "bash", "arguments": {"command": "rm"}}])
@pytest.mark.parametrize("event", ["tool.before", "PreToolUse"])
def test_a_call_needs_its_input(config: Path, event: str, tool: dict[str, Any]) -> None:
    with pytest.raises(InvalidEvent, match="input"):
        asyncio.run(begun(config).fire(event, {"tool": tool}))


def test_a_session_is_told_an_event_by_its_name(config: Path) -> None:
    with pytest.raises(HooklineError, match="is not an event"):
        asyncio.run(begun(config).decide(hookline.Event("stop", {})))  # type: ignore[arg-type]


def test_a_session_that_may_not_begin_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "hookline.yaml"
    path.write_text("hooks: [{id: no, on: session.start, then: {halt: Closed.}}]")
    with pytest.raises(Halted, match="Closed"), hookline.session(tmp_path, config=path):
        pytest.fail("it began")
    with pytest.raises(HooklineError, match="without a session"):
        hookline.guard(shell)("ls")


ORDER = """
hooks:
  - {id: slow, on: tool.after, background: true, then: {run: 'sleep 0.3; echo slow >> order', stdin: none}}
  - {id: last, on: session.end, then: {run: 'echo last >> order', stdin: none}}
"""


@awaited
async def test_the_last_hooks_of_an_async_session_run_after_those_in_the_background(config: Path) -> None:
    config.write_text(ORDER)
    async with begun(config) as session:
        await asyncio.to_thread(session.guard(shell, name="bash"), "ls")
    assert (config.parent / "order").read_text() == "slow\nlast\n"


def test_the_last_hooks_of_a_session_run_after_those_in_the_background(config: Path) -> None:
    config.write_text(ORDER)
    with begun(config) as session:
        session.guard(shell, name="bash")("ls")
    assert (config.parent / "order").read_text() == "slow\nlast\n"


@pytest.mark.parametrize("is_async", [True, False])
def test_the_last_hooks_of_a_session_do_not_wait_for_ever(
    config: Path, monkeypatch: pytest.MonkeyPatch, is_async: bool
) -> None:
    monkeypatch.setattr(session_module, "DRAIN_TIMEOUT", timedelta(seconds=0.2))
    config.write_text(ORDER.replace("sleep 0.3", "sleep 60"))

    async def work() -> None:
        async with begun(config) as session:
            await session.guard(async_shell, name="bash")("ls")

    if is_async:
        asyncio.run(work())
    else:
        with begun(config) as session:
            session.guard(shell, name="bash")("ls")
    assert (config.parent / "order").read_text() == "last\n"


BROKEN = """\
hooks:
  - {id: typo, on: tool.before, when: {tol: bash}, then: {deny: No.}}
  - {id: no-event, on: tool.befor, then: {deny: No.}}
  - {id: fine, on: tool.before, when: {input: {command: '^rm'}}, then: {deny: Not rm.}}
"""


def write_broken(directory: Path) -> Path:
    file = directory / "hookline.yaml"
    file.write_text(BROKEN)
    return file


@pytest.mark.parametrize("named", [True, False])
def test_a_session_refuses_a_file_with_errors(
    named: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    file = write_broken(tmp_path)
    options: dict[str, Any] = {"config": file} if named else {}
    with pytest.raises(ConfigError) as refused:
        hookline.session(tmp_path, **options)
    assert [problem.line for problem in refused.value.problems] == [2, 3]  # type: ignore[attr-defined]
    session = hookline.session(tmp_path, **options, on_problem="warn")
    assert [hook.id for hook in session.book.hooks] == ["fine"]
    assert sum("hookline.yaml:" in record.getMessage() for record in caplog.records) == 2


def test_a_session_in_a_missing_directory_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(HooklineError, match="does not exist"):
        hookline.session(tmp_path / "nope")
    (tmp_path / "file").touch()
    with pytest.raises(HooklineError, match="does not exist"):
        hookline.session(tmp_path / "file")


def test_another_word_for_on_problem_is_refused(config: Path) -> None:
    with pytest.raises(ValueError, match="on_problem"):
        begun(config, on_problem="ignore")


def test_load_refuses_a_file_with_errors(tmp_path: Path) -> None:
    file = write_broken(tmp_path)
    with pytest.raises(ConfigError) as refused:
        hookline.load(file)
    assert len(refused.value.problems) == 2
    assert len(hookline.load(file, on_problem="warn").problems) == 2


def recorded_calls(session: str) -> list[tuple[Any, ...]]:
    rows = RecordLog(record_directory(state_directory()), LogFilter(session=session, event="tool.before")).latest(20)
    return [(row["tool"], row["input"], row["verdict"], row["outcome"]) for row in rows]


@pytest.fixture
def own_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own file."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    path = tmp_path / "config" / "hookline" / "hookline.yaml"
    path.parent.mkdir(parents=True)
    return path


@pytest.mark.parametrize("named", ["", "record: {facts: full}\n"])
def test_what_your_own_file_says_about_recording_holds_for_a_named_file(
    config: Path, own_file: Path, tmp_path: Path, named: str
) -> None:
    config.write_text(named + config.read_text())
    for number, (own, expected) in enumerate({"off": [], "{facts: none}": [("bash", None, "silent", "ok")]}.items()):
        own_file.write_text(f"record: {own}\nhooks: []\n")
        id = f"{tmp_path}-{number}"
        with begun(config, id=id) as session:
            session.guard(shell, name="bash")("ls")
        assert recorded_calls(id) == expected


def test_your_own_file_counts_as_it_last_was_if_it_cannot_be_read(config: Path, own_file: Path, tmp_path: Path) -> None:
    for text in ("record: off\nhooks: []\n", "{"):
        own_file.write_text(text)
        with begun(config, id=str(tmp_path)) as session:
            session.guard(shell, name="bash")("ls")
    assert recorded_calls(str(tmp_path)) == []


def test_identical_calls_have_each_their_own_outcome_in_the_record(config: Path) -> None:
    """All are decided before the first of them ends."""
    began, results = threading.Barrier(3), {"0": "ok", "1": "failed", "2": "ok"}

    def bash(command: str) -> str:
        began.wait(10)
        if results[threading.current_thread().name] == "failed":
            raise ValueError("no")
        return "done"

    with begun(config, id="identical") as session:
        guarded = session.guard(bash)

        def call() -> None:
            with contextlib.suppress(ValueError):
                guarded("ls")

        threads = [threading.Thread(target=call, name=name) for name in results]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    calls = recorded_calls("identical")
    assert [call[:3] for call in calls] == [("bash", {"command": "ls"}, "silent")] * 3
    assert sorted(call[3] for call in calls) == ["failed", "ok", "ok"]


def test_calls_after_a_halt_are_recorded_as_denied(config: Path, tmp_path: Path) -> None:
    with begun(config, id=str(tmp_path)) as session:
        bash = session.guard(shell, name="bash")
        for command in ("halt", "ls"):
            with pytest.raises(hookline.Halted):
                bash(command)
    assert [call[1:3] for call in recorded_calls(str(tmp_path))] == [
        ({"command": "halt", "times": 1}, "deny"),
        ({"command": "ls", "times": 1}, "deny"),
    ]


def test_a_call_that_a_change_made_impossible_is_recorded_as_failed(tmp_path: Path) -> None:
    config = tmp_path / "hookline.yaml"
    config.write_text("hooks: [{id: limit, on: tool.before, when: {tool: bash}, then: {set: {input.timeout: 60}}}]")
    with begun(config, id=str(tmp_path)) as session, pytest.raises(hookline.Denied, match="not a parameter"):
        session.guard(shell, name="bash")("ls")
    assert [call[2:] for call in recorded_calls(str(tmp_path))] == [("silent", "failed")]


@awaited
async def test_what_came_of_a_hooks_own_call_is_recorded(tmp_path: Path) -> None:
    config = tmp_path / "hookline.yaml"
    config.write_text(
        "hooks: [{id: look, on: tool.before, when: {tool: bash}, then: {call: count, with: {path: a}}, on_error: open}]"
    )

    def count(path: str) -> int:
        raise OSError(path)

    async with begun(config, id="nested") as session:
        session.guard(count)
        assert await session.guard(async_bash, name="bash")("ls") == "ran ls"
    assert recorded_calls("nested") == [
        ("count", {"path": "a"}, "silent", "failed"),
        ("bash", {"command": "ls"}, "silent", "ok"),
    ]


async def async_bash(command: str) -> str:
    return f"ran {command}"


def test_hooks_and_trust_are_found_where_the_commands_find_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the variables that move the user's directories."""
    for name in ("home", "project", "config/hookline"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    deny = "{id: users, on: tool.before, when: {tool: a}, then: {deny: The user's.}}"
    (tmp_path / "config/hookline/hookline.yaml").write_text(f"hooks: [{deny}]")
    run = "{id: projects, on: tool.before, when: {tool: b}, then: {run: 'exit 2', reads: exit2}}"
    (tmp_path / "project/hookline.yaml").write_text(f"hooks: [{run}]")
    trust = [sys.executable, "-m", "hookline", "trust", "--yes"]
    subprocess.run(trust, cwd=tmp_path / "project", check=True, capture_output=True)
    with hookline.session(tmp_path / "project") as s:
        assert s.run(s.decide("tool.before", tool={"name": "a", "input": {}})).by == "users"
        assert s.run(s.decide("tool.before", tool={"name": "b", "input": {}})).by == "projects"


class Seen:
    """Where a person was asked and a hook ran: the thread, and whether an event loop ran there."""

    def __init__(self) -> None:
        self.threads: list[threading.Thread] = []
        self.loops: list[bool] = []

    def note(self) -> None:
        self.threads.append(threading.current_thread())
        try:
            self.loops.append(asyncio.get_running_loop().is_running())
        except RuntimeError:
            self.loops.append(False)

    async def ask(self, question: Question) -> bool:
        self.note()
        await asyncio.sleep(0)
        return question.reason.startswith("Push?")


def loop_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "hookline"]


def test_sync_code_decides_in_its_own_thread_if_nobody_waits(config: Path) -> None:
    session, before = begun(config), loop_threads()
    tool = {"name": "bash", "input": {"command": "rm x"}}
    assert session.run_in_place(session.fire("tool.before", {"tool": tool})).denied
    assert loop_threads() == before
    session.close()


def test_sync_code_goes_on_in_the_loop_if_a_hook_waits(config: Path) -> None:
    config.write_text("hooks:\n  - {id: slow, on: tool.before, then: {run: 'echo no >&2; exit 2'}, on_error: closed}\n")
    session = begun(config)
    variable = contextvars.ContextVar("variable", default="")

    async def twice() -> tuple[bool, bool, str]:
        token = variable.set("kept")
        tool = {"name": "bash", "input": {"command": "ls"}}
        first = await session.fire("prompt.submit", {"prompt": "go"})
        second = await session.fire("tool.before", {"tool": tool})
        held = variable.get()
        variable.reset(token)
        return first.denied, second.denied, held

    assert session.run_in_place(twice()) == (False, True, "kept")
    assert variable.get() == ""
    session.close()


def test_sync_code_asks_a_person_in_the_loop(config: Path) -> None:
    seen = Seen()
    session = begun(config, ask=seen.ask)
    tool = {"name": "bash", "input": {"command": "git push"}}

    async def agree() -> None:
        await session.agree(await session.fire("tool.before", {"tool": tool}))

    session.run_in_place(agree())
    assert seen.loops == [True]
    assert seen.threads != [threading.current_thread()]
    session.close()


def test_an_error_in_sync_code_comes_back(config: Path) -> None:
    session = begun(config)

    async def fail() -> None:
        await session.fire("prompt.submit", {"prompt": "go"})
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        session.run_in_place(fail())
    session.close()


def test_a_session_in_a_discarded_coroutine_ends_without_a_word(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    (tmp_path / "hookline.yaml").write_text(
        "hooks: [{id: slow, on: tool.before, then: {run: sleep 30}}, {id: end, on: session.end, then: {run: sleep 30}}]"
    )
    program.write_text(
        "import asyncio, gc, hookline\n"
        "async def agent():\n"
        "    async with hookline.session(config='hookline.yaml') as session:\n"
        "        await session.decide('tool.before', tool={'name': 'bash', 'input': {'command': 'ls'}})\n"
        "for cancels in (False, True):\n"
        "    loop = asyncio.new_event_loop()\n"
        "    task = loop.create_task(agent())\n"
        "    task._log_destroy_pending = False\n"
        "    loop.run_until_complete(asyncio.sleep(1))\n"
        "    if cancels:\n"
        "        task.cancel()\n"
        "        loop.run_until_complete(asyncio.sleep(0.5))\n"
        "    task.get_coro().close()\n"
        "    for each in asyncio.all_tasks(loop):\n"
        "        each._log_destroy_pending = False\n"
        "    loop.close()\n"
        "    del task\n"
        "    gc.collect()\n"
        "print('done')\n"
    )
    ran = subprocess.run([sys.executable, program], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (ran.stdout, ran.stderr) == ("done\n", "")


FORK = """
import asyncio, multiprocessing, os, sys, hookline

def shell(command): print("ran", command, flush=True)
async def later(command): print("ran", command, flush=True)
guarded, later = hookline.guard(shell, kind="shell"), hookline.guard(later, kind="shell")

def attempt(call):
    try:
        call()
    except hookline.HooklineError as error:
        print(str(error).partition(" (hook")[0], flush=True)

def child():
    attempt(lambda: guarded("unjudged"))
    attempt(lambda: bound("unjudged"))
    attempt(lambda: asyncio.run(later("unjudged")))
    with hookline.session(config=sys.argv[1]):
        attempt(lambda: guarded("rm x"))
        guarded("ls")

unused = hookline.session(config=sys.argv[1])
with hookline.session(config=sys.argv[1]) as session:
    bound = session.guard(shell, kind="shell")
    if sys.argv[2] == "fork":
        if (pid := os.fork()) == 0:
            child()
        else:
            assert os.waitpid(pid, 0)[1] == 0
    else:
        process = multiprocessing.get_context("fork").Process(target=child)
        process.start()
        process.join()
        pid = process.pid
if pid == 0:
    with unused:
        attempt(lambda: guarded("rm y"))
print("left", flush=True)
"""


@pytest.mark.parametrize("how", ["fork", "multiprocessing"])
def test_a_forked_process_needs_a_session_of_its_own(config: Path, how: str) -> None:
    """It would wait for a thread that stayed with the parent."""
    script = [sys.executable, "-W", "ignore", "-c", FORK, str(config), how]
    done = subprocess.run(script, capture_output=True, text=True, timeout=120, cwd=config.parent, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    refused, rest = done.stdout.splitlines()[:3], done.stdout.splitlines()[3:]
    assert all("Start a session in the child process" in line for line in refused), done.stdout
    unused = ["Not rm.", "left"] if how == "fork" else []
    assert rest == ["Not rm.", "ran ls", *unused, "left"]


SEARCHES_AT_EXIT = """
import asyncio, re2, time
from hookline.hosts.python.session import _LoopThread

class SlowToEnd:
    def __del__(self, sleep=time.sleep):
        sleep(0.3)

slow_to_end = SlowToEnd()
words = re2.Set.SearchSet()
words.Add("needle[0-9]+x")
words.Compile()
text = b"needle" * 5_000_000
tasks = []

async def search():
    while True:
        words.Match(text)
        await asyncio.sleep(0)

async def begin():
    tasks.append(asyncio.create_task(search()))

thread = _LoopThread()
thread.run(begin())
time.sleep(0.1)
"""


def test_a_program_may_end_while_a_session_searches_in_its_own_thread() -> None:
    subprocess.run([sys.executable, "-c", SEARCHES_AT_EXIT], check=True, timeout=60)


@pytest.mark.parametrize(
    "input",
    [
        {"tool_calls": [{"name": "write_file", "input": {"path": ".env", "content": "x"}}]},
        {"tool_calls": '[{"name": "write_file", "input": {"path": ".env", "content": "x"}}]'},
        {"tool_uses": [{"recipient_name": "functions.write_file", "parameters": {"path": ".env", "content": "x"}}]},
        {"tool_name": "bash", "arguments": '{"script": "rm -rf x"}'},
        {"calls": [{"tool": "list_directory", "args": {}}, {"tool": "bash", "args": {"command": "rm -rf x"}}]},
        {"batch": [{"name": "batch", "input": {"calls": [{"name": "bash", "input": {"command": "rm x"}}]}}]},
    ],
)
@pytest.mark.parametrize("name", ["batch", "dispatch", "mcp__hub__do"])
def test_the_calls_in_a_call_are_judged_before_it_runs(tmp_path: Path, name: str, input: dict[str, Any]) -> None:
    config = tmp_path / "hookline.yaml"
    config.write_text(
        "hooks:\n"
        "  - {id: env, on: tool.before, when: {tool: write_file, input: {path: '\\.env$'}}, then: {deny: Not there.}}\n"
        "  - {id: rm, on: tool.before, when: {tool: bash, runs: rm}, then: {deny: Not rm.}}\n"
    )
    with begun(config) as session:
        decision = session.run(session.decide("tool.before", tool={"name": name, "kind": "other", "input": input}))
        assert decision.verdict is Verdict.DENY
        assert decision.event.facts["tool"]["input"] == input


def test_a_call_is_decided_as_strictly_as_the_calls_in_it(tmp_path: Path) -> None:
    config = tmp_path / "hookline.yaml"
    config.write_text(
        "hooks:\n"
        "  - {id: all, on: tool.before, when: {tool: batch}, then: allow}\n"
        "  - {id: push, on: tool.before, when: {tool: bash, runs: git}, then: {ask: 'Sure?'}}\n"
        "  - {id: note, on: tool.before, when: {tool: bash, runs: ls}, then: {tell: Be quick.}}\n"
        "  - {id: https, on: tool.before, when: {tool: curl}, then: {set: {input.url: 'https://a'}}}\n"
    )
    calls = {
        "bash": [({"command": "git push"}, Verdict.ASK), ({"command": "ls"}, Verdict.SILENT)],
        "curl": [({"url": "http://a"}, Verdict.DENY), ({"url": "https://a"}, Verdict.SILENT)],
    }
    with begun(config) as session:
        for name, rows in calls.items():
            for given, expected in rows:
                input = {"calls": [{"name": name, "input": given}]}
                decision = session.run(session.decide("tool.before", tool={"name": "batch", "input": input}))
                assert decision.verdict is expected, given
        assert session.take_notes() == "Be quick."
        deep: dict[str, Any] = {}
        for _ in range(9):
            deep = {"calls": [{"name": "batch", "input": deep}]}
        decision = session.run(session.decide("tool.before", tool={"name": "batch", "input": deep}))
        assert decision.reason == "the call has more calls in it than hooks can check"
