"""Turns one rule of a flo file into hooks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, Final

from hookline.config.node import Node
from hookline.config.problem import Problem, Severity
from hookline.config.scalars import parse_duration
from hookline.dialects.dialect import has_errors
from hookline.dialects.flo.names import (
    DEFAULT_TIMEOUT,
    ENVIRONMENT_VARIABLES,
    MAX_TIMEOUT_MILLISECONDS,
    MIN_TIMEOUT_MILLISECONDS,
    NAME,
    SANDBOX,
    TOOL_EVENTS,
    VOCABULARY,
    OnError,
    flo_shell_template,
    flo_template,
    log_template,
    names_without_value,
    outcome_on_error,
    result_parser,
    script_variables,
    unset_variables,
)
from hookline.dialects.flo.wording import WORDING
from hookline.dialects.tool_names import match_tool_name
from hookline.errors import BadTemplate
from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.actions.failing import InvalidAction
from hookline.hooks.actions.hold import HoldCall
from hookline.hooks.actions.notify import Log
from hookline.hooks.actions.run_program import CommandTemplate, RunProgram
from hookline.hooks.actions.script import RunScript
from hookline.hooks.conditions.logic import Never, all_of
from hookline.hooks.conditions.text import Matches
from hookline.hooks.hook import Hook, Origin
from hookline.hooks.outcome import SILENT, Outcome, Verdict
from hookline.hooks.protocols import Action, Condition
from hookline.hooks.tool_input import tool_field
from hookline.lazy_dataclasses import dataclass, replace
from hookline.patterns.pattern import BadPattern, Pattern, Syntax, pattern

ACTIONS: Final = ("deny", "allow", "log", "script")
ACTION_KEYS: Final = ("action", "reason", "script", "command", "timeout")
SHARED_KEYS: Final = ("continueOnError", "id", "enabled")
RULE_KEYS: Final = ("matcher", "inputMatchers", "priority", *ACTION_KEYS, "hooks", *SHARED_KEYS, "tags", "runs")
ENTRY_KEYS: Final = ("type", *ACTION_KEYS, *SHARED_KEYS)
RUNS: Final = ("page", "hub")
"""Where the script of a rule from the hub's console runs. Scripts in files always run on the hub."""
_ESSENTIAL_KEYS: Final = ("continueOnError", "runs")


@dataclass(frozen=True, slots=True)
class RuleSettings:
    """What all hooks of one rule share."""

    event: str
    id: str
    when: Condition
    order: int
    on_error: OnError
    enabled: bool
    tags: tuple[str, ...]
    runs_in_page: bool = True


@dataclass(frozen=True, slots=True)
class RuleAction:
    action: Action
    timeout: timedelta = DEFAULT_TIMEOUT
    on_error: Outcome = SILENT


def parse_rule(at: Node, event: str, id: str) -> Iterator[Hook]:
    """The rule's valid hooks; the others become problems."""
    syntax = len(at.problems)
    if type(at.value) is not dict or "hooks" not in at.value:
        part = at.readable_part(("matcher", "inputMatchers"))
        if part is None:
            return
        readable, damaged = part
        if damaged:
            may_deny = _may_deny({**readable.value, **dict.fromkeys(damaged, "?")})
            yield from _parse_damaged_rule(readable, event, id, at.problems[syntax], may_deny)
            return
    before = _warn_unknown_keys(at)
    when = _parse_condition(at, event)
    is_readable = not has_errors(at.problems[before:])  # otherwise nobody can say what it guards
    settings = len(at.problems)
    rule = _parse_rule_settings(at, event, id, when)
    entries = at.get("hooks")
    if entries is not None:
        hooks = list(_parse_entries(at, entries, rule, settings))
    else:
        action = _parse_rule_action(at, event, rule.on_error)
        if action is not None and not isinstance(action.action, RunScript):
            _warn_unused(at, "runs", "only a script has a place where it runs")
        hooks = [_build_hook(at, rule, _hold_if_broken(at, settings, rule, action))]
    if is_readable:
        yield from hooks


def _parse_damaged_rule(at: Node, event: str, id: str, problem: Problem, may_deny: bool) -> Iterator[Hook]:
    """A rule with a key that occurs twice, but not in what it matches."""
    before = len(at.problems)
    when = _parse_condition(at, event)
    if has_errors(at.problems[before:]):
        return
    rule = _parse_rule_settings(at, event, id, when)
    yield _build_hook(at, rule, _broken_action(at, str(problem), event, rule.on_error, may_deny))


def _warn_unknown_keys(at: Node) -> int:
    """How many problems there are that leave the rule in force.

    A rule that is wider than its author meant still acts, unless it allows.
    """
    before = len(at.problems)
    if not _allows(at.value):
        at.warn_unknown_keys(RULE_KEYS, "a rule", essential=_ESSENTIAL_KEYS)
        return len(at.problems)
    at.warn_unknown_keys(RULE_KEYS, "a rule", essential=(*_ESSENTIAL_KEYS, "matcher", "inputMatchers"))
    return before


def _allows(rule: Any) -> bool:
    if type(rule) is not dict:
        return False
    entries = rule.get("hooks")
    return rule.get("action") == "allow" or (type(entries) is list and any(map(_allows, entries)))


def _parse_entries(at: Node, entries: Node, rule: RuleSettings, before: int) -> Iterator[Hook]:
    conflicts = [key for key in ACTION_KEYS if at.get(key) is not None]
    if conflicts:
        what = f"{at.location}: {conflicts[0]} and hooks exclude each other."
        at.add_problem("two-actions", what, "Put it into the list.")
    if entries.sequence() == []:
        entries.add_problem("no-action", f"{entries.location}: this list is empty.", "Write at least one action.")
    errors = [problem for problem in at.problems[before:] if problem.severity is Severity.ERROR]
    hooks = [_parse_entry(place, rule, f"{rule.id}.hooks[{index}]") for index, place in enumerate(entries.items())]
    if not errors:
        yield from (hook for hook in hooks if hook is not None)
    elif not set(errors) & set(at.document.syntax_problems):
        yield _build_hook(at, rule, _broken_action(at, str(errors[0]), rule.event, rule.on_error))


def _hold_if_broken(at: Node, before: int, rule: RuleSettings, action: RuleAction | None) -> RuleAction:
    """The action, or what replaces it after an error: one that holds the call, unless continueOnError is true."""
    errors = [problem for problem in at.problems[before:] if problem.severity is Severity.ERROR]
    if action is not None and (not errors or isinstance(action.action, (HoldCall, InvalidAction))):
        return action
    return _broken_action(at, str(errors[0]), rule.event, rule.on_error, _may_deny(at.value))


def _may_deny(written: Mapping[str, Any]) -> bool:
    """Whether a broken action could have denied: a command or a script beside log or allow could, too."""
    has_code = written.get("command") is not None or written.get("script") is not None
    return has_code or written.get("action") not in ("log", "allow")


def _broken_action(at: Node, why: str, event: str, on_error: OnError, may_deny: bool = True) -> RuleAction:
    if on_error is OnError.CONTINUE or not may_deny:
        return RuleAction(InvalidAction(f"cannot run: {why}", written=_written_action(at)))
    return RuleAction(HoldCall(why, written=_written_action(at)), on_error=outcome_on_error(event, on_error))


def _written_action(at: Node) -> dict[str, Any]:
    return {key: value for key, value in at.value.items() if key in (*ACTION_KEYS, "hooks", "type")}


def _parse_entry(at: Node, rule: RuleSettings, id: str) -> Hook | None:
    syntax = len(at.problems)
    part = at.readable_part(())
    if part is None:
        return None
    at, damaged = part
    if damaged:
        own_rule = replace(rule, id=id, on_error=_parse_on_error(at, rule.on_error))
        return _build_hook(at, own_rule, _broken_action(at, str(at.problems[syntax]), rule.event, own_rule.on_error))
    at.warn_unknown_keys(ENTRY_KEYS, "an entry of hooks", essential=("continueOnError",))
    before = len(at.problems)
    if at.mapping() is None:
        return None
    own = at.get("id")
    settings = RuleSettings(
        rule.event,
        id if own is None else own.text() or id,
        rule.when,
        rule.order,
        _parse_on_error(at, rule.on_error),
        _parse_enabled(at, rule.enabled),
        rule.tags,
        rule.runs_in_page,
    )
    kind = at.get("type")
    word = None if kind is None else kind.one_of(("action", "command"))
    if word is not None:
        at.require(word, f"type: {word} needs the key {word}.")
    action = _parse_rule_action(at, settings.event, settings.on_error)
    return _build_hook(at, settings, _hold_if_broken(at, before, settings, action))


def _build_hook(at: Node, rule: RuleSettings, parsed: RuleAction) -> Hook:
    return Hook(
        id=rule.id,
        event=rule.event,
        when=rule.when,
        then=_restrict_script(parsed.action, rule),
        origin=Origin(at.document.file, at.line, NAME, wording=WORDING),
        order=rule.order,
        group=NAME,
        timeout=parsed.timeout,
        on_error=parsed.on_error,
        enabled=rule.enabled,
        tags=rule.tags,
    )


def _restrict_script(action: Action, rule: RuleSettings) -> Action:
    """`runs: hub` keeps a script out of the page."""
    return replace(action, may_run_in_page=rule.runs_in_page) if isinstance(action, RunScript) else action


def _parse_rule_settings(at: Node, event: str, id: str, when: Condition) -> RuleSettings:
    """An invalid value is a problem, and the default takes its place."""
    priority, own, tags, runs = at.get("priority"), at.get("id"), at.get("tags"), at.get("runs")
    return RuleSettings(
        event,
        id if own is None else own.text() or id,
        when,
        0 if priority is None else -(priority.integer() or 0),
        _parse_on_error(at, OnError.UNSET),
        _parse_enabled(at, True),
        () if tags is None else tags.texts() or (),
        runs is None or runs.one_of(RUNS) == "page",
    )


def _parse_enabled(at: Node, default: bool) -> bool:
    enabled = at.get("enabled")
    return default if enabled is None else enabled.flag() is not False


def _parse_on_error(at: Node, default: OnError) -> OnError:
    flag = at.get("continueOnError")
    if flag is None:
        return default
    continues = flag.flag()
    if continues is None:
        return default
    return OnError.CONTINUE if continues else OnError.BLOCK


def _parse_condition(at: Node, event: str) -> Condition:
    matcher, fields = at.get("matcher"), at.get("inputMatchers")
    name = None if matcher is None else matcher.text(empty=True)
    if event not in TOOL_EVENTS:
        return _toolless_condition(at, matcher if name else None, fields)
    parts: list[Condition] = []
    compiled = _compile_pattern(matcher) if matcher is not None and name else None
    if compiled is not None:
        parts.append(match_tool_name(compiled, VOCABULARY))
    for field, place in fields.entries() if fields is not None else ():
        field_pattern = None if place.text(empty=True) is None else _compile_pattern(place)
        if field_pattern is not None:
            parts.append(Matches(tool_field((field,), VOCABULARY.name, only_text=True), field_pattern))
    return all_of(parts)


def _toolless_condition(at: Node, matcher: Node | None, fields: Node | None) -> Condition:
    if matcher is not None:
        what = f"{matcher.location}: this event has no tool, so the matcher is ignored."
        matcher.add_problem("ignored", what, "Remove it.", at_key=True, severity=Severity.WARNING)
    if fields is None or not fields.mapping():
        return all_of(())
    what = f"{fields.location}: this event has no tool, so the rule never applies."
    fields.add_problem("never-applies", what, "Remove inputMatchers.", at_key=True, severity=Severity.WARNING)
    return Never("this event has no tool, and inputMatchers need its input")


def _compile_pattern(at: Node) -> Pattern | None:
    try:
        return pattern(at.value or "(?:)", Syntax.JAVASCRIPT)
    except BadPattern as bad:
        at.add_problem("bad-pattern", f"{at.location}: {bad.why}.", "Write a JavaScript regular expression.")
        return None


def _parse_rule_action(at: Node, event: str, on_error: OnError) -> RuleAction | None:
    action, command, script = at.get("action"), at.get("command"), at.get("script")
    if action is not None and command is not None:
        at.add_problem(
            "two-actions", f"{at.location}: action and command exclude each other.".lstrip(": "), "Remove one."
        )
        return None
    if command is not None:
        return _parse_command(at, command, event, on_error)
    if action is None:
        hint = "Write action: deny, allow, log or script, or a command."
        at.add_problem("no-action", _with_place(at, "this rule has no action."), hint)
        return None
    word = action.one_of(ACTIONS)
    if script is not None and word not in ("script", None):
        script.add_problem("no-script", f"{script.location}: only action: script has a script.", at_key=True)
        return None
    return None if word is None else _parse_named_action(at, word, event, on_error)


def _with_place(at: Node, what: str) -> str:
    return f"{at.location}: {what}" if at.path else what


def _parse_named_action(at: Node, word: str, event: str, on_error: OnError) -> RuleAction | None:
    reason, timeout = at.get("reason"), _parse_timeout(at)
    reason_text = "" if reason is None else reason.text(empty=True)
    if reason_text is None or timeout is None:
        return None
    if word != "script":
        _warn_unused(at, "timeout", f"{word} takes no time")
    if word in ("log", "script"):
        _warn_unused(at, "reason", f"{word} gives no reason of its own")
    if word == "log":
        return RuleAction(Log(log_template(event)))
    if word == "script":
        return _parse_script(at, event, timeout, on_error)
    return RuleAction(FixedAnswer(Outcome(Verdict.DENY if word == "deny" else Verdict.ALLOW, reason_text)))


def _parse_script(at: Node, event: str, timeout: timedelta, on_error: OnError) -> RuleAction | None:
    script = at.require("script", "action: script needs the JavaScript in script.")
    source = None if script is None else script.text()
    if source is None:
        return None
    run = RunScript(source, script_variables(event), timeout, hold_if_broken=on_error is not OnError.CONTINUE)
    return RuleAction(run, timeout, outcome_on_error(event, on_error))


def _parse_command(at: Node, command: Node, event: str, on_error: OnError) -> RuleAction | None:
    for key in ("script", "reason"):
        extra = at.get(key)
        if extra is not None:
            extra.add_problem("two-actions", f"{extra.location}: a command has no {key}.", "Remove it.", at_key=True)
            return None
    text, timeout = command.text(), _parse_timeout(at)
    if text is None or timeout is None:
        return None
    outcome = outcome_on_error(event, on_error)
    try:
        shell = flo_shell_template(text)
    except BadTemplate as bad:
        command.add_problem("bad-template", f"{command.location}: {bad.what}.", bad.hint)
        return replace(_broken_action(at, str(at.problems[-1]), event, on_error), timeout=timeout)
    for name in names_without_value(text, event):
        what = f"{command.location}: {{{{{name}}}}} is always empty on this event."
        command.add_problem("absent-name", what, severity=Severity.WARNING)
    unset = unset_variables(text)
    if unset:
        what = f"{command.location}: ${unset[0]} is not set: a command gets {', '.join(ENVIRONMENT_VARIABLES)} only."
        hint = "Read it from a file; values of the event are placeholders, such as {{toolName}}."
        command.add_problem("unset-variable", what, hint, severity=Severity.WARNING)
    program = CommandTemplate(shell, inherit_env=ENVIRONMENT_VARIABLES, cwd=flo_template(SANDBOX))
    return RuleAction(RunProgram(program, result_parser(event, on_error), timeout), timeout, outcome)


def _warn_unused(at: Node, key: str, why: str) -> None:
    place = at.get(key)
    if place is not None:
        what = f"{place.location} is not used: {why}."
        place.add_problem("unused", what, "Remove it.", at_key=True, severity=Severity.WARNING)


def _parse_timeout(at: Node) -> timedelta | None:
    place = at.get("timeout")
    if place is None:
        return DEFAULT_TIMEOUT
    number = place.number(
        least=MIN_TIMEOUT_MILLISECONDS, most=MAX_TIMEOUT_MILLISECONDS, hint=_milliseconds_hint(place.value)
    )
    return None if number is None else timedelta(milliseconds=number)


def _milliseconds_hint(value: object) -> str:
    """`"5s"` → write 5000."""
    try:
        intended = parse_duration(value) if isinstance(value, str) else DEFAULT_TIMEOUT
    except ValueError:
        intended = DEFAULT_TIMEOUT
    return f"flo counts milliseconds; write {intended / timedelta(milliseconds=1):g}."
