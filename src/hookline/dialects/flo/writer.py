"""Writes hooks as a flo file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any, Final

from hookline.dialects.conversion import (
    LOST_GUESS,
    NotExpressible,
    event_not_expressible,
    flatten_all,
    renders_other_names,
    takes_guess,
    write_duration,
    write_each,
)
from hookline.dialects.dialect import WriteResult
from hookline.dialects.flo.names import (
    DEFAULT_TIMEOUT,
    ENVIRONMENT_VARIABLES,
    NAME,
    SANDBOX,
    TOOL_EVENTS,
    VOCABULARY,
    OnError,
    log_template,
    outcome_on_error,
    result_parser,
    script_variables,
    write_command_text,
)
from hookline.dialects.flo.patterns import javascript_alternatives, to_javascript
from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.actions.notify import Log
from hookline.hooks.actions.run_program import CommandTemplate, RunProgram
from hookline.hooks.actions.script import RunScript
from hookline.hooks.conditions.logic import All, Always, AnyOf, Never
from hookline.hooks.conditions.text import Matches
from hookline.hooks.events import event_name_in
from hookline.hooks.hook import GLOBAL_SCOPE, Hook
from hookline.hooks.outcome import Outcome, Verdict
from hookline.hooks.protocols import Condition
from hookline.hooks.templates import DOUBLE_BRACES, OPEN_BRACES, Template
from hookline.hooks.tool_input import ToolField
from hookline.hooks.tool_name import ToolName
from hookline.hooks.tools import Vocabulary

_INPUT_FIELD: Final = re.compile(r"(?:tool\.)?input\.([A-Za-z_][A-Za-z0-9_]*)")
_EMPTY_TEXT: Final = '""'


def write_hooks(hooks: Iterable[Hook]) -> WriteResult:
    rules: dict[str, list[dict[str, Any]]] = {}

    def write(hook: Hook, losses: list[str]) -> None:
        event_name = event_name_in(NAME, hook.event)
        if event_name is None:
            raise event_not_expressible(hook)
        rule = _write_rule(hook, losses)
        rules.setdefault(event_name, []).append(rule)
        losses += [f"that {field} is also matched if it is not text" for field in _fields_of_any_type(hook.when)]
        losses += [LOST_GUESS] if takes_guess(hook) else []

    not_expressible = write_each(hooks, write)
    return WriteResult({"hooks": rules}, "jsonc", not_expressible)


def _fields_of_any_type(condition: Condition) -> Iterator[str]:
    """The fields that match numbers and objects, too. flo matches only text."""
    match condition:
        case All(parts) | AnyOf(parts):
            for part in parts:
                yield from _fields_of_any_type(part)
        case Matches(ToolField(only_text=False) as field):
            yield str(field)


def _write_rule(hook: Hook, losses: list[str]) -> dict[str, Any]:
    _check_expressible(hook)
    rule: dict[str, Any] = {"id": hook.id, **_write_condition(hook)}
    if hook.order:
        rule["priority"] = -hook.order
    rule |= _write_action(hook, losses)
    if not hook.enabled:
        rule["enabled"] = False
    if hook.tags:
        rule["tags"] = list(hook.tags)
    return rule


def _check_expressible(hook: Hook) -> None:
    if not hook.wait:
        raise NotExpressible("that the agent does not wait for it")
    if hook.scope != GLOBAL_SCOPE:
        raise NotExpressible("its scope")
    if hook.limit.keys:
        raise NotExpressible(" and ".join(hook.limit.keys))


def _write_condition(hook: Hook) -> dict[str, Any]:
    match hook.when:
        case Always():
            return {}
        case Never() if hook.event not in TOOL_EVENTS:
            return {"inputMatchers": {"tool": ""}}
        case _:
            return _write_matchers(hook, flatten_all(hook.when))


def _write_matchers(hook: Hook, parts: list[Condition]) -> dict[str, Any]:
    if hook.event not in TOOL_EVENTS:
        raise NotExpressible(" on an event without a tool", condition=hook.when)
    matchers: dict[str, Any] = {}
    for part in parts:
        subject, source = _write_match(part, hook)
        if isinstance(subject, ToolName):
            if "matcher" in matchers:
                raise NotExpressible("two conditions on the tool's name")
            matchers["matcher"] = source
        else:
            fields = matchers.setdefault("inputMatchers", {})
            if subject.path[0] in fields:
                raise NotExpressible(f"two conditions on input.{subject.path[0]}")
            fields[subject.path[0]] = source
    return matchers


def _write_match(part: Condition, hook: Hook) -> tuple[ToolName | ToolField, str]:
    """A subject that flo can test, and the pattern for it."""
    alternatives = part.parts if isinstance(part, AnyOf) else (part,)
    subjects: set[ToolName | ToolField] = set()
    sources: list[str] = []
    for each in alternatives:
        if not isinstance(each, Matches):
            raise NotExpressible(condition=each)
        subjects.add(_flo_subject(each))
        sources.append(to_javascript(each.pattern))
    if len(subjects) != 1:
        raise NotExpressible("alternatives on several facts")
    return subjects.pop(), javascript_alternatives(sources)


def _flo_subject(part: Matches) -> ToolName | ToolField:
    match part.subject:
        case ToolName(vocabulary) if _has_flo_names(vocabulary):
            return ToolName(VOCABULARY)
        case ToolField(path, vocabulary) if len(path) == 1 and _has_flo_names(vocabulary):
            return ToolField((str(path[0]),), VOCABULARY)
        case ToolName() | ToolField():
            raise NotExpressible(f"a condition on {part.subject} with other names than flo's")
        case _:
            raise NotExpressible(f"a condition on {part.subject}")


def _has_flo_names(vocabulary: Vocabulary) -> bool:
    return dict(vocabulary.names) == dict(VOCABULARY.names) and dict(vocabulary.fields) == dict(VOCABULARY.fields)


def _write_action(hook: Hook, losses: list[str]) -> dict[str, Any]:
    match hook.then:
        case FixedAnswer(outcome):
            if outcome != Outcome(outcome.verdict, outcome.reason) or outcome.verdict in (Verdict.SILENT, Verdict.ASK):
                raise NotExpressible(action=hook.then)
            reason = {"reason": outcome.reason} if outcome.reason else {}
            return {"action": outcome.verdict.word, **reason}
        case Log(text, level):
            if level != "info":
                losses.append(f"the level {level} of its message")
            if text.source == log_template(hook.event).source:
                return {"action": "log"}
            return {"action": "script", "script": _log_script(text)}
        case RunScript(source, variables, timeout):
            if variables != script_variables(hook.event):
                raise NotExpressible("a script with other variables")
            runs = {} if hook.then.may_run_in_page else {"runs": "hub"}
            return {"action": "script", "script": source, **runs, **_write_failure_keys(hook, timeout, None)}
        case RunProgram():
            return _write_command(hook, hook.then, losses)
        case _:
            raise NotExpressible(action=hook.then)


def _log_script(text: Template) -> str:
    """flo's own log has no text, but a script can write any line."""
    pieces, at = [], 0
    for found in DOUBLE_BRACES.finditer(text.source) if text.names else ():
        pieces += [_script_text(text.source[at : found.start()]), _script_value(found[1].strip())]
        at = found.end()
    pieces.append(_script_text(text.source[at:]))
    return f"log({' + '.join(piece for piece in pieces if piece) or _EMPTY_TEXT});"


def _script_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False) if text else ""


def _script_value(name: str) -> str:
    """A field of the tool's input as a template shows it: absent is empty, and what is not text is JSON."""
    if name == OPEN_BRACES:
        return _script_text("{{")
    found = _INPUT_FIELD.fullmatch(name)
    if found is None:
        raise NotExpressible(f"{{{{{name}}}}} in a log message")
    field = f"toolInput.{found[1]}"
    return f'(typeof {field} === "string" ? {field} : {field} === undefined ? "" : JSON.stringify({field}))'


def _write_command(hook: Hook, run: RunProgram, losses: list[str]) -> dict[str, Any]:
    program = run.program
    command = None if program.shell is None else write_command_text(program.shell.source)
    if program.shell is None or command is None:
        raise NotExpressible("its program: flo runs shell text with flo's own placeholders")
    cwd, inherited = program.cwd, program.inherit_env
    if program != CommandTemplate(program.shell, inherit_env=inherited, cwd=cwd) or (cwd and cwd.source != SANDBOX):
        raise NotExpressible(
            "the stdin, environment or directory of its program: flo gives no stdin, six variables and the sandbox"
        )
    if renders_other_names(program.shell, VOCABULARY):
        raise NotExpressible("the tool's name in another dialect")
    if inherited != ENVIRONMENT_VARIABLES:
        losses.append(f"the environment of its program; it gets {', '.join(ENVIRONMENT_VARIABLES)}")
    if cwd is None:
        losses.append("the session's directory as that of its program; it runs in the workspace")
    if run.only_if is not None:
        raise NotExpressible(hook.origin.wording.only_if)
    return {"command": command, **_write_failure_keys(hook, run.timeout, run)}


def _write_failure_keys(hook: Hook, timeout: timedelta, run: RunProgram | None) -> dict[str, Any]:
    """The keys timeout and continueOnError."""
    if hook.timeout != timeout:
        raise NotExpressible("a timeout other than its hook's")
    keys: dict[str, Any] = {}
    if timeout != DEFAULT_TIMEOUT:
        keys["timeout"] = write_duration(timeout, timedelta(milliseconds=1))
    for mode, flag in ((OnError.UNSET, None), (OnError.CONTINUE, True), (OnError.BLOCK, False)):
        if isinstance(hook.then, RunScript):
            same = mode is OnError.BLOCK or hook.then.hold_if_broken is (mode is OnError.UNSET)
        else:
            same = run is None or run.result_parser == result_parser(hook.event, mode)
        if same and hook.on_error == outcome_on_error(hook.event, mode):
            return keys if flag is None else {**keys, "continueOnError": flag}
    raise NotExpressible("how its result and its failures count")
