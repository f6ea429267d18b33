"""A hub whose attached page runs the scripts of case files, instead of QuickJS. It prints a link, then a result for each case.

It runs with hookline's own Python: `script_cases_hub.py STATE_DIRECTORY CASE_FILE…`.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from hookline.hooks.host import ScriptCall
from hookline.hub.config.hub_config import HubConfig
from hookline.hub.context.running_hub import Hub
from hookline.hub.hub_server import run_hub
from hookline.hub.pages.attached_page import AttachedPage
from hookline.hub.pages.page_scripts import run_script_in_page
from hookline.testing import case_runner
from hookline.testing.case import load_cases
from hookline.testing.scripted_host import ScriptedHost


class PageScriptHost(ScriptedHost):
    """What a case's hooks reach; their scripts run in the page."""

    page: AttachedPage
    runs = 0

    async def run_script(self, script: ScriptCall) -> Any:
        PageScriptHost.runs += 1
        return await run_script_in_page(self.page, script, self, sees_document=False)


async def attached_page(hub: Hub, session: str) -> AttachedPage:
    while (page := hub.pages.open.find(session)) is None or not page.has("hooks"):  # noqa: ASYNC110 - nothing tells it
        await asyncio.sleep(0.05)
    return page


async def run_cases(hub: Hub, link: str) -> None:
    agent = await hub.agents.add("me", name="Cases", prompt="", model="", tools=[], network=[])
    session = await hub.sessions.start(Path(agent.workspace), agent.id, "me")
    print(json.dumps({"link": link, "path": f"/agents/{agent.id}/sessions/{session.id}"}), flush=True)
    PageScriptHost.page = await attached_page(hub, session.id)
    case_runner.ScriptedHost = PageScriptHost  # type: ignore[misc]
    for path in sys.argv[2:]:
        for case in load_cases(Path(path)):
            before = PageScriptHost.runs
            result = await case_runner._run_once(case, explain=False)
            told = {"case": f"{Path(path).name}: {case.note}", "failure": "" if result.ok else str(result)}
            print(json.dumps({**told, "scripts": PageScriptHost.runs - before}), flush=True)
    print(json.dumps({"done": True}), flush=True)
    await asyncio.to_thread(sys.stdin.read)  # until the test has read everything


if __name__ == "__main__":
    asyncio.run(run_hub(HubConfig(state=Path(sys.argv[1]), port=0, reads_record=False), run_cases))
