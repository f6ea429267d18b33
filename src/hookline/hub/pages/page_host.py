"""What hooks of a browser agent reach: their scripts run in its page while one is open, otherwise on the hub."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from hookline.hooks.host import ScriptCall, current_hook
from hookline.hub.pages.attached_page import OpenPages, PageGoneError
from hookline.hub.pages.page_scripts import run_script_in_page
from hookline.hub.pages.saved_dom import PageStateTable
from hookline.lazy_dataclasses import replace
from hookline.runtime.runtime_host import ThreadHost
from hookline.runtime.tools.fetch import html_to_text

if TYPE_CHECKING:
    from hookline.runtime.agent_session import AgentSession
    from hookline.runtime.thread import StoredThread

PAGE_FILES: Final = ("rules/", "flo session")
"""Hooks of these are made in a browser. Those of files must hold against whoever has the page, so they run on the hub."""
_DOCUMENT: Final = re.compile(r"\bdocument\b")


class PageHost(ThreadHost):
    def __init__(self, session: AgentSession, thread: StoredThread, pages: OpenPages, states: PageStateTable) -> None:
        super().__init__(session, thread)
        self._pages = pages
        self._states = states

    async def run_script(self, script: ScriptCall) -> Any:
        sees_document = _DOCUMENT.search(script.source) is not None
        page = self._pages.find(self._session.id)
        if page is not None and page.has("hooks") and script.may_run_in_page and _is_made_in_browser():
            try:
                return await run_script_in_page(page, script, self, sees_document=sees_document)
            except PageGoneError:  # before the run began
                pass
        return await super().run_script(await self._with_document(script) if sees_document else script)

    async def _with_document(self, script: ScriptCall) -> ScriptCall:
        """The script sees a picture of the agent's page, as it was last saved."""
        dom = await self._states.load(self._session.id)
        picture = {"title": "", "body": {"innerHTML": dom, "textContent": html_to_text(dom)}}
        return replace(script, variables={"document": picture, **script.variables})


def _is_made_in_browser() -> bool:
    asked = current_hook.get()
    return asked is not None and asked.key.partition("\0")[0].startswith(PAGE_FILES)
