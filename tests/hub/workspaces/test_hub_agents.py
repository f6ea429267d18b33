"""Agents of the console have a directory of their own, and run with their prompt and model."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.errors import HooklineError
from hookline.hub.workspaces.hub_agents import app_of
from hub.hub_sandbox import async_test, open_hub

ABOUT = {"name": "My helper", "prompt": "Be brief.", "model": "script:x.yaml", "tools": ["bash"], "network": []}


@async_test
async def test_an_agent_is_kept_with_its_directory(tmp_path: Path) -> None:
    async with open_hub(tmp_path, agents_path=tmp_path / "agents") as hub:
        first = await hub.agents.add("maria", **ABOUT)
        second = await hub.agents.add("maria", **ABOUT)
        assert first.id == "my-helper"
        assert second.id.startswith("my-helper-")
        assert Path(first.workspace).is_dir()
        assert hub.agents.of_workspace(Path(first.workspace)) == first
    async with open_hub(tmp_path, agents_path=tmp_path / "agents") as hub:
        assert [each.id for each in hub.agents.rows] == [first.id, second.id]
        changed = await hub.agents.change(first.id, prompt="Be kind.")
        assert (changed.prompt, changed.model) == ("Be kind.", "script:x.yaml")
        assert await hub.agents.remove(first.id)
        assert not await hub.agents.remove(first.id)
        assert Path(first.workspace).is_dir()
        with pytest.raises(HooklineError):
            await hub.agents.change(first.id, prompt="x")


@async_test
async def test_an_agent_never_gets_what_a_removed_one_left(tmp_path: Path) -> None:
    async with open_hub(tmp_path, agents_path=tmp_path / "agents") as hub:
        first = await hub.agents.add("maria", **ABOUT)
        (Path(first.workspace) / "notes").write_text("Maria's")
        await hub.agents.remove(first.id)
        second = await hub.agents.add("paul", **ABOUT)
        assert second.id != first.id  # the rules of the id stay, too
        assert list(Path(second.workspace).iterdir()) == []
        assert (Path(first.workspace) / "notes").exists()


@async_test
async def test_its_app_has_its_prompt_model_and_tools(tmp_path: Path) -> None:
    async with open_hub(tmp_path, agents_path=tmp_path / "agents") as hub:
        row = await hub.agents.add("maria", **ABOUT)
        app = app_of(row)
        assert app.model == "script:x.yaml"
        prompt = app.agents[0].side_a.prompt
        assert (prompt.text, prompt.tools) == ("Be brief.", ("bash",))
        settings = hub.runtime_settings(Path(row.workspace))
        assert settings.app is not None
        assert settings.app.agents == app.agents
        assert hub.runtime_settings(tmp_path).app is None
