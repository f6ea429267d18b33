"""One and the same hooks file in every framework: the same decisions, the same record."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from trial import CONFIG, FRAMEWORK, Trial, driver, record

from hookline import HooklineError, guard

DRIVER: Any = driver()
SUPPORT: Any = import_module(f"hookline.frameworks.{FRAMEWORK}").SUPPORT
ANSWERS = DRIVER.__dict__.get("CANNOT", {})


def _decisions(event: str) -> list[tuple[str, str]]:
    """Verdict and hook of each recorded decision about the event."""
    return [(each["verdict"], each.get("hook") or "") for each in record() if each.get("event") == event]


def _inputs(event: str) -> list[Any]:
    """The input in each record of the event."""
    return [each["input"] for each in record() if each.get("event") == event]


def _agent_paths(names: str = "AGENT_PATHS") -> list[Any]:
    wanted = getattr(DRIVER, names, DRIVER.AGENT_PATHS)
    return [pytest.param(DRIVER.PATHS[name], id=name) for name in wanted]


@pytest.mark.parametrize("run", _agent_paths())
def test_a_denied_call_does_not_run_and_the_model_reads_why(run: Any) -> None:
    trial = Trial([["rm x"]])
    run(trial)
    assert trial.ran == []
    assert len(trial.requests) == 2
    assert "Not rm. (hook no-rm, " in trial.read_last
    assert trial.final == "done"
    assert _decisions("tool.before") == [("deny", "no-rm")]
    assert _decisions("tool.after") == []


@pytest.mark.parametrize("run", _agent_paths())
def test_the_tool_runs_with_the_changed_input(run: Any) -> None:
    trial = Trial([["echo plain"]])
    run(trial)
    assert trial.ran == ["echo altered"]
    assert "ran echo altered ***" in trial.read_last
    assert _decisions("tool.before") == [("silent", "alter")] or _decisions("tool.before") == [("silent", "")]


@pytest.mark.parametrize("run", _agent_paths())
def test_a_guard_sees_a_default_of_the_tool(run: Any) -> None:
    trial = Trial([["echo default"]])
    run(trial)
    assert trial.ran == []
    assert "Not in this mode. (hook no-defaults, " in trial.read_last
    assert _decisions("tool.before") == [("deny", "no-defaults")]


@pytest.mark.parametrize("run", _agent_paths())
def test_the_tool_runs_with_a_default_that_hooks_changed(run: Any) -> None:
    trial = Trial([["echo set-mode"]])
    run(trial)
    assert (trial.ran, trial.modes) == (["echo set-mode"], ["set"])
    assert len(_decisions("tool.before")) == 1
    assert _inputs("tool.after") == [{"command": "echo set-mode", "mode": "set"}]


@pytest.mark.parametrize("run", _agent_paths())
def test_the_tool_runs_with_its_own_default(run: Any) -> None:
    trial = Trial([["echo a"], ["echo plain"]])
    run(trial)
    assert (trial.ran, trial.modes) == (["echo a", "echo altered"], ["own", "own"])
    shown = [{"command": "echo a", "mode": "own"}, {"command": "echo plain", "mode": "own"}]
    assert _inputs("tool.before") == shown
    assert _inputs("tool.after") == [shown[0], {"command": "echo altered", "mode": "own"}]


@pytest.mark.parametrize("run", _agent_paths())
def test_a_default_that_hooks_remove_is_not_run_with(run: Any) -> None:
    """The tool would put it in again."""
    trial = Trial([["echo drop-mode"]])
    run(trial)
    assert trial.ran == []
    assert "a hook removed mode from the input of" in trial.read_last


@pytest.mark.parametrize("run", _agent_paths())
def test_the_model_reads_the_masked_result(run: Any) -> None:
    trial = Trial([["echo a"], ["echo b"]])
    run(trial)
    assert trial.ran == ["echo a", "echo b"]
    assert "ran echo a ***" in trial.read_last
    assert "ran echo b ***" in trial.read_last
    assert not any("s3cret" in each for each in trial.requests)


@pytest.mark.parametrize("run", _agent_paths())
def test_the_model_reads_notes(run: Any) -> None:
    trial = Trial([["echo noted"]])
    run(trial)
    assert trial.ran == ["echo noted"]
    assert trial.read_last.count("Remember the milk.") == 1
    assert trial.requests[0].count("Be brief.") == 1


@pytest.mark.parametrize("run", _agent_paths())
def test_a_halt_ends_the_run(run: Any) -> None:
    trial = Trial([["echo halt-me"], ["echo never"]])
    run(trial)
    assert trial.ran == []
    assert len(trial.requests) == 1
    assert "Enough." in trial.final + trial.halted


def test_calls_in_parallel_have_a_decision_each() -> None:
    trial = Trial([["echo plain", "rm x", "echo noted"]])
    DRIVER.run(trial)
    assert sorted(trial.ran) == ["echo altered", "echo noted"]
    for text in ("ran echo altered ***", "ran echo noted ***", "Not rm.", "Remember the milk."):
        assert text in trial.read_last
    assert len(_decisions("tool.before")) == 3
    assert len(_decisions("tool.after")) == 2


@pytest.mark.parametrize("run", _agent_paths())
@pytest.mark.parametrize("commands", [["echo plain", "rm x", "echo b"], ["echo b", "echo b"]], ids=["other", "equal"])
def test_calls_with_the_same_id_are_judged_each(run: Any, commands: list[str]) -> None:
    """Models that run locally do this. A framework may refuse it."""
    trial = Trial([commands], shares_ids=True)
    try:
        run(trial)
    except Exception as error:
        trial.halted = str(error)
    assert {"rm x", "echo plain"}.isdisjoint(trial.ran)
    assert not any("s3cret" in each for each in trial.requests)


def test_nobody_to_ask_is_a_no() -> None:
    trial = Trial([["git push"]], approves=False)
    DRIVER.run(trial)
    assert trial.ran == []
    assert "This pushes." in trial.read_last
    assert ("ask", "push") in _decisions("tool.before")


def test_the_person_says_yes() -> None:
    trial = Trial([["git push"]], approves=True)
    if not DRIVER.PAUSES:
        trial.options = {**trial.options, "ask": lambda question: trial.asked.append(question.reason) or True}
    DRIVER.run(trial)
    assert len(trial.asked) == 1
    assert "This pushes." in trial.asked[0]
    assert trial.ran == ["git push"]
    assert "ran git push ***" in trial.read_last
    assert len(_decisions("tool.before")) == 1, "a resumed call is not decided again"


@pytest.mark.parametrize("run", _agent_paths())
def test_the_callback_of_the_program_is_asked(run: Any) -> None:
    trial = Trial([["git push"]])
    trial.options = {**trial.options, "ask": lambda question: trial.asked.append(question.tool) or True}
    run(trial)
    assert trial.asked == [getattr(DRIVER, "TOOL", "bash")]
    assert trial.ran == ["git push"]


@pytest.mark.parametrize("run", _agent_paths())
def test_a_denied_prompt_never_reaches_the_model(run: Any) -> None:
    trial = Trial([["echo a"]], prompt="My password is hunter2.")
    run(trial)
    assert trial.requests == []
    assert trial.ran == []
    assert "There is a password in it." in trial.final + trial.halted
    assert _decisions("prompt.submit") == [("deny", "no-passwords")]


@pytest.mark.skipif("continue" in ANSWERS, reason=f"{FRAMEWORK} cannot be told to go on at a stop")
@pytest.mark.parametrize("run", _agent_paths("STOP_PATHS"))
def test_a_denied_stop_makes_the_agent_go_on(run: Any) -> None:
    trial = Trial([], answers=["unfinished", "done"])
    run(trial)
    assert len(trial.requests) == 2
    assert "Run the tests first." in trial.read_last
    assert trial.final == "done"


@pytest.mark.skipif("continue" in ANSWERS, reason=f"{FRAMEWORK} cannot be told to go on at a stop")
def test_stops_are_not_denied_for_ever() -> None:
    trial = Trial([], answers=["unfinished"])
    DRIVER.run(trial)
    assert len(trial.requests) == 6


@pytest.mark.skipif("errors" in ANSWERS, reason=str(ANSWERS.get("errors")))
@pytest.mark.parametrize("run", _agent_paths())
def test_the_error_of_a_tool_is_masked(run: Any) -> None:
    trial = Trial([["echo fail"]])
    try:
        run(trial)
    except Exception as error:  # a framework may end the run with the tool's error
        trial.halted = str(error)
    assert "s3cret" not in trial.halted
    assert trial.ran == ["echo fail"]
    assert not any("s3cret" in each for each in trial.requests)


@pytest.mark.skipif("model.error" not in SUPPORT.events, reason=f"{FRAMEWORK} does not show that a request failed")
@pytest.mark.parametrize("run", _agent_paths())
def test_the_failure_of_a_model_is_an_event(run: Any, own_state: Path) -> None:
    file, seen = own_state / "hookline.yaml", own_state / "seen"
    file.write_text(f"hooks: [{{id: log, on: model.error, then: {{run: 'echo {{{{error.code}}}} >> {seen}'}}}}]")
    trial = Trial([["echo a"]], options={"config": file}, fails_at=1)
    with suppress(Exception):
        run(trial)
    assert trial.ran == ["echo a"]
    codes = seen.read_text().split()
    assert set(codes) == {"network"}
    assert len(codes) == len(trial.requests) - 1, "one for each request that failed"


@pytest.mark.parametrize("broken", [{"fails_at": 1}, {"steps": [["echo fail"]]}], ids=["model", "tool"])
@pytest.mark.parametrize("run", _agent_paths())
def test_a_run_after_one_that_failed_is_not_part_of_it(run: Any, broken: dict[str, Any]) -> None:
    with suppress(Exception):
        run(Trial(**{"steps": [["echo a"]], **broken}))
    trial = Trial([["echo a"]], prompt="My password is hunter2.")
    run(trial)
    assert trial.requests == []
    assert _decisions("prompt.submit") == [("silent", ""), ("deny", "no-passwords")]
    assert _decisions("subagent.start") == []


TOUR = [
    ("session.start", "", "silent", ""),
    ("agent.start", "", "silent", ""),
    ("prompt.submit", "", "silent", ""),
    ("tool.before", "bash", "silent", ""),
    ("tool.after", "bash", "silent", ""),
    ("tool.before", "bash", "deny", "no-rm"),
    ("tool.before", "bash", "ask", "push"),
    ("approval.request", "bash", "silent", ""),
    ("tool.after", "bash", "silent", ""),
    ("tool.before", "bash", "silent", ""),
    ("tool.after", "bash", "silent", ""),
    ("agent.end", "", "silent", ""),
    ("session.end", "", "silent", ""),
]


def test_the_record_is_the_same_in_every_framework() -> None:
    trial = Trial([["echo plain"], ["rm x"], ["git push"], ["echo noted"]], approves=True)
    if not DRIVER.PAUSES:
        trial.options = {**trial.options, "ask": lambda question: True}
    DRIVER.run(trial)
    entries = record()
    assert {each["host"] for each in entries} == {FRAMEWORK}
    assert len({each["session"] for each in entries}) == 1
    names = {None: "", getattr(DRIVER, "TOOL", "bash"): "bash"}
    kept = [(e["event"], names[e["tool"]], e["verdict"], e["hook"] or "") for e in entries]
    assert kept == [each for each in TOUR if each[0] not in ANSWERS.get("events", ())]
    changed = next(each for each in entries if each["event"] == "tool.before")
    assert changed["input"]["command"] == "echo plain"


IN_EVERY_RUN = (
    "session.start",
    "agent.start",
    "thread.created",
    "prompt.submit",
    "session.first_turn",
    "turn.start",
    "history.filter",
    "history.request",
    "message.create",
    "message.created",
    "tool.before",
    "tool.succeeded",
    "tool.after",
    "tool.store",
    "turn.end",
    "stop",
    "agent.end",
    "session.end",
)


@pytest.mark.parametrize("run", _agent_paths())
def test_every_event_that_the_adapter_declares_fires(run: Any, own_state: Path) -> None:
    declared = {event for event in IN_EVERY_RUN if event in SUPPORT.events}
    file, seen = own_state / "hookline.yaml", own_state / "seen"
    hooks = [f"  - {{id: see-{event}, on: {event}, then: {{run: 'echo {event} >> {seen}'}}}}" for event in declared]
    file.write_text("\n".join(["hooks:", *hooks]))
    run(Trial([["echo a"]], options={"config": file}))
    assert set(seen.read_text().split()) == declared


DENY_ALL = "hooks: [{id: nothing, on: tool.before, when: {kind: shell}, then: {deny: Nothing runs.}}]"
HALT_ALL = "hooks: [{id: halt, on: tool.before, when: {kind: shell}, then: {halt: All stop.}}]"
BROKEN = (
    "hooks: [{id: broken, on: tool.before, when: {kind: shell}, on_error: closed, then: {run: [/nonexistent/program]}}]"
)


@pytest.mark.parametrize("config", [DENY_ALL, HALT_ALL, BROKEN], ids=["deny", "halt", "broken hook"])
@pytest.mark.parametrize("run", [pytest.param(run, id=name) for name, run in DRIVER.PATHS.items()])
def test_no_path_runs_a_tool_that_is_denied(run: Any, config: str, own_state: Path) -> None:
    file = own_state / "hookline.yaml"
    file.write_text(config)
    trial = Trial([["echo a"], ["echo b", "echo c"]], options={"config": file, "on_problem": "warn"})
    try:
        run(trial)
    except Exception as error:  # a framework may end the run with an error
        trial.halted = str(error)
    assert trial.ran == []
    assert trial.requests, "the model was called"


@pytest.mark.parametrize("run", [pytest.param(run, id=name) for name, run in DRIVER.PATHS.items()])
def test_every_path_runs_what_is_allowed(run: Any) -> None:
    """The test above would pass if nothing ever ran."""
    trial = Trial([["echo a"], ["echo b", "echo c"]])
    run(trial)
    assert sorted(trial.ran) == ["echo a", "echo b", "echo c"]


@pytest.mark.parametrize("run", [pytest.param(run, id=name) for name, run in DRIVER.PATHS.items()])
def test_a_failing_engine_denies(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if hookline itself had a bug."""
    from hookline.hosts.python.session import Session

    fire = Session.fire

    async def broken(self: Session, event: str, facts: dict[str, Any]) -> Any:
        if event == "tool.before":
            raise RuntimeError("a bug")
        return await fire(self, event, facts)

    monkeypatch.setattr(Session, "fire", broken)
    trial = Trial([["echo a"]])
    try:
        run(trial)
    except Exception as error:
        trial.halted = str(error)
    assert trial.ran == []


@pytest.mark.skipif(not hasattr(DRIVER, "make_tool"), reason="its tools are functions")
def test_guard_names_the_adapter_for_a_tool_of_the_framework() -> None:
    with pytest.raises(HooklineError, match=rf"Use hookline\.frameworks\.{FRAMEWORK}\.\w+"):
        guard(DRIVER.make_tool(Trial([])))


def test_the_options_are_checked() -> None:
    from hookline.errors import HooklineError

    with pytest.raises(HooklineError, match="is not an option"):
        DRIVER.run(Trial([], options={"config": CONFIG, "confg": 1}))
