"""Pages of browser agents connect here: namespace `/page` of Socket.IO.

A page speaks for the session that it attached to, and for no other: what its messages name is looked up in its own tables.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

import socketio
from socketio.exceptions import ConnectionRefusedError

from hookline.errors import HooklineError
from hookline.hub.access.access import Access
from hookline.hub.access.roles import Caller, Role
from hookline.hub.cluster.page_relay import HUB_LEFT, PageRelay
from hookline.hub.config.hub_config import FRAMES
from hookline.hub.pages.attached_page import AttachedPage, OpenPages, PageAddress
from hookline.hub.pages.browser_agents import BrowserAgent
from hookline.hub.pages.saved_dom import PageStateTable
from hookline.lazy_dataclasses import dataclass
from hookline.runners.javascript import tool_answer
from hookline.runtime.gate import ToolCall
from hookline.runtime.runtime_host import InternalToolCall

if TYPE_CHECKING:
    from hookline.runtime.agent_session import AgentSession

NAMESPACE: Final = "/page"
PAGE_CALLER: Final = "page"
MAX_PAGES: Final = 100
MAX_PAGE_CALLS: Final = 8  # tool calls of the agent's own code at once
_CHECK_SECONDS: Final = 30.0
_FRAME_STATES: Final = ("ok", "hangs")
_log = logging.getLogger("hookline.hub")


@dataclass(frozen=True, slots=True)
class PageBackend:
    """What the namespace needs of the hub."""

    pages: OpenPages
    states: PageStateTable
    agent_of: Callable[[str], Awaitable[BrowserAgent | None]]  # session → its browser agent
    open_session: Callable[[str], Awaitable[AgentSession]]  # raises HooklineError
    publish: Callable[..., Awaitable[None]]
    frame_urls: dict[str, tuple[str, ...]]  # frame → the origins that its document may have
    owner_url: Callable[[str], Awaitable[str]]  # session → the URL of the other hub that has it; empty: this one


@dataclass(slots=True)
class _Client:
    token: str
    caller: Caller
    page: AttachedPage | None = None
    relay: PageRelay | None = None  # to the hub that has the session, if it is another one
    calls: int = 0
    frame_host: int | None = None  # the position of its frames' host names among `frame_urls`


class PageNamespace:
    def __init__(self, server: socketio.AsyncServer, access: Access, backend: PageBackend) -> None:
        self._server = server
        self._access = access
        self._backend = backend
        self._clients: dict[str, _Client] = {}
        self._next_frame_host = 0
        handlers = {
            "connect": self._connect,
            "disconnect": self._disconnect,
            "here": self._here,
            "call": self._call,
            "log": self._write_log,
            "state": self._save_state,
            "frames": self._set_frames,
        }
        for name, handler in handlers.items():
            server.on(name, handler, namespace=NAMESPACE)

    async def keep_checking(self) -> None:
        """Until it is cancelled: ends the connections of callers whose credential is not valid any more."""
        while True:
            await asyncio.sleep(_CHECK_SECONDS)
            try:
                await self.check_clients()
            except Exception:
                _log.warning("pages could not be checked", exc_info=True)

    async def check_clients(self) -> None:
        for sid, client in list(self._clients.items()):
            if not (await self._access.identify(client.token)).may(Role.EDITOR):
                await self._server.disconnect(sid, namespace=NAMESPACE)

    async def _connect(self, sid: str, environ: dict[str, Any], auth: Any = None) -> None:
        if len(self._clients) >= MAX_PAGES:
            raise ConnectionRefusedError("too many pages")
        token = auth.get("token") if isinstance(auth, dict) else None
        caller = await self._access.identify(token if isinstance(token, str) else "")
        if not caller.may(Role.EDITOR):
            raise ConnectionRefusedError("a page of an agent needs the role editor")
        self._clients[sid] = _Client(str(token), caller)

    async def _disconnect(self, sid: str, reason: Any = None) -> None:
        client = self._clients.pop(sid, None)
        if client is not None:
            await self._release(client)

    async def _release(self, client: _Client) -> None:
        relay, client.relay = client.relay, None
        if relay is not None:
            await relay.close()
        page, client.page = client.page, None
        if page is not None:
            await self._detach(page)

    async def _here(self, sid: str, data: Any = None, *rest: Any) -> dict[str, Any]:
        """A page wants to drive a session."""
        client = self._clients.get(sid)
        session = data.get("session") if isinstance(data, dict) else None
        if client is None or not isinstance(session, str) or not await self._is_editor(client):
            return {"ok": False, "error": "your role does not allow this"}
        agent = await self._backend.agent_of(session)
        if agent is None:
            return {"ok": False, "error": "there is no such session of a browser agent"}
        try:
            if owner := await self._backend.owner_url(session):
                return await self._attach_at(owner, sid, client, data)
            await self._backend.open_session(session)
        except HooklineError as error:
            return {"ok": False, "error": str(error)}
        before = self._backend.pages.find(session)
        if before is not None and before is not client.page and data.get("take_over") is not True:
            return {"ok": False, "error": "another page drives this session", "taken": True}
        await self._attach(sid, client, session)
        dom = await self._backend.states.load(session)
        named = {"id": agent.id, "name": agent.name}
        page = {"dom": dom, "network": list(agent.network), "agent": named, "frames": self._choose_frames(client)}
        return {"ok": True, **page}

    def _choose_frames(self, client: _Client) -> dict[str, str]:
        """The origins of the page's frames. A host name that no other page has: frames with one name share a process, so
        a loop in one of them would stop all, and the one that replaces it too.
        """
        count = len(next(iter(self._backend.frame_urls.values())))
        used = {each.frame_host for each in self._clients.values()}
        hosts = [(self._next_frame_host + step) % count for step in range(count)]
        client.frame_host = next((host for host in hosts if host not in used), hosts[0])
        self._next_frame_host = client.frame_host + 1
        return {frame: urls[client.frame_host] for frame, urls in self._backend.frame_urls.items()}

    async def _attach_at(self, owner: str, sid: str, client: _Client, data: dict[str, Any]) -> dict[str, Any]:
        """Another hub has the session: the page attaches there, through this one."""
        await self._release(client)

        async def on_lost() -> None:
            client.relay = None
            await self._server.emit("again", {}, to=sid, namespace=NAMESPACE)

        try:
            client.relay = await PageRelay.open(owner, client.token, self._sender(sid), on_lost)
            answer: dict[str, Any] = await client.relay.ask("here", data)
        except HooklineError as error:
            return {"ok": False, "error": str(error), "again": True}
        if answer.get("ok") is not True:
            await self._release(client)
            return answer
        return {**answer, "frames": self._choose_frames(client)}  # the documents of this hub's own console

    async def _attach(self, sid: str, client: _Client, session: str) -> None:
        await self._release(client)
        client.page = AttachedPage(self._sender(sid), PageAddress(session, client.caller))
        before = self._backend.pages.attach(client.page)
        if before is not None:
            await self._forget(before)
        await self._publish("page_attached", session)

    async def _forget(self, page: AttachedPage) -> None:
        """Tells a page that another one drives its session now."""
        for sid, other in self._clients.items():
            if other.page is page:
                other.page = None
                await self._server.emit("detach", {"why": "taken over"}, to=sid, namespace=NAMESPACE)
                return

    async def _detach(self, page: AttachedPage) -> None:
        if self._backend.pages.detach(page):
            await self._publish("page_left", page.address.session)

    async def _publish(self, type: str, session: str) -> None:
        rooms = ("live", f"session:{session}")
        await self._backend.publish(type, {"session": session}, rooms=rooms, session_id=session)

    def _sender(self, sid: str) -> Callable[[str, Any, Callable[..., None] | None], Awaitable[None]]:
        async def send(event: str, data: Any, callback: Callable[..., None] | None) -> None:
            await self._server.emit(event, data, to=sid, namespace=NAMESPACE, callback=callback)

        return send

    async def _is_editor(self, client: _Client) -> bool:
        return (await self._access.identify(client.token)).may(Role.EDITOR)

    async def _call(self, sid: str, data: Any = None, *rest: Any) -> dict[str, Any]:
        """A tool call of a script that runs in the page, or of the agent's own code."""
        client = self._clients.get(sid)
        if client is not None and client.relay is not None:
            return await self._pass_on(client.relay, "call", data) or _error(HUB_LEFT)
        if client is None or client.page is None or not isinstance(data, dict):
            return _error("no session is attached to this page")
        name, input = data.get("name"), data.get("input")
        if not isinstance(name, str) or not isinstance(input, dict):
            return _error("callTool takes a tool's name and its input")
        if data.get("run") is None:
            return await self._call_as_page(client, client.page, name, input)
        run = client.page.runs.get(str(data["run"]))
        return _error("this script has ended") if run is None else await run.call_tool(name, input)

    async def _call_as_page(
        self, client: _Client, page: AttachedPage, name: str, input: dict[str, Any]
    ) -> dict[str, Any]:
        if client.calls >= MAX_PAGE_CALLS:
            return _error(f"a page may call {MAX_PAGE_CALLS} tools at once")
        client.calls += 1
        try:
            if not await self._is_editor(client):
                return _error("your role does not allow this")
            task = asyncio.ensure_future(self._perform(page.address.session, name, input))
            await asyncio.wait([task])
            return tool_answer(task)
        finally:
            client.calls -= 1

    async def _perform(self, session: str, name: str, input: dict[str, Any]) -> Any:
        """Hooks decide about it, as about every call."""
        opened = await self._backend.open_session(session)
        thread = opened.main
        tool = thread.toolbox.find(name)
        if tool is None or not thread.toolbox.offers(tool, thread.tools):
            raise HooklineError(thread.toolbox.describe_missing(name))
        call = ToolCall(f"call_{uuid.uuid4().hex[:12]}", tool.name, input, PAGE_CALLER)
        return await InternalToolCall(thread, call).run(opened.runtime.host_for(opened, thread), tool)

    async def _pass_on(self, relay: PageRelay, event: str, data: Any) -> dict[str, Any]:
        """The answer of the hub that has the session; empty if it has left."""
        try:
            answer = await relay.ask(event, data)
        except HooklineError:
            return {}
        return answer if isinstance(answer, dict) else {}

    async def _write_log(self, sid: str, data: Any = None, *rest: Any) -> None:
        if (relay := self._relay(sid)) is not None:
            await self._pass_on(relay, "log", data)
            return
        page = self._page(sid)
        run = page.runs.get(str(data.get("run"))) if page is not None and isinstance(data, dict) else None
        if run is not None and (line := run.cut_line(data.get("values"))) is not None:
            _log.info("[%s] %s", run.hook, line)

    async def _save_state(self, sid: str, data: Any = None, *rest: Any) -> dict[str, Any]:
        if (relay := self._relay(sid)) is not None:
            return await self._pass_on(relay, "state", data)
        page = self._page(sid)
        dom = data.get("dom") if isinstance(data, dict) else None
        if page is None or not isinstance(dom, str):
            return {"ok": False}
        try:
            return {"ok": await self._backend.states.save(page.address.session, dom)}
        except HooklineError:  # the session was deleted meanwhile
            return {"ok": False}

    async def _set_frames(self, sid: str, data: Any = None, *rest: Any) -> dict[str, Any]:
        if (relay := self._relay(sid)) is not None:
            return await self._pass_on(relay, "frames", data)
        page = self._page(sid)
        if page is None or not isinstance(data, dict):
            return {"ok": False}
        page.frames = {frame: data[frame] for frame in FRAMES if data.get(frame) in _FRAME_STATES}
        return {"ok": True}

    def _relay(self, sid: str) -> PageRelay | None:
        client = self._clients.get(sid)
        return None if client is None else client.relay

    def _page(self, sid: str) -> AttachedPage | None:
        client = self._clients.get(sid)
        return None if client is None else client.page


def _error(text: str) -> dict[str, Any]:
    return {"content": text, "is_error": True}
