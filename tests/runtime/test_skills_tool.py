"""A skill in a real session: what the model reads, and what its hooks do from then on."""

from pathlib import Path

from hookline.project import Trust, trust_file_path
from hookline.runtime.apps.app import App
from hookline.runtime.skills import skill_sources
from hookline.runtime.updates import ToolCallFinished
from runtime.multi_agent_apps import APP, SPAWN, MultiAgentModel
from runtime.scripted_runtime import RecordingModel, make_agent, open_runtime, run_async, send_prompt, tool_call_step

SKILL = """---
description: Looks without touching
hooks: {PreToolUse: [{matcher: ^bash$, action: deny, reason: Only look}]}
---
Look at $ARGUMENTS.
"""


def workspace(path: Path) -> App:
    """With a skill of the user's own, which is trusted."""
    folder = path / "home" / ".config" / "hookline" / "skills" / "look"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL)
    return App((make_agent(),))


def test_an_invoked_skill_is_read_and_its_hooks_hold_from_then_on(tmp_path: Path) -> None:
    bash = ("bash", {"command": "touch made"})
    steps = [
        tool_call_step(bash),
        tool_call_step(("skill", {"name": "look", "arguments": "the log"})),
        tool_call_step(bash),
        "done",
    ]
    results: list[tuple[str, bool, bool]] = []

    async def work() -> None:
        async with open_runtime(tmp_path, "", steps, app=workspace(tmp_path)) as (runtime, model):
            session = await runtime.start()
            seen = await send_prompt(session, "go")
            results.extend((each.call.name, each.ran, each.result.ok) for each in seen.of_type(ToolCallFinished))
            assert isinstance(model, RecordingModel)
            system = model.requests[0].messages[0]["content"]
            assert "- look: Looks without touching" in system
            assert "Look at the log." in str(model.requests[2].messages[-1]["content"])
            assert "Only look" in str(model.requests[3].messages[-1]["content"])
            other = await runtime.start()
            assert not [hook for hook in other.book.hooks if hook.origin.dialect == "flo"]

    run_async(work)
    assert results == [("bash", True, True), ("skill", True, True), ("bash", False, False)]


def test_its_hooks_come_back_with_the_session_and_are_gone_after_its_end(tmp_path: Path) -> None:
    app, store = workspace(tmp_path), f"sqlite:///{tmp_path / 'sessions.db'}"

    async def work() -> None:
        async with open_runtime(
            tmp_path, "", [tool_call_step(("skill", {"name": "look"})), "ok"], app=app, store=store
        ) as (
            runtime,
            _,
        ):
            session = await runtime.start()
            await send_prompt(session, "go")
        bash = tool_call_step(("bash", {"command": "touch made"}))
        async with open_runtime(tmp_path, "", [bash, "ok"], app=app, store=store) as (runtime, _):
            again = await runtime.resume(session.id)
            seen = await send_prompt(again, "go on")
            assert [(each.call.name, each.ran) for each in seen.of_type(ToolCallFinished)] == [("bash", False)]
            await again.end()
            assert not again.book.hooks

    run_async(work)
    assert not (tmp_path / "made").exists()


def test_a_skill_that_is_not_there_is_a_result_that_the_model_reads(tmp_path: Path) -> None:
    async def work() -> None:
        steps = [tool_call_step(("skill", {"name": "other"})), "ok"]
        async with open_runtime(tmp_path, "", steps, app=workspace(tmp_path)) as (runtime, model):
            seen = await send_prompt(await runtime.start(), "go")
            [called] = seen.of_type(ToolCallFinished)
            assert not called.result.ok
            assert isinstance(model, RecordingModel)
            assert "other" in str(model.requests[1].messages[-1]["content"])

    run_async(work)


def test_a_projects_skill_that_is_not_trusted_cannot_be_invoked(tmp_path: Path) -> None:
    folder = tmp_path / ".hookline" / "skills" / "look"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL)

    async def work() -> None:
        steps = [tool_call_step(("skill", {"name": "look"})), "ok"]
        async with open_runtime(tmp_path, "", steps, app=App((make_agent(),), skills=(folder.parent,))) as (
            runtime,
            model,
        ):
            seen = await send_prompt(await runtime.start(), "go")
            assert [(each.call.name, each.ran) for each in seen.of_type(ToolCallFinished)] == [("skill", False)]
            assert isinstance(model, RecordingModel)
            assert "Looks without touching" not in str(model.requests[0].messages)

    run_async(work)


def test_its_hooks_hold_for_the_agents_that_the_invoking_one_starts(tmp_path: Path) -> None:
    """Else an agent that may only look would have another touch for it."""
    workspace(tmp_path)
    touch = tool_call_step(("bash", {"command": "touch made"}))
    model = MultiAgentModel(
        boss=[tool_call_step(("skill", {"name": "look"})), SPAWN, "fine"], reviewer=[touch, "denied"]
    )

    async def work() -> None:
        async with open_runtime(tmp_path, app=APP, model=model) as (runtime, _):
            session = await runtime.start()
            seen = await send_prompt(session, "go")
            ran = [(each.agent, each.call.name, each.ran) for each in seen.of_type(ToolCallFinished)]
            assert ran == [("boss", "skill", True), ("reviewer", "bash", False), ("boss", "agent", True)]

    run_async(work)
    assert not (tmp_path / "made").exists()


def test_what_a_started_agent_invokes_binds_it_and_not_the_one_that_started_it(tmp_path: Path) -> None:
    workspace(tmp_path)
    theirs, ours = (tool_call_step(("bash", {"command": f"touch {who}"})) for who in ("theirs", "ours"))
    look = tool_call_step(("skill", {"name": "look"}))
    model = MultiAgentModel(boss=[SPAWN, ours, "fine"], reviewer=[look, theirs, "denied"])

    async def work() -> None:
        async with open_runtime(tmp_path, app=APP, model=model) as (runtime, _):
            await send_prompt(await runtime.start(), "go")

    run_async(work)
    assert not (tmp_path / "theirs").exists()
    assert (tmp_path / "ours").exists()


ALLOWS = """---
description: Lists
allowedTools: [list_directory]
---
List it.
"""


def test_what_it_allows_stands_in_the_record_and_a_deny_still_forbids_it(tmp_path: Path) -> None:
    workspace(tmp_path)
    folder = tmp_path / "home" / ".config" / "hookline" / "skills" / "list"
    folder.mkdir()
    (folder / "SKILL.md").write_text(ALLOWS)
    here, hidden = (tool_call_step(("list_directory", {"path": path})) for path in (".", "home"))
    model = MultiAgentModel(
        boss=[here, tool_call_step(("skill", {"name": "list"})), here, hidden, SPAWN, "fine"], reviewer=[here, "ok"]
    )
    deny = (
        "hooks: [{id: no, on: tool.before, when: {tool: list_directory, input: {path: home}}, then: {deny: private}}]"
    )

    async def work() -> None:
        async with open_runtime(tmp_path, deny, app=APP, model=model) as (runtime, _):
            session = await runtime.start()
            await send_prompt(session, "go")
            threads = await runtime.store.threads(session.id)
            rows = [row for thread in threads for row in await runtime.store.calls(thread.id)]
            listed = [(row.decision["verdict"], row.decision["by"]) for row in rows if row.name == "list_directory"]
            allowed = ("allow", "SKILL.md:allowedTools")
            assert listed == [("silent", None), allowed, allowed]

    run_async(work)


SCRIPTED_SKILL = """---
name: look
hooks: {PreToolUse: [{matcher: ^bash$, command: sh guard.sh}]}
---
Look.
"""


def test_a_changed_script_of_a_trusted_skill_holds_the_call(tmp_path: Path) -> None:
    folder = tmp_path / ".hookline" / "skills" / "look"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SCRIPTED_SKILL)
    (tmp_path / "guard.sh").write_text("exit 1\n")
    trust = Trust(trust_file_path(tmp_path / "home"))
    trust.accept(skill_sources((), tmp_path, tmp_path / "home"))
    steps = [
        tool_call_step(("skill", {"name": "look"})),
        tool_call_step(("write_file", {"path": "guard.sh", "content": "exit 0\n"})),
        tool_call_step(("bash", {"command": "touch made"})),
        "ok",
    ]

    async def work() -> None:
        async with open_runtime(tmp_path, "", steps, app=App((make_agent(),)), unattended=True) as (
            runtime,
            model,
        ):
            seen = await send_prompt(await runtime.start(), "go")
            ran = [(each.call.name, each.ran) for each in seen.of_type(ToolCallFinished)]
            assert ran == [("skill", True), ("write_file", True), ("bash", False)]
            assert isinstance(model, RecordingModel)
            assert "guard.sh" in str(model.requests[3].messages[-1]["content"])

    run_async(work)
    assert not (tmp_path / "made").exists()
