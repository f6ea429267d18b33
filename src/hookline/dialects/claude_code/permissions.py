"""Reads `permissions.deny` and `permissions.ask` of Claude Code's settings: rules that hold in every other agent too.

`permissions.allow` is not read: an allow must hold for every command of a line, and whoever runs the tool asks anyway.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hookline.config.document import Document
from hookline.config.node import Node
from hookline.config.problem import Problem, Severity
from hookline.dialects.claude_code.matchers import parse_permission_rule
from hookline.dialects.claude_code.names import NAME
from hookline.dialects.claude_code.wording import WORDING
from hookline.formatting import file_label
from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.conditions.logic import AnyOf
from hookline.hooks.hook import Hook, Origin
from hookline.hooks.outcome import Outcome, Verdict
from hookline.hooks.protocols import Condition
from hookline.patterns.pattern import BadPattern

PERMISSION_VERDICTS: Final = {"deny": Verdict.DENY, "ask": Verdict.ASK}
_IGNORED_BY: Final = ("copilot-cli", "cursor", "grok-build", "vscode-copilot")
"""They run the hooks of these files, and have permissions of their own."""
_EDITING_TOOLS: Final = ("Edit", "Write", "MultiEdit", "NotebookEdit")
_READING_TOOLS: Final = ("Read", "NotebookRead")


def parse_permissions(document: Document, problems: list[Problem]) -> Iterator[Hook]:
    permissions = Node.of(document, problems).get("permissions")
    if permissions is None or permissions.mapping() is None:
        return
    for word, verdict in PERMISSION_VERDICTS.items():
        rules = permissions.get(word)
        for index, place in enumerate(rules.items() if rules is not None else ()):
            text = place.text()
            condition = None if text is None else _parse_rule(place, text)
            if condition is None:
                continue
            yield Hook(
                id=f"{file_label(document.file)}:permissions.{word}[{index}]",
                event="tool.before",
                when=condition,
                then=FixedAnswer(Outcome(verdict, f"The permission rule {text} says {word}.")),
                origin=Origin(document.file, place.line, NAME, wording=WORDING),
                group=NAME,
                ignored_by=_IGNORED_BY,
            )


def _parse_rule(place: Node, text: str) -> Condition | None:
    """None after a problem. As in Claude Code, a rule for Edit or Read holds for all tools that edit or read files."""
    name, bracket, rest = text.strip().partition("(")
    try:
        parsed = [parse_permission_rule(f"{each}{bracket}{rest}") for each in _tool_names(name.strip())]
    except BadPattern as bad:
        what = f"{place.location}: {bad.why}."
        place.add_problem("bad-rule", what, "Write a rule such as Bash(rm *) or Read(./.env).")
        return None
    if parsed[0].warning:
        what = f"{place.location}: {name} has no input that the text in parentheses applies to, so the rule applies to every {name}."
        place.add_problem("ignored", what, "", severity=Severity.WARNING)
    conditions = tuple(each.condition for each in parsed)
    return conditions[0] if len(conditions) == 1 else AnyOf(conditions)


def _tool_names(name: str) -> tuple[str, ...]:
    if name in _EDITING_TOOLS:
        return _EDITING_TOOLS
    if name in _READING_TOOLS:
        return _READING_TOOLS
    if name.startswith("mcp__") and name.count("__") == 1:  # all tools of a server
        return (name, f"{name}__*")
    return (name,)
