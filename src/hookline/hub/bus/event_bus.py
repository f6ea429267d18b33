"""Publishes events to rooms, and takes commands from clients. Namespace `/events` of Socket.IO.

To publish: `await hub.bus.publish("rules_changed", {"set": "everyone"}, rooms=("live",))`.
To take a command: `hub.bus.add_command("answer", answer, Role.APPROVER)`, where
`async def answer(caller: Caller, data: dict) -> dict` returns what the client gets, or raises CommandError.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable
from contextvars import ContextVar
from typing import Any, Final

import socketio
from socketio.exceptions import ConnectionRefusedError

from hookline.errors import HooklineError
from hookline.hub.access.access import Access
from hookline.hub.access.masked_question import question_for
from hookline.hub.access.roles import NOBODY, Caller, Role
from hookline.hub.bus.room_log import RoomLog
from hookline.hub.cluster.fan_out import FanOut
from hookline.lazy_dataclasses import dataclass

NAMESPACE: Final = "/events"
LIVE: Final = "live"
APPROVALS: Final = "approvals"
_QUESTION: Final = "approval_request"  # an answer is masked for all
DIAGNOSTICS: Final = "channel:diagnostics"
_OPEN_ROOMS: Final = (LIVE, APPROVALS, DIAGNOSTICS)
_OPEN_PREFIXES: Final = ("session:", "app:")
_MAX_ROOM: Final = 220  # characters
MAX_CONNECTIONS: Final = 300
_CHECK_SECONDS: Final = 30.0
_FRESH_SECONDS: Final = 1.0  # how long a role is known, before something is shown that viewers do not see

Command = Callable[[Caller, dict[str, Any]], Awaitable[dict[str, Any] | None]]
_token: ContextVar[str] = ContextVar("token")
_log = logging.getLogger("hookline.hub")


class CommandError(Exception):
    """Why a command of a client was not done; the client sees the text."""


@dataclass(frozen=True, slots=True)
class _Client:
    token: str
    caller: Caller
    checked: float  # by the monotonic clock


class EventBus:
    def __init__(self, server: socketio.AsyncServer, access: Access) -> None:
        self.server = server
        self._access = access
        self._log = RoomLog(self._start_of_rooms)
        self.fan_out: FanOut | None = None
        self._locks: dict[str, asyncio.Lock] = {}
        self._commands: dict[str, tuple[Command, tuple[Role, ...]]] = {}
        self._clients: dict[str, _Client] = {}
        server.on("connect", self._connect, namespace=NAMESPACE)
        server.on("disconnect", self._disconnect, namespace=NAMESPACE)
        for name in ("join", "join_session", "join_app"):
            server.on(name, self._joiner(name), namespace=NAMESPACE)
        server.on("leave", self._leave, namespace=NAMESPACE)

    def _start_of_rooms(self) -> float:
        return (self.fan_out.start if self.fan_out is not None else 0.0) or time.time()

    @property
    def connections(self) -> int:
        return len(self._clients)

    async def publish(
        self,
        type: str,
        payload: dict[str, Any],
        rooms: Iterable[str],
        session_id: str = "",
        app_id: str = "",
        once: str = "",
    ) -> None:
        """Clients in these rooms get it as `event`; one in several of them gets it once for each.

        `once` names an event that every hub on the database finds by itself.
        """
        event = {"type": type, "session_id": session_id, "app_id": app_id, "payload": payload, "ts": time.time()}
        for room in rooms:
            async with self._lock(room):
                is_sent = self.fan_out is not None and await self.fan_out.publish_event(
                    room, self._log.latest(room), event, once
                )
                if not is_sent:
                    await self._emit(room, event)

    async def deliver(self, room: str, seq: int, event: dict[str, Any]) -> None:
        """An event that came through Redis, of this hub or another one."""
        async with self._lock(room):
            await self._emit(room, event, seq)

    async def tell_gap(self) -> None:
        """Events may have been missed: clients ask the API for what they show."""
        for room in self._log.forget():
            async with self._lock(room):
                snapshot = {"room": room, "seq": self._log.latest(room)}
                await self.server.emit("snapshot", snapshot, room=room, namespace=NAMESPACE)

    async def _emit(self, room: str, event: dict[str, Any], seq: int = 0) -> None:
        numbered = self._log.add(room, event, seq)
        apart = await self._viewers_in(room) if event["type"] == _QUESTION else {}
        await self.server.emit("event", numbered, room=room, skip_sid=list(apart), namespace=NAMESPACE)
        for sid, caller in apart.items():
            await self.server.emit("event", _event_for(caller, numbered), to=sid, namespace=NAMESPACE)

    async def _viewers_in(self, room: str) -> dict[str, Caller]:
        """Those who may not answer questions."""
        members = [sid for sid in self._clients if room in self.server.rooms(sid, namespace=NAMESPACE)]
        callers = {sid: await self._current_caller(sid) for sid in members}
        return {sid: caller for sid, caller in callers.items() if not caller.may(Role.APPROVER)}

    async def _current_caller(self, sid: str) -> Caller:
        """With the role of now: who was an approver sees no secrets any more. NOBODY if the client has gone."""
        client = self._clients.get(sid)
        if client is None:
            return NOBODY
        if not client.caller.may(Role.APPROVER) or client.checked > time.monotonic() - _FRESH_SECONDS:
            return client.caller
        try:
            return await self._check(sid, client)
        except HooklineError:  # the database is away
            return Caller(Role.VIEWER, client.caller.name, client.caller.user, client.caller.credential)

    async def send_rows(self, data: dict[str, Any]) -> None:
        """Rows of decisions for everybody in `live`. They are not kept: a client that was away asks the API."""
        await self.server.emit("decisions", data, room=LIVE, namespace=NAMESPACE)

    def add_command(self, name: str, command: Command, *roles: Role) -> None:
        self._commands[name] = (command, roles)
        self.server.on(name, self._runner(name), namespace=NAMESPACE)

    @property
    def commands(self) -> dict[str, tuple[Role, ...]]:
        return {name: roles for name, (_, roles) in self._commands.items()}

    async def keep_checking(self) -> None:
        """Until it is cancelled: ends the connections of callers whose credential is not valid any more."""
        while True:
            await asyncio.sleep(_CHECK_SECONDS)
            try:
                await self.check_clients()
            except Exception:
                _log.warning("connections could not be checked", exc_info=True)

    async def check_clients(self) -> None:
        """Ends the connections of those who may not be here any more, and finds out the roles of the others."""
        for sid, client in list(self._clients.items()):
            await self._check(sid, client)

    async def _check(self, sid: str, client: _Client) -> Caller:
        caller = await self._access.identify(client.token)
        if not caller.may(Role.VIEWER):
            await self.server.disconnect(sid, namespace=NAMESPACE)
        elif sid in self._clients:
            self._clients[sid] = _Client(client.token, caller, time.monotonic())
        return caller

    async def _connect(self, sid: str, environ: dict[str, Any], auth: Any = None) -> None:
        if len(self._clients) >= MAX_CONNECTIONS:
            raise ConnectionRefusedError("too many connections")
        token = auth.get("token") if isinstance(auth, dict) else None
        caller = await self._access.identify(token if isinstance(token, str) else "")
        if not caller.may(Role.VIEWER):
            raise ConnectionRefusedError("sign in first")
        self._clients[sid] = _Client(str(token), caller, time.monotonic())

    async def _disconnect(self, sid: str, reason: Any = None) -> None:
        self._clients.pop(sid, None)

    def _joiner(self, name: str) -> Callable[..., Awaitable[dict[str, Any]]]:
        async def join(sid: str, data: Any = None, *rest: Any) -> dict[str, Any]:
            room = _room_of(name, data)
            caller = await self._current_caller(sid)
            if not caller.may(Role.VIEWER) or not _may_join(caller, room):
                return {"ok": False, "error": "there is no such room"}
            since = data.get("since")
            async with self._lock(room):
                latest = self._log.latest(room)
                missed = self._log.since(room, since) if type(since) is int else []
                await self.server.enter_room(sid, room, namespace=NAMESPACE)
                if missed is None:
                    snapshot = {"room": room, "seq": latest}
                    await self.server.emit("snapshot", snapshot, to=sid, namespace=NAMESPACE)
                for event in missed or ():
                    shown = _event_for(caller, event)
                    await self.server.emit("event", shown, to=sid, namespace=NAMESPACE)
            return {"ok": True, "room": room, "latest_seq": latest}

        return join

    async def _leave(self, sid: str, data: Any = None, *rest: Any) -> dict[str, Any]:
        room = _room_of("join", data)
        if room:
            await self.server.leave_room(sid, room, namespace=NAMESPACE)
        return {"ok": bool(room), "room": room}

    def _runner(self, name: str) -> Callable[..., Awaitable[dict[str, Any]]]:
        async def run(sid: str, data: Any = None, *rest: Any) -> dict[str, Any]:
            client = self._clients.get(sid)
            command, roles = self._commands[name]
            caller = await self._access.identify(client.token) if client is not None else None
            if caller is None or not caller.may(*roles):
                return {"ok": False, "error": "your role does not allow this"}
            if not isinstance(data, dict):
                return {"ok": False, "error": "an object is needed"}
            _token.set(client.token if client is not None else "")
            try:
                return {"ok": True, **(await command(caller, data) or {})}
            except CommandError as error:
                return {"ok": False, "error": str(error)}
            except Exception:
                _log.warning("the command %s failed", name, exc_info=True)
                return {"ok": False, "error": "this failed on the hub; its log says why"}

        return run

    def _lock(self, room: str) -> asyncio.Lock:
        """So that a client that joins gets what it missed before what is new."""
        if len(self._locks) > 2000:
            self._locks = {name: lock for name, lock in self._locks.items() if lock.locked()}
        return self._locks.setdefault(room, asyncio.Lock())


def current_token() -> str:
    """Of the client whose command runs."""
    return _token.get("")


def _event_for(caller: Caller, event: dict[str, Any]) -> dict[str, Any]:
    is_question = event["type"] == _QUESTION
    return {**event, "payload": question_for(caller, event["payload"])} if is_question else event


def _room_of(name: str, data: Any) -> str:
    """Empty if it is not a room."""
    if not isinstance(data, dict):
        return ""
    key, prefix = {"join_session": ("session_id", "session:"), "join_app": ("app_id", "app:")}.get(name, ("room", ""))
    room = data.get(key)
    return f"{prefix}{room}" if isinstance(room, str) and room and len(room) <= _MAX_ROOM else ""


def _may_join(caller: Caller, room: str) -> bool:
    return (
        room in _OPEN_ROOMS or room.startswith(_OPEN_PREFIXES) or (bool(caller.user) and room == f"user:{caller.user}")
    )
