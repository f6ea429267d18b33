from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from hookline.engine.book import Layer
from hookline.hub.context.running_hub import Hub
from hookline.hub.explain.given_hooks import load_given_hooks
from hookline.runtime.agent_session import AgentSession
from hookline.runtime.settings import ExtraHooks
from hookline.runtime.updates import ToolCallFinished
from hub.hub_sandbox import async_test
from hub.pages.page_stand_in import PageStandIn, open_agent, open_page_hub, returning
from runtime.scripted_runtime import tool_call_step

STEPS = (tool_call_step(("bash", {"command": "echo made > made"})), "done")
DENY = {"decision": "deny", "reason": "from the page"}


def rules(script: str, **more: Any) -> str:
    rule = {"id": "s", "matcher": "^bash$", "action": "script", "script": script, **more}
    return json.dumps({"hooks": {"PreToolUse": [rule]}})


async def run_agent(hub: Hub, session: AgentSession, text: str) -> str:
    """What the shell call of the agent came to."""
    await hub.rules.save("everyone", text, hub.rules.head("everyone"), "me", "")
    seen = [update async for update in session.say("go")]
    (finished,) = [each for each in seen if isinstance(each, ToolCallFinished) and not each.call.is_internal]
    return finished.result.error


@async_test
async def test_a_rule_runs_in_the_page_and_on_the_hub_without_one(tmp_path: Path) -> None:
    async with open_page_hub(tmp_path) as hub, open_agent(hub, *STEPS, *STEPS) as session:
        stand_in = PageStandIn(session.id, returning(DENY))
        hub.pages.open.attach(stand_in.page)
        script = "return {decision: 'deny', reason: 'from the hub'}"
        assert "from the page" in await run_agent(hub, session, rules(script))
        (data,) = stand_in.of_type("script")
        assert json.loads(data["variables"])["toolName"] == "bash"
        hub.pages.open.detach(stand_in.page)
        assert "from the hub" in await run_agent(hub, session, rules(script))
        assert len(stand_in.of_type("script")) == 1


@async_test
async def test_hooks_of_files_run_on_the_hub_whatever_the_page_says(tmp_path: Path) -> None:
    text = rules("return {decision: 'deny', reason: 'from the file'}")
    book = load_given_hooks(text, "flo", "hub.json")
    own = ExtraHooks(Layer("hub.json", book.hooks), book.files.files)
    async with open_page_hub(tmp_path, own_hooks=own) as hub, open_agent(hub, *STEPS) as session:
        stand_in = PageStandIn(session.id, returning({"decision": "allow"}))
        hub.pages.open.attach(stand_in.page)
        assert "from the file" in await run_agent(hub, session, '{"hooks": {}}')
        assert stand_in.of_type("script") == []


@async_test
async def test_a_rule_that_runs_on_the_hub_does_not_ask_the_page(tmp_path: Path) -> None:
    async with open_page_hub(tmp_path) as hub, open_agent(hub, *STEPS, *STEPS) as session:
        stand_in = PageStandIn(session.id, returning({"decision": "allow"}))
        hub.pages.open.attach(stand_in.page)
        script = "return {decision: 'deny', reason: 'from the hub'}"
        assert "from the hub" in await run_agent(hub, session, rules(script, runs="hub"))
        assert stand_in.of_type("script") == []
        assert await run_agent(hub, session, rules(script, runs="page")) == ""
        assert len(stand_in.of_type("script")) == 1


@async_test
async def test_a_page_that_leaves_in_the_middle_is_answered_by_continue_on_error(tmp_path: Path) -> None:
    for continue_on_error in (True, False):
        place = tmp_path / str(continue_on_error)
        place.mkdir()
        async with open_page_hub(place) as hub, open_agent(hub, *STEPS) as session:

            async def leave(stand_in: PageStandIn) -> Any:
                stand_in.page.leave()
                await asyncio.sleep(3600)

            stand_in = PageStandIn(session.id, lambda event, data: leave(stand_in))  # noqa: B023
            hub.pages.open.attach(stand_in.page)
            text = rules("return {decision: 'deny', reason: 'run again'}", continueOnError=continue_on_error)
            error = await run_agent(hub, session, text)
            assert "run again" not in error
            assert bool(error) is not continue_on_error


@async_test
async def test_on_the_hub_a_script_sees_the_saved_document(tmp_path: Path) -> None:
    async with open_page_hub(tmp_path) as hub, open_agent(hub, *STEPS) as session:
        await hub.pages.states.save(session.id, "<p>old</p>")
        script = "return {decision: 'deny', reason: document.body.innerHTML + document.body.textContent}"
        assert "<p>old</p>old" in await run_agent(hub, session, rules(script))
