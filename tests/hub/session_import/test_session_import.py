"""A session of flo, or of another hub, goes on here with all of its hooks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookline.hub.access.roles import Role
from hookline.hub.context.running_hub import Hub
from hookline.lazy_dataclasses import replace
from hookline.runtime.models.scripted import ScriptedModel, ScriptStep
from hub.hub_sandbox import Client, async_test, token_of
from hub.pages.page_stand_in import open_agent, open_page_hub

DENY = {"id": "no-bash", "matcher": "^bash$", "action": "deny", "reason": "No shell."}
SCRIPT = {
    "id": "no-secret",
    "matcher": "^storage$",
    "action": "script",
    "script": "if (toolInput.key === 'secret') return {decision: 'deny', reason: 'Secret.'};",
}
TIMES = {"createdAt": 1_700_000_000_000, "serializedAt": 1_700_000_001_000, "totalTokens": 0, "totalCost": 0}


def flo_session(version: int = 2, **more: Any) -> dict[str, Any]:
    return {
        "version": version,
        "agentId": "a1",
        "config": {"id": "a1", "name": "Painter", "systemPrompt": "You paint.", "model": "m", "provider": "anthropic"},
        "conversation": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}],
        "storage": {"k": {"n": 1}},
        "metadata": TIMES,
        **more,
    }


def with_hooks(**hooks: Any) -> dict[str, Any]:
    return flo_session(dependencies={"skills": [], "extensions": [], "hooks": hooks})


async def send(hub: Hub, session: dict[str, Any], role: Role = Role.EDITOR) -> Any:
    return await Client(hub, await token_of(hub, role)).post("/sessions/import", session)


async def run_call(hub: Hub, session: str, tool: str, input: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages after the agent called the tool in the imported session."""
    row = await hub.sessions.find(session)
    runtime = await hub.runtimes.get(Path(row.workspace))
    steps = [ScriptStep(calls=((tool, input),)), "done"]
    runtime._settings = replace(runtime._settings, model=ScriptedModel(steps))
    await (await runtime.resume(session)).ask("go")
    return await hub.store.messages(session)


@async_test
async def test_an_exported_session_is_imported_as_it_was(tmp_path: Path) -> None:
    async with open_page_hub(tmp_path) as hub:
        async with open_agent(hub, "hello") as session:
            await session.ask("say hello")
            hooks = {"hooks": {"PreToolUse": [DENY]}}
            await hub.rules.save("agent:painter", json.dumps(hooks), 0, "me", "")
            await hub.store.set_value(session.agent.id, "k", {"n": 1})
            await hub.store.write_file(session.id, "b.bin", b"\xff\x00", "application/octet-stream")
            await hub.pages.states.save(session.id, "<p>x</p>")
        viewer = Client(hub, await token_of(hub, Role.VIEWER))
        exported = (await viewer.get(f"/sessions/{session.id}/export")).json()
        answer = await send(hub, exported)
        assert answer.status_code == 201, answer.text
        imported = answer.json()
        assert imported["problems"] == []
        assert imported["agent"] != "painter"
        again = (await viewer.get(f"/sessions/{imported['session']['id']}/export")).json()
        for each in (exported, again):
            each["metadata"].pop("serializedAt")
            each["domState"].pop("capturedAt")
            each["config"].pop("id")
            each.pop("agentId")
        assert again == exported


@pytest.mark.parametrize("version", [1, 2])
@async_test
async def test_each_version_is_taken(version: int, tmp_path: Path) -> None:
    async with open_page_hub(tmp_path) as hub:
        imported = (await send(hub, flo_session(version))).json()
        row = await hub.sessions.find(imported["session"]["id"])
        assert [each["content"] for each in await hub.store.messages(row.id)] == ["hello", "hi"]
        assert await hub.store.get_value(row.agent, "k") == {"n": 1}
        agent = await hub.agents.find(imported["agent"])
        assert agent is not None
        assert (agent.name, agent.prompt, agent.model) == ("Painter", "You paint.", "anthropic:m")
        assert (row.turns, row.created) == (1, 1_700_000_000)


@async_test
async def test_hooks_and_scripts_hold_in_the_imported_session(tmp_path: Path) -> None:
    async with open_page_hub(tmp_path) as hub:
        answer = await send(hub, with_hooks(PreToolUse=[DENY, SCRIPT]))
        assert answer.status_code == 201, answer.text
        session = answer.json()["session"]["id"]
        denied = await run_call(hub, session, "bash", {"command": "ls"})
        assert "No shell." in next(each["content"] for each in denied if each["role"] == "tool")
        refused = await run_call(hub, session, "storage", {"action": "set", "key": "secret", "value": 1})
        assert "Secret." in [each["content"] for each in refused if each["role"] == "tool"][-1]
        passed = await run_call(hub, session, "storage", {"action": "get", "key": "k"})
        assert "Secret." not in [each["content"] for each in passed if each["role"] == "tool"][-1]


@async_test
async def test_rules_with_errors_or_commands_bring_no_session_at_all(tmp_path: Path) -> None:
    async with open_page_hub(tmp_path) as hub:
        shell = {"id": "x", "command": "touch x"}
        two = {"id": "x", "hooks": [{"action": "log"}, {"type": "command", "command": "touch x"}]}
        for rule in ({"id": "x", "matcher": "(", "action": "deny"}, shell, two, {"id": "x", "action": "nonsense"}):
            answer = await send(hub, with_hooks(PreToolUse=[rule]))
            assert answer.status_code == 422, answer.text
            assert answer.json()["detail"][0]["what"]
        assert hub.agents.rows == []
        assert await hub.store.sessions() == []


@async_test
async def test_an_agent_that_may_not_start_leaves_nothing(tmp_path: Path) -> None:
    async with open_page_hub(tmp_path) as hub:
        answer = await send(hub, with_hooks(AgentStart=[{"id": "never", "action": "deny", "reason": "Closed."}]))
        assert (answer.status_code, answer.json()["error"].split(" (")[0]) == (403, "Closed.")
        assert hub.agents.rows == []
        assert await hub.rules.table.sets() == []
        assert await hub.store.sessions() == []


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        ({"version": 3}, "body.version"),
        ({"conversation": [{"role": "robot", "content": "x"}]}, "conversation.0: role"),
        ({"conversation": [{"role": "tool", "content": "x"}]}, "conversation.0: a message of a tool"),
        ({"conversation": [{"role": "user", "content": [{"type": "image"}]}]}, "conversation.0: a block"),
        ({"conversation": [{"role": "assistant", "content": "", "tool_calls": [{}]}]}, "conversation.0: tool_calls"),
        ({"files": [{"path": "a", "content": "%", "encoding": "base64"}]}, "body.files.0"),
        ({"storage": []}, "body.storage"),
        ({"metadata": {}}, "body.metadata.createdAt"),
        ({"subagents": [{"version": 2}]}, "body.subagents.0.agentId"),
    ],
)
@async_test
async def test_what_is_wrong_is_named(wrong: dict[str, Any], where: str, tmp_path: Path) -> None:
    async with open_page_hub(tmp_path) as hub:
        answer = await send(hub, flo_session(**wrong))
        assert answer.status_code == 422
        assert where in json.dumps(answer.json()["detail"])
        assert hub.agents.rows == []


@async_test
async def test_what_is_not_used_is_named(tmp_path: Path) -> None:
    config = {"name": "p", "networkPolicy": {"mode": "allowlist", "allowedDomains": ["api.example.org", "*.bad"]}}
    dependencies = {"skills": [{"name": "draw", "source": {"type": "builtin"}}], "extensions": [], "hooks": None}
    dom = {"viewportHtml": "<b>", "listeners": [{}], "capturedAt": 1}
    async with open_page_hub(tmp_path) as hub:
        answer = (await send(hub, flo_session(config=config, dependencies=dependencies, domState=dom))).json()
        assert [each.split(":")[0].split(" ")[0] for each in answer["problems"]] == [
            "config.networkPolicy.allowedDomains",
            "dependencies.skills",
            "domState.listeners",
        ]
        assert hub.agents.rows[0].network == ["https://api.example.org"]
        assert await hub.pages.states.load(answer["session"]["id"]) == "<b>"


@async_test
async def test_hooks_in_a_session_of_version_1_are_named_as_not_used(tmp_path: Path) -> None:
    guarded = {**with_hooks(PreToolUse=[{"matcher": "bash", "action": "deny"}]), "version": 1}
    async with open_page_hub(tmp_path) as hub:
        (problem,) = (await send(hub, guarded)).json()["problems"]
        assert "dependencies.hooks" in problem
        (problem,) = (await send(hub, flo_session(subagents=[guarded]))).json()["problems"]
        assert "subagents" in problem


@async_test
async def test_blocks_and_subagents_become_messages_and_threads(tmp_path: Path) -> None:
    blocks = [
        {"role": "user", "content": [{"type": "text", "text": "draw"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "dom", "input": {"a": 1}}]},
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "ok"}]}],
        },
        {"role": "assistant", "content": "done"},
    ]
    helper = flo_session(1, agentId="helper", files=[{"path": "n.txt", "content": "x", "encoding": "utf8"}])
    async with open_page_hub(tmp_path) as hub:
        answer = (await send(hub, flo_session(conversation=blocks, subagents=[helper]))).json()
        id = answer["session"]["id"]
        messages = await hub.store.messages(id)
        assert [(each["role"], each["content"]) for each in messages] == [
            ("user", "draw"),
            ("assistant", ""),
            ("tool", "ok"),
            ("assistant", "done"),
        ]
        assert json.loads(messages[1]["tool_calls"])[0]["function"] == {"name": "dom", "arguments": '{"a": 1}'}
        main, other = await hub.store.threads(id)
        assert (other.parent, other.depth, other.agent) == (main.id, 1, "helper")
        assert await hub.store.read_file(other.id, "n.txt") == b"x"
        assert (await run_call(hub, id, "storage", {"action": "keys"}))[-1]["content"] == "done"


@async_test
async def test_only_editors_import(tmp_path: Path) -> None:
    async with open_page_hub(tmp_path) as hub:
        for role in (Role.VIEWER, Role.APPROVER, Role.REPORTER):
            assert (await send(hub, flo_session(), role)).status_code == 403
