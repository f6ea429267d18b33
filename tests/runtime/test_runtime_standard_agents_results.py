"""What hooks in Python see of a tool's result, and what is stored of it."""

from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hookline.runtime.storage.store import file_url
from hookline.runtime.update_json import update_json
from hookline.runtime.updates import StatusMessage, ToolCallFinished
from hookline.standard_agents import Definitions, ThreadState, define_hook, define_tool
from runtime.scripted_runtime import send_prompt, tool_call_step
from runtime.test_runtime_standard_agents_hooks import define_for_agent, run_defined

SECRET = "4111-1111-1111-1111"


def define_result_tool(execute: Callable[..., Any], name: str = "pay") -> None:
    define_tool(name=name, description="Pays", execute=execute)


def run_one_call(
    tmp_path: Path, definitions: Definitions, tool: str = "pay", **options: Any
) -> tuple[list[dict[str, Any]], list[Any]]:
    """The stored messages and the updates of an exchange with one call."""
    found: list[Any] = []

    async def work(runtime: Any, model: Any) -> None:
        session = await runtime.start()
        seen = await send_prompt(session, "go")
        assert seen.last_end.text == "done"
        found.append((await session.main.get_messages(), seen.happenings))

    run_defined(tmp_path, definitions, [tool_call_step((tool, {})), "done"], work, **options)
    messages, happenings = found[0]
    return messages, happenings


def whole_database(file: Path) -> str:
    connection = sqlite3.connect(file)
    try:
        return "\n".join(connection.iterdump())
    finally:
        connection.close()


async def _redact(state: ThreadState, call: Any, result: Any) -> Any:
    return {
        **result,
        **{key: result[key].replace(SECRET, "****") for key in ("result", "error", "stack") if key in result},
    }


async def _succeed() -> Any:
    return {"status": "success", "result": f"paid with {SECRET}"}


async def _fail() -> Any:
    return {"status": "error", "error": f"declined {SECRET}"}


async def _raise() -> Any:
    raise ValueError(f"declined {SECRET}")


@pytest.mark.parametrize("execute", [_succeed, _fail, _raise])
@pytest.mark.parametrize("hook", ["before_store_tool_result", "both"])
def test_nothing_of_a_result_is_stored_before_the_hooks_answer(
    tmp_path: Path, execute: Callable[..., Any], hook: str
) -> None:
    with define_for_agent() as definitions:
        define_result_tool(execute)
        define_hook(hook="before_store_tool_result", id="redact", execute=_redact)
        if hook == "both":

            @define_hook(hook="after_tool_call_success", id="add")
            async def add(state: ThreadState, call: Any, result: Any) -> Any:
                return {**result, "result": result["result"] + "!"}

    file = tmp_path / "store.db"
    messages, updates = run_one_call(tmp_path, definitions, store=file_url(file))
    assert "****" in messages[2]["content"]
    assert SECRET not in whole_database(file)
    assert "****" in whole_database(file)
    assert SECRET not in json.dumps([update_json(each) for each in updates])


def test_a_create_hook_may_redact_a_result_too(tmp_path: Path) -> None:
    with define_for_agent() as definitions:
        define_result_tool(_succeed)

        @define_hook(hook="before_create_message", id="redact")
        async def redact(state: ThreadState, message: Any) -> Any:
            return {**message, "content": (message["content"] or "").replace(SECRET, "****")}

    file = tmp_path / "store.db"
    _, updates = run_one_call(tmp_path, definitions, store=file_url(file))
    assert SECRET not in whole_database(file)
    assert SECRET not in json.dumps([update_json(each) for each in updates])


def test_a_result_of_a_hooks_own_call_is_the_hooks_alone(tmp_path: Path) -> None:
    got: list[Any] = []
    with define_for_agent() as definitions:
        define_result_tool(_succeed)
        define_result_tool(_fail, "fail")
        define_hook(hook="before_store_tool_result", id="redact", execute=_redact)

        @define_hook(hook="after_thread_created", id="call")
        async def call(state: ThreadState) -> None:
            got.append((await state.invoke_tool("pay"))["result"])
            got.append((await state.invoke_tool("fail"))["error"])

    file = tmp_path / "store.db"
    _, updates = run_one_call(tmp_path, definitions, store=file_url(file))
    assert got == [f"paid with {SECRET}", f"declined {SECRET}"]
    assert SECRET not in whole_database(file)
    assert SECRET not in json.dumps([update_json(each) for each in updates])


def seen_results(tmp_path: Path, execute: Callable[..., Any], hook: Any, tool: str = "pay") -> list[Any]:
    seen: list[Any] = []
    with define_for_agent() as definitions:
        define_result_tool(execute)

        @define_hook(hook=hook, id="look")
        async def look(state: ThreadState, call: Any, result: Any) -> None:
            seen.append(result)

    run_one_call(tmp_path, definitions, tool)
    return seen


def test_an_exception_is_its_own_text_and_its_traceback(tmp_path: Path) -> None:
    [result] = seen_results(tmp_path, _raise, "after_tool_call_failure")
    assert set(result) == {"status", "error", "stack"}
    assert (result["status"], result["error"]) == ("error", f"declined {SECRET}")
    assert result["stack"].startswith("Traceback")
    assert "in _raise" in result["stack"]


@pytest.mark.parametrize("returned", [None, {"status": "success"}])
def test_no_result_is_invented(tmp_path: Path, returned: Any) -> None:
    async def execute() -> Any:
        return returned

    assert seen_results(tmp_path, execute, "after_tool_call_success") == [{"status": "success"}]
    assert seen_results(tmp_path, execute, "before_store_tool_result") == [{"status": "success"}]


def test_an_error_with_more_keys_is_an_error(tmp_path: Path) -> None:
    async def execute() -> Any:
        return {"status": "error", "error": "no", "error_code": 7}

    [result] = seen_results(tmp_path, execute, "after_tool_call_failure")
    assert result == {"status": "error", "error": "no", "error_code": 7}


def test_an_error_that_a_hook_writes_may_quote_the_result(tmp_path: Path) -> None:
    with define_for_agent() as definitions:
        define_result_tool(_succeed)

        @define_hook(hook="after_tool_call_success", id="refuse")
        async def refuse(state: ThreadState, call: Any, result: Any) -> Any:
            return {"status": "error", "error": f"not accepted: {result['result']}"}

    messages, _ = run_one_call(tmp_path, definitions)
    assert messages[2]["content"] == f"Error: not accepted: paid with {SECRET}"


@pytest.mark.parametrize("source", ["the tool", "a hook"])
def test_what_is_stored_beside_a_result_leaves_the_fields_of_its_message_alone(tmp_path: Path, source: str) -> None:
    beside = {"id": 7, "role": "system", "created_at": "2020", "tool_calls": [1], "parent_id": "p", "order": "A1"}

    async def execute() -> Any:
        return {"status": "success", "result": "paid", **(beside if source == "the tool" else {})}

    with define_for_agent() as definitions:
        define_result_tool(execute)

        @define_hook(hook="before_store_tool_result", id="add")
        async def add(state: ThreadState, call: Any, result: Any) -> Any:
            return {**result, **beside}

    messages, updates = run_one_call(tmp_path, definitions)
    stored = messages[2]
    assert (stored["role"], stored["content"], stored["order"]) == ("tool", "paid", "A1")
    assert (isinstance(stored["id"], str), isinstance(stored["created_at"], int)) == (True, True)
    assert stored.keys().isdisjoint({"tool_calls", "parent_id"})
    assert [each.text for each in updates if isinstance(each, StatusMessage)] == [
        "the result of pay has the keys of a message (created_at, id, parent_id, role, tool_calls); they were not stored"
    ]


def test_a_failure_hook_hears_of_an_unknown_tool(tmp_path: Path) -> None:
    [result] = seen_results(tmp_path, _succeed, "after_tool_call_failure", "refund")
    assert result["status"] == "error"
    assert "refund" in result["error"]


def test_a_failure_hook_recovers_from_an_unknown_tool(tmp_path: Path) -> None:
    with define_for_agent() as definitions:

        @define_hook(hook="after_tool_call_failure", id="recover")
        async def recover(state: ThreadState, call: Any, result: Any) -> Any:
            return {"status": "success", "result": "use pay"}

    messages, updates = run_one_call(tmp_path, definitions, "refund")
    assert messages[2]["content"] == "use pay"
    assert [each.result.ok for each in updates if isinstance(each, ToolCallFinished)] == [True]


def test_a_hook_gets_an_error_for_an_unknown_tool_and_the_attachments_of_a_known_one(tmp_path: Path) -> None:
    got: list[Any] = []
    file = {"name": "a.png", "mimeType": "image/png", "data": base64.b64encode(b"a picture").decode()}

    async def draw() -> Any:
        return {"status": "success", "attachments": [file]}

    with define_for_agent() as definitions:
        define_result_tool(draw)

        @define_hook(hook="after_thread_created", id="call")
        async def call(state: ThreadState) -> None:
            got.append(await state.invoke_tool("pay"))
            got.append(await state.invoke_tool("refund"))

    run_one_call(tmp_path, definitions)
    assert got[0] == {"status": "success", "attachments": [file]}
    assert got[1]["status"] == "error"
    assert "refund" in got[1]["error"]


@pytest.mark.parametrize("name", ["a.png", "my picture.png", "charts/a.png", "été.png"])
def test_a_stored_file_keeps_its_name(tmp_path: Path, name: str) -> None:
    async def draw() -> Any:
        return {"status": "success", "attachments": [{"name": name, "mimeType": "image/png", "data": b"1"}] * 2}

    with define_for_agent() as definitions:
        define_result_tool(draw)
    messages, _ = run_one_call(tmp_path, definitions)
    stored = messages[2]["attachments"]
    assert [each["name"] for each in stored] == [name, name]
    assert stored[0]["path"] != stored[1]["path"]


@pytest.mark.parametrize("hook", ["after_tool_call_success", "before_store_tool_result"])
def test_data_that_is_not_base64_fails_its_hook_alone(
    tmp_path: Path, hook: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with define_for_agent() as definitions:
        define_result_tool(_succeed)

        @define_hook(hook=hook, id="attach")
        async def attach(state: ThreadState, call: Any, result: Any) -> Any:
            return {**result, "attachments": [{"name": "a", "mimeType": "b", "data": "???"}]}

    messages, _ = run_one_call(tmp_path, definitions)
    assert "attachments" not in messages[2]
    assert "[attach] unreadable_answer: hook attach returned attachments[0] with data that is not base64" in caplog.text


def test_a_tool_with_data_that_is_not_base64_has_failed(tmp_path: Path) -> None:
    async def draw() -> Any:
        return {"status": "success", "attachments": [{"name": "a", "mimeType": "b", "data": "???"}]}

    [result] = seen_results(tmp_path, draw, "after_tool_call_failure")
    assert "not base64" in result["error"]


def test_an_attachment_of_any_other_hook_is_left_out_with_a_warning(tmp_path: Path) -> None:
    from hookline.project import load_text

    text = "hooks: [{id: a, on: tool.store, then: {set: {tool.attachments: [{name: n, mimeType: b, data: '???'}]}}}]"
    with define_for_agent() as definitions:
        define_result_tool(_succeed)
    messages, updates = run_one_call(tmp_path, definitions, book=load_text(text, "hookline.yaml"))
    assert "attachments" not in messages[2]
    assert [each.text for each in updates if isinstance(each, StatusMessage)] == [
        "the attachment n was not stored: its data is not base64"
    ]
