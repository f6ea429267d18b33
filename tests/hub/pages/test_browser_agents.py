from __future__ import annotations

from pathlib import Path

from hub.hub_sandbox import async_test
from hub.pages.page_stand_in import open_agent, open_page_hub


@async_test
async def test_a_session_of_an_agent_that_another_hub_made_has_a_page(tmp_path: Path) -> None:
    async with open_page_hub(tmp_path) as hub, open_agent(hub) as session:
        known = hub.agents._rows
        hub.agents._rows = {}
        assert await hub.pages.agents.session(session.id) is not None
        hub.agents._rows = {}
        assert (await hub.pages.agents.of_session(session.id)).id == "painter"
        assert hub.agents._rows == known


@async_test
async def test_only_sessions_in_an_agents_own_directory_are_a_browser_agents(tmp_path: Path) -> None:
    network = ("https://API.example.org/", "nonsense", "https://x.org; script-src *")
    async with open_page_hub(tmp_path) as hub, open_agent(hub, network=network) as session:
        agent = await hub.pages.agents.of_session(session.id)
        assert agent is not None
        assert (agent.id, agent.name, agent.network) == ("painter", "Painter", ("https://api.example.org",))
        (tmp_path / "elsewhere").mkdir()
        other = await (await hub.runtimes.get(tmp_path / "elsewhere")).start()
        assert await hub.pages.agents.of_session(other.id) is None
        assert await hub.pages.agents.network_of(other.id) == ()
        assert await hub.pages.agents.of_session("nobody") is None
        for directory in (hub.config.agents_directory, hub.config.agents_directory / "a/b", Path("/")):
            assert not hub.pages.agents.owns(directory)
