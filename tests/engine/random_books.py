"""Random configs of every dialect and random events, from a few words that meet each other often."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from engine.hook_factories import FakeHost
from engine.random_definitions import EVENTS, define_hooks, definition_event
from hookline.hooks.event import Event
from hookline.hooks.hook import Hook
from hookline.hooks.host import Command, ProgramResult
from hookline.hooks.outcome import ActionError, FailureKind
from hookline.project import load_text

COMMANDS = ["rm -rf a", "ls", "git push", "git status", "echo rm", ""]
PATHS = [".env", "src/a.py", "/tmp/x", "a/.env"]
TOOLS = ["bash", "write_file", "read_file", "Bash", "Write", "FileWriter", "mcp__s__t", "odd"]
PROGRAMS = {
    "fine": ProgramResult(0, "", ""),
    "says": ProgramResult(0, "some text", ""),
    "one": ProgramResult(1, "", "went wrong"),
    "two": ProgramResult(2, "", "not this"),
    "denies": ProgramResult(0, '{"decision": "block", "reason": "blocked"}', ""),
    "asks": ProgramResult(0, '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}', ""),
    "allows": ProgramResult(0, '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}', ""),
    "stops": ProgramResult(0, '{"continue": false, "stopReason": "enough"}', ""),
    "garbled": ProgramResult(0, '{"decision": ', ""),
}  # fmt: skip
BROKEN = {"hangs": FailureKind.TIMEOUT, "missing": FailureKind.CANNOT_START, "killed": FailureKind.SIGNAL}


class ProgramHost(FakeHost):
    """Runs no program: what a command prints is known by its name."""

    def __init__(self) -> None:
        super().__init__()
        self.ran: list[str] = []

    async def run_program(self, command: Command) -> ProgramResult:
        name = (command.text or " ".join(command.argv)).split()[0]
        self.ran.append(name)
        if name in BROKEN:
            raise ActionError(BROKEN[name], "did not work")
        return PROGRAMS[name]


class Chance(random.Random):
    def maybe(self, share: float, **keys: Any) -> dict[str, Any]:
        return keys if self.random() < share else {}

    def program(self) -> str:
        return self.choice([*PROGRAMS, *BROKEN])

    def few(self, make: Callable[[], Any], most: int = 4) -> list[Any]:
        return [make() for _ in range(self.randint(1, most))]

    def event(self) -> Event:
        return definition_event(self) if self.random() < 0.4 else self._tool_or_prompt_event()

    def _tool_or_prompt_event(self) -> Event:
        given: dict[str, Any] = {}
        given |= self.maybe(0.8, command=self.choice(COMMANDS)) | self.maybe(0.5, path=self.choice(PATHS))
        given |= self.maybe(0.2, file_path=self.choice(PATHS)) | self.maybe(
            0.4, content=self.choice(["x", "API_KEY", 3])
        )
        facts: dict[str, Any] = {"tool": {"name": self.choice(TOOLS), "input": given}, "session": {"id": "s"}}
        facts |= self.maybe(0.5, turn={"number": self.randint(0, 3)}, context={"tokens": self.randint(0, 5)})
        name = self.choice(["tool.before", "tool.before", "tool.after", "prompt.submit", "stop"])
        if name == "tool.after":
            ok = self.random() < 0.7
            facts["tool"] |= {"ok": ok, "result" if ok else "error": self.choice(["token 1", "fine"])}
        elif name != "tool.before":
            facts |= {"prompt": self.choice(["deploy", "hello"])}
            del facts["tool"]
        return Event(name, facts)

    # One config of each dialect.

    def native(self) -> str:
        return json.dumps({"hooks": [self.native_hook(n) for n in range(self.randint(1, 5))]})

    def native_hook(self, number: int) -> dict[str, Any]:
        return {
            "id": f"native-{number}",
            "on": self.choice(
                [*["tool.before"] * 6, "tool.after", "tool.after", "prompt.submit", "stop", *EVENTS.values()]
            ),
            "then": self.choice([self.native_action, self.native_action, lambda: self.few(self.native_action, 2)])(),
            **self.maybe(0.8, when=self.native_condition(2)),
            **self.maybe(0.4, order=self.choice([-5, 0, 5])),
            **self.maybe(0.6, on_error=self.choice(["open", "closed", "ask", "stop", "tell"])),
            **self.maybe(0.2, max_fires=self.randint(1, 2)),
            **self.maybe(0.1, enabled=False),
            **self.maybe(0.1, background=True),
            **self.maybe(0.1, group="own"),
        }

    def native_condition(self, depth: int) -> dict[str, Any]:
        if depth and self.random() < 0.4:
            word = self.choice(["all", "any", "not"])
            return {word: self.native_condition(0) if word == "not" else self.few(lambda: self.native_condition(0), 2)}
        return self.choice(
            [
                {"tool": self.choice([*TOOLS[:3], "*_file", "/^b/"])},
                {"kind": self.choice(["shell", "write"])},
                {"input": {"command": self.choice(["rm", "^ls$", "(?<!echo )rm", {"command": "git push"}])}},
                {"input": {"path": self.choice([r"\.env$", {"glob": "src/**"}])}},
                {"expr": self.choice(["tokens / turn > 1", "turn > 1", "tokens % 2 == 0"])},
                {"turn": {"every": 2}},
                {"result": "token"},
            ]
        )

    def native_action(self) -> Any:
        return self.choice(
            [
                {"deny": "No."}, {"deny": "Not {{tool.name}}."}, {"ask": "Sure?"}, "allow", {"log": "x"}, {"tell": "Note."},
                {"halt": "Enough."}, {"set": {"input.command": "rm -rf a"}}, {"set": {"result": "changed"}},
                {"replace": {"in": "input.command", "pattern": "rm", "with": "ls"}}, {"append": {"result": "more"}},
                {"run": self.program()}, {"run": self.program(), "reads": "json"}, {"run": self.program(), "reads": "exit2"},
            ]
        )  # fmt: skip

    def flo(self) -> str:
        events = self.sample(["PreToolUse", "PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"], k=2)
        return json.dumps({"hooks": {event: self.few(self.flo_rule) for event in events}})

    def flo_rule(self) -> dict[str, Any]:
        action = {"action": self.choice(["deny", "allow", "log"])} | self.maybe(0.5, reason="flo says so")
        return {
            **self.choice([action, {"command": self.program()}]),
            **self.maybe(0.5, matcher=self.choice(["bash", "^write_", "bash|read_file", ".*"])),
            **self.maybe(0.5, inputMatchers={self.choice(["command", "path"]): self.choice(["rm", r"\.env$", "^ls"])}),
            **self.maybe(0.5, priority=self.choice([-10, 0, 50])),
            **self.maybe(0.4, continueOnError=self.random() < 0.5),
        }

    def microai(self) -> str:
        return json.dumps({"hooks": {event: self.few(self.microai_hook, 3) for event in ("PreToolUse", "PostToolUse")}})

    def microai_hook(self) -> dict[str, Any]:
        return {
            "command": self.program(),
            **self.maybe(0.7, matcher=self.choice(["*", "Bash", "Bash(git:*)", "Bash(rm -rf a)", "Write(**/.env)"])),
            **self.maybe(0.5, continueOnFailure=self.random() < 0.5),
            **self.maybe(0.2, condition=self.program()),
        }

    def ai_agents(self) -> str:
        events = ("PreToolUse", "PostToolUse", "UserPromptSubmit")
        return json.dumps({"hooks": {event: self.few(self.command_group, 2) for event in events}})

    def command_group(self) -> dict[str, Any]:
        matcher = self.choice(["*", "Bash", "BashExecutor", "FileWriter|Write", "File.*", "mcp__.*"])
        return {"matcher": matcher, "hooks": self.few(lambda: {"type": "command", "command": self.program()}, 2)}

    def claude_code(self) -> str:
        events = ("PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop")
        return json.dumps({"hooks": {event: self.few(self.command_group, 2) for event in events}})

    def agent_groups(self, events: tuple[str, ...]) -> str:
        return json.dumps({"hooks": {event: self.few(self.command_group, 2) for event in events}})

    def agent_entries(self, events: tuple[str, ...]) -> str:
        def entry() -> dict[str, Any]:
            return {"command": self.program(), **self.maybe(0.5, matcher=self.choice(["*", "Shell", "bash", "fs_*"]))}

        return json.dumps({"hooks": {event: self.few(entry, 2) for event in events}})

    def codex(self) -> str:
        return self.agent_groups(("PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"))

    droid = qwen_code = codex

    def gemini_cli(self) -> str:
        return self.agent_groups(("BeforeTool", "AfterTool", "BeforeAgent", "AfterAgent"))

    def kimi_code(self) -> str:
        events = [self.choice(["PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"]) for _ in range(3)]
        return "".join(f'[[hooks]]\nevent = "{event}"\ncommand = "{self.program()}"\n' for event in events)

    def cursor(self) -> str:
        return self.agent_entries(("preToolUse", "beforeShellExecution", "afterFileEdit", "beforeSubmitPrompt", "stop"))

    def copilot_cli(self) -> str:
        return self.agent_entries(("preToolUse", "postToolUse", "PreToolUse", "agentStop"))

    def windsurf(self) -> str:
        return self.agent_entries(("pre_run_command", "pre_write_code", "post_run_command", "pre_user_prompt"))

    def kiro(self) -> str:
        return self.agent_entries(("preToolUse", "postToolUse", "userPromptSubmit", "stop"))

    def digitorn(self) -> str:
        return json.dumps({"runtime": {"hooks": [self.digitorn_hook(n) for n in range(self.randint(1, 4))]}})

    def digitorn_hook(self, number: int) -> dict[str, Any]:
        return {
            "id": f"digitorn-{number}",
            "on": self.choice(["tool_start", "tool_start", "tool_end", "user_prompt"]),
            "action": self.digitorn_action(),
            **self.maybe(0.7, condition=self.digitorn_condition()),
            **self.maybe(0.4, priority=self.choice([50, 100, 150])),
            **self.maybe(0.2, max_fires=1),
        }

    def digitorn_condition(self) -> dict[str, Any]:
        return self.choice(
            [
                {"type": "always"},
                {"type": "tool_name", "match": self.choice(["bash", "*_file", "shell.*|Write"])},
                {"type": "tool_failed"},
                {"type": "expression", "expr": self.choice(["tokens / turn > 1", "turn > 1"])},
                {"type": "not", "condition": {"type": "tool_name", "match": "bash"}},
            ]
        )

    def digitorn_action(self) -> dict[str, Any]:
        simple = [
            {"type": "gate", "reason": "gated"},
            {"type": "log", "message": "{turn}"},
            {"type": "transform_params", "set": {"command": "rm -rf a"}},
            {"type": "transform_result", "append_to_result": "seen"},
            {"type": "inject_message", "content": "hint", "strategy": "system"},
            {"type": "shell", "command": self.program()},
        ]
        chain = {"type": "chain", "actions": self.sample(simple, k=2)}
        return self.choice([*simple, chain])


FILES = {
    "native": "hookline.yaml",
    "flo": "hub.json",
    "microai": ".microai/settings.json",
    "ai_agents": ".ai_agents/settings.json",
    "claude_code": ".claude/settings.json",
    "digitorn": "digitorn.yaml",
    "codex": ".codex/hooks.json",
    "copilot_cli": ".github/hooks/guard.json",
    "cursor": ".cursor/hooks.json",
    "droid": ".factory/settings.json",
    "gemini_cli": ".gemini/settings.json",
    "kimi_code": ".kimi-code/config.toml",
    "kiro": ".kiro/agents/dev.json",
    "qwen_code": ".qwen/settings.json",
    "windsurf": ".windsurf/hooks.json",
}
DIALECTS = (*FILES, "standard_agents")


def load_hooks(chance: Chance, dialect: str) -> tuple[Hook, ...]:
    if dialect == "standard_agents":
        return define_hooks(chance)
    text: str = getattr(chance, dialect)()
    return load_text(text, FILES[dialect], dialect).hooks
