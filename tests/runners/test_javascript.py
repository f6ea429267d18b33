"""Scripts: what they see, what they may do, and that none of them gets out, stays, or takes more than its share."""

from __future__ import annotations

import asyncio
import gc
import logging
import subprocess
import sys
import threading
import time
from datetime import timedelta
from typing import Any

import pytest

from hookline.errors import UnavailableError
from hookline.hooks.host import CurrentHook, NullHost, ScriptCall, ToolResult, current_hook
from hookline.hooks.outcome import ActionError, FailureKind
from hookline.runners import javascript
from hookline.runners.javascript import run_script


class Tools(NullHost):
    def __init__(self) -> None:
        self.called: list[tuple[str, dict[str, Any]]] = []
        self.cancelled: list[str] = []
        self.asked_by: list[str | None] = []
        self.begun = asyncio.Event()

    async def call_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        self.called.append((name, input))
        self.begun.set()
        self.asked_by.append(asked.hook if (asked := current_hook.get()) else None)
        if name == "echo":
            return ToolResult(input)
        if name == "fail":
            return ToolResult(None, False, "no such file")
        if name == "raise":
            raise KeyError("x")
        if name == "forever":
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled.append(name)
                raise
        if name == "script":
            return ToolResult(await run_script(ScriptCall("return await callTool('echo', {deep: true})", {}), self))
        raise UnavailableError(f"there is no tool {name!r} here")


def ran(source: str, host: Tools | None = None, timeout: float = 5, **variables: Any) -> Any:
    script = ScriptCall(source, variables, timedelta(seconds=timeout))
    return asyncio.run(run_script(script, host or Tools()))


def failure(source: str, timeout: float = 5) -> tuple[FailureKind, str]:
    with pytest.raises(ActionError) as caught:
        ran(source, timeout=timeout)
    return caught.value.failure.kind, caught.value.failure.text


def test_returns_what_json_can_say() -> None:
    assert ran("return {decision: 'deny', reason: 'é\\u2028'}") == {"decision": "deny", "reason": "é\u2028"}
    assert ran("") is None
    assert ran("return [1, 'a', null, true, NaN, undefined]") == [1, "a", None, True, None, None]


def test_variables_are_there_as_json_has_them() -> None:
    given = {"text": "it's \0 \ud800", "list": [1, {"a": None}], "not": float("nan"), "__proto__": 5}
    assert ran("return given", given=given) == {**given, "not": None}
    assert ran("return [typeof given, typeof other]", given=1) == ["number", "undefined"]


def test_a_script_may_declare_a_name_that_it_was_given() -> None:
    assert ran("const type = 'mine'; let log = 1; return type + log", type="pre_tool_use") == "mine1"


def test_a_script_changes_nothing_but_its_own_copy() -> None:
    given = {"a": [1]}
    assert ran("given.a.push(2); return given.a", given=given) == [1, 2]
    assert given == {"a": [1]}


def test_each_call_has_a_context_of_its_own() -> None:
    assert ran("globalThis.kept = 1; Array.prototype.kept = 1") is None
    assert ran("return [typeof kept, typeof [].kept]") == ["undefined", "undefined"]


def test_contexts_that_are_made_ahead_serve_one_script_each() -> None:
    async def many() -> list[Any]:
        counting = ScriptCall("globalThis.n = (globalThis.n ?? 0) + 1; return n", {})
        answers = []
        for _ in range(3):
            answers += [await run_script(counting, Tools()) for _ in range(6)]  # more than are made ahead
            await asyncio.sleep(0.05)
        return answers

    assert asyncio.run(many()) == [1] * 18


def test_a_script_that_closes_its_own_function_leaves_nothing_behind() -> None:
    """What follows runs as soon as the text is compiled, so no script may be compiled where another one will run."""
    leaves = "}), (globalThis.left = 1), (String.prototype.includes = () => false), (async function () {"

    async def play() -> list[Any]:
        found = []
        for _ in range(4):
            await run_script(ScriptCall(leaves, {}, timedelta(seconds=5)), NullHost())
            await asyncio.sleep(0.05)  # what is prepared is prepared now
            seen = "return [typeof left, 'rm -rf /'.includes('rm')]"
            found.append(await run_script(ScriptCall(seen, {}, timedelta(seconds=5)), NullHost()))
        return found

    assert asyncio.run(play()) == [["undefined", True]] * 4


def test_a_context_is_made_ahead_while_nothing_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    made, may_create = [], threading.Event()
    create = javascript._create_context
    may_create.set()
    monkeypatch.setattr(javascript, "_create_context", lambda: made.append(may_create.wait(30)) or create())
    monkeypatch.setattr(javascript, "_pools", {})
    assert ran("return 1") == 1
    until = time.monotonic() + 5
    while len(made) < 1 + javascript._MAX_NEW_CONTEXTS and time.monotonic() < until:
        time.sleep(0.001)
    assert len(made) == 1 + javascript._MAX_NEW_CONTEXTS
    may_create.clear()  # a script that had to wait for a new context would miss its deadline
    assert ran("return 2") == 2
    may_create.set()


def test_nothing_of_the_host_is_inside() -> None:
    names = [
        "alert",
        "std",
        "os",
        "require",
        "process",
        "document",
        "window",
        "fetch",
        "print",
    ]
    assert ran("return [" + ",".join(f"typeof {name}" for name in names) + "]") == ["undefined"] * len(names)
    assert failure("return await import('/etc/passwd')")[0] is FailureKind.RAISED
    assert failure("Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)")[0] is FailureKind.RAISED


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("throw new Error('broken')", "broken"),
        ("throw 'plain'", "plain"),
        ("throw null", "null was thrown, or out of memory"),
        ("alert('x')", "alert is not defined"),
        ("return Promise.reject(new TypeError('later'))", "later"),
        ("throw {message: {toString() { throw 1 }}}", "the script threw something that cannot be shown"),
        ("let a = {}; a.a = a; return a", "circular reference"),
        ("return {get decision() { throw new Error('getter') }}", "getter"),
        ("return new Proxy({}, {ownKeys() { throw new Error('trap') }})", "trap"),
        ("return {toJSON() { throw new Error('toJSON') }}", "toJSON"),
        ("await new Promise(() => {})", "the script waits for a promise that never settles"),
        ("Object.prototype.then = () => {}; return {}", "the script waits for a promise that never settles"),
        ("function f() { return f() }; f()", "Maximum call stack size exceeded"),
        ("return JSON.parse('['.repeat(1e6))", "Maximum call stack size exceeded"),
        ("return 'x'.repeat(1e9)", "out of memory"),
        ("return new ArrayBuffer(1e9)", "out of memory"),
    ],
)
def test_a_script_that_throws_says_why(source: str, text: str) -> None:
    assert failure(source) == (FailureKind.RAISED, text)


def test_a_script_that_fills_the_memory_fails() -> None:
    kind, text = failure("let a = []; for (;;) a.push(new Array(1000).fill(1))")
    assert kind is FailureKind.RAISED
    assert text.endswith("out of memory")


def test_text_that_is_no_javascript_is_a_failure() -> None:
    assert failure("this is not it")[0] is FailureKind.CANNOT_START
    assert failure("}; for (;;); {")[0] is FailureKind.CANNOT_START


@pytest.mark.parametrize(
    "source",
    [
        "return () => 1",
        "return Symbol('x')",
        "return 'x'.repeat(2e6)",
        "let a = []; for (let i = 0; i < 1500; i++) a = [a]; return a",
    ],
)
def test_what_json_cannot_say_is_no_answer(source: str) -> None:
    assert failure(source)[0] is FailureKind.UNREADABLE_ANSWER


def test_a_bigint_is_no_answer() -> None:
    assert failure("return {reason: 10n}")[0] is FailureKind.RAISED


@pytest.mark.parametrize(
    "source",
    [
        "for (;;);",
        "for (;;) { try { for (;;); } catch {} finally { continue } }",
        "while (true) await null",
        "const again = () => queueMicrotask(again); again(); await new Promise(() => {})",
        "return /^(a+)+$/.test('a'.repeat(50) + 'b')",
        "await callTool('forever')",
        "await null; for (;;);",
        "return {get decision() { for (;;); }}",
        "throw {get message() { for (;;); }}",
    ],
)
@pytest.mark.timing
def test_a_script_that_does_not_end_is_ended(source: str) -> None:
    begun = time.monotonic()
    assert failure(source, timeout=0.2) == (FailureKind.TIMEOUT, "did not answer within 200 ms")
    assert time.monotonic() - begun < 3


def test_several_calls_at_once() -> None:
    host = Tools()
    source = "return await Promise.all([callTool('echo', {n: 1}), callTool('fail'), callTool('echo', {n: 2})])"
    assert ran(source, host) == [
        {"content": {"n": 1}},
        {"content": "no such file", "is_error": True},
        {"content": {"n": 2}},
    ]
    assert [name for name, _ in host.called] == ["echo", "fail", "echo"]


def test_call_tool_never_throws_into_the_script() -> None:
    calls = [
        "callTool('nothing')",
        "callTool('raise')",
        "callTool(5)",
        "callTool('echo', [1])",
        "callTool('echo', cycle)",
    ]
    answers = ran(f"const cycle = {{}}; cycle.c = cycle; return [{', '.join('await ' + call for call in calls)}]")
    assert [answer["is_error"] for answer in answers] == [True] * len(calls)
    assert answers[0]["content"] == "there is no tool 'nothing' here"
    assert answers[1]["content"] == "KeyError: 'x'"


def test_a_call_that_nobody_awaits_ends_with_the_script() -> None:
    host = Tools()
    assert ran("callTool('forever'); await callTool('echo'); return 1", host) == 1
    assert host.cancelled == ["forever"]


def test_calls_are_counted() -> None:
    host = Tools()
    source = "const all = []; for (let i = 0; i < 120; i++) all.push(callTool('echo')); return await Promise.all(all)"
    answers = ran(source, host)
    assert len(host.called) == 100
    assert [answer.get("is_error", False) for answer in answers] == [False] * 100 + [True] * 20


def test_a_script_that_spins_still_gets_its_answers() -> None:
    source = "let done = false; callTool('echo').then(() => done = true); while (!done) await null; return 'done'"
    assert ran(source) == "done"


@pytest.mark.parametrize(
    "poison",
    [
        "globalThis.Promise = null; globalThis.JSON = null; globalThis.Object = null; globalThis.String = null;",
        "Promise.prototype.then = null; Function.prototype.call = null; Function.prototype.bind = null;",
        "String.prototype.slice = null; Array.isArray = () => true; Reflect.ownKeys = null;",
        "Array.prototype.push = Array.prototype.join = null; Array.prototype[Symbol.iterator] = null;",
        "JSON.stringify = () => 'no'; JSON.parse = () => 'no';",
        "delete globalThis.globalThis; Object.prototype.get = () => 1;",
        "Object.defineProperty(Object.prototype, '1', {set() { throw new Error('set') }});",
        "Date.now = () => NaN; Reflect.apply = null; globalThis.Error = null; setTimeout(() => log('t'), 1);",
    ],
)
def test_poisoned_built_ins_do_not_reach_our_own(poison: str) -> None:
    assert ran(f"{poison} log('x'); return await callTool('echo', {{a: 1}})") == {"content": {"a": 1}}


def test_log_goes_to_the_log_with_the_hooks_id(caplog: pytest.LogCaptureFixture) -> None:
    async def within() -> None:
        current_hook.set(CurrentHook("hub.json:PreToolUse[0]"))
        await run_script(ScriptCall("log('a', 1, {b: [2]}, undefined); log('later'); throw 1", {}), Tools())

    with caplog.at_level(logging.INFO, "hookline"), pytest.raises(ActionError):
        asyncio.run(within())
    assert caplog.messages == [
        '[hub.json:PreToolUse[0]] a 1 {"b":[2]} undefined',
        "[hub.json:PreToolUse[0]] later",
    ]


@pytest.mark.timing
def test_a_flood_of_lines_is_cut(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "hookline"):
        ran("for (let i = 0; i < 2e3; i++) log('x'.repeat(1e4))")
    assert len(caplog.messages) == 201
    assert max(map(len, caplog.messages)) < 5_000


def test_an_error_in_a_microtask_is_logged_and_the_script_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "hookline"):
        assert ran("queueMicrotask(() => { throw new Error('aside') }); await null; return 1") == 1
    assert caplog.messages == ["[] uncaught: Error: aside"]


def test_a_call_knows_which_hook_asks() -> None:
    host = Tools()

    async def within() -> None:
        current_hook.set(CurrentHook("guard"))
        await run_script(ScriptCall("await callTool('echo')", {}), host)

    asyncio.run(within())
    assert host.asked_by == ["guard"]


def test_scripts_within_scripts_do_not_wait_for_each_others_threads() -> None:
    host = Nested()

    async def many() -> list[Any]:
        return await asyncio.gather(*(host.asked(0) for _ in range(12)))

    assert asyncio.run(many()) == [{"content": {"content": {"content": "bottom"}}}] * 12


class Nested(NullHost):
    """Each tool call asks a script one level deeper, as a hook on the call would."""

    async def asked(self, depth: int) -> Any:
        current_hook.set(CurrentHook(f"hook {depth}", callers=tuple(f"hook {n}" for n in range(depth))))
        return await run_script(ScriptCall(f"return await callTool('next', {{depth: {depth}}})", {}), self)

    async def call_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        depth = input["depth"] + 1
        return ToolResult("bottom" if depth == 3 else await self.asked(depth))


def test_a_cancelled_script_leaves_no_task_behind() -> None:
    host = Tools()

    async def within() -> None:
        task = asyncio.create_task(run_script(ScriptCall("await callTool('forever')", {}, timedelta(seconds=30)), host))
        await host.begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(within())
    assert host.cancelled == ["forever"]


def test_facts_too_deep_for_json_are_a_failure_not_a_hole() -> None:
    deep: Any = "x"
    for _ in range(5_000):
        deep = [deep]
    with pytest.raises(ActionError) as caught:
        ran("return 1", given=deep)
    assert caught.value.failure.kind is FailureKind.CANNOT_START


def test_many_scripts_at_once_and_in_turn() -> None:
    async def many() -> list[Any]:
        return await asyncio.gather(*(run_script(ScriptCall("return n * 2", {"n": n}), Tools()) for n in range(50)))

    for _ in range(3):
        assert asyncio.run(many()) == [n * 2 for n in range(50)]
    gc.collect()


def test_an_infinite_script_does_not_keep_the_interpreter_from_ending() -> None:
    code = """
import asyncio
from datetime import timedelta
from hookline.hooks.host import NO_HOST, ScriptCall
from hookline.hooks.outcome import ActionError
from hookline.runners import javascript
from hookline.runners.javascript import run_script
try:
    asyncio.run(run_script(ScriptCall("Array(2 ** 31).join()", {}, timedelta(seconds=0.2)), NO_HOST))
except ActionError as failed:
    print(failed.failure.kind)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=20, check=True)
    assert (done.stdout, done.stderr) == ("timeout\n", "")


def lines_of(caplog: pytest.LogCaptureFixture, source: str) -> list[str]:
    with caplog.at_level(logging.INFO, "hookline"):
        ran(source)
    return [message.removeprefix("[] ") for message in caplog.messages]


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("log(new Error('E'))", "Error: E"),
        ("log('failed:', new TypeError('not text'))", "failed: TypeError: not text"),
        (
            "try { null.x } catch (error) { log({error}) }",
            """{"error":"TypeError: cannot read property 'x' of null"}""",
        ),
        ("class Mine extends Error { name = 'Mine' }; log([new Mine('m')])", '["Mine: m"]'),
        ("const e = new Error('E'); e.toString = () => { throw 1 }; log(e)", "[cannot be shown]"),
    ],
)
def test_an_error_is_logged_with_its_message(caplog: pytest.LogCaptureFixture, source: str, line: str) -> None:
    assert lines_of(caplog, source) == [line]


def test_the_console_writes_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    source = (
        "console.log('a', 1); console.warn({b: 2}); console.error(new Error('c')); console.info(); console.debug('d');"
        "console.assert(true, 'no'); console.assert(false, 'e'); console.group('f'); console.groupEnd(); console.table([1])"
    )
    assert lines_of(caplog, source) == ["a 1", '{"b":2}', "Error: c", "", "d", "Assertion failed: e", "f", "[1]"]


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("return await new Promise(done => setTimeout(done, 20, 'later'))", "later"),
        ("const said = []; setTimeout(() => said.push(2), 30); setTimeout(() => said.push(1), 5); setTimeout(() => said.push(0));"
         "await new Promise(done => setTimeout(done, 60)); return said", [0, 1, 2]),
        ("let n = 0; await new Promise(done => { const id = setInterval(() => { if (++n === 3) { clearInterval(id); done() } }, 2) }); return n", 3),
        ("const id = setTimeout(() => { throw 1 }, 1); clearTimeout(id); clearTimeout(99); clearTimeout(); await new Promise(d => setTimeout(d, 10)); return 'fine'", "fine"),
        ("setTimeout(() => {}, 60000); return 'not awaited'", "not awaited"),
        ("setInterval(() => {}); return 'not awaited'", "not awaited"),
        ("try { setTimeout('1 + 1') } catch (error) { return error.message }", "a timer takes a function"),
        ("try { for (;;) setTimeout(() => {}, 1e9) } catch (error) { return error.message }", "a script may have 100 timers at once"),
        ("return (await Promise.all([callTool('echo', {a: 1}), new Promise(done => setTimeout(done, 5, 'b'))]))", [{"content": {"a": 1}}, "b"]),
        ("const begun = Date.now(); await new Promise(done => setTimeout(done, 50)); return Date.now() - begun >= 49", True),
    ],
)  # fmt: skip
def test_timers(source: str, value: Any) -> None:
    assert ran(source) == value


def test_an_error_in_a_timer_is_logged_and_the_script_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    source = (
        "setTimeout(() => { throw new Error('aside') }); await new Promise(done => setTimeout(done, 10)); log('end')"
    )
    assert lines_of(caplog, source) == ["uncaught: Error: aside", "end"]


@pytest.mark.parametrize(
    "source",
    [
        "await new Promise(done => setTimeout(done, 60000))",
        "await new Promise(done => setTimeout(done, 1e300))",
        "setInterval(() => {}, 0); await new Promise(() => {})",
        "const again = () => setTimeout(again); again(); await new Promise(() => {})",
        "await new Promise(done => setTimeout(() => { for (;;); }))",
    ],
)
def test_a_timer_does_not_outlive_the_deadline(source: str) -> None:
    assert failure(source, timeout=0.3)[0] is FailureKind.TIMEOUT


def rounds_while(script: ScriptCall) -> int:
    """How many rounds the event loop makes while the script runs, after one that made the contexts."""

    async def run() -> int:
        for _ in range(3):
            await run_script(ScriptCall("", {}), NullHost())
            await asyncio.sleep(0.05)
        running, rounds = asyncio.ensure_future(run_script(script, NullHost())), 0
        while not running.done():
            rounds += 1
            await asyncio.sleep(0)
        await asyncio.gather(running, return_exceptions=True)
        return rounds

    return asyncio.run(run())


def test_a_short_script_ends_before_the_loop_goes_on() -> None:
    assert min(rounds_while(ScriptCall("return 1", {})) for _ in range(20)) == 1


@pytest.mark.parametrize("source", ["for (;;) {}", "await new Promise(done => setTimeout(done, 50))"])
def test_the_loop_goes_on_while_a_longer_script_runs(source: str) -> None:
    assert rounds_while(ScriptCall(source, {}, timedelta(seconds=0.2))) >= 2


def test_many_scripts_at_once_all_end() -> None:
    async def run() -> list[Any]:
        sources = ["return 1", "let n = 0; while (n < 1e5) n++; return n", "await null; return 3"] * 20
        return await asyncio.gather(*(run_script(ScriptCall(each, {}), NullHost()) for each in sources))

    assert asyncio.run(run()) == [1, 100_000, 3] * 20
