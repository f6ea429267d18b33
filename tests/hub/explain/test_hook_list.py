from __future__ import annotations

import os
from pathlib import Path

import pytest

from hookline.hooks.hook_files import HookFile, HookFiles
from hub.hub_sandbox import Writer, async_test, open_hub

TEXT = "hooks: [{id: one, on: tool.before, tags: [red], then: deny}]"
REMOTE = HookFiles((HookFile("/r/hookline.yaml", "hookline.yaml", "native", "project", TEXT.replace("one", "far")),))


@async_test
async def test_hooks_of_here_are_as_they_are_now_and_of_elsewhere_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    work = tmp_path / "work"
    work.mkdir()
    (work / "hookline.yaml").write_text(TEXT)
    async with open_hub(tmp_path) as hub:
        here, far = Writer(), Writer("b" * 16)
        facts = {"tool": {"name": "Bash", "input": {}}, "cwd": str(work)}
        await hub.intake.take([here.start(os.uname().nodename), here.call("ls", facts=facts)])
        await hub.intake.take([far.start("laptop"), far.call("ls", hooks=REMOTE.hash)], "k", {REMOTE.hash: REMOTE.data})
        rows, problems = await hub.hook_list.rows()
        assert {(row["id"], row["path"], row["in"][0]["machine"]) for row in rows} == {
            ("one", str(work / "hookline.yaml"), os.uname().nodename),
            ("far", "/r/hookline.yaml", "laptop"),
        }
        assert problems == []
        assert set(await hub.hook_list.with_tag("red")) == {"one", "far"}
        assert await hub.hook_list.with_tag("blue") == ()
        assert [row["id"] for row in (await hub.hook_list.rows("/work"))[0]] == ["far"]
