"""The relay: every message passes as it came, but a tool call only if the hooks let it, and its result as they left it."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import AsyncIterator, Coroutine, Mapping
from dataclasses import replace
from typing import Any, Final, Protocol

from hookline.engine.account import Decision
from hookline.hooks.event import Event
from hookline.hooks.outcome import Verdict
from hookline.hosts.agent import Ability
from hookline.hosts.answer import Answer, combined, joined, within
from hookline.hosts.mcp import asking
from hookline.hosts.mcp.calls import (
    CAPABILITIES,
    SERVER_INFO,
    Call,
    Told,
    call_in,
    can_elicit,
    refusal,
    server_name,
    told_by,
    tool_name,
    unread,
)
from hookline.hosts.mcp.flight import Flight, Kept
from hookline.hosts.mcp.judge import Judge
from hookline.hosts.mcp.lines import Gone, TooLong
from hookline.hosts.mcp.message import (
    CONNECTION_CLOSED,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    Malformed,
    Message,
    answer_to,
    error_to,
    messages_in,
    object_in,
)
from hookline.hosts.mcp.server import Ended, Server

_log = logging.getLogger("hookline")

_ABLE: Final = Ability(deny=True, ask=True, allow=True, change=True, context=True)

_PATIENCE: Final = 1.0  # seconds for hooks that still decide when the client has left


class Client(Protocol):
    """Both ways to the client, a message a line."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...
    async def send(self, line: bytes) -> None: ...


class Proxy:
    def __init__(self, client: Client, server: Server, judge: Judge, name: str = "") -> None:
        self._client = client
        self._server = server
        self._judge = judge
        self._given_name = server_name(name)
        self._name = self._given_name or server_name(server.fallback_name) or "server"
        self._capabilities: Mapping[str, Any] = {}
        self._flights: dict[str, Flight] = {}
        self._questions: dict[str, asyncio.Future[Message]] = {}
        self._late: Kept[Flight] = Kept()  # cancelled, but the server may answer all the same
        self._continued: Kept[Flight] = Kept()  # by the state with which the client calls again
        self._tasks: Kept[Flight] = Kept()  # calls that the server answers later, by task
        self._at_work: set[asyncio.Task[None]] = set()
        self._broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run(self) -> str | None:
        """Until either side leaves. None if it was the client, else how the server ended."""
        self._judge.begin()
        client = asyncio.ensure_future(self._hear_client())
        server = asyncio.ensure_future(self._hear_server())
        try:
            first: set[asyncio.Future[Any]] = {client, server, self._broken}
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
            self._raise_what_broke()
            if client.done() and await client:
                await self._left(server)
                return None
            ended = await server
            await self._fail_all(ended)
            return ended or None
        finally:
            for task in (client, server, *self._at_work):
                task.cancel()
            await asyncio.gather(client, server, *self._at_work, return_exceptions=True)
            await self._judge.end()

    async def _hear_client(self) -> bool:
        """True if the client left, False if the server is gone."""
        try:
            async for line in self._client:
                for message in await self._read(line):
                    await self._client_said(message)
        except (TooLong, Gone) as error:
            if isinstance(error, TooLong):
                _log.error("the client is not heard any more: %s", error)
        except Ended:
            return False
        return True

    async def _hear_server(self) -> str:
        """How it ended; nothing if it is the client that cannot be told any more."""
        try:
            async for message in self._server.messages():
                await self._server_said(message)
        except Ended as ended:
            return str(ended)
        except Gone:
            pass
        return ""

    async def _read(self, line: bytes) -> tuple[Message, ...]:
        """What cannot be read is not passed on: a more lenient server might read a call in it."""
        try:
            return messages_in(line)
        except Malformed as error:
            _log.warning("the client said something that is no message: %s", error)
            await self._send(error_to(None, PARSE_ERROR, f"this is no message: {error}"))
            return ()

    async def _left(self, server: asyncio.Future[str]) -> None:
        """It may still read: what is being decided has a moment. A question has nobody left to answer it."""
        for flight in self._flights.values():
            if flight.deciding is not None and flight.asked is not None:
                flight.deciding.cancel()
        if self._at_work:
            await asyncio.wait(set(self._at_work), timeout=_PATIENCE)
        await self._server.finish()
        await server

    async def _fail_all(self, how: str) -> None:
        for flight in self._flights.values():
            if flight.deciding is not None:
                flight.deciding.cancel()
            try:
                await self._send(error_to(flight.id, CONNECTION_CLOSED, how))
            except Gone:
                return

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._at_work.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._at_work.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not isinstance(error, (Ended, Gone)) and not self._broken.done():
            self._broken.set_exception(error)

    def _raise_what_broke(self) -> None:
        if self._broken.done():
            self._broken.result()

    async def _send(self, message: Message) -> None:
        await self._client.send(message.wire())

    async def _client_said(self, message: Message) -> None:
        question = self._questions.pop(message.key, None) if message.is_answer else None
        if question is not None:
            if not question.done():
                question.set_result(message)
        elif message.method == "notifications/cancelled":
            await self._cancelled(message)
        elif message.method == "tools/call" and not isinstance(message.id, (int, str)):
            _log.warning("a tool call without an id is not passed on")
        elif message.is_request and message.key in self._flights:
            await self._send(error_to(message.id, INVALID_REQUEST, "a request with this id has no answer yet"))
        elif message.method == "tools/call":
            await self._called(message)
        else:
            self._note_request(message)
            await self._server.send(message)

    def _note_request(self, message: Message) -> None:
        if not message.is_request:
            return
        flight = Flight(message.id, message.method or "")
        if message.method == "initialize":
            self._capabilities = object_in(message.params, "capabilities")
        task = self._tasks.get(message.params.get("taskId")) if message.method == "tasks/result" else None
        if task is not None:
            flight = replace(task, id=message.id)
        self._flights[message.key] = flight

    async def _cancelled(self, message: Message) -> None:
        key = json.dumps(message.params.get("requestId"))
        flight = self._flights.pop(key, None)
        if flight is None or not flight.is_being_decided:
            if flight is not None:
                self._late.put(key, flight)
            await self._server.send(message)
            return
        assert flight.deciding is not None
        flight.deciding.cancel()  # and nobody hears of the call, or of its result, any more
        if flight.asked is not None and self._questions.pop(flight.asked.key, None) is not None:
            await self._send(asking.withdrawal(flight.asked))

    async def _called(self, message: Message) -> None:
        call = call_in(message)
        if isinstance(call, str):
            await self._send(error_to(message.id, INVALID_PARAMS, call))
            return
        flight = self._flights[message.key] = Flight(message.id, "tools/call", call)
        before = self._continued.pop(message.params.get("requestState"))
        if before is not None and before.call is not None and asking.same_call(call, before.call):
            await self._again(flight, call, before)
            return
        self._judge.count_call()
        event = self._judge.event("tool.before", call.facts(self._name))
        decision = self._judge.decided_now(event)
        if decision is None or decision.verdict is Verdict.ASK:
            flight.deciding = self._spawn(self._decide(flight, event, decision))
        else:
            await self._obey(flight, event, decision)

    async def _decide(self, flight: Flight, event: Event, decision: Decision | None) -> None:
        await self._obey(flight, event, decision or await self._judge.decided(event))

    async def _obey(self, flight: Flight, event: Event, decision: Decision) -> None:
        call = flight.call
        assert call is not None
        able = replace(_ABLE, ask=can_elicit(self._capabilities_of(call)))
        answer = within(combined([event], [decision]), able)
        if answer.message:
            _log.info("%s", answer.message)
        if answer.denied:
            await self._refuse(flight, answer.reason)
            return
        flight.notes = answer.context
        left = call.with_arguments(answer.new) if answer.changed else call
        if answer.verdict is not Verdict.ASK:
            await self._forward(flight, left)
        elif call.is_modern:
            await self._ask_in_result(flight, left, answer)
        else:
            await self._ask(flight, left, answer)

    def _capabilities_of(self, call: Call) -> Mapping[str, Any]:
        return object_in(call.message.params, "_meta", CAPABILITIES) if call.is_modern else self._capabilities

    async def _forward(self, flight: Flight, left: Call) -> None:
        flight.forwarded, flight.deciding = left, None
        await self._server.send(left.message)

    async def _refuse(self, flight: Flight, reason: str) -> None:
        assert flight.call is not None
        self._flights.pop(flight.call.message.key, None)
        await self._send(answer_to(flight.id, refusal(reason, modern=flight.call.is_modern)))

    async def _ask(self, flight: Flight, left: Call, answer: Answer) -> None:
        flight.asked = asked = asking.request(self._question(left, answer))
        said = self._questions[asked.key] = asyncio.get_running_loop().create_future()
        await self._send(asked)
        if asking.is_yes((await said).value.get("result")):
            await self._forward(flight, left)
        else:
            await self._refuse(flight, f"{answer.reason} (not allowed by the user)")

    async def _ask_in_result(self, flight: Flight, left: Call, answer: Answer) -> None:
        """The client calls again with the answer and this state, which nobody can guess."""
        state = f"hookline-{secrets.token_hex(16)}"
        assert flight.call is not None
        del self._flights[flight.call.message.key]
        self._continued.put(state, replace(flight, forwarded=left, deciding=None, reason=answer.reason))
        await self._send(answer_to(flight.id, asking.input_required(self._question(left, answer), state)))

    def _question(self, left: Call, answer: Answer) -> dict[str, Any]:
        return asking.question(left, tool_name(self._name, left.tool), answer.reason)

    async def _again(self, flight: Flight, call: Call, before: Flight) -> None:
        """A call that was judged already, made once more with what was asked for: by us, or by the server."""
        assert before.call is not None
        assert before.forwarded is not None
        flight.notes = before.notes
        if not before.reason:
            left = before.forwarded
            await self._forward(flight, call if left is before.call else call.with_arguments(left.arguments))
        elif asking.is_yes(asking.answer_in(call)):
            await self._forward(flight, asking.resumed(call, before.call, before.forwarded))
        else:
            await self._refuse(flight, f"{before.reason} (not allowed by the user)")

    async def _server_said(self, message: Message) -> None:
        if not message.is_answer or message.id is None:
            await self._send(message)
            return
        flight = self._flights.get(message.key)
        if flight is not None and flight.call is not None and (flight.forwarded is None or flight.is_being_decided):
            flight = None
        flight = flight or self._late.pop(message.key)
        if flight is None:
            _log.warning("the MCP server answered a request that nobody made")
        elif flight.call is not None:
            await self._answered(flight, message)
        else:
            self._flights.pop(message.key, None)
            self._learn_name(flight.method, message)
            await self._send(message)

    def _learn_name(self, method: str, message: Message) -> None:
        if self._given_name or method not in ("initialize", "server/discover"):
            return
        info = object_in(message.result, "serverInfo") or object_in(message.result, "_meta", SERVER_INFO)
        said = info.get("name")
        self._name = (server_name(said) if isinstance(said, str) else "") or self._name

    async def _answered(self, flight: Flight, message: Message) -> None:
        if self._is_to_be_continued(flight, message):
            self._flights.pop(message.key, None)
            await self._send(message)
            return
        told = told_by(message)
        assert flight.forwarded is not None
        if told is None:
            self._flights.pop(message.key, None)
            await self._send(unread(message, modern=flight.forwarded.is_modern))
            return
        event = self._judge.event("tool.after", {**flight.forwarded.facts(self._name), **told.facts()})
        decision = self._judge.decided_now(event)
        if decision is not None:
            await self._tell(flight, told, event, decision)
        else:
            flight.deciding = self._spawn(self._judge_result(flight, told, event))

    def _is_to_be_continued(self, flight: Flight, message: Message) -> bool:
        """True if this is not the result yet: the server asks for something first, or works on it as a task."""
        call, result = flight.call, message.result
        assert call is not None
        if call.is_modern and result.get("resultType") == "input_required" and "content" not in result:
            state = result.get("requestState")
            if isinstance(state, str):
                self._continued.put(state, replace(flight, deciding=None, reason=""))
            return True
        task = object_in(result, "task").get("taskId")
        if "task" in call.message.params and isinstance(task, str) and "content" not in result:
            self._tasks.put(task, replace(flight, deciding=None, reason=""))
            return True
        return False

    async def _judge_result(self, flight: Flight, told: Told, event: Event) -> None:
        await self._tell(flight, told, event, await self._judge.decided(event))

    async def _tell(self, flight: Flight, told: Told, event: Event, decision: Decision) -> None:
        self._flights.pop(told.message.key, None)
        answer = combined([event], [decision])
        if answer.message:
            _log.info("%s", answer.message)
        halted = f"A hook stopped the agent here: {answer.reason}\nEnd your turn now." if answer.halt else ""
        await self._send(told.changed(decision.event.facts["tool"], joined((flight.notes, answer.context, halted))))
