"""Hooks around the tools of a Python agent."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

import hookline
from hookline import Denied, Halted, HooklineError, Question, ToolFailed

HOOKS = """
hooks:
  - {id: no-rm, on: tool.before, when: {kind: shell, input: {command: 'rm '}}, then: {deny: Not rm.}}
  - {id: quiet, on: tool.before, when: {tool: curl, input: {url: '^http:'}}, then: {replace: {in: input.url, pattern: '^http:', with: 'https:'}}}
  - {id: push, on: tool.before, when: {input: {command: push}}, then: {ask: Push?}}
  - {id: ends, on: tool.before, when: {input: {command: 'halt'}}, then: {halt: Enough.}}
  - {id: mask, on: tool.after, when: {result: secret}, then: {set: {result: '***'}}}
  - {id: failed, on: tool.after, when: {failed: true}, then: {tell: 'It failed: {{tool.error}}'}}
  - {id: hello, on: session.start, then: {tell: Be brief.}}
  - {id: no-keys, on: prompt.submit, when: {prompt: 'sk-'}, then: {deny: No keys.}}
  - {id: polite, on: prompt.submit, then: {append: {prompt: Please.}}}
  - {id: log, on: session.end, then: {run: 'sleep 0.2; echo {{session.tool_calls}} > ended', stdin: none}, background: true, on_error: open}
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "hookline.yaml"
    path.write_text(HOOKS)
    return path


def awaited(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    @wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


def begun(config: Path, **options: Any) -> hookline.Session:
    return hookline.session(config.parent, config=config, **options)


def shell(command: str, *, times: int = 1) -> str:
    return f"ran {command} {times}"


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
        assert await session.guard(bash, on_deny="return")("rm x") == "Not rm."
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


def test_the_decorator_finds_its_session(config: Path) -> None:
    @hookline.guard(name="bash")
    def run(command: str) -> str:
        return command

    with pytest.raises(HooklineError, match="without a session"):
        run("ls")
    with begun(config):
        assert run("ls") == "ls"
        with begun(config, id="inner") as inner:
            assert run("ls") == "ls"
            assert inner.tool_calls == 1
            heard: list[BaseException] = []
            thread = threading.Thread(target=lambda: heard.append(_raised(run)))
            thread.start()
            thread.join()
            assert "several sessions" in str(heard[0])
        with pytest.raises(Denied):
            run("rm x")


def _raised(run: Any) -> BaseException:
    try:
        run("ls")
    except HooklineError as error:
        return error
    raise AssertionError


def test_a_changed_input_reaches_the_tool_and_nothing_else_is_touched(config: Path) -> None:
    @dataclass
    class Options:
        depth: int

    class Web:
        def curl(self, url: str, options: Options, /, *more: str, to: Path = Path("x"), **rest: Any) -> Any:
            return self, url, options, more, to, rest

    web, options = Web(), Options(3)
    with begun(config) as session:
        got = session.guard(web.curl)("http://a", options, "m", to=Path("p"), extra=options)
        assert got == (web, "https://a", options, ("m",), Path("p"), {"extra": options})
        assert got[2] is options
        unbound = session.guard(Web.curl, name="curl")
        assert unbound(web, "http://a", options)[0] is web


def test_a_change_that_the_tool_cannot_take_is_a_deny(tmp_path: Path) -> None:
    path = tmp_path / "hookline.yaml"
    path.write_text("""
hooks:
  - {id: more, on: tool.before, when: {tool: a}, then: {set: {input.other: 1}}}
  - {id: less, on: tool.before, when: {tool: b}, then: {remove: input.x}}
""")
    with hookline.session(tmp_path, config=path) as session:
        for name in ("a", "b"):
            with pytest.raises(Denied, match="a hook"):
                session.guard(lambda x: x, name=name)(1)


def test_results_and_errors_are_heard(config: Path) -> None:
    def read(path: str) -> str:
        if path == "none":
            raise FileNotFoundError(path)
        return f"secret in {path}" if path == "s" else path

    with begun(config) as session:
        guarded = session.guard(read)
        assert guarded("s") == "***"
        session.take_notes()
        with pytest.raises(FileNotFoundError):
            guarded("none")
        assert session.take_notes() == "It failed: FileNotFoundError: none"
        with pytest.raises(TypeError):
            guarded()


FAILING = """
hooks:
  - {id: scan, on: tool.after, when: {input: {path: unseen}}, then: {run: [no-such-scanner]}, on_error: closed}
  - {id: mask, on: tool.after, when: {error: token}, then: {replace: {in: error, pattern: 'token \\d+', with: a token}}}
  - {id: mend, on: tool.after, when: {input: {path: mended}}, then: {set: {tool.ok: true, result: nothing there}}}
"""


@pytest.mark.parametrize(
    ("path", "left"),
    [("unseen", "[withheld: hook scan could not check it]"), ("masked", "PermissionError: masked: a token")],
)
def test_a_failed_tools_own_words_do_not_pass_a_hook_that_changed_them(tmp_path: Path, path: str, left: str) -> None:
    def read(path: str) -> str:
        raise PermissionError(f"{path}: token 123")

    async def read_later(path: str) -> str:
        return read(path)

    (tmp_path / "hookline.yaml").write_text(FAILING)
    with begun(tmp_path / "hookline.yaml") as session:
        with pytest.raises(ToolFailed) as failed:
            session.guard(read)(path)
        assert (str(failed.value), failed.value.__suppress_context__) == (left, True)
        with pytest.raises(ToolFailed) as failed:
            session.run(session.guard(read_later, name="read")(path))
        assert str(failed.value) == left
        assert session.guard(read)("mended") == "nothing there"


def test_halt_is_never_only_a_result(config: Path) -> None:
    with begun(config) as session, pytest.raises(Halted, match="Enough"):
        session.guard(shell, name="bash", on_deny="return")("halt")


@pytest.mark.parametrize(("answer", "runs"), [(True, True), (False, False), ("yes", False), (None, False)])
def test_a_person_is_asked(config: Path, answer: Any, runs: bool) -> None:
    asked: list[Question] = []

    def ask(question: Question) -> Any:
        asked.append(question)
        return answer

    with begun(config, ask=ask) as session:
        bash = session.guard(shell, name="bash", on_deny="return")
        assert bash("git push") == ("ran git push 1" if runs else "Push?")
    assert asked == [Question("Push?", "bash", {"command": "git push", "times": 1}, "push")]


@awaited
async def test_without_somebody_to_ask_it_is_a_deny(config: Path) -> None:
    async def yes(question: Question) -> bool:
        return True

    async with begun(config) as session:
        with pytest.raises(Denied, match="Push"):
            await asyncio.to_thread(session.guard(shell, name="bash"), "git push")
    async with begun(config, ask=yes) as session:
        assert session.guard(shell, name="bash")("git push") == "ran git push 1"


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


def test_a_session_that_may_not_begin_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "hookline.yaml"
    path.write_text("hooks: [{id: no, on: session.start, then: {halt: Closed.}}]")
    with pytest.raises(Halted, match="Closed"), hookline.session(tmp_path, config=path):
        pytest.fail("it began")
    with pytest.raises(HooklineError, match="without a session"):
        hookline.guard(shell)("ls")
