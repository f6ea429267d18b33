"""The rules in force, and their versions.

A set is for everyone, for one agent of the hub (`agent:<id>`) or for one workspace (`workspace:<path>`). Its text is a hub.json
of the flo dialect without commands: whoever may edit rules does not get a shell.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any, Final

from hookline.config.problem import Problem, Severity, errors_of
from hookline.engine.book import Layer
from hookline.errors import HooklineError
from hookline.hooks.actions.run_program import RunProgram
from hookline.hooks.hook import Hook
from hookline.hooks.hook_files import HookFile
from hookline.hub.explain.given_hooks import parse_given_hooks
from hookline.hub.store.outage_log import OutageLog
from hookline.hub.store.rule_table import RuleSetRow, RuleTable, RuleVersionRow
from hookline.lazy_dataclasses import dataclass
from hookline.project.lint import lint_hooks
from hookline.project.parsed_file import ParsedFile
from hookline.project.problem_lines import add_linted
from hookline.project.script_lint import script_problems
from hookline.runtime.settings import ExtraHooks

DIALECT: Final = "flo"
EVERYONE: Final = "everyone"
EMPTY_TEXT: Final = '{\n  "hooks": {}\n}\n'
_MAX_TEXT: Final = 1_000_000  # characters
_LOOK_SECONDS: Final = 1.0  # other hubs on this database may change rules
_COMMAND: Final = "rule-runs-a-command"
_NO_HOOKS: Final = "no-hooks"


class RuleConflict(HooklineError):
    """Somebody else saved a version meanwhile."""


class BadRules(HooklineError):
    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("the rules have errors")
        self.problems = problems


@dataclass(frozen=True, slots=True)
class CheckedRules:
    hooks: tuple[Hook, ...]
    problems: tuple[Problem, ...]

    @property
    def has_errors(self) -> bool:
        return bool(errors_of(self.problems))


def parse_set_id(id: str) -> RuleSetRow:
    """Raises HooklineError if it is not the id of a set."""
    kind, _, name = id.partition(":")
    if id == EVERYONE:
        return RuleSetRow(id, "Everyone", "", "", DIALECT, 0)
    if kind == "agent" and name and len(name) <= 100:
        return RuleSetRow(id, f"Agent {name}", name, "", DIALECT, 0)
    if kind == "workspace" and name.startswith("/") and len(name) <= 1000:
        return RuleSetRow(id, f"Workspace {name}", "", name, DIALECT, 0)
    raise HooklineError("there is no such set: everyone, agent:<id> or workspace:<path>")


def check_rules(text: str, set: str) -> CheckedRules:
    """Its hooks, and all problems: with the lines of the text. It takes seconds for a long text, so use a thread."""
    if len(text) > _MAX_TEXT:
        what = f"the text is longer than {_MAX_TEXT} characters"
        return CheckedRules((), (Problem("too-long", _file_name(set), 1, what),))
    parsed = parse_given_hooks(text, DIALECT, _file_name(set))
    problems = [each for each in parsed.problems if each.code != _NO_HOOKS]  # a set may be empty
    linted = [*_commands_in(parsed), *script_problems(parsed.hooks), *lint_hooks(parsed.hooks)]
    return CheckedRules(parsed.hooks, tuple(sorted(add_linted(problems, linted, parsed.document, parsed.hooks))))


def _commands_in(parsed: ParsedFile) -> list[Problem]:
    what = "a rule of the hub cannot run a command. Use a script, or write the command into a file of the workspace"
    return [
        Problem(_COMMAND, hook.origin.file, hook.origin.line, f"{hook.id}: {what}", severity=Severity.ERROR)
        for hook in parsed.hooks
        if isinstance(hook.then, RunProgram)
    ]


def _file_name(set: str) -> str:
    return f"rules/{set}"


class RuleSets:
    def __init__(self, table: RuleTable, always: tuple[ExtraHooks, ...] = ()) -> None:
        """`always`: hooks that are in force beside all sets."""
        self.table = table
        self._always = always
        self._heads: dict[str, RuleVersionRow] = {}
        self._layers: dict[str, ExtraHooks] = {}
        self._chosen: dict[tuple[str, str], tuple[ExtraHooks, ...]] = {}
        self.outage = OutageLog("rules cannot be read", "rules are read again")

    async def load(self) -> None:
        """Reads the last version of each set, if it is new."""
        heads = {each.set: each for each in await self.table.heads()}
        if heads == self._heads:
            return
        for set, version in heads.items():
            if self._heads.get(set) != version:
                self._layers[set] = await asyncio.to_thread(_make_layer, version)
        self._heads, self._chosen = heads, {}

    async def run(self) -> None:
        """Until it is cancelled: follows what other hubs save."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            try:
                await self.load()
                self.outage.report_success()
            except Exception as error:
                self.outage.report(error)

    def extra_hooks(self, workspace: Path, agent: str = "") -> tuple[ExtraHooks, ...]:
        """Those in force for a session there. The same object until they change."""
        key = (str(workspace), agent)
        if key not in self._chosen:
            sets = (EVERYONE, f"workspace:{workspace}", f"agent:{agent}")
            self._chosen[key] = (*self._always, *(self._layers[each] for each in sets if each in self._layers))
        return self._chosen[key]

    def text(self, set: str) -> str:
        version = self._heads.get(set)
        return EMPTY_TEXT if version is None else version.text

    def head(self, set: str) -> int:
        version = self._heads.get(set)
        return 0 if version is None else version.number

    async def text_at(self, set: str, version: int) -> str:
        """Raises RuleConflict if it is not the last version. Another hub may have saved it just now."""
        if self.head(set) != version:
            await self.load()
        if self.head(set) != version:
            raise self._conflict(set)
        return self.text(set)

    def _conflict(self, set: str) -> RuleConflict:
        return RuleConflict(f"version {self.head(set)} was saved meanwhile; look at it first")

    async def save(self, set: str, text: str, base: int, by: str, note: str) -> RuleVersionRow:
        """A new version. Raises BadRules if it has errors, RuleConflict if `base` is not the last one."""
        row = parse_set_id(set)
        checked = await asyncio.to_thread(check_rules, text, set)
        if checked.has_errors:
            raise BadRules(checked.problems)
        version = RuleVersionRow(set, base + 1, text, by, time.time(), note)
        if not await self.table.add_version(row, version):
            await self.load()
            raise self._conflict(set)
        await self.load()
        return version

    async def remove(self, set: str) -> None:
        """With all of its versions."""
        await self.table.remove_set(set)
        await self.load()


def _make_layer(version: RuleVersionRow) -> ExtraHooks:
    name = _file_name(version.set)
    checked = check_rules(version.text, version.set)
    file = HookFile(f"/hub/{name}", name, DIALECT, name, version.text)
    return ExtraHooks(Layer(name, checked.hooks), (file,))


def problems_json(problems: tuple[Problem, ...]) -> list[dict[str, Any]]:
    return [
        {"code": each.code, "line": each.line, "severity": str(each.severity), "what": each.what, "hint": each.hint}
        for each in problems
    ]
