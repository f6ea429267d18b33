"""A model in our own agent's loop attacks the files of its guards with the tools that it has, then makes the guarded call."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from attempts import Attempt
from hostile_project import SCRIPT, SCRIPT_TEXT, TARGETS, Call, HostileProject, Target, attacks_on

from hookline.runtime.apps.app import Agent, AgentSide, App, Prompt
from hookline.runtime.models.scripted import ScriptedModel, ScriptStep
from hookline.runtime.runtime import Runtime
from hookline.runtime.settings import Settings

_WITH_SCRIPT = (TARGETS["native run"], TARGETS["flo command"])  # the others run theirs in the same way

_GUARDED: Call = ("bash", {"command": "rm -rf build"})


def _runs_guarded_call(hostile: HostileProject, calls: list[Call]) -> bool:
    """Whether a session in which the model makes these calls, then the guarded one twice, loses its directory build."""
    build = hostile.project / "build"
    build.mkdir()
    steps = [ScriptStep(calls=(call,)) for call in (*calls, _GUARDED, _GUARDED)]
    settings = Settings(
        home=hostile.home,
        env={"PATH": os.environ["PATH"]},
        app=App((Agent("helper", AgentSide(Prompt("main", "Help."))),)),
        model=ScriptedModel([*steps, "done"]),
        store="sqlite://",
        unattended=True,
    )

    async def run() -> None:
        async with asyncio.timeout(60), Runtime.open(hostile.project, settings) as runtime:
            async for _ in (await runtime.start()).say("go"):
                pass

    asyncio.run(run())
    places = (build, hostile.project / "old/build", hostile.project.with_name("p.old") / "build")
    return not any(place.is_dir() for place in places)


def _attacked(target: Target) -> dict[str, str]:
    """The files to attack: the hooks file, and the script that it runs."""
    files = {target.file: target.text}
    return {**files, SCRIPT: SCRIPT_TEXT} if target in _WITH_SCRIPT else files


@pytest.mark.parametrize(
    "target", ["native deny", "native run", "flo deny", "flo command", "claude_code", "microai", "ai_agents"]
)
def test_no_call_of_the_model_switches_its_guard_off(tmp_path: Path, target: str, attempt: Attempt) -> None:
    hostile = HostileProject(tmp_path, TARGETS[target])
    for file, text in _attacked(TARGETS[target]).items():
        for name, calls in attacks_on(file, text).items():
            hostile.start()
            attempt(
                "a model against its guards' files", _runs_guarded_call(hostile, calls), f"{target}, {file}: {name}"
            )


def test_without_a_guard_the_call_runs(tmp_path: Path) -> None:
    """So the other test would see it."""
    hostile = HostileProject(tmp_path, Target("README.md", "No hooks.\n"))
    assert _runs_guarded_call(hostile, [])


def test_a_model_changes_the_files_that_it_attacks(tmp_path: Path) -> None:
    """So its attacks arrive."""
    hostile = HostileProject(tmp_path, TARGETS["flo deny"])
    path = hostile.project / "hub.json"
    for name, calls in attacks_on("hub.json", TARGETS["flo deny"].text).items():
        hostile.start()
        _runs_guarded_call(hostile, calls)
        changed = not path.is_file() or path.is_symlink() or path.read_text() != TARGETS["flo deny"].text
        assert changed or name == "its directory replaced", name
