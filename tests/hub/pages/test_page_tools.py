from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hookline.hooks.host import ToolResult
from hookline.hub.context.running_hub import Hub
from hookline.hub.pages.page_tools import origin_of
from hookline.runtime.agent_session import AgentSession
from hub.hub_sandbox import async_test
from hub.pages.page_stand_in import Answer, PageStandIn, open_agent, open_page_hub


@asynccontextmanager
async def agent_with_page(
    directory: Path, answer: Answer | None = None, frames: dict[str, str] | None = None
) -> AsyncIterator[tuple[Hub, AgentSession]]:
    async with (
        open_page_hub(directory) as hub,
        open_agent(hub, network=("http://api.test", "http://127.0.0.1:9")) as session,
    ):
        if answer is not None:
            hub.pages.open.attach(PageStandIn(session.id, answer, frames).page)
        yield hub, session


async def use(session: AgentSession, name: str, **input: Any) -> ToolResult:
    tool = session.main.toolbox.find(name)
    assert tool is not None
    return await tool.perform(input, session.tool_context_of(session.main, "call_1"))


@async_test
async def test_runjs_runs_in_the_page(tmp_path: Path) -> None:
    asked: list[Any] = []

    def answer(event: str, data: Any) -> Any:
        asked.append(data)
        return {"value": 3, "lines": ["hello"]}

    async with agent_with_page(tmp_path, answer) as (_, session):
        assert (await use(session, "runjs", code="return 3")).content == {"value": 3, "log": "hello"}
        await use(session, "runjs", code="return 3", context="iframe")
        assert [each["input"]["context"] for each in asked] == ["worker", "iframe"]


@async_test
async def test_a_page_says_why_it_could_not_run_the_code(tmp_path: Path) -> None:
    async with agent_with_page(tmp_path, lambda event, data: {"error": "the page was replaced"}) as (_, session):
        assert (await use(session, "runjs", code="for (;;);", context="iframe")).error == "the page was replaced"


@async_test
async def test_without_a_page_runjs_runs_on_the_hub_and_dom_shows_what_was_saved(tmp_path: Path) -> None:
    async with agent_with_page(tmp_path) as (hub, session):
        assert (await use(session, "runjs", code="return 1 + 2")).content == 3
        for call in (
            use(session, "runjs", code="return 3", context="iframe"),
            use(session, "dom", action="modify", selector="body", innerHTML="x"),
        ):
            assert (await call).error == "no page of this agent is open"
        await hub.pages.states.save(session.id, "<h1>Hello</h1><p>you</p>")
        assert (await use(session, "dom", action="query", selector="body")).content == "Hello\nyou"


@async_test
async def test_a_frame_that_hangs_is_no_page(tmp_path: Path) -> None:
    async with agent_with_page(tmp_path, lambda event, data: None, {"agent": "hangs"}) as (_, session):
        assert (await use(session, "dom", action="remove", selector="p")).error == "no page of this agent is open"


@async_test
async def test_dom_answers_and_errors_come_from_the_page(tmp_path: Path) -> None:
    def answer(event: str, data: Any) -> Any:
        if data["input"]["action"] == "remove":
            return {"error": "no element matches p"}
        return {"content": data["input"]} if data["input"]["action"] == "query" else "nonsense"

    async with agent_with_page(tmp_path, answer) as (_, session):
        assert (await use(session, "dom", action="query", selector="p")).content["selector"] == "p"
        assert (await use(session, "dom", action="remove", selector="p")).error == "no element matches p"
        assert not (await use(session, "dom", action="append", html="<p>")).ok
        assert not (await use(session, "dom", action="explode")).ok


@async_test
async def test_the_page_fetches_origins_of_the_agent_and_the_hub_the_others(tmp_path: Path) -> None:
    fetched: list[str] = []

    def answer(event: str, data: Any) -> Any:
        fetched.append(data["input"]["url"])
        return {"content": "from the page"}

    async with agent_with_page(tmp_path, answer) as (_, session):
        assert (await use(session, "fetch", url="http://api.test/x?y")).content == "from the page"
        assert (await use(session, "fetch", url="HTTP://API.test:80/z")).content == "from the page"
        for url in ("http://127.0.0.1:10/", "http://api.test:81/", "http://me@api.test/", "http://127.0.0.1"):
            assert not (await use(session, "fetch", url=url)).ok
        assert fetched == ["http://api.test/x?y", "HTTP://API.test:80/z"]


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("https://API.example.org/x", "https://api.example.org"),
        ("https://x.org:443/", "https://x.org"),
        ("http://x.org:443/", "http://x.org:443"),
        ("http://[::1]:80/", "http://[::1]"),
        ("https://bücher.example", "https://xn--bcher-kva.example"),
        ("https://user@x.org", None),
        ("https://x.org;y", None),
        ("https://*.x.org", None),
        ("ftp://x.org", None),
        ("https://x.org:99999", None),
        ("x.org", None),
        ("", None),
    ],
)
def test_origins_are_as_browsers_write_them(url: str, origin: str | None) -> None:
    assert origin_of(url) == origin
