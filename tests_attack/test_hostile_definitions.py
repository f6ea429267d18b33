"""A model attacks skills, Python definitions, apps, and the files that guards import, then makes the guarded call.

It makes the call in the same session, and once more in a new one.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from attempts import Attempt
from hostile_project import SCRIPT, SCRIPT_TEXT, Call, HostileProject, Target, attacks_on

from hookline.errors import HooklineError
from hookline.runtime.apps.app import Agent, AgentSide, App, Prompt
from hookline.runtime.models.scripted import ScriptedModel, ScriptStep
from hookline.runtime.runtime import Runtime
from hookline.runtime.settings import Settings

_SECRET = "sk-live-1234"
_KEPT, _SECRET_FILE = "build/x", "secret.txt"
_DELETE: Call = ("bash", {"command": "rm -rf build"})
_SKILL = ".hookline/skills/careful/SKILL.md"
_INVOKE: Call = ("skill", {"name": "careful"})


@dataclass(frozen=True)
class Guard:
    """Files with a guard, which of them to attack, and the call that the guard stops."""

    target: Target
    attacked: Sequence[str]
    guarded: Call = _DELETE
    opening: Sequence[Call] = ()  # before the attack
    closing: Sequence[Call] = ()  # after it, before the guarded call
    has_app: bool = False
    appearing: dict[str, str] = field(default_factory=dict)  # files that an attack adds

    def text_of(self, name: str) -> str:
        texts = {self.target.file: self.target.text, SCRIPT: SCRIPT_TEXT, **self.target.files}
        return texts[name]

    def attacks(self) -> dict[str, list[Call]]:
        found = {
            f"{file}: {name}": calls
            for file in self.attacked
            for name, calls in attacks_on(file, self.text_of(file)).items()
        }
        for file, text in self.appearing.items():
            found[f"{file}: appears"] = [("write_file", {"path": file, "content": text})]
        return found


def _skill(*rules: dict[str, object]) -> str:
    return f"---\nname: careful\nhooks: {json.dumps({'PreToolUse': list(rules)})}\n---\nBe careful.\n"


_SKILL_DENY = _skill({"inputMatchers": {"command": "rm -rf"}, "action": "deny"})
_SKILL_RUN = _skill({"command": f"echo {{{{input.command}}}} | sh {SCRIPT}"})
_PYTHON_GUARD = "import json, sys\nimport rules\n\nsys.exit(rules.judge(json.load(sys.stdin)))\n"
_PYTHON_RULES = """def judge(event):
    if "rm -rf" in event["tool"]["input"].get("command", ""):
        print("deny: not rm -rf")
        return 2
    return 0
"""
_SOURCING_GUARD = '. "$(dirname "$0")/rules.sh"\njudge\n'
_SHELL_RULES = 'judge() { grep -q "rm -rf" && exit 2; exit 0; }\n'
_REDACTION = '.replace("sk-live-" "1234", "[rm -rf]")'  # so no attack has the secret in its own text
_DEFINITIONS = f"""from hookline.standard_agents import define_agent, define_hook, define_prompt


@define_hook(hook="before_store_tool_result", id="redact")
async def redact(state, tool_call, result):  # deny
    return {{**result, "result": str(result.get("result")){_REDACTION}}}


define_prompt(name="main", prompt="Help.", tools=["bash", "read_file", "write_file", "edit_file", "filesystem.write",
    "filesystem.delete"])
define_agent(name="main", side_a={{"prompt": "main"}}, hooks=["redact"])
"""
_APP = """agents:
  - {id: main, role: coordinator, system_prompt: Help.}
runtime:
  hooks:
    - {id: keep, on: tool_start, condition: {type: tool_name, match: filesystem.delete}, action: {type: gate, reason: deny}}
"""
_LOGGING_APP = _APP.replace("{type: gate, reason: deny}", "{type: log, message: deny}")


def _native_run(command: str) -> str:
    return f"hooks:\n  - {{id: guard, on: tool.before, then: {{run: {command}, reads: exit2}}, on_error: open}}\n"


_EXIT_0 = "import sys\nsys.stdin.read()\nraise SystemExit(0)\n"
GUARDS = {
    "a skill that is invoked later": Guard(Target(_SKILL, _SKILL_DENY), [_SKILL], closing=[_INVOKE]),
    "a skill that was invoked": Guard(Target(_SKILL, _SKILL_DENY), [_SKILL], opening=[_INVOKE]),
    "a skill's script": Guard(Target(_SKILL, _SKILL_RUN, True), [_SKILL, SCRIPT], opening=[_INVOKE]),
    "a skill's script, invoked later": Guard(Target(_SKILL, _SKILL_RUN, True), [SCRIPT], closing=[_INVOKE]),
    "Python definitions": Guard(
        Target("hookline.yaml", "standard_agents: agents\n", files={"agents/main.py": _DEFINITIONS}),
        ["hookline.yaml", "agents/main.py"],
        guarded=("read_file", {"path": _SECRET_FILE}),
        has_app=True,
        appearing={"agents/zz.py": _DEFINITIONS.replace(_REDACTION, "")},
    ),
    "a digitorn app": Guard(
        Target("digitorn.yaml", _APP),
        ["digitorn.yaml"],
        guarded=("filesystem.delete", {"path": _KEPT}),
        has_app=True,
        appearing={"app.yaml": _LOGGING_APP},
    ),
    "an imported Python module": Guard(
        Target(
            "hookline.yaml",
            _native_run("python3 tools/guard.py"),
            files={"tools/guard.py": _PYTHON_GUARD, "tools/rules.py": _PYTHON_RULES},
        ),
        ["tools/rules.py"],
        appearing={"tools/json.py": _EXIT_0, "tools/re.py": _EXIT_0, "tools/rules/__init__.py": _EXIT_0},
    ),
    "a sourced file": Guard(
        Target(
            "hub.json",
            json.dumps({"hooks": {"PreToolUse": [{"command": "echo {{input.command}} | sh tools/judge.sh"}]}}),
            files={"tools/judge.sh": _SOURCING_GUARD, "tools/rules.sh": _SHELL_RULES},
        ),
        ["tools/rules.sh"],
    ),
}


class Play:
    """Sessions in a project, and whether the guard was lost in one of them."""

    def __init__(self, guard: Guard, hostile: HostileProject) -> None:
        self._guard, self._hostile = guard, hostile
        self._seen: list[str] = []
        (hostile.project / "build").mkdir()
        (hostile.project / _KEPT).write_text("kept")
        (hostile.project / _SECRET_FILE).write_text(_SECRET)

    def is_lost(self) -> bool:
        at = self._hostile.project
        places = (at, at / "old", at.with_name("p.old"))
        return not any((place / _KEPT).exists() for place in places) or _SECRET in "".join(self._seen)

    async def session(self, calls: Sequence[Call]) -> None:
        steps = [ScriptStep(calls=(call,)) for call in calls]
        app = None if self._guard.has_app else App((Agent("helper", AgentSide(Prompt("main", "Help."))),))
        model = ScriptedModel([*steps, "done"], on_request=lambda request: self._seen.append(str(request.messages)))
        settings = Settings(
            home=self._hostile.home,
            env={"PATH": os.environ["PATH"]},
            app=app,
            model=model,
            store="sqlite://",
            unattended=True,
        )
        try:
            async with asyncio.timeout(60), Runtime.open(self._hostile.project, settings) as runtime:
                async for _ in (await runtime.start()).say("go"):
                    pass
        except HooklineError:
            pass  # it does not start


def _guard_is_lost(guard: Guard, hostile: HostileProject, calls: Sequence[Call]) -> bool:
    hostile.start()
    play = Play(guard, hostile)
    asyncio.run(play.session([*guard.opening, *calls, *guard.closing, guard.guarded, guard.guarded]))
    if not play.is_lost() and hostile.project.is_dir() and not guard.opening:
        asyncio.run(play.session([*guard.closing, guard.guarded]))
    return play.is_lost()


@pytest.mark.parametrize("name", GUARDS)
def test_no_call_of_the_model_switches_its_guard_off(tmp_path: Path, name: str, attempt: Attempt) -> None:
    guard = GUARDS[name]
    hostile = HostileProject(tmp_path, guard.target)
    attempt("a model against definitions", _guard_is_lost(guard, hostile, []), f"{name}: nothing")
    for what, calls in guard.attacks().items():
        attempt("a model against definitions", _guard_is_lost(guard, hostile, calls), f"{name}, {what}")


_UNGUARDED = {"rm -rf": "nothing", _REDACTION: "", _APP: _LOGGING_APP}


@pytest.mark.parametrize("name", [name for name, guard in GUARDS.items() if SCRIPT not in guard.attacked])
def test_without_the_guard_the_call_runs(tmp_path: Path, name: str) -> None:
    """So the other test would see it."""
    guard = GUARDS[name]
    texts = {guard.target.file: guard.target.text, **guard.target.files}
    for old, new in reversed(_UNGUARDED.items()):
        texts = {file: text.replace(old, new) for file, text in texts.items()}
    target = Target(guard.target.file, texts.pop(guard.target.file), files=texts)
    play = Play(guard, HostileProject(tmp_path, target))
    asyncio.run(play.session([*guard.opening, *guard.closing, guard.guarded]))
    assert play.is_lost()
