"""The other hubs on this database. A session belongs to the hub that claimed it: others pass its requests on."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

import httpx2
from starlette.requests import Request
from starlette.responses import Response

from hookline.errors import HooklineError
from hookline.hub.store.hub_table import HubRow, HubTable

PASSED_ON: Final = "x-hookline-passed-on"
"""The hub that passed a request on. It is not passed on twice."""
_BEAT_SECONDS: Final = 2.0
_GONE_SECONDS: Final = 10.0
_FORGET_SECONDS: Final = 3600.0
_PASS_SECONDS: Final = 60.0
_KEPT_HEADERS: Final = ("authorization", "content-type")

_log = logging.getLogger("hookline.hub")


class Peers:
    def __init__(self, table: HubTable, id: str, url: str) -> None:
        self.id = id
        self._table = table
        self._url = url
        self._http: httpx2.AsyncClient | None = None

    async def run(self) -> None:
        """Until it is cancelled: tells the others that this hub is here."""
        while True:
            try:
                await self.beat()
            except HooklineError as error:
                _log.warning("other hubs are not told that this one runs: %s", error)
            await asyncio.sleep(_BEAT_SECONDS)

    async def beat(self) -> None:
        await self._table.mark_seen(self.id, self._url, _FORGET_SECONDS)

    async def close(self) -> None:
        try:
            await self._table.remove(self.id)
        except HooklineError:
            _log.debug("this hub stays in the list of hubs until it is forgotten")
        if self._http is not None:
            await self._http.aclose()

    async def others(self) -> list[HubRow]:
        return [each for each in await self._table.running(_GONE_SECONDS) if each.id != self.id]

    async def take(self, session: str) -> None:
        await self._table.take_session(session, self.id)

    async def owner_of(self, session: str) -> HubRow | None:
        """The other hub that has the session and runs; None if it is this one's, or nobody's."""
        found = await self._table.of_session(session, _GONE_SECONDS)
        return None if found is None or found.id == self.id else found

    async def pass_on(self, request: Request, owner: HubRow) -> Response | None:
        """The owner's answer, to the caller's own token; None if it cannot be reached: it ended, or is about to."""
        headers = {name: value for name in _KEPT_HEADERS if (value := request.headers.get(name)) is not None}
        query = f"?{request.url.query}" if request.url.query else ""
        return await self.send(owner, request.method, f"{request.url.path}{query}", headers, await request.body())

    async def send(
        self, owner: HubRow, method: str, path: str, headers: dict[str, str], body: bytes = b""
    ) -> Response | None:
        self._http = self._http or httpx2.AsyncClient(timeout=httpx2.Timeout(_PASS_SECONDS, connect=2.0))
        told = {**headers, PASSED_ON: self.id}
        try:
            answer = await self._http.request(method, f"{owner.url}{path}", headers=told, content=body)
        except httpx2.ConnectError:
            return None
        except httpx2.TransportError as error:
            raise HooklineError("the hub that has this session does not answer; try again") from error
        kind = answer.headers.get("content-type", "application/json")
        return Response(answer.content, answer.status_code, media_type=kind)
