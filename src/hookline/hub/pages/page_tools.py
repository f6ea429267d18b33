"""The tools of a browser agent that act in its page: `runjs`, `dom` and `fetch`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from hookline.hooks.host import ToolResult
from hookline.hooks.tools import ToolKind
from hookline.hub.pages.attached_page import AttachedPage, OpenPages, PageGoneError
from hookline.hub.pages.saved_dom import PageStateTable
from hookline.lazy_dataclasses import dataclass
from hookline.runtime.tools.fetch import fetch_tool, html_to_text
from hookline.runtime.tools.runjs import format_runjs_answer, runjs
from hookline.runtime.tools.tool_definition import (
    BuiltInTool,
    Tool,
    ToolContext,
    failed_result,
    object_schema,
    string_schema,
)
from hookline.runtime.tools.workspace import ToolError

RUN_TIMEOUT: Final = timedelta(seconds=5)
FETCH_TIMEOUT: Final = timedelta(seconds=30)
_NO_PAGE: Final = "no page of this agent is open"
_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class PageTools:
    """The tools of every session of browser agents."""

    pages: OpenPages
    states: PageStateTable
    network_of: Callable[[str], Awaitable[tuple[str, ...]]]  # a session's agent → the origins that its page may fetch

    def tools(self, hub_fetch: Tool | None) -> tuple[Tool, ...]:
        """`hub_fetch`: what fetches everything that the page may not."""
        return (
            BuiltInTool("runjs", _RUNJS_DESCRIPTION, _RUNJS_SCHEMA, ToolKind.OTHER, self._run_javascript),
            BuiltInTool("dom", _DOM_DESCRIPTION, _DOM_SCHEMA, ToolKind.OTHER, self._use_dom),
            self._fetch(hub_fetch or fetch_tool()),
        )

    async def _run_javascript(self, input: dict[str, Any], context: ToolContext) -> Any:
        in_frame = input.get("context") == "iframe"
        page = self._page(context, "agent")
        if page is None:
            if in_frame:
                raise ToolError(_NO_PAGE)
            return await runjs.body({"code": input["code"]}, context)
        data = {"code": input["code"], "context": "iframe" if in_frame else "worker"}
        answer = await _ask(page, "runjs", data, RUN_TIMEOUT)
        did_not_run = isinstance(answer, dict) and "error" in answer and "lines" not in answer
        return _read_answer(answer) if did_not_run else format_runjs_answer(answer)

    async def _use_dom(self, input: dict[str, Any], context: ToolContext) -> Any:
        page = self._page(context, "agent")
        if page is not None:
            return _read_answer(await _ask(page, "dom", input, RUN_TIMEOUT))
        if input["action"] != "query":
            raise ToolError(_NO_PAGE)
        return html_to_text(await self.states.load(context.session))

    def _fetch(self, hub_fetch: Tool) -> BuiltInTool:
        async def fetch(input: dict[str, Any], context: ToolContext) -> Any:
            page = self._page(context, "net")
            if page is None or origin_of(input["url"]) not in await self.network_of(context.session):
                return await hub_fetch.perform(input, context)
            return _read_answer(await _ask(page, "fetch", input, FETCH_TIMEOUT))

        return BuiltInTool("fetch", hub_fetch.description, hub_fetch.schema, ToolKind.FETCH, fetch)

    def _page(self, context: ToolContext, frame: str) -> AttachedPage | None:
        page = self.pages.find(context.session)
        return page if page is not None and page.has(frame) else None


def origin_of(url: str) -> str | None:
    """As browsers write it; None if the URL has none that a page may fetch."""
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").encode("idna").decode(), parts.port
    except (ValueError, UnicodeError):
        return None
    if parts.scheme not in _PORTS or not host or "@" in parts.netloc or not _is_host(host):
        return None
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}" + (f":{port}" if port not in (None, _PORTS[parts.scheme]) else "")


def is_origin(text: str) -> bool:
    """Whether it is an origin and nothing else."""
    return text.isprintable() and origin_of(text) is not None and not any(urlsplit(text)[2:])


def _is_host(host: str) -> bool:
    """Nothing that means more in a policy than a name."""
    return all(char.isalnum() or char in "-._:" for char in host) and host.isascii()


async def _ask(page: AttachedPage, tool: str, input: dict[str, Any], timeout: timedelta) -> Any:
    seconds = timeout.total_seconds()
    try:
        return await page.ask("tool", {"tool": tool, "input": input, "timeout": int(seconds * 1000)}, seconds)
    except TimeoutError:
        raise ToolError(f"the page did not answer within {seconds:g} s") from None
    except PageGoneError:
        raise ToolError("the page was closed while the tool ran") from None


def _read_answer(answer: Any) -> ToolResult:
    if not isinstance(answer, dict):
        return failed_result("the page gave an unreadable answer")
    if "error" in answer:
        return failed_result(str(answer["error"])[:4_000] or "the page could not do it", answer.get("content"))
    return ToolResult(answer.get("content"))


_RUNJS_DESCRIPTION: Final = (
    "Runs JavaScript as the body of an async function. Its return value is the result; log(…) adds a line to the output. "
    "In the context iframe it can use the document of your page."
)
_RUNJS_SCHEMA: Final = object_schema(
    "code",
    code=string_schema("The body of the function. Use return to give the result.", maxLength=500_000),
    context=string_schema(
        "worker (default): a worker without a document. iframe: your page.", enum=["worker", "iframe"]
    ),
)
_DOM_DESCRIPTION: Final = "Reads and changes the document of your page."
_DOM_SCHEMA: Final = object_schema(
    "action",
    action=string_schema("The action.", enum=["query", "modify", "append", "remove", "attributes", "create"]),
    selector=string_schema("A CSS selector; default: body.", maxLength=4_000),
    html=string_schema("For append: the markup to add.", maxLength=900_000),
    parentSelector=string_schema("For append: the element to add to; the same as selector.", maxLength=4_000),
    innerHTML=string_schema("For modify: the new markup inside the element.", maxLength=900_000),
    textContent=string_schema("For modify: the new text of the element.", maxLength=900_000),
    attributes={
        "type": "object",
        "description": "For modify and attributes: values to set, by name; null removes one.",
        "additionalProperties": {"type": ["string", "null"]},
    },
)
