"""A guarded Python tool: its arguments, result and errors as hooks change them."""

from __future__ import annotations

import asyncio
import functools
import threading
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

import hookline
from hookline import Denied, Halted, HooklineError, ToolFailed
from hookline.hosts.python.guard import bind_arguments, to_plain_value


def begun(config: Path, **options: Any) -> hookline.Session:
    return hookline.session(config.parent, config=config, **options)


def shell(command: str, *, times: int = 1) -> str:
    return f"ran {command} {times}"


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


REMOVING = r"""
hooks:
  - {id: no-env, on: tool.before, when: {input: {path: '\.env$'}}, then: {deny: Not this file.}}
  - {id: unsafe, on: tool.before, when: {input: {path: /etc}}, then: {remove: input.path}}
  - {id: always, on: tool.before, when: {tool: always}, then: {remove: input.path}}
  - {id: mark, on: tool.before, when: {input: {content: mark}}, then: {set: {input.content: marked}}}
"""


def test_hooks_decide_about_the_default_of_an_argument_that_they_remove(tmp_path: Path) -> None:
    default = object()
    (tmp_path / "hookline.yaml").write_text(REMOVING)
    with begun(tmp_path / "hookline.yaml") as session:
        for path in ("a", default):
            safe = session.guard(lambda content, path=path: (content, path), name="safe")
            assert safe("x", "/etc/passwd") == ("x", path)
            assert safe("mark", "/etc/passwd") == ("marked", path)
        secret = session.guard(lambda content, path=".env": (content, path), name="secret")
        with pytest.raises(Denied, match="Not this file"):
            secret("x", "/etc/passwd")
        for arguments in ((), ("b",)):
            with pytest.raises(Denied, match="a hook removed path, which has a default"):
                session.guard(lambda path="a": path, name="always")(*arguments)


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


RESULTS = """
hooks:
  - {id: succeeded, on: tool.succeeded, then: {replace: {in: result, pattern: '4111-[0-9]+', with: '****'}}}
  - {id: failed, on: tool.failed, then: {set: {tool.ok: true, result: recovered}}}
  - {id: after, on: tool.after, then: {append: {tool.result: seen}}}
  - {id: store, on: tool.store, then: {append: {tool.result: stored}}}
"""


def test_every_event_about_a_result_is_fired_in_its_order(tmp_path: Path) -> None:
    def pay(amount: int) -> str:
        if amount < 0:
            raise ValueError("too little")
        return f"paid {amount} with 4111-22"

    (tmp_path / "hookline.yaml").write_text(RESULTS)
    with begun(tmp_path / "hookline.yaml") as session:
        assert session.guard(pay)(5) == "paid 5 with ****\nseen\nstored"
        assert session.guard(pay)(-1) == "recovered\nseen\nstored"


def test_halt_is_never_only_a_result(config: Path) -> None:
    with begun(config) as session, pytest.raises(Halted, match="Enough"):
        session.guard(shell, name="bash", on_deny="return")("halt")


def test_no_tool_runs_after_a_halt_until_the_next_prompt(config: Path) -> None:
    """Most frameworks turn an exception of a tool into a result, and go on."""
    ran: list[str] = []
    with begun(config) as session:
        bash = session.guard(ran.append, name="bash", on_deny="return")
        for command in ("halt", "ls", "rm x"):
            with pytest.raises(Halted, match="Enough"):
                bash(command)
        assert ran == []
        session.run(session.prompt("Go on."))
        bash("ls")
        assert ran == ["ls"]


def test_a_halt_after_a_tool_stops_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "hookline.yaml"
    path.write_text("hooks: [{id: end, on: tool.after, max_fires: 1, then: {halt: Enough.}}]")
    ran: list[str] = []

    async def bash(command: str) -> None:
        ran.append(command)

    with begun(path) as session:
        for _ in range(2):
            with pytest.raises(Halted, match="Enough"):
                session.run(session.guard(bash)("ls"))
    assert ran == ["ls"]


class Color(Enum):
    RED = "red"


class Opaque:
    pass


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Path("a/b"), "a/b"),
        (b"x\xff", "x\ufffd"),
        (Color.RED, "red"),
        ({Path("k"): (1, {2})}, {"k": [1, [2]]}),
        (Opaque(), "<Opaque>"),
        (Opaque, "<type>"),
    ],
)
def test_hooks_see_plain_values(value: Any, plain: Any) -> None:
    assert to_plain_value(value) == plain


def test_a_value_that_contains_itself_ends() -> None:
    value: list[Any] = []
    value.append(value)
    assert "…" in str(to_plain_value(value))


def test_arguments_are_bound_as_the_tool_itself_would() -> None:
    def tool(a: int, *rest: int, b: int = 2, **more: int) -> None: ...

    assert bind_arguments(tool, (1, 5), {"c": 3}).input == {"a": 1, "rest": [5], "b": 2, "c": 3}
    with pytest.raises(TypeError):
        bind_arguments(tool, (), {})


def test_a_result_that_could_not_be_checked_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "hookline.yaml"
    file.write_text(
        "hooks: [{id: redact, on: tool.after, when: {expr: 1 / max_turns > 0}, then: {set: {result: '***'}}}]"
    )

    @hookline.guard(name="bash")
    def run(command: str) -> str:
        if command == "fail":
            raise ValueError("token 123")
        return "token 123"

    with begun(file):
        for command in ("ls", "fail"):
            with pytest.raises(ToolFailed, match="withheld: hook redact could not check it") as caught:
                run(command)
            assert "123" not in str(caught.value)
            assert caught.value.__cause__ is None


class Text(str):
    """A string that shows itself as another."""

    def __str__(self) -> str:
        return "ls"


def _positional(command: Any) -> str:
    return f"ran {command!r}"


def _other_name(cmd: Any) -> str:
    return f"ran {cmd!r}"


def _any_number(*command: Any) -> str:
    return f"ran {command!r}"


def _by_name(*, command: Any) -> str:
    return f"ran {command!r}"


@pytest.mark.parametrize(
    "call",
    [
        lambda guard: guard(_positional)("rm -rf x"),
        lambda guard: guard(_positional)(["rm", "-rf", "x"]),
        lambda guard: guard(_positional)(("bash", "-c", "rm -rf x")),
        lambda guard: guard(_positional)(Text("rm -rf x")),
        lambda guard: guard(_positional)(b"rm -rf x"),
        lambda guard: guard(_positional)(Path("rm x")),
        lambda guard: guard(_other_name)("rm -rf x"),
        lambda guard: guard(_other_name)(cmd=["rm", "-rf", "x"]),
        lambda guard: guard(_any_number)("rm", "-rf", "x"),
        lambda guard: guard(_by_name)(command="rm -rf x"),
    ],
)
def test_no_spelling_of_the_arguments_passes_a_guard(config: Path, call: Any) -> None:
    with begun(config), pytest.raises(Denied):
        call(lambda function: hookline.guard(name="bash")(function))


def test_an_async_tool_is_guarded_before_it_runs(config: Path) -> None:
    ran: list[str] = []

    @hookline.guard(name="bash")
    async def run(command: str) -> None:
        ran.append(command)

    async def use() -> None:
        with begun(config):
            with pytest.raises(Denied):
                await run("rm -rf x")
            await run("ls")

    asyncio.run(use())
    assert ran == ["ls"]


@pytest.mark.parametrize(
    ("module", "named"),
    [
        ("langchain_core.tools.structured", "hookline.frameworks.langchain.HooklineMiddleware"),
        ("agents.tool", "hookline.frameworks.openai_agents.HooklineHooks"),
        ("google.adk.tools.function_tool", "hookline.frameworks.google_adk.HooklinePlugin"),
        ("smolagents.tools", "hookline.frameworks.smolagents.HooklineHooks"),
        ("llama_index.core.tools", "hookline.frameworks.llama_index.HooklineHooks"),
        ("crewai.tools.base_tool", "hookline.frameworks.crewai.HooklineHooks"),
        ("strands.tools.decorator", "hookline.frameworks.strands.HooklineHandler"),
    ],
)
@pytest.mark.parametrize("more", [{}, {"__get__": lambda self, held, kind=None: self}], ids=["object", "descriptor"])
def test_a_tool_object_of_a_framework_is_refused_with_its_adapter(
    module: str, named: str, more: dict[str, Any]
) -> None:
    base = type("Tool", (), {"__module__": module, "__call__": lambda self: None, **more})
    own = type("MyTool", (base,), {"__module__": "my_program"})
    for tool in (own(), own):  # as a decorator of the class, it would guard its constructor
        with pytest.raises(HooklineError, match=f"MyTool is a tool of .*{named}"):
            hookline.guard(tool)


class _Greeter:
    name = "bash"

    def __call__(self, text: str) -> str:
        return text


@pytest.mark.parametrize(
    "tool", [_Greeter(), functools.partial(_Greeter()), functools.partial(functools.partial(shell))]
)
def test_hooks_match_a_tool_object_by_its_own_name(tmp_path: Path, tool: Any) -> None:
    config = tmp_path / "hookline.yaml"
    config.write_text("hooks: [{on: tool.before, when: {tool: bash}, then: {deny: no}}]", encoding="utf-8")
    with begun(config) as session, pytest.raises(Denied, match="no"):
        session.guard(tool)("hi")


def test_an_object_that_cannot_be_called_is_refused_at_once() -> None:
    with pytest.raises(HooklineError, match="cannot be called"):
        hookline.guard(object())


@pytest.mark.parametrize(
    "wrap", [lambda read: functools.partial(read, times=1), lambda read: lambda path: read(path, 1)]
)
def test_hooks_see_the_result_of_whatever_returns_a_coroutine(config: Path, wrap: Any) -> None:
    config.write_text(
        "hooks: [{on: tool.after, then: {replace: {in: result, pattern: secret, with: '***'}}}]", encoding="utf-8"
    )

    async def read(path: str, times: int) -> str:
        return f"secret of {path} " * times

    async def call() -> Any:
        with begun(config) as session:
            return await session.guard(wrap(read))("a")

    assert asyncio.run(call()) == "*** of a "


def test_a_generator_is_refused_because_hooks_cannot_see_its_values() -> None:
    def lines(path: str) -> Any:
        yield path

    async def stream(path: str) -> Any:
        yield path

    for tool in (lines, stream):
        with pytest.raises(HooklineError, match="yields; return the values as a list"):
            hookline.guard(tool)
