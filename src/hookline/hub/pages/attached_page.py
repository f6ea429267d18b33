"""A page that is attached to a session: what it is asked, and what ends when it leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

from hookline.hub.access.roles import Caller
from hookline.lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from hookline.hub.pages.page_scripts import ScriptRun

MAX_SCRIPTS: Final = 8  # that run in a page at once, for each level of hooks whose calls led to others
GRACE_SECONDS: Final = 0.25  # how much longer than its deadline the hub waits for a page's answer

Send = Callable[[str, Any, Callable[..., None] | None], Awaitable[None]]
"""Sends an event to the page. The callback gets its answer."""


class PageGoneError(Exception):
    """The page left before it answered."""


@dataclass(frozen=True, slots=True)
class PageAddress:
    """Who drives which session."""

    session: str
    caller: Caller


class AttachedPage:
    """Its answers are awaited here, not by the socket, which does not notice that a page has left."""

    def __init__(self, send: Send, address: PageAddress) -> None:
        self.address = address
        self.runs: dict[str, ScriptRun] = {}  # scripts that run in it
        self.frames: dict[str, str] = {}  # frame → ok or hangs, as the page says
        self.is_attached = True
        self._send = send
        self._waiting: set[asyncio.Future[Any]] = set()
        self._slots: dict[int, asyncio.Semaphore] = {}

    def has(self, frame: str) -> bool:
        """Whether the frame is there and answers."""
        return self.is_attached and self.frames.get(frame) == "ok"

    async def ask(self, event: str, data: dict[str, Any], seconds: float) -> Any:
        """The page's answer. Raises PageGoneError, or TimeoutError a little after the time has passed."""
        if not self.is_attached:
            raise PageGoneError
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting.add(answer)
        try:
            async with asyncio.timeout(seconds + GRACE_SECONDS):
                await self._send(event, data, lambda *given: _settle(answer, given))
                return await answer
        finally:
            self._waiting.discard(answer)

    async def tell(self, event: str, data: dict[str, Any]) -> None:
        if self.is_attached:
            await self._send(event, data, None)

    def script_slot(self, depth: int) -> asyncio.Semaphore:
        """Scripts that another script's call led to do not wait for that one."""
        return self._slots.setdefault(depth, asyncio.Semaphore(MAX_SCRIPTS))

    def leave(self) -> None:
        self.is_attached = False
        for answer in self._waiting:
            if not answer.done():
                answer.set_exception(PageGoneError())


def _settle(answer: asyncio.Future[Any], given: tuple[Any, ...]) -> None:
    if not answer.done():
        answer.set_result(given[0] if given else None)


class OpenPages:
    """The pages by session: one drives it at a time."""

    def __init__(self) -> None:
        self._pages: dict[str, AttachedPage] = {}

    def find(self, session: str) -> AttachedPage | None:
        return self._pages.get(session)

    def attach(self, page: AttachedPage) -> AttachedPage | None:
        """The page that drove the session until now, which has left it."""
        before = self._pages.get(page.address.session)
        if before is not None:
            before.leave()
        self._pages[page.address.session] = page
        return before

    def detach(self, page: AttachedPage) -> bool:
        """False if another page drives the session already."""
        page.leave()
        if self._pages.get(page.address.session) is not page:
            return False
        del self._pages[page.address.session]
        return True

    @property
    def all(self) -> tuple[AttachedPage, ...]:
        return tuple(self._pages.values())
