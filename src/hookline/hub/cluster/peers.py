"""The other hubs on this database. A session belongs to the hub that claimed it: others pass its requests on."""

from __future__ import annotations

import asyncio
import json
import logging
from datetime import timedelta
from typing import Any, Final

import httpx2
from starlette.requests import Request
from starlette.responses import Response

from hookline.errors import HooklineError
from hookline.hub.store.hub_table import HubRow, HubTable
from hookline.hub.store.outage_log import OutageLog

PASSED_ON: Final = "x-hookline-passed-on"
"""The hub that passed a request on. It is not passed on twice."""
_BEAT: Final = timedelta(seconds=2)
_GONE_AFTER: Final = timedelta(seconds=10)
_FORGOTTEN_AFTER: Final = timedelta(hours=1)
_PASS_TIMEOUT: Final = timedelta(minutes=1)
_CONNECT_TIMEOUT: Final = timedelta(seconds=2)
_LIST_TIMEOUT: Final = timedelta(seconds=2)
_KEPT_HEADERS: Final = ("authorization", "content-type")

_log = logging.getLogger("hookline.hub")


class Peers:
    def __init__(self, table: HubTable, id: str, url: str) -> None:
        self.id = id
        self._table = table
        self._url = url
        self._http: httpx2.AsyncClient | None = None
        self.outage = OutageLog(
            "other hubs are not told that this one runs", "other hubs are told again that this one runs"
        )

    async def run(self) -> None:
        """Until it is cancelled: tells the others that this hub is here."""
        while True:
            try:
                await self.beat()
                self.outage.report_success()
            except HooklineError as error:
                self.outage.report(error)
            await asyncio.sleep(_BEAT.total_seconds())

    async def beat(self) -> None:
        await self._table.mark_seen(self.id, self._url, _FORGOTTEN_AFTER)

    async def close(self) -> None:
        try:
            await self._table.remove(self.id)
        except HooklineError:
            _log.debug("this hub stays in the list of hubs until it is forgotten")
        if self._http is not None:
            await self._http.aclose()

    async def others(self) -> list[HubRow]:
        return [each for each in await self._table.running(_GONE_AFTER) if each.id != self.id]

    async def take(self, session: str) -> None:
        await self._table.take_session(session, self.id)

    async def owner_of(self, session: str) -> HubRow | None:
        """The other hub that has the session and runs; None if it is this one's, or nobody's."""
        found = await self._table.of_session(session, _GONE_AFTER)
        return None if found is None or found.id == self.id else found

    async def pass_on(self, request: Request, owner: HubRow) -> Response | None:
        """The owner's answer, to the caller's own token; None if it cannot be reached: it ended, or is about to."""
        headers = {name: value for name in _KEPT_HEADERS if (value := request.headers.get(name)) is not None}
        query = f"?{request.url.query}" if request.url.query else ""
        return await self.send(owner, request.method, f"{request.url.path}{query}", headers, await request.body())

    async def working_sessions(self, request: Request) -> set[str]:
        """The sessions that work at other hubs now. Each hub is asked for its list, with the caller's own token."""
        lists = await asyncio.gather(*(self._list_sessions(request, each) for each in await self.others()))
        return {each["id"] for items in lists for each in items if each["state"] == "working"}

    async def _list_sessions(self, request: Request, other: HubRow) -> list[dict[str, Any]]:
        """Empty if the hub does not answer in time."""
        try:
            async with asyncio.timeout(_LIST_TIMEOUT.total_seconds()):
                answer = await self.pass_on(request, other)
        except (TimeoutError, HooklineError):
            return []
        items: list[dict[str, Any]] = [] if answer is None else json.loads(bytes(answer.body)).get("items", [])
        return items

    async def send(
        self, owner: HubRow, method: str, path: str, headers: dict[str, str], body: bytes = b""
    ) -> Response | None:
        timeout = httpx2.Timeout(_PASS_TIMEOUT.total_seconds(), connect=_CONNECT_TIMEOUT.total_seconds())
        self._http = self._http or httpx2.AsyncClient(timeout=timeout)
        told = {**headers, PASSED_ON: self.id}
        try:
            answer = await self._http.request(method, f"{owner.url}{path}", headers=told, content=body)
        except httpx2.ConnectError:
            return None
        except httpx2.TransportError as error:
            raise HooklineError("the hub that has this session does not answer; try again") from error
        kind = answer.headers.get("content-type", "application/json")
        return Response(answer.content, answer.status_code, media_type=kind)
