"""Projects with a guard in each format, and everything that an agent can do to their files with a shell."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hookline.engine.book import Book
from hookline.hooks.event import Event
from hookline.hooks.outcome import Verdict
from hookline.project import BookWatcher, Trust, load_all, trust_file_path
from hookline.runtime.skills import skill_sources

SCRIPT = "tools/guard.sh"
SCRIPT_TEXT = 'grep -q "rm -rf" && { echo "not rm -rf" >&2; exit 2; }\nexit 0\n'
_RUN = f"sh {SCRIPT}"


@dataclass(frozen=True)
class Target:
    """A file with a guard against `rm -rf`, and whether the guard runs a script."""

    file: str
    text: str
    runs_script: bool = False
    files: dict[str, str] = field(default_factory=dict)  # more files of the project, all of them executable


def _json_hooks(event: str, *entries: object) -> str:
    return json.dumps({"hooks": {event: list(entries)}}, indent=1) + "\n"


_NATIVE_DENY = "hooks:\n  - {id: guard, on: tool.before, when: {input: {command: 'rm -rf'}}, then: {deny: Not rm.}}\n"
_NATIVE_RUN = f"hooks:\n  - {{id: guard, on: tool.before, then: {{run: {_RUN}, reads: exit2}}, on_error: open}}\n"
_GROUP = {"hooks": [{"type": "command", "command": _RUN}]}
TARGETS = {
    "native deny": Target("hookline.yaml", _NATIVE_DENY),
    "native run": Target("hookline.yaml", _NATIVE_RUN, True),
    "native folder": Target(".hookline/guards.yaml", _NATIVE_DENY),
    "native pack": Target("packs/guard.yaml", _NATIVE_DENY, files={"hookline.yaml": "extends: packs/guard.yaml\n"}),
    "native local": Target("hookline.local.yaml", _NATIVE_RUN, True),
    "flo deny": Target(
        "hub.json", _json_hooks("PreToolUse", {"inputMatchers": {"command": "rm -rf"}, "action": "deny"})
    ),
    "flo command": Target(
        "hub.json", _json_hooks("PreToolUse", {"command": f"echo {{{{input.command}}}} | {_RUN}"}), True
    ),
    "flo script": Target(
        "hub.json",
        _json_hooks(
            "PreToolUse",
            {"action": "script", "script": "if (toolInput.command.includes('rm -rf')) return {decision: 'deny'}"},
        ),
    ),
    "flo agent": Target(
        ".flo/hooks.json", _json_hooks("PreToolUse", {"command": f"echo {{{{input.command}}}} | {_RUN}"}), True
    ),
    "claude_code": Target(".claude/settings.json", _json_hooks("PreToolUse", _GROUP), True),
    "claude_code local": Target(".claude/settings.local.json", _json_hooks("PreToolUse", _GROUP), True),
    "microai": Target(
        ".microai/settings.json",
        _json_hooks("PreToolUse", {"command": f"echo $INPUT | {_RUN}", "continueOnFailure": False}),
        True,
    ),
    "ai_agents": Target(".ai_agents/settings.json", _json_hooks("PreToolUse", _GROUP), True),
    "digitorn": Target(
        "digitorn.yaml",
        "runtime:\n  hooks:\n    - {id: guard, on: tool_start, condition: {type: tool_name, match: '*'}, action: {type: gate}}\n",
    ),
}

FILE_MANIPULATIONS = (
    "printf ' ' >> $P",
    "printf '\\n\\n' >> $P",
    ": > $P",
    "rm $P",
    "mv $P $P.bak",
    "mv $P ../elsewhere",
    "rm $P; ln -s /dev/null $P",
    "rm $P; ln -s nowhere $P",
    "mv $P real; ln -s $PWD/real $P; : > real",
    "rm $P; mkdir $P",
    "rm $P; mkfifo $P",
    "echo '{}' > $P",
    "echo '[]' > $P",
    "echo 'hooks: []' > $P",
    "echo '{\"hooks\": {}}' > $P",
    "echo 'hooks: [' > $P",
    "echo '{' > $P",
    "printf '\\377\\376' > $P",
    "printf '\\000' >> $P",
    "chmod 000 $P",
    "head -c 11000000 /dev/zero | tr '\\0' ' ' >> $P",
    "sed -i s/deny/allow/g $P",
    "sed -i s/gate/log/g $P",
    "sed -i 's/rm -rf/nothing/g' $P",
    "sed -i 's/PreToolUse/PostToolUse/; s/tool.before/stop/; s/tool_start/turn_end/' $P",
    "sed -i 's/guard/guard, enabled: false/' $P",
    'sed -i \'s/"command"/"comment"/\' $P',
    "sed -i 's/command/continueOnError\": true, \"command/' $P",
    "git rm -qf $P",
    "git checkout -q before -- .",
    "git checkout -qf before",
    "git stash -qu; git checkout -qf before",
    "rm -rf .git",
    "rm -rf .git; rm $P",
    "rm -rf .git; git init -q; git add -A; git clean -fdx",
    "d=$(dirname $P); test $d = . || { mv $d $d.old; mkdir $d; }",
    "d=$(dirname $P); test $d = . || { mv $d $d.old; ln -s /tmp $d; }",
    "d=$(dirname $P); test $d = . && rm $P || { rm -r $d; : > $d; }",
    "mv $PWD $PWD.old; mkdir $PWD",
    "mv $PWD $PWD.old; ln -s $PWD.old/.git $PWD",
    "rm -rf $PWD/* $PWD/.[a-z]*",
    "mkdir -p .hookline; echo 'hooks: [{id: guard, on: tool.before, order: -99, then: allow, on_error: stop}]' > .hookline/a.yaml",
    "echo 'hooks: [{id: guard, on: tool.before, order: -99, then: allow}]' > hookline.local.yaml; rm -f $P",
    'echo \'{"hooks": {"PreToolUse": [{"priority": 999, "action": "allow"}]}}\' > hub.json',
)
SCRIPT_MANIPULATIONS = (
    "echo 'exit 0' > $S",
    ": > $S",
    "echo '# more' >> $S",
    "rm $S",
    "mv $S $S.old",
    "mv $S $S.old; echo 'exit 0' > $S",
    "rm $S; ln -s /dev/null $S",
    "rm $S; ln -s nowhere $S",
    "rm $S; mkdir $S",
    "rm $S; mkfifo $S",
    "chmod 000 $S; echo 'exit 0' > $S.new; mv -f $S.new $S",
    "sed -i 's/exit 2/exit 0/' $S",
    "sed -i '1i kill -9 $$' $S",
    "sed -i '1i sleep 0; exit 1' $S",
    "cp -p $S old; echo 'exit 0' > $S; touch -r old $S",
    "mv tools old; mkdir tools; echo 'exit 0' > $S",
    "mv tools old; mkdir evil; echo 'exit 0' > evil/guard.sh; ln -s evil tools",
    "rm -r tools",
    "echo 'exit 0' > $S; printf ' ' >> $P",
    "echo 'exit 0' > $S; rm $P",
    "rm -rf .git; echo 'exit 0' > $S",
)

_ALLOW_ALL = "hooks: [{id: guard, on: tool.before, order: -99, then: allow}]\n"
Call = tuple[str, dict[str, Any]]
"""A call of a tool by a model: its name and its input."""


def attacks_on(path: str, text: str) -> dict[str, list[Call]]:
    """With each tool that writes, and with the shell. The guards let all of them pass: only `rm -rf` is denied."""
    return {
        "write nothing": [("write_file", {"path": path, "content": ""})],
        "write other hooks": [("write_file", {"path": path, "content": _ALLOW_ALL})],
        "write an empty object": [("filesystem.write", {"path": path, "content": "{}"})],
        "edit half of it away": [("edit_file", {"path": path, "old_string": text[: len(text) // 2], "new_string": ""})],
        "edit the pattern": [("edit_file", {"path": path, "old_string": "rm -rf", "new_string": "nothing"})],
        "edit deny to allow": [("edit_file", {"path": path, "old_string": "deny", "new_string": "allow"})],
        "truncate": [("bash", {"command": f": > {path}"})],
        "delete": [("bash", {"command": f"rm {path}"})],
        "delete with the module": [("filesystem.delete", {"path": path})],
        "rename": [("bash", {"command": f"mv {path} {path}.bak"})],
        "a link": [("bash", {"command": f"rm {path}; ln -s /dev/null {path}"})],
        "a directory in its place": [("bash", {"command": f"rm {path}; mkdir {path}"})],
        "its directory replaced": [("bash", {"command": f"mv $(dirname {path}) old; mkdir -p $(dirname {path})"})],
        "all at once": [
            ("write_file", {"path": path, "content": ""}),
            ("write_file", {"path": "hookline.local.yaml", "content": _ALLOW_ALL}),
            ("bash", {"command": f"rm {path}; mv .git git"}),
        ],
    }


CALL = Event("tool.before", {"tool": {"name": "bash", "kind": "shell", "input": {"command": "rm -rf build"}}})


class HostileProject:
    """A repository that the user trusts, and a running engine that has read it."""

    def __init__(self, root: Path, target: Target) -> None:
        self.project, self.home, self._target = root / "at" / "p", root / "home", target
        self._original = root / "original"
        self.home.mkdir(parents=True)
        self._write(SCRIPT, SCRIPT_TEXT)
        self._write("README.md", "A project.\n")
        commit = "git add -A; git -c user.name=a -c user.email=a@b commit -qm"
        self.run_as_agent(f"git init -q; {commit} before; git branch before")
        self._write(target.file, target.text)
        for name, text in target.files.items():
            self._write(name, text)
            (self.project / name).chmod(0o755)
        self.run_as_agent(f"{commit} guard")
        shutil.copytree(self.project, self._original, symlinks=True)
        self.trust = Trust(trust_file_path(self.home))
        self.trust.accept(self.trust.sources(self.project, self.home))
        self.trust.accept(skill_sources((), self.project, self.home))
        self.start()

    def start(self) -> None:
        """Puts everything back, and starts another engine."""
        shutil.rmtree(self.project.parent)
        shutil.copytree(self._original, self.project, symlinks=True)
        self.running = BookWatcher(lambda: self.trust.sources(self.project, self.home), self.trust)

    def run_as_agent(self, command: str) -> None:
        variables = f"P={self._target.file}; S={SCRIPT}; PWD={self.project}; "
        subprocess.run(["bash", "-c", variables + command], cwd=self.project, capture_output=True, timeout=30)

    def verdicts(self, directory: str = "") -> dict[str, Verdict]:
        """What the running engine says at once and after it has looked at the files, and what a new process says.

        directory: that the agent's shell is in, from the project's root.
        """
        found = {"at once": self._decide(self.running.book, directory)}
        self.running.refresh()
        found["running"] = self._decide(self.running.book, directory)
        found["fresh"] = self._decide(load_all(self.trust.sources(self.project, self.home), self.trust), directory)
        return found

    def _decide(self, book: Book, directory: str) -> Verdict:
        facts = {**CALL.facts, "cwd": str(self.project / directory), "workspace": str(self.project)}
        return asyncio.run(book.decide(Event(CALL.name, facts))).verdict

    def _write(self, name: str, text: str) -> None:
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def attack_each(
    root: Path, target: Target, commands: tuple[str, ...], report: Callable[[str, str, bool], None]
) -> None:
    """Reports the command, who was asked, and whether the guarded call would run."""
    hostile = HostileProject(root, target)
    for command in commands:
        hostile.start()
        hostile.run_as_agent(command)
        for who, verdict in hostile.verdicts().items():
            report(command, who, verdict < Verdict.ASK)
