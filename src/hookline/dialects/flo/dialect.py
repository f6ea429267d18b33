"""Reads flo's hooks: `{"hooks": {EventName: [rule, …]}}`, a single rule, or the front matter of a skill."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Any, Final

from hookline.config.document import Document
from hookline.config.node import Node
from hookline.config.problem import Problem, Severity
from hookline.dialects.dialect import Capability, LoadResult, WriteResult
from hookline.dialects.flo.names import EVENTS, NAME, SKILL_PRIORITY, VOCABULARY
from hookline.dialects.flo.patterns import escape_javascript
from hookline.dialects.flo.rules import parse_rule
from hookline.dialects.flo.wording import WORDING
from hookline.dialects.settings_json import has_readable_hooks, hook_id, parse_entries, recognise_entries
from hookline.dialects.tool_names import match_tool_name
from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.hook import Hook, Origin, Scope
from hookline.hooks.outcome import ALLOW
from hookline.lazy_dataclasses import replace
from hookline.patterns.pattern import Syntax, pattern

BARE_KEYS: Final = ("matcher", "inputMatchers", "action", "command", "script")
"""A file with one of these, and without a mapping `hooks`, is one rule for PreToolUse."""

_OWN_KEYS: Final = {"action", "inputMatchers", "priority", "script", "continueOnError"}
_OWN_EVENTS: Final = {"Stop", "AgentStart", "AgentEnd"}


class FloDialect:
    name = NAME
    has_app_keys = False

    def recognises(self, document: Document) -> bool:
        path = PurePath(document.file)
        if path.name == "hub.json" or (path.parent.name == ".flo" and path.name == "hooks.json"):
            return True
        return path.parent.name != ".claude" and _looks_like_flo(document)

    def load(self, document: Document) -> LoadResult:
        problems: list[Problem] = []
        hooks = tuple(_with_unique_ids(_parse_hooks(document, problems), problems))
        return LoadResult(
            hooks,
            tuple(problems),
            capabilities=_skill_capabilities(document) if _is_skill(document) else (),
            is_readable=is_bare_rule(document.value) or has_readable_hooks(document),
        )

    def load_skill(self, document: Document, session: str) -> LoadResult:
        """The hooks of a skill's front matter, for this session only."""
        loaded = self.load(document)
        scope = Scope(session=session)
        return LoadResult(tuple(replace(hook, scope=scope) for hook in loaded.hooks), loaded.problems)

    def schema(self) -> dict[str, Any]:
        from hookline.dialects.flo.schema import build_schema

        return build_schema()

    def write(self, hooks: Iterable[Hook]) -> WriteResult:
        from hookline.dialects.flo.writer import write_hooks

        return write_hooks(hooks)


DIALECT: Final = FloDialect()


def is_bare_rule(value: Any) -> bool:
    if not isinstance(value, dict) or isinstance(value.get("hooks"), dict):
        return False
    return any(key in value for key in BARE_KEYS)


def _looks_like_flo(document: Document) -> bool:
    """Other dialects also list commands by event, so the file must have a key or an event that only flo has."""
    value = document.value
    if is_bare_rule(value):
        return "hooks" not in value and ("action" in value or "inputMatchers" in value)
    rules = recognise_entries(document, EVENTS)
    if rules is None or not all(rule.keys() & {"action", "command", "hooks"} for rule in rules):
        return False
    if any(rule.keys() & _OWN_KEYS for rule in rules):
        return True
    return bool(_OWN_EVENTS & value["hooks"].keys()) and all("command" in rule for rule in rules)


def _parse_hooks(document: Document, problems: list[Problem]) -> Iterator[Hook]:
    if _is_skill(document):
        yield from _parse_allowed_tools(document, problems)
    if is_bare_rule(document.value):
        yield from parse_rule(Node.of(document, problems), "tool.before", hook_id(document, "PreToolUse", 0))
        return
    counts: dict[str, int] = {}
    for entry in parse_entries(document, problems, EVENTS, with_conflicts=True):
        index = counts.get(entry.event_name, 0)
        counts[entry.event_name] = index + 1
        yield from parse_rule(entry.at, entry.event, hook_id(document, entry.event_name, index))


def _is_skill(document: Document) -> bool:
    return PurePath(document.file).suffix.lower() == ".md"


def _skill_capabilities(document: Document) -> tuple[Capability, ...]:
    """A skill is a prompt for the agent, so its whole text and the files it names need trust."""
    name = PurePath(document.file).parent.name or "skill"
    return (Capability(name, "tell", document.text, 1, prose=document.text),)


def _parse_allowed_tools(document: Document, problems: list[Problem]) -> Iterator[Hook]:
    at = Node.of(document, problems)
    allowed = at.get("allowedTools") or at.get("allowed-tools")
    names = None if allowed is None else allowed.texts()
    if allowed is None or not names:
        return
    if isinstance(allowed.value, str):
        names = tuple(name for each in allowed.value.split(",") if (name := each.strip()))
    alternatives = "|".join(escape_javascript(name) for name in names)
    yield Hook(
        id=f"{PurePath(document.file).name}:allowedTools",
        event="tool.before",
        when=match_tool_name(pattern(f"^(?:{alternatives})$", Syntax.JAVASCRIPT), VOCABULARY),
        then=FixedAnswer(ALLOW),
        origin=Origin(document.file, allowed.line, NAME, wording=WORDING),
        order=-SKILL_PRIORITY,
        group=NAME,
    )


def _with_unique_ids(hooks: Iterable[Hook], problems: list[Problem]) -> Iterator[Hook]:
    """A duplicate id never drops a guard: the second hook gets another id."""
    first: dict[str, Hook] = {}
    for hook in hooks:
        known = first.setdefault(hook.id, hook)
        if known is hook:
            yield hook
            continue
        count = 2
        while f"{hook.id}#{count}" in first:
            count += 1
        renamed = replace(hook, id=f"{hook.id}#{count}")
        first[renamed.id] = renamed
        what = f"id {hook.id} is used twice; first on line {known.origin.line}. This one becomes {renamed.id}."
        warning = Problem("duplicate-id", hook.origin.file, hook.origin.line, what, "", Severity.WARNING)
        problems.append(warning)
        yield renamed
