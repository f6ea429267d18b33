from __future__ import annotations

from pathlib import Path

from hookline.hub.pages.page_host import PageHost
from hub.hub_sandbox import async_test
from hub.pages.page_stand_in import open_agent, open_page_hub


@async_test
async def test_browser_agents_have_page_tools_and_others_do_not(tmp_path: Path) -> None:
    async with open_page_hub(tmp_path) as hub, open_agent(hub) as session:
        (tmp_path / "elsewhere").mkdir()
        other = await (await hub.runtimes.get(tmp_path / "elsewhere")).start()
        assert session.main.toolbox.find("dom") is not None
        assert other.main.toolbox.find("dom") is None
        assert isinstance(session.runtime.host_for(session, session.main), PageHost)
        assert not isinstance(other.runtime.host_for(other, other.main), PageHost)
