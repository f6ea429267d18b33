"""What to write instead of keys that other formats have, or that stand in the wrong place.

A hint replaces the spelling suggestion, which would find a word that merely looks alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hookline.hooks.tools import FIELD_NAMES

EVENT_HINT: Final = "Write on: and an event."
_WHEN: Final = "Write when: and a condition."
_THEN: Final = "Write then: and an action."
ACTION_HINT_STARTS: Final = ("Write then:", "It belongs in then:")
_TOOL: Final = "Write when: {tool: name}."

_HOOK_HINTS: Final = {
    **dict.fromkeys(("event", "events", "trigger", "hook", "at"), EVENT_HINT),
    **dict.fromkeys(("if", "condition", "conditions", "match", "matches", "filter", "where", "unless"), _WHEN),
    **dict.fromkeys(("matcher", "tools", "tool_name", "toolName"), _TOOL),
    **dict.fromkeys(("do", "action", "actions", "handler", "hooks", "steps"), _THEN),
    **dict.fromkeys(("once", "run_once"), "Write max_fires: 1."),
    "priority": "Write order: and a number; lower runs first.",
    **dict.fromkeys(("name", "title"), "Write id."),
    **dict.fromkeys(("description", "comment", "note", "_comment"), "Write it as a comment: # …"),
    **dict.fromkeys(("async", "wait"), "Write background: true to start the hook without waiting for it."),
    **dict.fromkeys(("disabled", "disable"), "Write enabled: false."),
    **dict.fromkeys(
        ("continueOnError", "continue_on_error", "continueOnFailure", "fail", "failure", "onFailure"),
        "Write on_error: open, or closed to block when the hook fails.",
    ),
    **dict.fromkeys(("dialect", "vocabulary"), "Write names: and a dialect."),
}
_CONDITION_HINTS: Final = {
    **dict.fromkeys(("matcher", "tools", "tool_name", "toolName", "name"), "Write tool: name."),
    **dict.fromkeys(("args", "arguments", "params", "parameters", "tool_input", "inputs"), "Write input: {field: …}."),
    **dict.fromkeys(("and", "all_of", "allOf"), "Write all: and a list of conditions."),
    **dict.fromkeys(("or", "any_of", "anyOf"), "Write any: and a list of conditions."),
    **dict.fromkeys(("none", "none_of", "unless", "except"), "Write not: and a condition."),
    **dict.fromkeys(("output", "tool_result", "tool_output"), "Write result: and a test."),
    **dict.fromkeys(
        ("glob", "regex", "pattern", "matches", "contains", "begins", "exactly", "starts", "like", "host"), ""
    ),
    "expression": "Write expr: and arithmetic.",
    "keyword": "Write says: text.",
}
_TEST_OF_A_FIELD: Final = "Write it as the test of a field: input: {path: {%s: …}}."
_ACTION_HINTS: Final = {
    **dict.fromkeys(("block", "reject", "refuse", "forbid", "prevent", "gate", "error"), "Write deny: reason."),
    **dict.fromkeys(("approve", "permit", "accept", "pass"), "Write allow: true."),
    **dict.fromkeys(("confirm", "ask_user", "approval"), "Write ask: reason."),
    **dict.fromkeys(("stop", "abort", "exit", "kill"), "Write halt: reason."),
    **dict.fromkeys(("command", "shell", "exec", "bash", "cmd", "program"), "Write run: command."),
    **dict.fromkeys(("message", "say", "inject", "context", "text"), "Write tell: text, or log: text."),
    **dict.fromkeys(("print", "echo", "warn", "info"), "Write log: text, or notify: text."),
    **dict.fromkeys(("http", "webhook", "url", "request", "fetch"), "Write post: URL."),
    **dict.fromkeys(("modify", "change", "update", "rewrite", "transform"), "Write set: {input.field: value}."),
    **dict.fromkeys(("mask", "hide", "censor"), "Write redact: secrets, or replace: {pattern: …, with: …}."),
    **dict.fromkeys(("javascript", "js", "code"), "Write script: and JavaScript."),
    **dict.fromkeys(("prompt", "llm", "model"), "Write judge: question."),
    "action": "Write the action itself: then: {deny: reason}.",
    "type": "Write the action itself: then: {deny: reason}.",
}
_OPTION_HINTS: Final = {
    "ask": dict.fromkeys(
        ("default", "within", "timeout", "time", "question", "otherwise"),
        "Write ask: {question: …, default: deny, within: 2m}.",
    )
}
"""For options that are written beside an action, but belong into it."""
TEST_HINTS: Final = {
    **dict.fromkeys(("regex", "regexp", "pattern", "match"), "Write matches: pattern."),
    **dict.fromkeys(("startswith", "starts_with", "prefix"), "Write begins: text."),
    **dict.fromkeys(("endswith", "ends_with", "suffix"), "Write matches: 'text$'."),
    **dict.fromkeys(("in", "one_of", "any"), "Write the values as a list, of which one must match."),
    **dict.fromkeys(
        ("not", "not_matches", "not_contains"), "Write not: around the whole condition, beside tool and input."
    ),
    **dict.fromkeys(("gt", "greater_than", "more_than"), "Write above: number."),
    **dict.fromkeys(("lt", "less_than", "under"), "Write below: number."),
    **dict.fromkeys(("gte", "min"), "Write at_least: number."),
    **dict.fromkeys(("lte", "max"), "Write at_most: number."),
    **dict.fromkeys(("eq", "equal", "=="), "Write is: value."),
    "domain": "Write host: example.com.",
}
KIND_HINTS: Final = {
    **dict.fromkeys(
        ("delete", "remove", "unlink", "rm"),
        "Write write: a tool that deletes files counts as one that writes them. For rm in a shell, write runs: rm.",
    ),
    **dict.fromkeys(("create", "save", "move", "rename", "copy", "upload"), "Write write."),
    **dict.fromkeys(("patch", "update", "modify", "replace", "multiedit"), "Write edit."),
    **dict.fromkeys(("bash", "sh", "exec", "execute", "command", "terminal", "run", "process"), "Write shell."),
    **dict.fromkeys(("http", "url", "web", "network", "browser", "download", "webfetch", "curl"), "Write fetch."),
    **dict.fromkeys(("websearch", "web_search"), "Write search."),
    **dict.fromkeys(("subagent", "task", "spawn", "delegate"), "Write agent."),
    **dict.fromkeys(("find", "files"), "Write glob."),
    **dict.fromkeys(("file", "filesystem", "fs"), "Write the kinds: [read, write, edit]."),
    **dict.fromkeys(("any", "all", "*"), "Leave kind out to match every tool."),
}
FILE_HINTS: Final = {
    "hook": "Write hooks: and a list.",
    "rules": "Write hooks: and a list.",
    "runtime": "This is a key of digitorn: use --dialect digitorn.",
}


def hook_hints(conditions: Iterable[str], actions: Iterable[str]) -> dict[str, str]:
    return {
        **{name: f"It belongs in then: w{hint.removeprefix('W')}" for name, hint in _ACTION_HINTS.items()},
        **{name: f"Write when: {{input: {{{name}: …}}}}." for name in _input_fields()},
        **{name: f"It belongs in when: when: {{{name}: …}}." for name in conditions},
        **{name: f"It belongs in then: then: {{{name}: …}}." for name in actions},
        **_HOOK_HINTS,
    }


def condition_hints() -> dict[str, str]:
    fields = {name: f"It is a field of a tool's input: input: {{{name}: …}}." for name in _input_fields()}
    tests = {name: hint or _TEST_OF_A_FIELD % name for name, hint in _CONDITION_HINTS.items()}
    return {**fields, **tests}


def action_hints(actions: Iterable[str], hook_keys: Iterable[str], name: str) -> dict[str, str]:
    """For the keys beside the action `name`, or without one if it is empty."""
    beside = {key: f"It is a key of the hook: write {key} beside then." for key in hook_keys}
    if not name:
        return {**beside, **_ACTION_HINTS}
    several = f"then takes one action. For several, write a list: [{{{name}: …}}, {{%s: …}}]."
    return {**beside, **{other: several % other for other in actions}, **_OPTION_HINTS.get(name, {})}


def _input_fields() -> Iterable[str]:
    names = (name for fields in FIELD_NAMES.values() for field, others in fields.items() for name in (field, *others))
    return [name for name in dict.fromkeys(names) if name not in ("prompt", "agent", "message", "timeout", "text")]
