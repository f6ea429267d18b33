"""The proxy: passes every message on unchanged, except that hooks decide tool calls and may change their results."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar

from hookline.engine.book import Book
from hookline.engine.decision import Decision
from hookline.errors import MustWait
from hookline.formatting import printable, shorten
from hookline.hooks.event import Event
from hookline.hooks.outcome import NOBODY_HERE, Audience, Verdict
from hookline.hooks.session_facts import SessionInfo, base_facts, format_second
from hookline.hooks.tools import ToolKind
from hookline.hosts.agents.agent_event import Ability
from hookline.hosts.agents.merged_decision import MergedDecision, join_texts, merge_decisions, merge_for
from hookline.hosts.agents.payload import inner_call_facts
from hookline.hosts.call_decision import TOO_MANY_CALLS, add_inner_decisions, decide_inner_calls
from hookline.hosts.hub.hub_approval import settle_ask, should_ask_hub
from hookline.hosts.hub.hub_file import AskAt, JoinedHub
from hookline.hosts.hub.running_hubs import find_hub
from hookline.hosts.mcp import elicitation
from hookline.hosts.mcp.json_rpc import (
    CLIENT_CAPABILITIES_KEY,
    CONNECTION_CLOSED,
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    CallResult,
    InvalidMessageError,
    McpToolCall,
    Message,
    build_error,
    build_response,
    can_elicit,
    declared_kinds,
    error_result,
    get_object,
    misspelt_name,
    parse_messages,
    parse_text_result,
    parse_tool_call,
    result_of,
    server_name,
    too_deep_result,
    tool_name,
)
from hookline.hosts.mcp.listed_tools import ListedTools
from hookline.hosts.mcp.result_meta import SERVER_INFO_KEY
from hookline.hosts.mcp.upstream import Upstream, UpstreamClosedError
from hookline.lazy_dataclasses import dataclass, replace
from hookline.project.private_file import state_directory
from hookline.record.recorder import Recorder
from hookline.runners.line_dispatcher import LineHandler, LineTooLongError
from hookline.runners.local_host import LocalHost
from hookline.runners.server_process import PipeClosedError

_MAX_ENTRIES: Final = 200

T = TypeVar("T")


@dataclass(slots=True)
class PendingRequest:
    """A request without an answer."""

    id: Any
    method: str
    call: McpToolCall | None = None  # the tool call as the client made it
    forwarded: McpToolCall | None = None  # as the hooks left it; None until the server has seen it
    notes: str = ""  # for the agent, with the result
    deciding: asyncio.Task[None] | None = None
    question: Message | None = None  # our question to the person at the client
    refusal: str = ""  # what a no means, if a question is open and the client answers by calling again
    first_id: Any = None  # of the call that hooks decided, if the client called again after a question
    facts: dict[str, Any] | None = None  # of the call as the client made it, once hooks were asked about it

    @property
    def is_being_decided(self) -> bool:
        return self.deciding is not None and not self.deciding.done()


class RecentMap(Generic[T]):
    """The most recent values by name; old ones are dropped, so that a peer cannot fill memory."""

    def __init__(self, most: int = _MAX_ENTRIES) -> None:
        self._max_size = most
        self.values: dict[str, T] = {}

    def remember(self, name: str, value: T) -> None:
        self.values.pop(name, None)
        self.values[name] = value
        if len(self.values) > self._max_size:
            del self.values[next(iter(self.values))]

    def get(self, name: object) -> T | None:
        return self.values.get(name) if isinstance(name, str) else None

    def pop(self, name: object) -> T | None:
        return self.values.pop(name, None) if isinstance(name, str) else None


_log = logging.getLogger("hookline")

HOST_NAME: Final = "mcp"
_SHUTDOWN_TIMEOUT: Final = timedelta(seconds=5)
_HUB_PATIENCE: Final = timedelta(minutes=10)  # a client that waits less cancels the call


@dataclass(frozen=True, slots=True)
class SessionIdentity:
    """The id, user and directory of a session."""

    session: str
    user: str
    directory: Path


class ProxySession:
    def __init__(self, book: Callable[[], Book], place: SessionIdentity, recorder: Recorder) -> None:
        self._book = book
        self._recorder = recorder
        self._place = place
        self._facts = base_facts(SessionInfo(place.session, place.user, place.directory, 0.0, host=HOST_NAME))
        self._calls = 0
        self._start_task: asyncio.Future[None] | None = None

    def begin(self) -> None:
        """Fires session.start. Tool calls wait for its hooks; other messages pass meanwhile."""
        self._start_task = asyncio.ensure_future(self._fire_session_start())

    async def end(self) -> None:
        """Fires session.end, with a time limit: a client that is leaving must not wait for hooks."""
        if self._start_task is not None and not self._start_task.done():
            self._start_task.cancel()
        host = self._book().host
        with suppress(TimeoutError):
            async with asyncio.timeout(_SHUTDOWN_TIMEOUT.total_seconds()):
                if isinstance(host, LocalHost):  # hooks in the background come before the last event
                    await host.wait_for_background(_SHUTDOWN_TIMEOUT / 2, self._place.session)
                await self._recorder.decide(self._book(), self.event("session.end"))
        if isinstance(host, LocalHost):
            await host.drain(_SHUTDOWN_TIMEOUT)

    def event(self, name: str, tool: dict[str, Any] | None = None) -> Event:
        session = {"id": self._place.session, "tool_calls": self._calls}
        facts = {**self._facts, "session": session, "time": format_second(int(time.time()))}
        if tool is not None:
            facts["tool"] = tool
        return Event(name, facts)

    def call_event(self, tool: dict[str, Any]) -> Event:
        """Of another call, which counts."""
        self._calls += 1
        return self.event("tool.before", tool)

    def hears_calls(self) -> bool:
        return self._book().hears("tool.before")

    def ask_hooks_now(self, event: Event) -> Decision | None:
        """None if a hook has to wait for something."""
        if self._start_task is not None and not self._start_task.done():
            return None
        try:
            return self._recorder.decide_now(self._book(), event)
        except MustWait:
            return None

    async def ask_hooks(self, event: Event) -> Decision:
        if self._start_task is not None:
            await asyncio.shield(self._start_task)
        return await self._recorder.decide(self._book(), event)

    async def ask_at_hub(self, decision: Decision, can_ask: bool) -> Decision | None:
        """The decision with the answer of a person at the hub. None if the client asks, or nobody answered there."""
        hub = find_hub(state_directory())
        if hub is None or not should_ask_hub(hub, decision.event, can_ask):
            return None
        return await self._settle_at_hub(hub, decision)

    async def ask_at_hub_too(self, decision: Decision) -> Decision | None:
        """Beside the client's own question. None without a hub, if it is not to be asked, or if nobody answered there."""
        hub = find_hub(state_directory())
        return None if hub is None or hub.ask is not AskAt.AUTO else await self._settle_at_hub(hub, decision)

    async def _settle_at_hub(self, hub: JoinedHub, decision: Decision) -> Decision | None:
        settled = await settle_ask(hub, decision, _HUB_PATIENCE, True, self._ask_again)
        if settled is None:
            return None
        answer, by = settled.answer, settled.answer.by or "hub"
        self._recorder.write_answer(self._book(), decision.event, answer.approved, by, edit_denied=settled.edit_denied)
        return settled.decision

    async def _ask_again(self, event: Event) -> Decision:
        """About a call that a person has edited, and the calls in it."""
        made = await self.ask_hooks(event)
        return await decide_inner_calls(made, lambda tool: self.ask_hooks(self.event("tool.before", tool)))

    def record_answer(self, tool: dict[str, Any], approved: bool, by: str = "user") -> None:
        """What was answered to an ask about a call: by the client's user, or without one."""
        self._recorder.write_answer(self._book(), self.event("tool.before", tool), approved, by)

    async def _fire_session_start(self) -> None:
        """Both events at once: a server does not see the agent's turns."""
        started = await self._recorder.decide(self._book(), self.event("session.start"))
        first = await self._recorder.decide(self._book(), self.event("session.first_turn"))
        for note in (*started.notes, *first.notes):
            if note.audience is Audience.AGENT:
                _log.info("cannot deliver a note for the agent at session start: %s", note.text)
            else:
                _log.info("%s", note.text)


_ABILITY: Final = Ability(deny=True, ask=True, allow=True, change=True, context=True)
_ABILITY_WITHOUT_ASK: Final = replace(_ABILITY, ask=False)

_REFUSED_BY_USER: Final = "(not allowed by the user)"
_LEAVE_TIMEOUT: Final = 1.0  # seconds for hooks that are still deciding when the client has left


class ProxyClient(Protocol):
    """The client's two directions, one message per line."""

    async def dispatch(self, handle: LineHandler) -> None: ...
    async def send(self, line: bytes) -> None: ...


class Proxy:
    def __init__(self, client: ProxyClient, server: Upstream, session: ProxySession, name: str = "") -> None:
        self._client = client
        self._server = server
        self._session = session
        self._given_name = server_name(name)
        self._name = self._given_name or server_name(server.fallback_name) or "server"
        self._kinds: dict[str, ToolKind] = {}  # of the server's tools, as far as their descriptions tell
        self._listed = ListedTools()
        self._capabilities: Mapping[str, Any] = {}
        self._pending: dict[str, PendingRequest] = {}
        self._questions: dict[str, asyncio.Future[Message]] = {}
        self._cancelled_requests: RecentMap[PendingRequest] = RecentMap()  # cancelled, but the server may still answer
        self._continued: RecentMap[PendingRequest] = RecentMap()  # by the state with which the client calls again
        self._tasks: RecentMap[PendingRequest] = RecentMap()  # calls that the server answers later, by task
        self._running_tasks: set[asyncio.Task[None]] = set()
        self._broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def run(self) -> str | None:
        """Runs until either side leaves. Returns None if the client left, else how the server ended."""
        self._session.begin()
        client = asyncio.ensure_future(self._read_client())
        server = asyncio.ensure_future(self._read_server())
        try:
            first: set[asyncio.Future[Any]] = {client, server, self._broken}
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
            self._raise_task_error()
            if client.done() and await client:
                await self._finish_without_client(server)
                return None
            ended = await server
            await self._fail_all(ended)
            return ended or None
        finally:
            for task in (client, server, *self._running_tasks):
                task.cancel()
            await asyncio.gather(client, server, *self._running_tasks, return_exceptions=True)
            await self._session.end()

    async def _read_client(self) -> bool:
        """True if the client left, False if the server has ended."""
        try:
            await self._client.dispatch(self._handle_client_line)
        except (LineTooLongError, PipeClosedError) as error:
            if isinstance(error, LineTooLongError):
                _log.error("stopped reading from the client: %s", error)
        except UpstreamClosedError:
            return False
        return True

    async def _read_server(self) -> str:
        """How the server ended; "" if the client cannot be reached any more."""
        try:
            await self._server.dispatch(self._handle_server_message)
        except UpstreamClosedError as ended:
            return str(ended)
        except PipeClosedError:
            pass
        return ""

    async def _handle_client_line(self, line: bytes) -> None:
        for message in await self._parse_line(line):
            await self._handle_client_message(message)

    async def _parse_line(self, line: bytes) -> tuple[Message, ...]:
        """Drops what cannot be parsed: a more lenient server might find a call in it."""
        try:
            return parse_messages(line)
        except InvalidMessageError as error:
            _log.warning("invalid JSON-RPC message from the client: %s", error)
            await self._send(build_error(None, PARSE_ERROR, f"invalid JSON-RPC message: {error}"))
            return ()

    async def _finish_without_client(self, server: asyncio.Future[str]) -> None:
        """The client may still read, so running decisions get a moment. Questions are cancelled: nobody can answer them."""
        for request in self._pending.values():
            if request.deciding is not None and request.question is not None:
                request.deciding.cancel()
        if self._running_tasks:
            await asyncio.wait(set(self._running_tasks), timeout=_LEAVE_TIMEOUT)
        await self._server.finish()
        await server

    async def _fail_all(self, how: str) -> None:
        for request in self._pending.values():
            if request.deciding is not None:
                request.deciding.cancel()
            try:
                await self._send(build_error(request.id, CONNECTION_CLOSED, how))
            except PipeClosedError:
                return

    def _spawn(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._running_tasks.add(task)
        task.add_done_callback(self._on_task_done)
        return task

    def _on_task_done(self, task: asyncio.Task[None]) -> None:
        self._running_tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if (
            error is not None
            and not isinstance(error, (UpstreamClosedError, PipeClosedError))
            and not self._broken.done()
        ):
            self._broken.set_exception(error)

    def _raise_task_error(self) -> None:
        if self._broken.done():
            self._broken.result()

    async def _send(self, message: Message) -> None:
        await self._client.send(message.to_bytes())

    async def _handle_client_message(self, message: Message) -> None:
        call = self._listed.parse_known_call(message)
        if call is not None and not self._is_pending(key := message.key):
            await self._handle_tool_call(key, call)
            return
        contradiction = message.contradiction
        if contradiction is not None:
            _log.warning("invalid JSON-RPC message from the client: %s", contradiction)
            if message.id is not None:
                what = f"invalid JSON-RPC message: {contradiction}"
                await self._send(build_error(message.id, INVALID_REQUEST, what))
            return
        method = message.method
        misspelt = misspelt_name(message)
        if misspelt is None and method == "tools/call":
            misspelt = self._listed.find_misspelling(message)
            if misspelt is None:
                self._listed.remember_correct(message)
        if misspelt is not None:
            what = _describe_misspelt(misspelt)
            _log.warning("invalid JSON-RPC message from the client: %s", what)
            if message.id is not None and (message.is_request or not _can_be_response(message)):
                await self._send(build_error(message.id, INVALID_REQUEST, f"invalid JSON-RPC message: {what}"))
            if not _can_be_response(message):
                return
            message, method = build_error(message.id, INVALID_REQUEST, what), None
        question = self._questions.pop(message.key, None) if message.is_response else None
        if question is not None:
            if not question.done():
                question.set_result(message)
        elif method == "notifications/cancelled":
            await self._handle_cancellation(message)
        elif method == "tools/call" and not isinstance(message.id, (int, str)):
            _log.warning("dropped a tool call without an id")
        elif message.is_request and self._is_pending(message.key):
            await self._send(build_error(message.id, INVALID_REQUEST, "a request with this id is still pending"))
        elif method == "tools/call":
            parsed = parse_tool_call(message)
            if isinstance(parsed, str):
                await self._send(build_error(message.id, INVALID_PARAMS, parsed))
            else:
                await self._handle_tool_call(message.key, parsed)
        else:
            self._track_request(message)
            await self._server.send(message)

    def _is_pending(self, key: str) -> bool:
        """Whether the server may still answer a request with this id."""
        return key in self._pending or key in self._cancelled_requests.values

    def _track_request(self, message: Message) -> None:
        if not message.is_request:
            return
        request = PendingRequest(message.id, message.method or "")
        if message.method == "initialize":
            self._capabilities = get_object(message.params, "capabilities")
        task = self._tasks.get(message.params.get("taskId")) if message.method == "tasks/result" else None
        if task is not None:
            request = replace(task, id=message.id)
        self._pending[message.key] = request

    async def _handle_cancellation(self, message: Message) -> None:
        key = json.dumps(message.params.get("requestId"))
        request = self._pending.pop(key, None)
        if request is None or not request.is_being_decided:
            if request is not None:
                self._cancelled_requests.remember(key, request)
            await self._server.send(message)
            return
        assert request.deciding is not None
        request.deciding.cancel()  # neither the call nor its result is passed on
        if request.question is not None and self._questions.pop(request.question.key, None) is not None:
            await self._send(elicitation.cancel_notification(request.question))

    async def _handle_tool_call(self, key: str, call: McpToolCall) -> None:
        """Few steps lead to a decision on which no hook spoke: a process that has slept loads the code of each one anew."""
        request = self._pending[key] = PendingRequest(call.message.value["id"], "tools/call", call)
        if self._continued.values:
            before = self._continued.pop(call.message.params.get("requestState"))
            if before is not None and before.call is not None and elicitation.is_same_call(call, before.call):
                await self._resume_call(request, call, before)
                return
        request.facts = call.facts(self._name, self._kinds.get(call.tool))
        event = self._session.call_event(request.facts)
        inner = inner_call_facts(HOST_NAME, call.arguments)
        if inner != [] and not self._session.hears_calls():
            inner = []
        if inner is None:
            await self._refuse(request, TOO_MANY_CALLS)
            return
        decision = self._session.ask_hooks_now(event)
        if not inner and decision is not None and decision.event is event and _is_silent(decision):
            request.forwarded = call
            await self._server.send(call.message)
        elif inner or decision is None or decision.verdict is Verdict.ASK or decision.event is not event:
            request.deciding = self._spawn(self._decide_call(request, event, decision, inner))
        else:
            await self._apply_decision(request, event, decision)

    async def _decide_call(
        self, request: PendingRequest, event: Event, decision: Decision | None, inner: list[dict[str, Any]]
    ) -> None:
        made = decision or await self._session.ask_hooks(event)
        if made.event is not event and self._session.hears_calls():
            changed = inner_call_facts(HOST_NAME, made.event.facts["tool"]["input"])
            if changed is None:
                await self._refuse(request, TOO_MANY_CALLS)
                return
            inner = changed

        async def decide(tool: dict[str, Any]) -> Decision:
            return await self._session.ask_hooks(self._session.event("tool.before", tool))

        made = await add_inner_decisions(
            made, inner, self._name, decide
        )  # nobody asks again when the server makes them
        if made.verdict is Verdict.ASK and request.call is not None:
            can_ask = can_elicit(self._client_capabilities(request.call))
            made = await self._session.ask_at_hub(made, can_ask) or made
        await self._apply_decision(request, event, made)

    async def _apply_decision(self, request: PendingRequest, event: Event, decision: Decision) -> None:
        call = request.call
        assert call is not None
        if decision.event is event and _is_silent(decision):
            await self._forward(request, call)
            return
        able = _ABILITY if can_elicit(self._client_capabilities(call)) else _ABILITY_WITHOUT_ASK
        answer = merge_for(able, [event], [decision])
        if answer.message:
            _log.info("%s", answer.message)
        if answer.is_denied:
            if decision.verdict is Verdict.ASK and not decision.halt:
                self._session.record_answer(event.facts["tool"], False, NOBODY_HERE)
            await self._refuse(request, answer.reason)
            return
        request.notes = answer.context
        left = call.with_arguments(answer.new) if answer.is_changed else call
        if answer.verdict is not Verdict.ASK:
            await self._forward(request, left)
        elif call.is_modern:
            await self._ask_in_result(request, left, answer)
        else:
            await self._ask_client_and_hub(request, left, answer, decision)

    def _call_facts(self, request: PendingRequest, call: McpToolCall) -> dict[str, Any]:
        """A call that goes on after a question keeps its id, so that its outcome is that of the decided call."""
        if call is request.call and request.facts is not None:
            return request.facts
        facts = call.facts(self._name, self._kinds.get(call.tool))
        return facts if request.first_id is None else {**facts, "id": str(request.first_id)}

    def _client_capabilities(self, call: McpToolCall) -> Mapping[str, Any]:
        return (
            get_object(call.message.params, "_meta", CLIENT_CAPABILITIES_KEY) if call.is_modern else self._capabilities
        )

    async def _forward(self, request: PendingRequest, left: McpToolCall) -> None:
        request.forwarded, request.deciding = left, None
        await self._server.send(left.message)

    async def _refuse(self, request: PendingRequest, reason: str) -> None:
        assert request.call is not None
        self._pending.pop(request.call.message.key, None)
        await self._send(build_response(request.id, error_result(reason, modern=request.call.is_modern)))

    async def _ask_client_and_hub(
        self, request: PendingRequest, left: McpToolCall, answer: MergedDecision, decision: Decision
    ) -> None:
        """At once: the first answer counts, and the other question is withdrawn."""
        request.question = asked = elicitation.elicitation_request(self._elicitation_params(left, answer))
        reply = self._questions[asked.key] = asyncio.get_running_loop().create_future()
        at_hub = asyncio.ensure_future(self._session.ask_at_hub_too(decision))
        try:
            await self._send(asked)
            await asyncio.wait((reply, at_hub), return_when=asyncio.FIRST_COMPLETED)
            settled = await at_hub if not reply.done() or elicitation.is_dismissed_reply(reply.result()) else None
        finally:
            at_hub.cancel()
        if settled is not None:
            if self._questions.pop(asked.key, None) is not None:
                await self._send(elicitation.cancel_notification(asked, "it was answered at the hub"))
            await self._apply_decision(request, decision.event, settled)
            return
        approved = elicitation.is_accepted_reply(await reply)
        self._session.record_answer(self._call_facts(request, left), approved)
        if approved:
            await self._forward(request, left)
        else:
            await self._refuse(request, answer.add_to_reason(_REFUSED_BY_USER))

    async def _ask_in_result(self, request: PendingRequest, left: McpToolCall, answer: MergedDecision) -> None:
        """Asks by a result: the client calls again with the answer and this unguessable state."""
        state = f"hookline-{secrets.token_hex(16)}"
        assert request.call is not None
        del self._pending[request.call.message.key]
        refusal = answer.add_to_reason(_REFUSED_BY_USER)
        self._continued.remember(state, replace(request, forwarded=left, deciding=None, refusal=refusal))
        await self._send(
            build_response(request.id, elicitation.input_required_result(self._elicitation_params(left, answer), state))
        )

    def _elicitation_params(self, left: McpToolCall, answer: MergedDecision) -> dict[str, Any]:
        return elicitation.elicitation_params(left, tool_name(self._name, left.tool), answer.reason)

    async def _resume_call(self, request: PendingRequest, call: McpToolCall, before: PendingRequest) -> None:
        """Resumes a call that was already decided, after our question or the server's was answered."""
        assert before.call is not None
        assert before.forwarded is not None
        request.notes = before.notes
        request.first_id = before.id if before.first_id is None else before.first_id
        if not before.refusal:
            left = before.forwarded
            await self._forward(request, call if left is before.call else call.with_arguments(left.arguments))
        else:
            left = before.forwarded
            approved = elicitation.is_accepted(elicitation.elicitation_answer(call))
            self._session.record_answer(self._call_facts(request, left), approved)
            if approved:
                await self._forward(request, elicitation.resume_call(call, before.call, left))
            else:
                await self._refuse(request, before.refusal)

    async def _handle_server_message(self, message: Message) -> None:
        result = parse_text_result(message)
        if result is not None:
            request = self._pending.get(message.key)
            if (
                request is not None
                and request.call is not None
                and request.forwarded is not None
                and request.deciding is None
            ):
                await self._decide_result(request, request.forwarded, result)
                return
        misspelt = misspelt_name(message)
        what = message.contradiction if misspelt is None else _describe_misspelt(misspelt)
        if what is not None:
            _log.warning("invalid JSON-RPC message from the MCP server: %s", what)
            if not _can_be_response(message) and message.key not in self._pending:
                return
            message = build_error(message.id, INVALID_REQUEST, f"invalid JSON-RPC message from the MCP server: {what}")
        if message.id is None and "result" in message.value:
            _log.warning("the MCP server answered without the id of a request")
            return
        if not message.is_response or message.id is None:
            await self._send(message)
            return
        request = self._pending.get(message.key)
        if request is not None and request.call is not None and (request.forwarded is None or request.is_being_decided):
            request = None
        request = request or self._cancelled_requests.pop(message.key)
        if request is None:
            _log.warning("the MCP server answered an unknown request")
        elif request.call is not None:
            await self._handle_result(request, message)
        else:
            self._pending.pop(message.key, None)
            self._learn_name(request.method, message)
            if request.method == "tools/list":
                self._kinds |= declared_kinds(message.result)
                self._listed.learn(message.result)
            await self._send(message)

    def _learn_name(self, method: str, message: Message) -> None:
        if self._given_name or method not in ("initialize", "server/discover"):
            return
        info = get_object(message.result, "serverInfo") or get_object(message.result, "_meta", SERVER_INFO_KEY)
        name = info.get("name")
        self._name = (server_name(name) if isinstance(name, str) else "") or self._name

    async def _handle_result(self, request: PendingRequest, message: Message) -> None:
        if self._defer_unfinished(request, message):
            self._pending.pop(message.key, None)
            await self._send(message)
            return
        result = result_of(message)
        assert request.forwarded is not None
        if result is None:
            self._pending.pop(message.key, None)
            await self._send(too_deep_result(message, modern=request.forwarded.is_modern))
            return
        await self._decide_result(request, request.forwarded, result)

    async def _decide_result(self, request: PendingRequest, forwarded: McpToolCall, result: CallResult) -> None:
        event = self._session.event("tool.after", {**self._call_facts(request, forwarded), **result.facts()})
        decision = self._session.ask_hooks_now(event)
        if decision is not None:
            await self._send_result(request, result, event, decision)
        else:
            request.deciding = self._spawn(self._wait_for_result_hooks(request, result, event))

    def _defer_unfinished(self, request: PendingRequest, message: Message) -> bool:
        """True if this is not the final result: the server asks for something first, or continues as a task."""
        call, result = request.call, message.result
        assert call is not None
        if call.is_modern and result.get("resultType") == "input_required" and "content" not in result:
            state = result.get("requestState")
            if isinstance(state, str):
                self._continued.remember(state, replace(request, deciding=None, refusal=""))
            return True
        task = get_object(result, "task").get("taskId")
        if "task" in call.message.params and isinstance(task, str) and "content" not in result:
            self._tasks.remember(task, replace(request, deciding=None, refusal=""))
            return True
        return False

    async def _wait_for_result_hooks(self, request: PendingRequest, result: CallResult, event: Event) -> None:
        await self._send_result(request, result, event, await self._session.ask_hooks(event))

    async def _send_result(self, request: PendingRequest, result: CallResult, event: Event, decision: Decision) -> None:
        self._pending.pop(result.message.key, None)
        if decision.event is event and not (
            decision.notes or decision.halt or request.notes
        ):  # nobody has said anything
            await self._send(result.message)
            return
        answer = merge_decisions([event], [decision])
        if answer.message:
            _log.info("%s", answer.message)
        halted = f"A hook stopped the agent: {answer.reason}\nEnd your turn now." if answer.halt else ""
        await self._send(
            result.apply_changes(decision.event.facts["tool"], join_texts((request.notes, answer.context, halted)))
        )


def _is_silent(decision: Decision) -> bool:
    """As almost every decision is: nobody has said anything."""
    return decision.verdict is Verdict.SILENT and not (decision.notes or decision.halt)


def _describe_misspelt(name: str) -> str:
    return f"{printable(shorten(name))!r} could be read in two ways, because names differ only in case"


def _can_be_response(message: Message) -> bool:
    """Whether somebody may wait for it; a method under any spelling makes it a request."""
    return message.id is not None and all(name.casefold() != "method" for name in message.value)
