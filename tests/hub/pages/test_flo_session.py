from __future__ import annotations

import json
from pathlib import Path

from hookline.hub.access.roles import Role
from hub.hub_sandbox import Client, async_test, token_of
from hub.pages.page_stand_in import open_agent, open_page_hub

RULES = {"PreToolUse": [{"id": "no", "matcher": "^bash$", "action": "deny", "reason": "No."}]}


@async_test
async def test_a_session_is_exported_with_its_rules_files_and_page(tmp_path: Path) -> None:
    async with open_page_hub(tmp_path) as hub, open_agent(hub, "hello") as session:
        await session.ask("say hello")
        await hub.rules.save("agent:painter", json.dumps({"hooks": RULES}), 0, "me", "")
        await hub.store.set_value(session.agent.id, "k", {"n": 1})
        await hub.store.write_file(session.id, "a.txt", b"text", "text/plain")
        await hub.store.write_file(session.id, "b.bin", b"\xff\x00", "application/octet-stream")
        await hub.pages.states.save(session.id, "<p>x</p>")
        answer = await Client(hub, await token_of(hub, Role.VIEWER)).get(f"/sessions/{session.id}/export")
        exported = answer.json()
    assert (exported["version"], exported["config"]["name"]) == (2, "Painter")
    assert [each["content"] for each in exported["conversation"]][:2] == ["say hello", "hello"]
    assert exported["storage"] == {"k": {"n": 1}}
    assert exported["files"] == [
        {"path": "a.txt", "content": "text", "encoding": "utf8"},
        {"path": "b.bin", "content": "/wA=", "encoding": "base64"},
    ]
    assert exported["dependencies"] == {"skills": [], "extensions": [], "hooks": RULES}
    assert exported["domState"]["viewportHtml"] == "<p>x</p>"
    assert set(exported["metadata"]) == {"createdAt", "serializedAt", "totalTokens", "totalCost"}
