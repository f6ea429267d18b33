"""Hooks as a flo file."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from hookline.dialects.dialect import Written
from hookline.dialects.flo.patterns import any_of, javascript
from hookline.dialects.flo.words import (
    ENVIRONMENT,
    NAME,
    SANDBOX,
    TIMEOUT,
    TONGUE,
    TOOL_EVENTS,
    OnError,
    answer_to_error,
    flo_text,
    logged,
    reading,
    text_of,
    variables,
)
from hookline.dialects.unsaid import Unsaid, unsaid_action, unsaid_condition
from hookline.hooks.actions.answer import Answer
from hookline.hooks.actions.program import Program, Run
from hookline.hooks.actions.script import RunScript
from hookline.hooks.actions.tell import Log
from hookline.hooks.condition import Condition
from hookline.hooks.conditions.logic import All, Always, AnyOf, Never
from hookline.hooks.conditions.text import Matches
from hookline.hooks.events import name_in
from hookline.hooks.fields import ToolField
from hookline.hooks.hook import EVERYWHERE, UNLIMITED, Hook
from hookline.hooks.outcome import Outcome, Verdict
from hookline.hooks.tools import Tongue, ToolName


def written(hooks: Iterable[Hook]) -> Written:
    said: dict[str, list[dict[str, Any]]] = {}
    unsaid: list[str] = []
    for hook in hooks:
        try:
            named = name_in(NAME, hook.event)
            if named is None:
                raise Unsaid(f"flo has no event {hook.event}")
            said.setdefault(named, []).append(_rule(hook))
        except Unsaid as missing:
            unsaid.append(f"{hook.id} ({hook.origin.file}:{hook.origin.line}): {missing}")
    return Written({"hooks": {named: rules for named, rules in said.items() if rules}}, "json", tuple(unsaid))


def _rule(hook: Hook) -> dict[str, Any]:
    _refuse_more(hook)
    rule: dict[str, Any] = {"id": hook.id, **_condition(hook)}
    if hook.order:
        rule["priority"] = -hook.order
    rule |= _deed(hook)
    if not hook.enabled:
        rule["enabled"] = False
    return rule


def _refuse_more(hook: Hook) -> None:
    if not hook.wait:
        raise Unsaid("that nobody waits for it")
    if hook.scope != EVERYWHERE:
        raise Unsaid("its scope")
    if hook.limit != UNLIMITED:
        raise Unsaid("how often it may fire")
    if hook.tags:
        raise Unsaid("its tags")


def _condition(hook: Hook) -> dict[str, Any]:
    match hook.when:
        case Always():
            return {}
        case Never() if hook.event not in TOOL_EVENTS:
            return {"inputMatchers": {"tool": ""}}
        case _:
            return _all(hook, _parts(hook.when))


def _parts(when: Condition) -> list[Condition]:
    return [each for part in when.parts for each in _parts(part)] if isinstance(when, All) else [when]


def _all(hook: Hook, parts: list[Condition]) -> dict[str, Any]:
    if hook.event not in TOOL_EVENTS:
        raise Unsaid("a condition on an event without a tool")
    said: dict[str, Any] = {}
    for part in parts:
        subject, source = _test(part)
        if isinstance(subject, ToolName):
            if "matcher" in said:
                raise Unsaid("two conditions on the tool's name")
            said["matcher"] = source
        else:
            fields = said.setdefault("inputMatchers", {})
            if subject.path[0] in fields:
                raise Unsaid(f"two conditions on input.{subject.path[0]}")
            fields[subject.path[0]] = source
    return said


def _test(part: Condition) -> tuple[ToolName | ToolField, str]:
    """A subject that flo can ask about, and the pattern for it."""
    alternatives = part.parts if isinstance(part, AnyOf) else (part,)
    subjects: set[ToolName | ToolField] = set()
    sources: list[str] = []
    for each in alternatives:
        if not isinstance(each, Matches):
            raise unsaid_condition(each)
        subjects.add(_subject(each))
        sources.append(javascript(each.pattern))
    if len(subjects) != 1:
        raise Unsaid("alternatives on several facts")
    return subjects.pop(), any_of(sources)


def _subject(part: Matches) -> ToolName | ToolField:
    match part.subject:
        case ToolName(tongue) if _same_names(tongue):
            return ToolName(TONGUE)
        case ToolField(path, tongue) if len(path) == 1 and _same_names(tongue):
            return ToolField((str(path[0]),), TONGUE)
        case ToolName() | ToolField():
            raise Unsaid(f"a condition on {part.subject} in other words than flo's")
        case _:
            raise Unsaid(f"a condition on {part.subject}")


def _same_names(tongue: Tongue) -> bool:
    return dict(tongue.names) == dict(TONGUE.names) and dict(tongue.fields) == dict(TONGUE.fields)


def _deed(hook: Hook) -> dict[str, Any]:
    match hook.then:
        case Answer(outcome):
            return _answer(outcome)
        case Log(text, level):
            if text.source != logged(hook.event).source or level != "info":
                raise Unsaid("a log line in words of its own")
            return {"action": "log"}
        case RunScript(source, given, timeout):
            if given != variables(hook.event):
                raise Unsaid("a script with other variables")
            return {"action": "script", "script": source, **_failing(hook, timeout, None)}
        case Run():
            return _command(hook, hook.then)
        case _:
            raise unsaid_action(hook.then)


def _answer(outcome: Outcome) -> dict[str, Any]:
    if outcome != Outcome(outcome.verdict, outcome.reason) or outcome.verdict in (Verdict.SILENT, Verdict.ASK):
        raise Unsaid("an answer other than deny and allow")
    return {"action": outcome.verdict.word, **({"reason": outcome.reason} if outcome.reason else {})}


def _command(hook: Hook, run: Run) -> dict[str, Any]:
    program = run.program
    command = None if program.shell is None else flo_text(program.shell.source)
    if program.shell is None or command is None:
        raise Unsaid("its program: flo runs shell text with flo's own placeholders")
    if program != Program(program.shell, inherit_env=ENVIRONMENT, cwd=text_of(SANDBOX)):
        raise Unsaid("what its program is handed: flo gives it no stdin, six variables and the sandbox")
    if run.only_if is not None:
        raise Unsaid("only_if")
    return {"command": command, **_failing(hook, run.timeout, run)}


def _failing(hook: Hook, timeout: timedelta, run: Run | None) -> dict[str, Any]:
    """timeout and continueOnError."""
    if hook.timeout != timeout:
        raise Unsaid("a deadline other than its hook's")
    said: dict[str, Any] = {} if timeout == TIMEOUT else {"timeout": _milliseconds(timeout)}
    for meant, word in ((OnError.UNSET, None), (OnError.GO_ON, True), (OnError.BLOCK, False)):
        same = run is None or run.reading == reading(hook.event, meant)
        if same and hook.on_error == answer_to_error(hook.event, meant):
            return said if word is None else {**said, "continueOnError": word}
    raise Unsaid("how its end and its failures count")


def _milliseconds(length: timedelta) -> int | float:
    number = length / timedelta(milliseconds=1)
    return int(number) if number.is_integer() else number
