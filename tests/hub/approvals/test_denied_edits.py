from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hookline.hub.approvals.denied_edits import DeniedEdits
from hub.hub_process import serve_hub
from hub.hub_sandbox import async_test

EDITED: dict[str, Any] = {
    "id": "question_1",
    "session": "s1",
    "call": "call_1",
    "tool": "bash",
    "state": "approved",
    "edited": {"command": "rm -rf /"},
    "answered_at": 0.0,
}
DENIED: dict[str, Any] = {
    "id": "a-1",
    "session": "s1",
    "call": "call_1",
    "tool": "bash",
    "event": "tool.before",
    "verdict": "deny",
}


@async_test
async def test_a_denial_of_the_edited_call_is_told_once(tmp_path: Path) -> None:
    async with serve_hub(tmp_path) as (hub, _):
        edits = DeniedEdits(hub.decisions)
        edits.watch(EDITED)
        assert edits.take_denied([{**DENIED, "call": "call_2"}, {**DENIED, "verdict": "ask"}]) == []
        assert edits.take_denied([DENIED, DENIED]) == [EDITED]
        assert not edits.is_watching


@pytest.mark.parametrize("about", [{"edited": None}, {"state": "denied"}])
@async_test
async def test_only_an_approved_edit_is_watched(tmp_path: Path, about: dict[str, Any]) -> None:
    async with serve_hub(tmp_path) as (hub, _):
        edits = DeniedEdits(hub.decisions)
        edits.watch({**EDITED, **about})
        assert not edits.is_watching
