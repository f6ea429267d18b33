"""Asks a person at the hub about one call, within the time that the host has.

The question is stored at the hub before anybody answers it, so it survives a restart of the hub. The answer is fetched by
long polls. Without a hub that answers, the host does what it would do without one.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import platform
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any, Final

from hookline.hooks.session_facts import login_name
from hookline.hosts.hub.hub_file import JoinedHub
from hookline.lazy_dataclasses import dataclass, field

_CONNECT_TIMEOUT: Final = 1.0  # seconds: a hub that is away must not hold up the host
_POST_TIMEOUT: Final = 30.0  # seconds for a busy hub to store the question; who gives up leaves it there unanswered
_POLL_SECONDS: Final = 20.0
_POLL_MARGIN: Final = 5.0  # seconds for the answer of a poll to arrive
_RETRY_SECONDS: Final = 0.5
_RESTART_SECONDS: Final = 60.0  # for a hub that ended before it confirmed the question to come back
_WITHDRAW_TIMEOUT: Final = 2.0
_DENIAL_TIMEOUT: Final = 2.0

log = logging.getLogger("hookline")


@dataclass(frozen=True, slots=True)
class HubQuestion:
    host: str
    session: str
    tool: str
    input: Mapping[str, Any]
    reason: str
    hook: str
    call: str = ""
    agent: str = ""
    can_edit: bool = False

    def as_json(self, patience: timedelta) -> dict[str, Any]:
        return {
            "host": self.host,
            "machine": platform.node(),
            "user": login_name(),
            "session": self.session,
            "agent": self.agent,
            "call": self.call,
            "tool": self.tool,
            "input": dict(self.input),
            "reason": self.reason,
            "hook": self.hook,
            "can_edit": self.can_edit,
            "seconds": patience.total_seconds(),
        }


@dataclass(frozen=True, slots=True)
class HubAnswer:
    approved: bool
    by: str
    edited: dict[str, Any] | None = None  # the input, if the person changed it: hooks must decide about it
    why: str = ""
    question: str = field(default="", compare=False)  # its id


async def ask_hub(hub: JoinedHub, question: HubQuestion, patience: timedelta) -> HubAnswer | None:
    """None if the hub has ended or cannot be reached, or if nobody answers in time. Never raises for a fault of the hub."""
    until = asyncio.get_running_loop().time() + patience.total_seconds()
    if not hub.runs:
        log.warning("the hub at %s has ended; start it with `hookline hub`", hub.url)
        return None
    async with _client(hub) as client:
        sender = _QuestionSender(client, question)
        try:
            id = await sender.send(until)
            return None if id is None else await _wait_for_answer(client, id, until)
        except asyncio.CancelledError:
            await asyncio.shield(sender.withdraw())
            raise


async def report_denied_edit(hub: JoinedHub, question: str, seconds: float) -> None:
    """Tells that hooks denied what the person let run. The hub may never get the record of this host. Never raises for a
    fault of the hub.
    """
    http = importlib.import_module("httpx2")
    try:
        async with asyncio.timeout(min(_DENIAL_TIMEOUT, seconds)), _client(hub) as client:
            await client.post(f"/approvals/{question}/denial")
    except (TimeoutError, http.HTTPError) as error:
        log.debug("the hub does not know that an edited input was denied: %s", type(error).__name__)


@asynccontextmanager
async def _client(hub: JoinedHub) -> AsyncIterator[Any]:
    http = importlib.import_module("httpx2")  # slow to import
    headers = {"Authorization": f"Bearer {hub.key}"}
    async with http.AsyncClient(base_url=hub.api, headers=headers, follow_redirects=False, trust_env=False) as client:
        yield client


class _HubAway(Exception):
    """The question did not reach the hub, or no answer came in time that can be read."""


class _AnswerLost(Exception):
    """The connection broke after the question was sent: the hub may have stored it."""


class _QuestionSender:
    """Sends a question until the hub confirms that it is stored.

    A hub that is killed before it confirms shows the question to people when it is back, so the host must keep waiting.
    """

    def __init__(self, client: Any, question: HubQuestion) -> None:
        self._client = client
        self._question = question
        self._id = f"question_{uuid.uuid4().hex[:16]}"
        self._sending: asyncio.Future[str | None] | None = None

    async def send(self, until: float) -> str | None:
        """The id of the question. None if the hub cannot be reached, or does not take it."""
        loop = asyncio.get_running_loop()
        retry_until = 0.0
        while True:
            self._sending = asyncio.ensure_future(self._post(until - loop.time()))
            try:
                return await asyncio.shield(self._sending)
            except (_AnswerLost, _HubAway) as error:
                if isinstance(error, _AnswerLost) and not retry_until:
                    retry_until = min(until, loop.time() + _RESTART_SECONDS)
                if loop.time() + _RETRY_SECONDS >= retry_until:
                    log.warning("the hub cannot be asked: %s", error)
                    return None
            await asyncio.sleep(_RETRY_SECONDS)

    async def withdraw(self) -> None:
        """Takes the question back, also if the hub has it and its confirmation has not arrived yet."""
        http = importlib.import_module("httpx2")
        id: str | None = self._id
        if self._sending is not None:
            with suppress(_AnswerLost, _HubAway):
                id = await self._sending
        if id is None:
            return
        try:
            await self._client.delete(f"/approvals/{id}", timeout=_WITHDRAW_TIMEOUT)
        except http.HTTPError as error:
            log.debug("a question could not be withdrawn: %s", error)

    async def _post(self, seconds: float) -> str | None:
        http = importlib.import_module("httpx2")
        body = {"id": self._id, **self._question.as_json(timedelta(seconds=seconds))}
        timeout = http.Timeout(min(_POST_TIMEOUT, seconds), connect=min(_CONNECT_TIMEOUT, seconds))
        try:
            response = await self._client.post("/approvals", json=body, timeout=timeout)
            id = response.json().get("id") if response.status_code == 201 else None
        except (http.ReadError, http.RemoteProtocolError) as error:
            raise _AnswerLost(type(error).__name__) from error
        except (http.HTTPError, ValueError, AttributeError, TypeError) as error:
            raise _HubAway(type(error).__name__) from error
        if not isinstance(id, str):
            log.warning("the hub did not take the question: status %d", response.status_code)
            return None
        return id


async def _wait_for_answer(client: Any, id: str, until: float) -> HubAnswer | None:
    """At the end of the time the hub itself answers the question as expired."""
    http = importlib.import_module("httpx2")
    loop = asyncio.get_running_loop()
    while (left := until - loop.time()) > 0:
        wait = min(left, _POLL_SECONDS)
        try:
            async with asyncio.timeout(left):
                response = await client.get(f"/approvals/{id}", params={"wait": wait}, timeout=wait + _POLL_MARGIN)
                found = response.json() if response.status_code == 200 else None
        except TimeoutError:
            return None
        except (http.HTTPError, ValueError):  # the hub may be restarting
            found = None
        answer = _parse_answer(found, id)
        if answer is not None:
            return answer
        if not isinstance(found, dict):
            await asyncio.sleep(min(_RETRY_SECONDS, max(0.0, until - loop.time())))
        elif found.get("state") != "waiting":
            return None
    return None


def _parse_answer(found: Any, id: str) -> HubAnswer | None:
    """Only a clear yes is a yes."""
    if not isinstance(found, dict) or found.get("state") not in ("approved", "denied"):
        return None
    edited = found.get("edited")
    by, why = found.get("by"), found.get("why")
    return HubAnswer(
        found["state"] == "approved" and (edited is None or isinstance(edited, dict)),
        by if isinstance(by, str) else "",
        edited if isinstance(edited, dict) else None,
        why if isinstance(why, str) else "",
        id,
    )
