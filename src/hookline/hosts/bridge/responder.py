"""Turns a call of a coding agent into its reply: reads the payload, loads the hooks, decides, answers in time."""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextvars import ContextVar
from datetime import timedelta
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn, TypeVar

from hookline.config.problem import Severity
from hookline.engine.book import Book
from hookline.engine.decision import Decision
from hookline.engine.limits import session_id
from hookline.engine.nested_calls import Decider
from hookline.errors import HooklineError, MustWait
from hookline.hooks.event import Event
from hookline.hooks.events import DRAIN_TIMEOUT, ENDING_EVENTS, EVENTS
from hookline.hooks.host import (
    Command,
    FireLimiter,
    FunctionCall,
    Notice,
    NullHost,
    PostRequest,
    PostResponse,
    ProgramResult,
    ScriptCall,
    inherited_environment,
)
from hookline.hooks.outcome import NOBODY_HERE, ActionError, Audience, FailureKind, Note, Verdict
from hookline.hooks.session_facts import SessionInfo, base_facts, login_name
from hookline.hooks.tools import KINDS_WITH_INPUT, tool_kind
from hookline.hosts.agents import event_timeout, get_agent
from hookline.hosts.agents.agent import CodingAgent, ParsedPayload, Reply
from hookline.hosts.agents.agent_event import FAIL_CLOSED_EVENTS
from hookline.hosts.agents.agent_tools import SeenTools
from hookline.hosts.agents.caller import detect_agent
from hookline.hosts.agents.machine import Machine
from hookline.hosts.agents.payload import MAX_PARTS
from hookline.hosts.bridge import client
from hookline.hosts.bridge.call_deduplicator import SharedDecisions
from hookline.hosts.bridge.fallbacks import Fallbacks
from hookline.hosts.bridge.hook_cache import CacheKey, Engine, HookCache, LoadOnce, ReadableFiles
from hookline.hosts.bridge.protocol import AgentCall
from hookline.hosts.bridge.session_state import UserMessage
from hookline.hosts.hub.hub_approval import settle_ask, should_ask_hub
from hookline.hosts.hub.hub_file import JoinedHub
from hookline.hosts.hub.running_hubs import find_hub
from hookline.lazy_dataclasses import dataclass, replace
from hookline.project import project_directories
from hookline.project.trust_store import CHANGED_SINCE_TRUSTED
from hookline.record.recorder import RecordedBook, recorder_of
from hookline.runners.local_host import LocalHost

T = TypeVar("T")
ModelCallback = Callable[[str, ReadableFiles | None], Awaitable[str]]

_ignores_deadline: Final[ContextVar[bool]] = ContextVar("ignores_deadline", default=False)
_STANDING_FAILURES: Final = (FailureKind.NOT_TRUSTED, FailureKind.UNAVAILABLE)
_MAX_SHOWN_ERRORS: Final = 10
_SESSION_FACTS: Final = ("host", "session", "user", "cwd", "workspace", "time")
_TIMEOUT_MESSAGE: Final = "did not finish before the agent's time limit for hooks"


class DeadlineHost(NullHost):
    """LocalHost with an overall deadline: the agent kills hooks that take longer.

    At the deadline, the hook that is running counts as timed out, so its own on_error decides. Background work keeps its
    own timeouts.
    """

    def __init__(
        self, here: LocalHost, limits: FireLimiter, until: float, ask_model: ModelCallback, decider: Decider
    ) -> None:
        """`until` is a time of the running loop. `decider` decides about files that a model wants to read for a hook."""
        self._here = here
        self._limits = limits
        self._until = until
        self._ask_model = ask_model
        self._decider = decider
        self.clock = here.clock

    @property
    def limits(self) -> FireLimiter:
        return self._limits

    async def run_program(self, command: Command) -> ProgramResult:
        return await self._here.run_program(replace(command, timeout=self._limit_timeout(command.timeout)))

    async def run_script(self, script: ScriptCall) -> Any:
        return await self._here.run_script(replace(script, timeout=self._limit_timeout(script.timeout)))

    async def run_function(self, call: FunctionCall) -> Any:
        return await self._run_until_deadline(self._here.run_function(call))

    async def post(self, request: PostRequest) -> PostResponse:
        return await self._here.post(replace(request, timeout=self._limit_timeout(request.timeout)))

    async def complete(self, prompt: str) -> str:
        return await self._run_until_deadline(self._ask_model(prompt, None))

    async def investigate(self, prompt: str, event: Event) -> str:
        facts: dict[str, Any] = {name: event.facts[name] for name in _SESSION_FACTS if name in event.facts}
        workspace = Path(str(facts.get("workspace") or facts.get("cwd") or "/"))
        files = ReadableFiles(workspace, facts, self._decider, self)
        return await self._run_until_deadline(self._ask_model(prompt, files))

    async def publish(self, notice: Notice) -> None:
        await self._here.publish(notice)

    def run_in_background(self, work: Callable[[], Awaitable[None]], session: str) -> None:
        async def in_its_own_time() -> None:
            _ignores_deadline.set(True)
            await work()

        self._here.run_in_background(in_its_own_time, session)

    async def _run_until_deadline(self, work: Awaitable[T]) -> T:
        if _ignores_deadline.get():
            return await work
        deadline: asyncio.Timeout | None = None
        try:
            async with asyncio.timeout_at(self._until) as deadline:
                return await work
        except TimeoutError:
            if deadline is None or not deadline.expired():
                raise
            raise ActionError(FailureKind.TIMEOUT, _TIMEOUT_MESSAGE) from None

    def _limit_timeout(self, timeout: timedelta) -> timedelta:
        if _ignores_deadline.get():
            return timeout
        left = self._until - asyncio.get_running_loop().time()
        if left <= 0:
            raise ActionError(FailureKind.TIMEOUT, _TIMEOUT_MESSAGE)
        return min(timeout, timedelta(seconds=left))


def timeout_margin(call: AgentCall) -> timedelta:
    """A tenth of the agent's timeout, between 0.5 and 10 seconds: the time for every `on_error` and for the reply."""
    return _margin_of(_timeout_of(call))


def time_for_hooks(call: AgentCall) -> timedelta:
    """The time left for hooks."""
    limit = _timeout_of(call)
    return max(limit - _margin_of(limit) - call.spent, timedelta(seconds=0.05))


def time_for_answer(call: AgentCall) -> timedelta:
    """The time until there is a reply in any case."""
    return time_for_hooks(call) + timeout_margin(call) / 3


def _timeout_of(call: AgentCall) -> timedelta:
    return _agent_timeout(call.agent, call.event) if call.entry_timeout is None else call.entry_timeout


_agent_timeout: Final = lru_cache(256)(event_timeout)


@lru_cache(256)
def _margin_of(limit: timedelta) -> timedelta:
    return min(max(limit / 10, timedelta(seconds=0.5)), timedelta(seconds=10))


_HUB_MARGIN: Final = 0.5  # seconds of the time for hooks that stay after a person was asked at the hub
_WAITING_EVENTS: Final = frozenset({"session.start", "session.end", "approval.request"})  # even if no hook does
_PLACEHOLDER_PAYLOAD: Final = {"prompt": "…"}  # used instead of an unreadable payload

log = logging.getLogger("hookline")


class UnreadablePayloadError(Exception):
    """The payload is not a JSON object."""


async def respond(call: AgentCall, engine: Engine) -> Reply:
    """Always returns an answer, and in time. What could not be decided is denied for FAIL_CLOSED_EVENTS."""
    token = inherited_environment.set(call.environment)
    responder = None
    try:
        async with asyncio.timeout(time_for_answer(call).total_seconds()):
            responder = _Responder(get_agent(call.agent), call, engine)
            return await responder.reply()
    except Exception as error:
        return _reply_to_error(call, error, responder)
    finally:
        inherited_environment.reset(token)


def respond_now(call: AgentCall, cache: HookCache) -> Reply | None:
    """The answer to a call for which nothing has to be waited: almost every one.

    A task and its timeouts would cost more than such a decision. None if something has to be waited for; nothing has
    happened then, and `respond` does it.
    """
    token = inherited_environment.set(call.environment)
    responder = None
    try:
        responder = _Responder(get_agent(call.agent), call, cache)
        return responder.reply_now(cache)
    except MustWait:
        return None
    except Exception as error:
        return _reply_to_error(call, error, responder)
    finally:
        inherited_environment.reset(token)


def _reply_to_error(call: AgentCall, error: Exception, responder: _Responder | None) -> Reply:
    """A bug in hookline must neither let a tool run nor show the agent a traceback."""
    try:
        agent, event = (get_agent(call.agent), call.event) if responder is None else (responder.agent, responder.event)
        if isinstance(error, TimeoutError):
            log.error("%s %s: not decided in time", agent.name, event)
            return reply_without_decision(agent, event, "the hooks did not answer in time")
        log.error("%s %s: this is a bug in hookline", agent.name, event, exc_info=error)
        return reply_without_decision(agent, event, _describe_bug(error))
    except HooklineError as unknown:
        return Reply(stderr=f"hookline: {unknown}", exit_code=client.exit_code_without_answer(call.event))
    except Exception as another:  # not even the agent is known
        log.exception("%s %s: this is a bug in hookline", call.agent, call.event)
        return Reply(stderr=_describe_bug(another), exit_code=client.exit_code_without_answer(call.event))


def _describe_bug(error: Exception) -> str:
    return f"hookline has a bug ({type(error).__name__}); see its log"


def reply_without_decision(agent: CodingAgent, event: str, why: str) -> Reply:
    """The safest answer if there is no decision."""
    parsed = agent.read(event, _PLACEHOLDER_PAYLOAD)
    return agent.reply(parsed, [_decision_without_hooks(each, why) for each in parsed.events])


def _decision_without_hooks(event: Event, why: str) -> Decision:
    if event.name in FAIL_CLOSED_EVENTS:
        return Decision(event, Verdict.DENY, f"Blocked by hookline: {why}")
    return Decision(event, notes=(Note(f"hookline: {why}", Audience.USER),))


def empty_reply(agent: CodingAgent, event: str) -> Reply:
    parsed = agent.read(event, _PLACEHOLDER_PAYLOAD)
    return agent.reply(parsed, [Decision(each) for each in parsed.events])


@dataclass(frozen=True, slots=True)
class _Unreadable:
    """A payload that does not say what a guard has to know."""

    why: str
    workspace: Path | None
    cwd: Path | None = None


class _Responder:
    """`agent` and `event` are those of the entry, until the payload says that another agent runs it."""

    def __init__(self, agent: CodingAgent, call: AgentCall, engine: Engine) -> None:
        self.agent = agent
        self.event = call.event
        self.call = call
        self.engine = engine

    async def reply(self) -> Reply:
        read = self._read()
        if isinstance(read, Reply):
            return read
        if isinstance(read, _Unreadable):
            return await self._reply_to_unreadable(read)
        return await read.reply()

    def reply_now(self, cache: HookCache) -> Reply:
        """Raises MustWait if something has to be waited for."""
        read = self._read()
        if isinstance(read, Reply):
            return read
        if isinstance(read, _Unreadable):
            raise MustWait(read.why)
        return read.reply_now(cache)

    def _read(self) -> _Question | _Unreadable | Reply:
        call = self.call
        workspace = self._find_workspace()
        try:
            payload = _parse_payload(call.payload)
        except UnreadablePayloadError as unreadable:
            return _Unreadable(str(unreadable), workspace)
        known = self.agent.find_event(call.event)
        if known is None:
            return self._reply_to_unknown_event()
        caller = detect_agent(call.agent, call.variable, payload)
        if caller != call.agent:
            other = get_agent(caller)
            if _has_entries(other, call):
                return empty_reply(self.agent, call.event)
            name = other.translate_event(call.event, known)
            if name:
                self.agent, self.event = other, name
        parsed = self.agent.read(self.event, payload, str(workspace or ""))
        for event in parsed.events:
            if missing := _why_unreadable(event):
                cwd = _existing_directory(event.facts.get("cwd")) or workspace
                return _Unreadable(missing, workspace, cwd)
        return _Question(self.agent, call, self.engine, parsed, workspace)

    def _find_workspace(self) -> Path | None:
        """By the agent's own variable. The others are of agents that it imitates, and count only without it."""
        found = (place for place in map(self.call.variable, self.agent.project_variables) if _absolute_path(place))
        return _existing_directory(next(found, None))

    def _reply_to_unknown_event(self) -> Reply:
        """Only an entry that hookline did not write, or another version wrote, names such an event."""
        what = f"{self.call.event!r} is not an event of {self.agent.name} that hookline knows, so no hook was asked"
        log.warning("%s", what)
        return Reply(stderr=f"hookline: {what}; run `hookline doctor {self.agent.name}`")

    async def _reply_to_unreadable(self, read: _Unreadable) -> Reply:
        """Denies if a hook listens to this event, or if the project is unknown."""
        log.warning("%s %s: %s", self.agent.name, self.event, read.why)
        where = read.cwd or _existing_directory(self.call.cwd) or read.workspace
        if where is None:
            return reply_without_decision(self.agent, self.event, read.why)
        book = await self.engine.book(_cache_key(self.agent, self.call, where, read.workspace, self.call.cwd))
        events = self.agent.read(self.event, _PLACEHOLDER_PAYLOAD).events
        if any(hook.event == event.name and hook.enabled for hook in book.hooks for event in events):
            return reply_without_decision(self.agent, self.event, read.why)
        return empty_reply(self.agent, self.event)


class _Question:
    """What a call asks the hooks."""

    def __init__(
        self, agent: CodingAgent, call: AgentCall, engine: Engine, parsed: ParsedPayload, workspace: Path | None
    ) -> None:
        """`agent` is the one that really called."""
        self._agent = agent
        self._call = call
        self._engine = engine
        self._parsed = parsed
        self._workspace = workspace
        self._until = asyncio.get_running_loop().time()
        self._until += time_for_hooks(call).total_seconds()
        self._sessions = engine.session_store(call.user_directories)
        self._fallbacks = Fallbacks(agent, parsed.name, self._sessions)
        self._books: dict[CacheKey, Book] = {}
        self._recorder = recorder_of(call.user_directories.hookline_state)

    async def reply(self) -> Reply:
        async def each() -> list[Decision]:
            decisions: list[Decision] = []
            for event in self._parsed.events:
                decisions.append(await self._decide(self._place(event)))
                if len(decisions) > 1:
                    await asyncio.sleep(0)  # so that the time for the answer counts, and others are answered too
            return decisions

        return self._render(await self._engine.decide_once(self._call, each))

    def reply_now(self, cache: HookCache) -> Reply:
        """Raises MustWait if something has to be waited for."""
        events = self._parsed.events
        if len(events) != 1 or events[0].name in _WAITING_EVENTS:  # the first decision would be recorded twice
            raise MustWait("it has several events, or one that waits")
        placed = self._place(events[0])
        book = cache.fresh_book(placed.key)
        if book is None:
            raise MustWait("the config files have to be read")
        if cache.may_ask(book) and self._hub_for(placed.event) is not None:
            raise MustWait("a person may have to be asked at the hub")
        return self._render(cache.decide_once_now(self._call, lambda: [self._decide_now(placed.event, book)]))

    def _render(self, shared: SharedDecisions) -> Reply:
        decisions = [replace(made, notes=()) for made in shared.decisions] if shared.is_repeat else shared.decisions
        return self._agent.reply(self._parsed, decisions)

    def _place(self, event: Event) -> _PlacedEvent:
        cwd = self._find_cwd(event)
        known = base_facts(SessionInfo(None, login_name(), cwd, self._engine.local_host.clock.wall()))
        place = {"cwd": str(cwd), "workspace": str(self._workspace or event.facts.get("workspace") or cwd)}
        placed = Event(event.name, {**known, **event.facts, **place})
        placed = self._fallbacks.add_stop_active(placed)
        return _PlacedEvent(placed, _cache_key(self._agent, self._call, cwd, self._workspace, event.facts.get("cwd")))

    def _find_cwd(self, event: Event) -> Path:
        given, workspace = event.facts.get("cwd"), self._workspace
        if workspace is not None and given == str(workspace):  # it exists
            return workspace
        return _existing_directory(given) or workspace or _existing_directory(self._call.cwd) or Path("/")

    async def _decide(self, placed: _PlacedEvent) -> Decision:
        event, book = placed.event, await self._book(placed.key)
        denial = self._begin(event, book)
        if denial is not None:
            return denial
        if event.name == "session.end":
            await self._wait_for_background(event)
        recorder, host = self._recorder, self._host(book)
        decided = await recorder.decide(book, event, host)
        if decided.verdict is Verdict.ASK and not decided.halt:
            decided = await self._ask_at_hub(event, book, decided, host)
        if event.name == "session.start" and book.hears("session.first_turn"):  # the agent does not report its turns
            first = await recorder.decide(book, Event("session.first_turn", event.facts), host)
            decided = _join_decisions(decided, first)
        if event.name == "approval.request" and decided.verdict is Verdict.SILENT and not decided.halt:
            await self._notify_of_approval(event, book, host)
        return self._finish(event, book, decided)

    async def _book(self, key: CacheKey) -> Book:
        """All parts of a call are judged by the same hooks."""
        if key not in self._books:
            self._books[key] = await self._engine.book(key)
        return self._books[key]

    def _hub_for(self, event: Event) -> JoinedHub | None:
        """The hub at which a person is asked about this event; None if the agent asks."""
        if event.name != "tool.before":
            return None
        hub = find_hub(self._call.user_directories.hookline_state)
        known = self._agent.find_event(self._parsed.name)
        can_ask = known is not None and known.ability.ask
        return hub if hub is not None and should_ask_hub(hub, event, can_ask) else None

    async def _ask_at_hub(self, event: Event, book: Book, decided: Decision, host: DeadlineHost) -> Decision:
        hub = self._hub_for(event)
        if hub is None:
            return decided
        left = self._until - asyncio.get_running_loop().time() - _HUB_MARGIN
        known = self._agent.find_event(self._parsed.name)
        can_edit = known is not None and known.ability.change and len(self._parsed.events) == 1
        decide_again = partial(self._recorder.decide, book, host=host)
        settled = await settle_ask(hub, decided, timedelta(seconds=max(0.0, left)), can_edit, decide_again)
        if settled is None:
            why = "no answer from the hub" if hub.runs else "the hub has ended: `hookline hub` starts it"
            return replace(decided, reason=f"{decided.reason} ({why})".strip())
        answer, by = settled.answer, settled.answer.by or "hub"
        self._recorder.write_answer(book, decided.event, answer.approved, by, edit_denied=settled.edit_denied)
        return settled.decision

    def _decide_now(self, event: Event, book: Book) -> Decision:
        denial = self._begin(event, book)
        return denial or self._finish(event, book, self._recorder.decide_now(book, event, self._host(book)))

    def _begin(self, event: Event, book: Book) -> Decision | None:
        """The denial if a hook has halted the agent. It may be called twice for one event."""
        if event.name == "tool.before":
            SeenTools(self._call.user_directories.seen_tools).remember(self._agent.name, event.facts.get("tool"))
        elif event.name == "prompt.submit":
            self._sessions.begin_turn(event)
        denial = self._fallbacks.deny_after_halt(event)
        if denial is not None:
            self._recorder.write_repeated(book, event, denial)
        return denial

    def _finish(self, event: Event, book: Book, decided: Decision) -> Decision:
        """The decision with what this agent lacks made up for, and with what its user has not been told yet."""
        if decided.verdict is Verdict.ASK and not decided.halt and self._fallbacks.denies_instead_of_asking(event):
            self._recorder.write_answer(book, decided.event, False, NOBODY_HERE)
        decision = self._fallbacks.apply(event, drop_standing_notes(decided))
        if event.name in ENDING_EVENTS:
            decision = self._fallbacks.limit_denied_stops(event, decision)
        untold: list[str] = []
        if (decision.failures or book.problems) and EVENTS[event.name].accepts:  # to another event agents read no reply
            untold = self._sessions.take_new_messages(event, user_messages(decision, book))
        if event.name == "session.end":
            self._sessions.end(event)
        if not untold:
            return decision
        return replace(decision, notes=(*decision.notes, *(Note(text, Audience.USER) for text in untold)))

    def _host(self, book: Book) -> DeadlineHost:
        ask_model = partial(self._engine.ask_model, self._call)
        decider = RecordedBook(book, self._recorder)
        return DeadlineHost(self._engine.local_host, self._sessions, self._until, ask_model, decider)

    async def _notify_of_approval(self, event: Event, book: Book, host: DeadlineHost) -> None:
        """For an agent that has no notifications of its own: now it asks the person."""
        if not book.hears("notification") or any(each.event == "notification" for each in self._agent.events):
            return
        name = event.read(("tool", "name"))
        what = f"use {name}" if isinstance(name, str) else "go on"
        notification = {"type": "permission_prompt", "message": f"{self._agent.title} needs your permission to {what}"}
        await book.decide(Event("notification", {**event.facts, "notification": notification}), host)

    async def _wait_for_background(self, event: Event) -> None:
        """A session's last hooks run after those in the background; half of the time left stays for them."""
        left = timedelta(seconds=max(0.0, self._until - asyncio.get_running_loop().time()) / 2)
        await self._engine.local_host.wait_for_background(min(left, DRAIN_TIMEOUT), session_id(event))


class _PlacedEvent(NamedTuple):
    """An event with all its facts, and where its hooks are."""

    event: Event
    key: CacheKey


def _cache_key(agent: CodingAgent, call: AgentCall, cwd: Path, workspace: Path | None, named_cwd: object) -> CacheKey:
    """The hooks of the directory in which the agent works, or of its project if it has left that.

    named_cwd: as the payload has it. It may be gone, and so may the project: an agent can move both away.
    """
    place = call.user_directories
    directory = cwd
    if workspace is not None and workspace != cwd:  # only then it costs a dozen looks at the disk
        directory = cwd if _real_path(workspace) in project_directories(cwd, place.home) else workspace
    run_by = agent.name if agent.ignores_some_hooks else ""
    where = CacheKey(directory, place, agent.native_layers, agent.unread_files, run_by)
    if workspace is None and str(cwd) != named_cwd:
        for gone in _missing_directories(agent, call, named_cwd):
            former = where._replace(directory=gone)
            if any(source.is_from_project for source in former.sources()):
                return former
    return where


def _missing_directories(agent: CodingAgent, call: AgentCall, named_cwd: object) -> list[Path]:
    """Where the session is by what the agent says, if that is gone: an agent can move its own directory away."""
    names = (*agent.project_variables, "PWD")
    places = (named_cwd, *map(call.variable, names), call.cwd)
    return [place for place in filter(None, map(_absolute_path, places)) if not os.path.isdir(place)]


def _parse_payload(data: bytes) -> Mapping[str, Any]:
    """Replaces bytes that are not UTF-8. Raises UnreadablePayloadError for anything but a JSON object."""
    if len(data) > client.MAX_PAYLOAD:
        raise UnreadablePayloadError("the agent's payload is too large")
    try:
        found = _PAYLOAD_DECODER.decode(data.decode("utf-8", "replace").removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        raise UnreadablePayloadError("the agent's payload is not valid JSON") from None
    if not isinstance(found, dict):
        raise UnreadablePayloadError("the agent's payload is not a JSON object")
    return found


def _why_unreadable(event: Event) -> str | None:
    """Why a guard cannot check a tool call, if it cannot: another version may name things otherwise."""
    if event.name != "tool.before":
        return None
    tool = event.facts.get("tool")
    if not isinstance(tool, dict) or not tool.get("name"):
        return "the agent's payload does not say which tool is called"
    if tool_kind(tool) in KINDS_WITH_INPUT and not tool["input"].keys() - {"cwd"}:
        return f"the agent's payload does not say what {tool['name']} is called with"
    if "parts" in tool:
        return f"the call has {tool['parts']:,} parts, and hooks check at most {MAX_PARTS:,}"
    return None


def _reject_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is not JSON")


_PAYLOAD_DECODER: Final = json.JSONDecoder(parse_constant=_reject_constant)


def _has_entries(agent: CodingAgent, call: AgentCall) -> bool:
    """Whether the agent that runs this entry of another agent's settings has entries of its own, which answer it.

    They do not know the hooks of an entry that `hookline install` did not write.
    """
    from hookline.hosts.install.plan import has_current_entries

    environ = {os.fsdecode(name): os.fsdecode(value) for name, value in call.environment.items()}
    machine = Machine(call.user_directories.home, Path(call.cwd), environ)
    return call.entry_timeout is None and has_current_entries(agent, machine)


def _join_decisions(one: Decision, two: Decision) -> Decision:
    """Of two events that accept no verdict and no change, answered as one."""
    halting = two if two.halt and not one.halt else one
    return replace(
        halting,
        event=one.event,
        notes=(*one.notes, *two.notes),
        requests=(*one.requests, *two.requests),
        failures=(*one.failures, *two.failures),
        trace=(*one.trace, *two.trace),
    )


def drop_standing_notes(decision: Decision) -> Decision:
    """Hooks that are not trusted or have no model fail at each event; the user is told once per session."""
    waiting = {failure.text for failure in decision.failures if failure.kind in _STANDING_FAILURES}
    if not waiting:
        return decision
    return replace(decision, notes=tuple(note for note in decision.notes if note.text not in waiting))


def user_messages(decision: Decision, book: Book) -> Iterable[UserMessage]:
    """Messages for the user. Each is shown once per session, unless it is urgent."""
    shown = {note.text for note in decision.notes if note.audience is Audience.USER}
    for failure in decision.failures:
        if failure.text not in decision.reason and failure.text not in shown:
            text = f"hookline: {failure.text} ({failure.kind}, hook {failure.hook})"
            yield UserMessage(text, each_time=failure.is_urgent)
    for problem in book.problems:
        if problem.code == CHANGED_SINCE_TRUSTED:
            yield UserMessage(f"hookline: {problem}", problem.version)
    errors = [problem for problem in book.problems if problem.severity is Severity.ERROR]
    if errors:
        listed = "".join(f"\n{problem}" for problem in errors[:_MAX_SHOWN_ERRORS])
        more = f"\nand {len(errors) - _MAX_SHOWN_ERRORS} more" if len(errors) > _MAX_SHOWN_ERRORS else ""
        yield UserMessage(
            f"hookline: hooks are off or stop calls because of errors; run `hookline check`:{listed}{more}"
        )


def _absolute_path(path: object) -> Path | None:
    """A payload may contain anything."""
    return _path(path) if isinstance(path, str) and "\0" not in path and os.path.isabs(path) else None


_path: Final = lru_cache(256)(Path)  # a path takes longer to build than to look up on the disk


def _existing_directory(path: object) -> Path | None:
    """The path if it is an absolute path of a directory."""
    place = _absolute_path(path)
    try:
        return place if place is not None and os.path.isdir(place) else None
    except (OSError, ValueError):
        return None


def _real_path(path: Path) -> Path:
    return Path(os.path.realpath(path))


async def respond_directly(call: AgentCall, engine: LoadOnce) -> Reply:
    """Replies after background hooks have finished too, within the agent's time limit."""
    loop = asyncio.get_running_loop()
    until = loop.time() + time_for_hooks(call).total_seconds()
    reply = await respond(call, engine)
    await engine.local_host.drain(timedelta(seconds=max(0.0, until - loop.time())))
    return reply


def overdue_reply(name: str, event: str) -> Reply:
    """The reply if no time is left to decide."""
    try:
        return reply_without_decision(get_agent(name), event, "the engine did not answer in time")
    except HooklineError as error:
        return Reply(stderr=f"hookline: {error}", exit_code=client.exit_code_without_answer(event))
