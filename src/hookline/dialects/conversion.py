"""What a dialect has no words for.

A condition's words for tools in another format's words, where both mean the same tools.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from hookline.hooks.actions.answer import FixedAnswer, TemplateAnswer
from hookline.hooks.actions.ask_model import AskModel
from hookline.hooks.actions.call_tool import CallTool
from hookline.hooks.actions.chain import Chain
from hookline.hooks.actions.change import ChangeFacts
from hookline.hooks.actions.diagnose import Diagnose
from hookline.hooks.actions.notify import Log, Notify
from hookline.hooks.actions.post import PostEvent
from hookline.hooks.actions.python_function import CustomAction
from hookline.hooks.actions.run_program import RunProgram
from hookline.hooks.actions.script import RunScript
from hookline.hooks.conditions.logic import All, AnyOf, Not
from hookline.hooks.conditions.text import Matches
from hookline.hooks.hook import Hook
from hookline.hooks.protocols import Action, Condition, May, TextPattern
from hookline.hooks.tool_input import ToolField
from hookline.hooks.tools import VOCABULARIES, ToolName, Vocabulary
from hookline.patterns.matchers import Shorthand, shorthand

_ANCHORED_NAMES: Final = re.compile(r"\^(?:\((?:\?:)?)?([\w.|-]+?)\)?\$")  # ^bash$, ^(bash|write_file)$


def with_vocabulary(name: str, hooks: Iterable[Hook]) -> Iterator[Hook]:
    """The hooks, with tools called as this format calls them; one that says more than names stays as it is."""
    vocabulary = VOCABULARIES.get(name)
    for hook in hooks:
        plain = vocabulary is not None and _names_no_tools(hook.then)
        yield (
            replace(hook, when=_translate_condition(hook.when, vocabulary))
            if vocabulary is not None and plain
            else hook
        )


def _names_no_tools(action: Action) -> bool:
    """Its own words name no tool: what a program is told of a tool is in its format's words for good."""
    match action:
        case FixedAnswer():
            return True
        case Log(text):
            return text.constant
        case Notify(message, title):
            return message.constant and title.constant
        case _:
            return False


def _translate_condition(condition: Condition, vocabulary: Vocabulary) -> Condition:
    match condition:
        case All(parts):
            return All(tuple(_translate_condition(part, vocabulary) for part in parts))
        case AnyOf(parts):
            return AnyOf(tuple(_translate_condition(part, vocabulary) for part in parts))
        case Not(part):
            return Not(_translate_condition(part, vocabulary))
        case Matches(ToolName(spoken), pattern) if spoken != vocabulary:
            names = _exact_names(pattern)
            said = [_translate_tool_name(each, spoken, vocabulary) for each in names]
            if not said or None in said:
                return condition
            words = [word for word in said if word is not None]
            return Matches(
                ToolName(vocabulary),
                shorthand("exactly", words[0]) if len(words) == 1 else shorthand("tool", "|".join(words)),
            )
        case Matches(ToolField((str(first), *rest), spoken), pattern) if spoken != vocabulary:
            return Matches(ToolField((_translate_field(first, spoken, vocabulary), *rest), vocabulary), pattern)
        case _:
            return condition


def _exact_names(pattern: TextPattern) -> list[str]:
    """The names that it means, where it means just these."""
    if isinstance(pattern, Shorthand):
        plain = pattern.word == "exactly" or (pattern.word == "tool" and not set(pattern.text) & set("*?["))
        return [name.strip() for name in pattern.text.split("|")] if plain else []
    found = _ANCHORED_NAMES.fullmatch(pattern.source)
    names = found[1].split("|") if found else []
    return names if all(names) and not any("." in name for name in names) else []


def _translate_tool_name(name: str, spoken: Vocabulary, vocabulary: Vocabulary) -> str | None:
    """The other vocabulary's name for the same kind of tool; a name that is no kind's means that very tool in both."""
    kind = next((kind for kind, names in spoken.names.items() if name in names), None)
    if kind is not None:
        return next(iter(vocabulary.names.get(kind, ())), None)
    return None if any(name in names for names in vocabulary.names.values()) else name


def _translate_field(name: str, spoken: Vocabulary, vocabulary: Vocabulary) -> str:
    ours = next((ours for ours, theirs in spoken.fields.items() if theirs == name), name)
    return vocabulary.fields.get(ours, ours)


class NotExpressible(Exception):
    """Its text names the thing, for the one who converts a file."""


_ACTION_NAMES: Final[dict[type, str]] = {
    CallTool: "call",
    Chain: "chain",
    ChangeFacts: "change",
    CustomAction: "custom",
    Diagnose: "diagnose",
    AskModel: "judge",
    Log: "log",
    Notify: "notify",
    PostEvent: "post",
    RunProgram: "run",
    RunScript: "script",
}


def action_not_expressible(action: Action) -> NotExpressible:
    if isinstance(action, (FixedAnswer, TemplateAnswer)):
        return NotExpressible(f"an answer of its own ({_describe_answer(action.may)})")
    return NotExpressible(
        f"the action {_ACTION_NAMES[type(action)]}" if type(action) in _ACTION_NAMES else "its action"
    )


def _describe_answer(may: May) -> str:
    words = {May.DENY: "deny", May.ASK: "ask", May.ALLOW: "allow", May.HALT: "halt", May.COMPACT: "compact"}
    return next((word for flag, word in words.items() if flag in may), "tell")


def condition_not_expressible(condition: Condition) -> NotExpressible:
    return NotExpressible(f"the condition that {condition}")
