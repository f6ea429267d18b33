"""The proxy, line by line: what passes, what is judged, and what becomes of everything when a peer misbehaves."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from hookline.record.record_log import LogFilter, RecordLog
from hookline.record.segment import record_directory
from mcp_proxy_client import TIMEOUT, Project, RawClient, raw_client

pytestmark = pytest.mark.slow


FORM = {"elicitation": {}}
DENY = {
    "id": "no-bad",
    "on": "tool.before",
    "when": {"tool": "mcp.raw.*", "input": {"x": "bad"}},
    "then": {"deny": "not this"},
}
SLOW = {
    "id": "slow",
    "on": "tool.before",
    "when": {"tool": "mcp.raw.echo", "input": {"x": "slow"}},
    "then": {"run": "sleep 30"},
    "on_error": "closed",
}
ASK = {"id": "ask", "on": "tool.before", "when": {"tool": "mcp.raw.echo"}, "then": {"ask": "Really?"}}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def driven(
    project: Project, play: Callable[[RawClient], Coroutine[Any, Any, None]], *words: str, **capabilities: Any
) -> None:
    async def run() -> None:
        async with raw_client(project, project.raw_argv(*words), **capabilities) as client:
            await play(client)

    asyncio.run(run())


def text_of(message: dict[str, Any]) -> str:
    return "\n".join(block["text"] for block in message["result"]["content"])


def calls_heard(project: Project) -> list[dict[str, Any]]:
    return [message for message in project.received_messages() if message.get("method") == "tools/call"]


def test_a_denied_call_is_a_tool_error_and_the_server_never_hears_of_it(project: Project) -> None:
    async def play(client: RawClient) -> None:
        client.call(1, "echo", x="bad")
        denied = await client.answer(1)
        assert denied["result"] == {
            "content": [{"type": "text", "text": "not this (hook no-bad, hooks.yaml:1)"}],
            "isError": True,
        }
        client.call(2, "echo", x="good")
        assert text_of(await client.answer(2)) == '{"x": "good"}'

    driven(project.hooks(DENY), play)
    assert [call["id"] for call in calls_heard(project)] == [2]


@pytest.mark.parametrize(
    "arguments",
    [
        {"tool_calls": [{"name": "echo", "arguments": {"x": "good"}}, {"name": "echo", "arguments": {"x": "bad"}}]},
        {"tool_calls": '[{"name": "echo", "arguments": "{\\"x\\": \\"bad\\"}"}]'},
        {"tool_name": "echo", "arguments": '{"x": "bad"}'},
        {"tool_calls": [{"name": "batch", "arguments": {"tool_calls": [{"name": "echo", "arguments": {"x": "bad"}}]}}]},
        {"tool_calls": [{"name": "echo", "arguments": {"x": "good"}}] * 1_001},
    ],
    ids=["list", "json", "one", "nested", "many"],
)
def test_calls_within_a_call_are_judged(project: Project, arguments: dict[str, Any]) -> None:
    async def play(client: RawClient) -> None:
        client.call(1, "echo", **arguments)
        assert (await client.answer(1))["result"]["isError"] is True
        client.call(2, "echo", tool_calls=[{"name": "echo", "arguments": {"x": "good"}}])
        assert "isError" not in (await client.answer(2))["result"]

    driven(project.hooks(DENY), play)
    assert [call["id"] for call in calls_heard(project)] == [2]


@pytest.mark.parametrize("given", [{"tool_calls": [{"name": "echo", "arguments": {"x": "good"}}]}, {"x": "good"}])
def test_calls_that_a_hook_puts_into_a_call_are_judged(project: Project, given: dict[str, Any]) -> None:
    calls = [{"name": "echo", "arguments": {"x": "bad"}}]
    change = {
        "id": "change",
        "on": "tool.before",
        "when": {"tool": "mcp.raw.echo"},
        "then": {"set": {"input.tool_calls": calls}},
    }

    async def play(client: RawClient) -> None:
        client.call(1, "echo", **given)
        assert (await client.answer(1))["result"]["isError"] is True

    driven(project.hooks(change, DENY), play)
    assert not calls_heard(project)


def test_a_call_with_many_calls_in_it_passes_where_no_hook_hears_calls(project: Project) -> None:
    async def play(client: RawClient) -> None:
        client.call(1, "echo", tool_calls=[{"name": "echo", "arguments": {"x": "good"}}] * 1_001)
        assert "isError" not in (await client.answer(1))["result"]

    driven(project.hooks({"id": "end", "on": "session.end", "then": {"log": "bye"}}), play)


def test_an_ask_about_a_call_within_a_call_is_asked(project: Project) -> None:
    ask = {**ASK, "when": {"tool": "mcp.raw.echo", "input": {"x": "bad"}}}

    async def play(client: RawClient) -> None:
        client.call(1, "echo", tool_calls=[{"name": "echo", "arguments": {"x": "bad"}}])
        assert (await client.answer(1))["result"]["isError"] is True

    driven(project.hooks(ask), play)
    assert not calls_heard(project)


@pytest.mark.parametrize("name", ["mcp.raw.echo", "mcp_raw.echo", "mcp__raw__echo"])
def test_a_tool_answers_to_each_of_its_names(project: Project, name: str) -> None:
    async def play(client: RawClient) -> None:
        client.call(1, "echo")
        assert (await client.answer(1))["result"]["isError"] is True

    driven(project.hooks({"id": "no", "on": "tool.before", "when": {"tool": name}, "then": {"deny": "no"}}), play)


def test_the_name_that_was_given_counts_more_than_the_servers_own(project: Project) -> None:
    hook = {"id": "no", "on": "tool.before", "when": {"tool": "mcp.my_files.echo"}, "then": {"deny": "no"}}
    project.hooks(hook)

    async def run() -> None:
        async with raw_client(project, project.raw_argv(options=("--name", "my files"))) as client:
            client.call(1, "echo")
            assert (await client.answer(1))["result"]["isError"] is True

    asyncio.run(run())


def test_everything_else_passes_as_it_came(project: Project) -> None:
    line = b'{"params":{"z":1.10, "a":"\\u00e9","_meta":{"progressToken":7,"x/y":[null]}} ,"method":"custom/thing","id":"a","jsonrpc":"2.0"}'

    async def play(client: RawClient) -> None:
        client.write(line)
        assert (await client.answer("a"))["result"]["_meta"] == {"progressToken": 7, "x/y": [None]}
        client.write(b'{"jsonrpc":"2.0","method":"notifications/whatever","params":{"n":1e3}}')
        client.call(1, "echo")
        await client.answer(1)

    driven(project.hooks(DENY), play)
    heard = project.log.read_bytes().splitlines()
    assert line in heard
    assert b'{"jsonrpc":"2.0","method":"notifications/whatever","params":{"n":1e3}}' in heard


def test_what_the_server_says_by_itself_passes_as_it_came(project: Project) -> None:
    said = '{"method":"notifications/progress",  "params":{"progressToken":7,"progress":0.50},"jsonrpc":"2.0"}'
    asked = '{"id":9,"method":"sampling/createMessage","params":{"_meta":{"k":1}},"jsonrpc":"2.0"}'

    async def play(client: RawClient) -> None:
        client.call(1, "raw", line=said)
        assert await client.line() == said.encode() + b"\n"
        client.call(2, "raw", line=asked)
        assert await client.line() == asked.encode() + b"\n"
        client.write({"jsonrpc": "2.0", "id": 9, "result": {"role": "assistant"}})
        client.request(3, "ping")
        await client.answer(3)

    driven(project, play)
    assert {"jsonrpc": "2.0", "id": 9, "result": {"role": "assistant"}} in project.received_messages()


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping","params":{"name":"echo","arguments":{"x":"bad"}}}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":\r{"jsonrpc":"2.0","id":8,"method":"tools/call"}\r}}',
        '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"\u2028{}\u2028"}}'.encode(),
    ],
)
def test_a_line_that_others_could_read_differently_is_passed_on_as_we_read_it(project: Project, line: bytes) -> None:
    async def play(client: RawClient) -> None:
        client.write(line)
        await client.answer(1)

    driven(project.hooks(DENY), play)
    heard = project.log.read_bytes().split(b"\n")[1]
    assert json.loads(heard)["method"] == "ping"
    assert heard.isascii()
    assert heard.count(b'"method"') <= 2
    assert b"\r" not in heard


def test_each_message_of_a_batch_is_judged(project: Project) -> None:
    async def play(client: RawClient) -> None:
        calls = [
            {"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {"name": "echo", "arguments": {"x": x}}}
            for n, x in ((1, "bad"), (2, "good"))
        ]
        client.write(calls)
        assert (await client.answer(1))["result"]["isError"] is True
        assert text_of(await client.answer(2)) == '{"x": "good"}'

    driven(project.hooks(DENY), play)
    assert [call["id"] for call in calls_heard(project)] == [2]


def test_what_cannot_be_read_or_judged_is_not_passed_on(project: Project) -> None:
    deep: Any = "x"
    for _ in range(200):
        deep = [deep]

    async def play(client: RawClient) -> None:
        client.write(b"{not json")
        assert (await client.next())["error"]["code"] == -32700
        client.write(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"\xff"}}')
        assert (await client.next())["error"]["code"] == -32700
        client.request(2, "tools/call", {"name": ["echo"]})
        assert (await client.answer(2))["error"]["code"] == -32602
        client.request(3, "tools/call", {"name": "echo", "arguments": ["bad"]})
        assert (await client.answer(3))["error"]["code"] == -32602
        client.call(4, "echo", x=deep)
        assert (await client.answer(4))["error"]["code"] == -32602
        client.write({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "echo"}})
        client.request(5, "ping")
        await client.answer(5)

    driven(project, play)
    assert [message["method"] for message in project.received_messages()] == ["initialize", "ping"]


def test_an_id_that_is_in_use_is_refused(project: Project) -> None:
    async def play(client: RawClient) -> None:
        client.call(1, "hold")
        client.request(1, "ping")
        assert (await client.answer(1))["error"]["code"] == -32600
        client.request("1", "ping")
        assert "result" in await client.answer("1")

    driven(project, play)


def test_changed_input_is_what_the_server_gets(project: Project) -> None:
    hook = {"id": "change", "on": "tool.before", "when": {"tool": "mcp.raw.echo"}, "then": {"set": {"input.x": "mine"}}}

    async def play(client: RawClient) -> None:
        client.request(
            1, "tools/call", {"name": "echo", "arguments": {"x": "a", "y": 1}, "_meta": {"progressToken": 5}}
        )
        assert json.loads(text_of(await client.answer(1))) == {"x": "mine", "y": 1}

    driven(project.hooks(hook), play)
    assert calls_heard(project)[0]["params"]["_meta"] == {"progressToken": 5}


def test_a_slow_hook_holds_up_only_its_own_call(project: Project) -> None:
    async def play(client: RawClient) -> None:
        client.call(1, "echo", x="slow")
        for n in range(2, 52):
            client.call(n, "echo", x=f"quick {n}")
        got = [await client.next() for _ in range(50)]
        assert [message["id"] for message in got] == list(range(2, 52))
        assert [json.loads(text_of(message))["x"] for message in got] == [f"quick {n}" for n in range(2, 52)]

    driven(project.hooks(SLOW), play)
    assert 1 not in [call["id"] for call in calls_heard(project)]


def test_fifty_calls_at_once_that_all_wait_for_a_hook(project: Project) -> None:
    hook = {
        "id": "look",
        "on": "tool.before",
        "when": {"tool": "mcp.raw.echo"},
        "then": {"run": "grep -q bad && exit 2 || exit 0", "reads": "exit2"},
        "on_error": "closed",
    }

    async def play(client: RawClient) -> None:
        for n in range(1, 51):
            client.call(n, "echo", x="bad" if n % 2 else "good")
        got = {message["id"]: message for message in [await client.next() for _ in range(50)]}
        assert {n for n, message in got.items() if message["result"].get("isError")} == set(range(1, 51, 2))

    driven(project.hooks(hook), play)
    assert {call["id"] for call in calls_heard(project)} == set(range(2, 51, 2))


def test_a_call_that_is_cancelled_while_a_hook_decides_never_reaches_the_server(project: Project) -> None:
    async def play(client: RawClient) -> None:
        client.call(1, "echo", x="slow")
        client.write({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        client.call(2, "echo", x="next")
        assert (await client.next())["id"] == 2

    driven(project.hooks(SLOW), play)
    assert [message.get("id") for message in project.received_messages()] == [0, 2]


def test_cancelling_a_call_that_runs_is_told_to_the_server(project: Project) -> None:
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}

    async def play(client: RawClient) -> None:
        client.call(1, "hold")
        client.write(cancelled)
        client.request(2, "ping")
        await client.answer(2)

    driven(project, play)
    assert cancelled in project.received_messages()


def test_the_late_result_of_a_cancelled_call_is_not_the_answer_to_another_request(project: Project) -> None:
    redact = {
        "id": "redact",
        "on": "tool.after",
        "then": {"replace": {"in": "result", "pattern": "hunter2", "with": "***"}},
    }
    late = {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "hunter2"}]}}

    async def play(client: RawClient) -> None:
        client.call(1, "hold")
        client.write({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        client.request(1, "ping")
        client.call(2, "raw", line=json.dumps(late))
        said = [await client.next(), await client.next()]
        assert sorted(each.get("error", {}).get("code", 0) for each in said) == [-32600, 0]
        assert "hunter2" not in json.dumps(said)

    driven(project.hooks(redact), play)
    assert "ping" not in [message.get("method") for message in project.received_messages()]


@pytest.mark.parametrize(
    ("reply", "allowed"),
    [
        ({"result": {"action": "accept", "content": {"allow": True}}}, True),
        ({"result": {"action": "accept", "content": {"allow": False}}}, False),
        ({"result": {"action": "accept"}}, False),
        ({"result": {"action": "decline"}}, False),
        ({"result": {"action": "cancel"}}, False),
        ({"error": {"code": -32600, "message": "I cannot"}}, False),
    ],
)
def test_ask_is_a_form_for_the_user(project: Project, reply: dict[str, Any], allowed: bool) -> None:
    async def play(client: RawClient) -> None:
        client.call(1, "echo", x=1)
        asked = await client.next()
        assert asked["method"] == "elicitation/create"
        assert "Really?" in asked["params"]["message"]
        assert "mcp.raw.echo" in asked["params"]["message"]
        assert asked["params"]["requestedSchema"]["required"] == ["allow"]
        client.write({"jsonrpc": "2.0", "id": asked["id"], **reply})
        answer = await client.answer(1)
        assert answer["result"].get("isError", False) is not allowed
        assert allowed or text_of(answer) == "Really? (not allowed by the user) (hook ask, hooks.yaml:1)"

    driven(project.hooks(ASK), play, **FORM)
    assert len(calls_heard(project)) == allowed


@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {"url": {}}}])
def test_ask_is_a_deny_where_the_client_shows_no_forms(project: Project, capabilities: dict[str, Any]) -> None:
    async def play(client: RawClient) -> None:
        client.call(1, "echo")
        assert text_of(await client.answer(1)) == "Really? (approval cannot be requested here) (hook ask, hooks.yaml:1)"

    driven(project.hooks(ASK), play, **capabilities)
    assert calls_heard(project) == []
    record = record_directory(project.home / ".local/state/hookline")
    rows = RecordLog(record, LogFilter(event="tool.before")).latest(20)
    assert [(row["verdict"], row["outcome"]) for row in rows] == [("ask", "refused")]


def test_the_question_is_withdrawn_when_its_call_is_cancelled(project: Project) -> None:
    async def play(client: RawClient) -> None:
        client.call(1, "echo")
        asked = await client.next()
        client.write({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})
        withdrawn = await client.next()
        assert withdrawn["method"] == "notifications/cancelled"
        assert withdrawn["params"]["requestId"] == asked["id"]

    driven(project.hooks(ASK), play, **FORM)
    assert calls_heard(project) == []


def test_a_changed_result_is_what_the_client_gets(project: Project) -> None:
    hook = {"id": "mask", "on": "tool.after", "when": {"tool": "mcp.raw.*"}, "then": {"set": {"result": "masked"}}}

    async def play(client: RawClient) -> None:
        client.call(1, "echo", x="secret")
        assert text_of(await client.answer(1)) == "masked"
        client.call(2, "error", text="secret")
        assert (await client.answer(2))["error"] == {"code": -32602, "message": "masked"}

    driven(project.hooks(hook), play)


def test_a_result_that_could_not_be_checked_is_an_error(project: Project) -> None:
    hook = {"id": "redact", "on": "tool.after", "when": {"expr": "1 / max_turns > 0"}, "then": {"set": {"result": "x"}}}

    async def play(client: RawClient) -> None:
        client.call(1, "echo", x="token 123")
        answer = await client.answer(1)
        assert answer["result"]["isError"] is True
        assert text_of(answer) == "[withheld: hook redact could not check it]"
        assert "123" not in str(answer)
        client.call(2, "error", text="token 123")
        assert "123" not in str(await client.answer(2))

    driven(project.hooks(hook), play)


def test_notes_for_the_agent_stand_with_the_result(project: Project) -> None:
    before = {"id": "before", "on": "tool.before", "then": {"tell": "mind the gap"}}
    after = {"id": "after", "on": "tool.after", "then": {"tell": "and the step"}}

    async def play(client: RawClient) -> None:
        client.call(1, "echo", x=1)
        content = (await client.answer(1))["result"]["content"]
        assert [block["text"] for block in content] == ['{"x": 1}', "mind the gap\n\nand the step"]

    driven(project.hooks(before, after), play)


def test_a_result_waits_for_a_hook_that_runs_a_program(project: Project) -> None:
    hook = {"id": "look", "on": "tool.after", "then": {"run": "sleep 0.2; echo looked", "tell": "agent"}}

    async def play(client: RawClient) -> None:
        client.call(1, "echo", x=1)
        client.request(2, "ping")
        assert (await client.next())["id"] == 2
        assert "looked" in text_of(await client.next())

    driven(project.hooks(hook), play)


def test_only_one_answer_to_a_call_is_passed_on(project: Project) -> None:
    early = '{"jsonrpc":"2.0","id":3,"result":{"content":[]}}'

    async def play(client: RawClient) -> None:
        client.call(1, "twice")
        assert text_of(await client.next()) == "first"
        client.call(2, "raw", line=early)
        client.request("after", "ping")
        assert (await client.next())["id"] == "after"
        client.call(3, "echo", x=1)
        assert text_of(await client.next()) == '{"x": 1}'

    driven(project, play)


def test_ten_megabytes_pass_both_ways(project: Project) -> None:
    async def play(client: RawClient) -> None:
        big = "x" * 10_000_000
        client.call(1, "echo", x=big)
        assert json.loads(text_of(await client.answer(1)))["x"] == big

    driven(project.hooks(DENY), play)


def test_what_is_no_json_from_the_server_is_skipped(project: Project) -> None:
    async def play(client: RawClient) -> None:
        client.call(1, "garbage")
        assert text_of(await client.next()) == "after the garbage"
        code, said = await client.close_and_wait()
        assert code == 0
        assert "invalid JSON-RPC message" in said

    driven(project, play)


def test_a_server_that_dies_fails_the_calls_in_flight(project: Project) -> None:
    async def play(client: RawClient) -> None:
        client.call(1, "hold")
        client.call(2, "echo", x="slow")
        client.call(3, "exit", code=7)
        got = {message["id"]: message["error"] for message in [await client.next() for _ in range(3)]}
        assert set(got) == {1, 2, 3}
        assert all("exit code 7" in error["message"] for error in got.values())
        assert await client.line() == b""
        code, said = await client.close_and_wait()
        assert code == 1
        assert said.strip().splitlines()[-1] == "hookline: the MCP server ended with exit code 7"
        assert "Traceback" not in said

    driven(project.hooks(SLOW), play)


def test_a_server_that_cannot_be_started_is_one_clear_line(project: Project) -> None:
    async def run() -> None:
        argv = project.argv("no-such-program-anywhere")
        process = await asyncio.create_subprocess_exec(
            *argv, cwd=project.directory, env=project.environment, stdin=-1, stdout=-1, stderr=-1
        )
        out, said = await process.communicate()
        assert process.returncode == 1
        assert out == b""
        assert said.decode().startswith("hookline: the MCP server 'no-such-program-anywhere' cannot be started")
        assert said.count(b"\n") == 1

    asyncio.run(run())


def test_what_is_being_decided_when_the_input_ends_is_still_answered(project: Project) -> None:
    hook = {
        "id": "look",
        "on": "tool.before",
        "then": {"run": "sleep 0.2; exit 2", "reads": "exit2"},
        "on_error": "closed",
    }

    async def play(client: RawClient) -> None:
        assert client.process.stdin is not None
        client.call(1, "echo", x=1)
        client.process.stdin.close()
        assert (await client.answer(1))["result"]["isError"] is True
        assert await client.process.wait() == 0

    driven(project.hooks(hook), play)


def test_a_server_whose_child_keeps_the_pipe_open_has_ended_all_the_same(project: Project) -> None:
    argv = project.argv(
        "sh", "-c", '(sleep 600 & while :; do sleep 0.3; echo "{}"; done) & exec "$0" "$@"', *project.raw_argv()[-3:]
    )

    async def run() -> None:
        async with raw_client(project, argv) as client:
            client.call("last", "exit", code=5)
            assert "exit code 5" in (await client.answer("last"))["error"]["message"]
            code, said = await client.close_and_wait()
            assert code == 1
            assert "Traceback" not in said

    asyncio.run(run())


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def gone(pid: int) -> None:
    until = time.monotonic() + TIMEOUT / 2
    while alive(pid):
        assert time.monotonic() < until
        await asyncio.sleep(0.02)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, None], ids=["killed", "terminated", "left"])
def test_the_server_and_its_children_end_with_the_proxy(project: Project, how: signal.Signals | None) -> None:
    """Even a server that ignores the end of its input and SIGTERM, and what it started."""
    pids = project.directory / "pids"
    server = f'sleep 600 & echo $! > {pids}; exec "$0" "$@" stay'
    argv = project.argv("sh", "-c", server, *project.raw_argv()[-3:])

    async def run() -> None:
        async with raw_client(project, argv) as client:
            child = int(pids.read_text())
            assert alive(child)
            if how is None:
                assert (await client.close_and_wait())[0] == 0
            else:
                client.process.send_signal(how)
                await client.process.wait()
            await gone(child)

    asyncio.run(run())


@pytest.mark.timing
def test_a_server_that_never_answers_the_handshake_costs_nothing(project: Project) -> None:
    async def run() -> None:
        argv = project.argv(sys.executable, "-c", "import sys; sys.stdin.read()")
        process = await asyncio.create_subprocess_exec(
            *argv, cwd=project.directory, env=project.environment, stdin=-1, stdout=-1, stderr=-1
        )
        assert process.stdin is not None
        process.stdin.write(b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}\n')
        await process.stdin.drain()
        await asyncio.sleep(1)
        begun = _cpu(process.pid)
        await asyncio.sleep(1)
        assert _cpu(process.pid) - begun < 0.2
        process.stdin.close()
        await process.wait()

    asyncio.run(run())


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_the_last_hooks_of_a_session_run_after_those_in_the_background(project: Project) -> None:
    out = project.directory / "order"
    slow = {"id": "slow", "on": "tool.after", "background": True, "then": {"run": f"sleep 0.3; echo slow >> {out}"}}
    last = {"id": "last", "on": "session.end", "then": {"run": f"echo last >> {out}"}}

    async def play(client: RawClient) -> None:
        client.call(1, "echo", x=1)
        await client.answer(1)
        assert (await client.close_and_wait())[0] == 0

    driven(project.hooks({**slow, "on_error": "open"}, last), play)
    assert out.read_text() == "slow\nlast\n"


def test_the_session_starts_and_ends(project: Project) -> None:
    out = project.directory / "events"
    hooks = [
        {"id": f"note-{n}", "on": event, "then": {"run": f"echo {event} {{{{session.id}}}} {{{{host.name}}}} >> {out}"}}
        for n, event in enumerate(("session.start", "tool.before", "session.end"))
    ]

    async def play(client: RawClient) -> None:
        client.call(1, "echo", x=1)
        await client.answer(1)
        assert (await client.close_and_wait())[0] == 0

    driven(project.hooks(*hooks), play)
    events = [line.split() for line in out.read_text().splitlines()]
    assert [event for event, _, _ in events] == ["session.start", "tool.before", "session.end"]
    assert len({id for _, id, _ in events}) == 1
    assert {host for _, _, host in events} == {"mcp"}


def test_a_question_in_a_result_for_clients_that_call_again(project: Project) -> None:
    """Such a client says with each request what it can do, and answers by making the call once more."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
    }

    def params(**more: Any) -> dict[str, Any]:
        return {"name": "echo", "arguments": {"x": 1}, "_meta": meta, **more}

    async def asked(client: RawClient, id: int) -> str:
        client.request(id, "tools/call", params())
        result = (await client.answer(id))["result"]
        assert result["resultType"] == "input_required"
        assert result["inputRequests"]["hookline"]["method"] == "elicitation/create"
        state: str = result["requestState"]
        return state

    async def play(client: RawClient) -> None:
        yes = {"hookline": {"action": "accept", "content": {"allow": True}}}
        state = await asked(client, 1)
        client.request(2, "tools/call", params(requestState=state, inputResponses=yes))
        assert text_of(await client.answer(2)) == '{"x": 1}'
        client.request(3, "tools/call", params(requestState=state, inputResponses=yes))
        assert (await client.answer(3))["result"]["resultType"] == "input_required", "a state counts once"
        state = await asked(client, 4)
        client.request(5, "tools/call", params(requestState=state, inputResponses=yes) | {"arguments": {"x": 2}})
        assert (await client.answer(5))["result"]["resultType"] == "input_required", "and for its own call"
        state = await asked(client, 6)
        no = {"hookline": {"action": "decline"}}
        client.request(7, "tools/call", params(requestState=state, inputResponses=no))
        refused = (await client.answer(7))["result"]
        assert refused["isError"] is True
        assert refused["resultType"] == "complete"

    driven(project.hooks(ASK), play)
    assert [(call["id"], call["params"]) for call in calls_heard(project)] == [(2, params())]
    record = record_directory(project.home / ".local/state/hookline")
    rows = RecordLog(record, LogFilter(event="tool.before")).latest(20)
    assert [row["outcome"] for row in rows] == ["ok", None, None, None, "refused"], "each call has its own outcome"


def test_the_result_of_a_task_is_judged_when_it_is_fetched(project: Project) -> None:
    mask = {"id": "mask", "on": "tool.after", "when": {"tool": "mcp.raw.result"}, "then": {"set": {"result": "masked"}}}
    created = {"task": {"taskId": "t1", "status": "working"}}

    async def play(client: RawClient) -> None:
        params = {"name": "result", "arguments": {"result": created}}
        client.request(1, "tools/call", {**params, "task": {"ttl": 1000}})
        assert (await client.answer(1))["result"] == created
        client.request(2, "tasks/result", {"taskId": "t1"})
        assert text_of(await client.answer(2)) == "masked"
        client.request(3, "tasks/result", {"taskId": "of nobody's"})
        assert (await client.answer(3))["result"] == {"taskId": "of nobody's"}
        client.request(4, "tools/call", params)
        assert text_of(await client.answer(4)) == "masked", "who asked for no task gets a result"

    driven(project.hooks(mask), play)


def test_a_guard_of_files_hears_a_tool_that_its_server_calls_destructive(project: Project) -> None:
    guard = {
        "id": "no",
        "on": "tool.before",
        "when": {"tool": "write_file", "input": {"path": "env"}},
        "then": {"deny": "no"},
    }
    wipe = {"name": "wipe", "inputSchema": {"properties": {"path": {}}}, "annotations": {"destructiveHint": True}}

    async def play(client: RawClient) -> None:
        client.request(1, "tools/list", {"tools": [wipe]})
        await client.answer(1)
        client.call(2, "wipe", path=".env")
        assert text_of(await client.answer(2)).startswith("no")
        client.call(3, "wipe", path="a")
        assert text_of(await client.answer(3)) == '{"path": "a"}'

    driven(project.hooks(guard), play)


def test_an_argument_in_another_case_than_declared_does_not_reach_the_server(project: Project) -> None:
    """A server that ignores case would take it for the path, which the guard does not see."""
    guard = {"id": "no", "on": "tool.before", "when": {"input": {"path": "env"}}, "then": {"deny": "no"}}
    tool = {"name": "show", "inputSchema": {"properties": {"path": {}, "deep": {"properties": {"path": {}}}}}}

    async def play(client: RawClient) -> None:
        client.request(1, "tools/list", {"tools": [tool]})
        await client.answer(1)
        for id, arguments in enumerate(({"Path": ".env"}, {"deep": {"PATH": ".env"}}), start=2):
            client.call(id, "show", **arguments)
            assert "differ only in case" in (await client.answer(id))["error"]["message"]
        client.call(9, "show", path="a")
        assert text_of(await client.answer(9)) == '{"path": "a"}'

    driven(project.hooks(guard), play)


def test_a_request_with_its_method_in_another_case_is_answered(project: Project) -> None:
    """Otherwise the client waits for ever."""

    async def play(client: RawClient) -> None:
        client.write({"jsonrpc": "2.0", "id": 1, "Method": "tools/call", "params": {"name": "echo"}})
        assert "differ only in case" in (await client.answer(1))["error"]["message"]

    driven(project.hooks(DENY), play)


def test_a_result_is_recorded_before_the_client_has_it(project: Project) -> None:
    async def play(client: RawClient) -> None:
        for call in range(1, 31):
            client.call(call, "echo", x="good")
            await client.answer(call)
            record = record_directory(project.home / ".local/state/hookline")
            assert len(RecordLog(record, LogFilter(event="tool.after")).latest(50)) == call

    driven(project.hooks(DENY), play)
