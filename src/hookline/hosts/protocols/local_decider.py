"""Decides events of programs that speak an open protocol, with the hooks of the directory in which they work."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

from hookline.engine.book import Book
from hookline.engine.decision import Decision
from hookline.engine.limits import session_id
from hookline.hooks.event import Event
from hookline.hooks.events import DRAIN_TIMEOUT, ENDING_EVENTS
from hookline.hooks.host import inherited_environment
from hookline.hooks.outcome import Audience, Note
from hookline.hooks.session_facts import SessionInfo, login_name, session_facts
from hookline.hosts.bridge.hook_cache import CacheKey, Engine
from hookline.hosts.bridge.protocol import AgentCall
from hookline.hosts.bridge.responder import DeadlineHost, drop_standing_notes, user_messages
from hookline.hosts.bridge.session_state import SessionStore
from hookline.hosts.call_decision import decide_with_inner_calls
from hookline.hosts.denied_stops import add_stop_active, denies_stop, lacks_stop_active, limit_denied_stops
from hookline.lazy_dataclasses import dataclass, replace
from hookline.record.recorder import RecordedBook, recorder_of

_ANSWER_MARGIN: Final = timedelta(seconds=1)  # for every `on_error` after the deadline of the hooks


@dataclass(frozen=True, slots=True)
class DecideRequest:
    event: str  # our own name of it
    facts: Mapping[str, Any]
    host: str  # the program that asks
    directory: Path  # in which it works: its hooks are asked
    session: str | None = None
    timeout: timedelta = timedelta(seconds=60)  # for all hooks together


class LocalDecider:
    """Uses the engine's cached hooks, counts and record. Programs of hooks get `environment`."""

    def __init__(self, engine: Engine, environment: Mapping[bytes, bytes]) -> None:
        self._engine = engine
        self._environment = environment

    async def decide(self, request: DecideRequest) -> Decision:
        """Raises InvalidEvent for malformed facts and TimeoutError if there is no decision in time.

        Without a decision, nothing may proceed.
        """
        call = AgentCall(request.host, request.event, b"", str(request.directory), self._environment)
        info = SessionInfo(request.session, login_name(), request.directory, time.time(), host=request.host)
        event = Event(request.event, session_facts(request.event, request.facts, info))
        token = inherited_environment.set(self._environment)
        try:
            async with asyncio.timeout((request.timeout + _ANSWER_MARGIN).total_seconds()):
                return await self._decide(request, call, event)
        finally:
            inherited_environment.reset(token)

    async def _decide(self, request: DecideRequest, call: AgentCall, event: Event) -> Decision:
        users = call.user_directories
        book = await self._engine.book(CacheKey(request.directory, users))
        sessions = self._engine.session_store(users)
        if event.name == "session.end":
            await self._engine.local_host.wait_for_background(DRAIN_TIMEOUT, session_id(event))
        until = asyncio.get_running_loop().time() + request.timeout.total_seconds()
        recorded = RecordedBook(book, recorder_of(users.hookline_state))
        host = DeadlineHost(self._engine.local_host, sessions, until, partial(self._engine.ask_model, call), recorded)
        decided = await decide_with_inner_calls(
            book, _with_stop_active(event, sessions), lambda each: recorded.decide(each, host)
        )
        decision = _limit_denied_stops(event, drop_standing_notes(decided), sessions)
        return _with_messages(event, decision, book, sessions)


def _with_stop_active(event: Event, sessions: SessionStore) -> Event:
    """Says whether hooks have already kept the agent from stopping, if its host does not."""
    if event.name in ("session.start", "prompt.submit"):
        sessions.count_stop(event, denied=False)
    return add_stop_active(event, sessions.denied_stops(event)) if lacks_stop_active(event) else event


def _limit_denied_stops(event: Event, decision: Decision, sessions: SessionStore) -> Decision:
    """A hook that always denies must not keep an agent working for ever."""
    if event.name not in ENDING_EVENTS:
        return decision
    limited = limit_denied_stops(decision, sessions.denied_stops(event))
    sessions.count_stop(event, denied=denies_stop(limited))
    return limited


def _with_messages(event: Event, decision: Decision, book: Book, sessions: SessionStore) -> Decision:
    """What the user has not been told yet: hooks that failed, and files with errors."""
    messages = user_messages(decision, book) if decision.failures or book.problems else ()
    untold = sessions.take_new_messages(event, messages) if messages else []
    if event.name == "session.end":
        sessions.end(event)
    return replace(decision, notes=(*decision.notes, *(Note(text, Audience.USER) for text in untold)))
