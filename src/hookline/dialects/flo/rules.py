"""One rule of a flo file → its hooks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from hookline.config.duration import duration
from hookline.config.problem import Severity
from hookline.config.shape import Reader
from hookline.dialects.flo.words import (
    ENVIRONMENT,
    LONGEST,
    NAME,
    SANDBOX,
    SHORTEST,
    TIMEOUT,
    TONGUE,
    TOOL_EVENTS,
    OnError,
    answer_to_error,
    can_be_denied,
    logged,
    names_elsewhere,
    reading,
    shell_text,
    text_of,
    variables,
)
from hookline.dialects.settings import has_errors
from hookline.hooks.action import Action, May
from hookline.hooks.actions.answer import Answer
from hookline.hooks.actions.broken import Broken
from hookline.hooks.actions.program import Program, Run
from hookline.hooks.actions.script import RunScript
from hookline.hooks.actions.tell import Log
from hookline.hooks.condition import Condition
from hookline.hooks.conditions.logic import Never, all_of
from hookline.hooks.conditions.text import Matches
from hookline.hooks.fields import ToolField
from hookline.hooks.hook import Hook, Origin
from hookline.hooks.outcome import SILENT, Outcome, Verdict
from hookline.hooks.template import BadTemplate
from hookline.hooks.tools import ToolName
from hookline.patterns.pattern import BadPattern, Pattern, Syntax, pattern

ACTIONS: Final = ("deny", "allow", "log", "script")
DEED_KEYS: Final = ("action", "reason", "script", "command", "timeout")
SHARED_KEYS: Final = ("continueOnError", "id", "enabled")
RULE_KEYS: Final = ("matcher", "inputMatchers", "priority", *DEED_KEYS, "hooks", *SHARED_KEYS)
ENTRY_KEYS: Final = ("type", *DEED_KEYS, *SHARED_KEYS)


@dataclass(frozen=True, slots=True)
class Rule:
    """What all hooks of one rule share."""

    event: str
    id: str
    when: Condition
    order: int
    on_error: OnError
    enabled: bool


@dataclass(frozen=True, slots=True)
class Deed:
    action: Action
    timeout: timedelta = TIMEOUT
    on_error: Outcome = SILENT


def hooks_of(at: Reader, event: str, id: str) -> Iterator[Hook]:
    """The rule's hooks; those that cannot be read have noted their problems."""
    before = len(at.problems)
    at.keys(RULE_KEYS, "a rule")
    rule = _rule(at, event, id)
    listed = at.get("hooks")
    if listed is not None:
        yield from _listed(at, listed, rule, has_errors(at.problems[before:]))
        return
    if at.unreadable():
        return
    errors = has_errors(at.problems[before:])
    deed = _deed(at, event, rule.on_error)
    if deed is not None and not errors:
        yield _hook(at, rule, deed)


def _listed(at: Reader, listed: Reader, rule: Rule, errors: bool) -> Iterator[Hook]:
    beside = [key for key in DEED_KEYS if at.get(key) is not None]
    if beside:
        what = f"{at.place}: {beside[0]} and hooks exclude each other."
        at.problem("two-actions", what, "Put it into the list.")
    if listed.sequence() == []:
        listed.problem("no-action", f"{listed.place}: there is nothing to do here.", "Write at least one action.")
    for index, place in enumerate(listed.items()):
        hook = _entry(place, rule, f"{rule.id}.hooks[{index}]")
        if hook is not None and not errors and not beside:
            yield hook


def _entry(at: Reader, rule: Rule, id: str) -> Hook | None:
    before = len(at.problems)
    if at.unreadable():
        return None
    at.keys(ENTRY_KEYS, "an entry of hooks")
    if at.mapping() is None:
        return None
    own = at.get("id")
    inner = Rule(
        rule.event,
        id if own is None else own.text() or id,
        rule.when,
        rule.order,
        _on_error(at, rule.on_error),
        _enabled(at, rule.enabled),
    )
    kind = at.get("type")
    word = None if kind is None else kind.one_of(("action", "command"))
    if word is not None and at.get(word) is None:
        at.problem("missing-key", f"{at.place}: {word} is missing.", f"type: {word} needs the key {word}.")
    errors = has_errors(at.problems[before:])
    deed = _deed(at, inner.event, inner.on_error)
    return None if errors or deed is None else _hook(at, inner, deed)


def _hook(at: Reader, rule: Rule, deed: Deed) -> Hook:
    return Hook(
        id=rule.id,
        event=rule.event,
        when=rule.when,
        then=deed.action,
        origin=Origin(at.document.file, at.line, NAME),
        order=rule.order,
        group=NAME,
        timeout=deed.timeout,
        on_error=deed.on_error,
        enabled=rule.enabled,
    )


def _rule(at: Reader, event: str, id: str) -> Rule:
    """A value that is wrong has noted its problem and stands as the default."""
    priority, own = at.get("priority"), at.get("id")
    return Rule(
        event,
        id if own is None else own.text() or id,
        _when(at, event),
        0 if priority is None else -(priority.whole() or 0),
        _on_error(at, OnError.UNSET),
        _enabled(at, True),
    )


def _enabled(at: Reader, default: bool) -> bool:
    enabled = at.get("enabled")
    return default if enabled is None else enabled.flag() is not False


def _on_error(at: Reader, default: OnError) -> OnError:
    go_on = at.get("continueOnError")
    if go_on is None:
        return default
    return OnError.GO_ON if go_on.flag() is not False else OnError.BLOCK


def _when(at: Reader, event: str) -> Condition:
    matcher, fields = at.get("matcher"), at.get("inputMatchers")
    name = None if matcher is None else matcher.text(empty=True)
    if event not in TOOL_EVENTS:
        return _without_tool(at, matcher if name else None, fields)
    parts: list[Condition] = []
    compiled = _compiled(matcher) if matcher is not None and name else None
    if compiled is not None:
        parts.append(Matches(ToolName(TONGUE), compiled))
    for field, place in fields.entries() if fields is not None else ():
        tested = None if place.text(empty=True) is None else _compiled(place)
        if tested is not None:
            parts.append(Matches(ToolField((field,), TONGUE), tested))
    return all_of(parts)


def _without_tool(at: Reader, matcher: Reader | None, fields: Reader | None) -> Condition:
    if matcher is not None:
        what = f"{matcher.place}: there is no tool on this event, so the matcher is ignored."
        matcher.problem("ignored", what, "Remove it.", at_key=True, severity=Severity.WARNING)
    if fields is None or not fields.mapping():
        return all_of(())
    what = f"{fields.place}: there is no tool on this event, so the rule never applies."
    fields.problem("never-applies", what, "Remove inputMatchers.", at_key=True, severity=Severity.WARNING)
    return Never("there is no tool on this event, and inputMatchers need its input")


def _compiled(at: Reader) -> Pattern | None:
    try:
        return pattern(at.value or "(?:)", Syntax.JAVASCRIPT)
    except BadPattern as bad:
        at.problem("bad-pattern", f"{at.place}: {bad.why}.", "It is a JavaScript regular expression.")
        return None


def _deed(at: Reader, event: str, on_error: OnError) -> Deed | None:
    action, command, script = at.get("action"), at.get("command"), at.get("script")
    if action is not None and command is not None:
        at.problem("two-actions", f"{at.place}: action and command exclude each other.".lstrip(": "), "Remove one.")
        return None
    if command is not None:
        return _commanded(at, command, event, on_error)
    if action is None:
        hint = "Write action: deny, allow, log or script, or a command."
        at.problem("no-action", _about(at, "there is nothing to do here."), hint)
        return None
    word = action.one_of(ACTIONS)
    if script is not None and word not in ("script", None):
        script.problem("no-script", f"{script.place}: only action: script has a script.", at_key=True)
        return None
    return None if word is None else _acted(at, word, event, on_error)


def _about(at: Reader, what: str) -> str:
    return f"{at.place}: {what}" if at.path else what


def _acted(at: Reader, word: str, event: str, on_error: OnError) -> Deed | None:
    reason, timeout = at.get("reason"), _timeout(at)
    said = "" if reason is None else reason.text(empty=True)
    if said is None or timeout is None:
        return None
    if word != "script":
        _unused(at, "timeout", f"{word} takes no time")
    if word in ("log", "script"):
        _unused(at, "reason", f"{word} gives no reason of its own")
    if word == "log":
        return Deed(Log(logged(event)))
    if word == "script":
        return _scripted(at, event, timeout, on_error)
    return Deed(Answer(Outcome(Verdict.DENY if word == "deny" else Verdict.ALLOW, said)))


def _scripted(at: Reader, event: str, timeout: timedelta, on_error: OnError) -> Deed | None:
    script = at.get("script")
    if script is None:
        at.problem("missing-key", _about(at, "script is missing."), "action: script needs the JavaScript in script.")
        return None
    source = script.text()
    if source is None:
        return None
    return Deed(RunScript(source, variables(event), timeout), timeout, answer_to_error(event, on_error))


def _commanded(at: Reader, command: Reader, event: str, on_error: OnError) -> Deed | None:
    for key in ("script", "reason"):
        beside = at.get(key)
        if beside is not None:
            beside.problem("two-actions", f"{beside.place}: a command has no {key}.", "Remove it.", at_key=True)
            return None
    text, timeout = command.text(), _timeout(at)
    if text is None or timeout is None:
        return None
    counts = answer_to_error(event, on_error)
    try:
        shell = shell_text(text)
    except BadTemplate as bad:
        command.problem("bad-template", f"{command.place}: {bad.what}.", bad.hint)
        may = May.DENY if can_be_denied(event) else May.NOTHING
        return Deed(Broken(f"its command cannot be rendered: {bad.what}", may), timeout, counts)
    for name in names_elsewhere(text, event):
        what = f"{command.place}: {{{{{name}}}}} is always empty on this event."
        command.problem("absent-name", what, severity=Severity.WARNING)
    program = Program(shell, inherit_env=ENVIRONMENT, cwd=text_of(SANDBOX))
    return Deed(Run(program, reading(event, on_error), timeout), timeout, counts)


def _unused(at: Reader, key: str, why: str) -> None:
    place = at.get(key)
    if place is not None:
        what = f"{place.place} is not used: {why}."
        place.problem("unused", what, "Remove it.", at_key=True, severity=Severity.WARNING)


def _timeout(at: Reader) -> timedelta | None:
    place = at.get("timeout")
    if place is None:
        return TIMEOUT
    number = place.number(least=SHORTEST, most=LONGEST, hint=_in_milliseconds(place.value))
    return None if number is None else timedelta(milliseconds=number)


def _in_milliseconds(value: object) -> str:
    """`"5s"` → write 5000."""
    try:
        meant = duration(value) if isinstance(value, str) else TIMEOUT
    except ValueError:
        meant = TIMEOUT
    return f"flo counts milliseconds; write {meant / timedelta(milliseconds=1):g}."
