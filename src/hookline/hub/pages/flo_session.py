"""Sessions as flo writes them, with their rules and their page."""

from __future__ import annotations

import base64
import json
import time
from typing import Any

from hookline.hub.pages.saved_dom import PageStateTable
from hookline.hub.store.agent_table import AgentRow
from hookline.runtime.storage.store import Store
from hookline.runtime.storage.tables import SessionRow


async def export_session(
    store: Store, states: PageStateTable, row: SessionRow, agent: AgentRow | None, rules: str
) -> dict[str, Any]:
    """SerializedSession, version 2."""
    values = {key: await store.get_value(row.agent, key) for key in await store.keys(row.agent)}
    files = [await _export_file(store, row.id, each["path"]) for each in await store.list_files(row.id)]
    dom = await states.load(row.id)
    hooks = json.loads(rules).get("hooks", {}) if rules else {}
    config: dict[str, Any] = {"id": row.agent, "name": row.agent, "systemPrompt": "", "model": "", "tools": []}
    if agent is not None:
        network = {"mode": "allowlist", "allowedDomains": agent.network}
        about = {"name": agent.name, "systemPrompt": agent.prompt, "model": agent.model, "tools": agent.tools}
        config = {**config, **about, "networkPolicy": network}
    now = int(time.time() * 1000)
    page = {"domState": {"viewportHtml": dom, "listeners": [], "capturedAt": now}} if dom else {}
    return {
        "version": 2,
        "agentId": row.agent,
        "config": config,
        "conversation": await store.messages(row.id),
        "storage": values,
        "files": files,
        "metadata": {"createdAt": int(row.created * 1000), "serializedAt": now, "totalTokens": 0, "totalCost": 0},
        "dependencies": {"skills": [], "extensions": [], "hooks": hooks},
        **page,
    }


async def _export_file(store: Store, thread: str, path: str) -> dict[str, str]:
    data = await store.read_file(thread, path) or b""
    try:
        return {"path": path, "content": data.decode(), "encoding": "utf8"}
    except UnicodeDecodeError:
        return {"path": path, "content": base64.b64encode(data).decode(), "encoding": "base64"}
