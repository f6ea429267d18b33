"""`then:` — one action, or a list of them as a chain."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from hookline.config.problem import Problem, Severity
from hookline.config.shape import Reader
from hookline.dialects.native.calls import CALL_KEYS, ROLES, call, judge, pipe
from hookline.dialects.native.changes import CHANGES, change
from hookline.dialects.native.doing import Doing, Maker
from hookline.dialects.native.outside import custom_action, diagnose
from hookline.dialects.native.programs import POST_KEYS, PROGRAM_KEYS, default_reads, post, reading_of, run
from hookline.dialects.native.texts import BAD_TEMPLATE, filled, filled_text, text_of, word_of
from hookline.hooks.action import Action, May
from hookline.hooks.actions.answer import Answer, Say
from hookline.hooks.actions.broken import Broken
from hookline.hooks.actions.chain import Chain, Step
from hookline.hooks.actions.program import Run
from hookline.hooks.actions.reading import Reads
from hookline.hooks.actions.script import RunScript
from hookline.hooks.actions.tell import LEVELS, Log, Notify
from hookline.hooks.event import REMOVED, Event, Path
from hookline.hooks.events import EVENTS
from hookline.hooks.filled import Filled
from hookline.hooks.outcome import SILENT, Audience, Compact, Note, Outcome, Place, Verdict
from hookline.hooks.template import Template


def action(at: Reader, doing: Doing) -> Action | None:
    """None after a problem was noted; where only placeholders are wrong, an action that fails whenever it is asked."""
    before = len(at.problems)
    made = _action(at, doing)
    errors = [problem for problem in at.problems[before:] if problem.severity is Severity.ERROR]
    if made is not None or not errors or disabling(errors):
        return made
    return Broken(f"cannot do what it says: {errors[0].what.removesuffix('.')}", _meant(at, doing))


def disabling(problems: list[Problem]) -> bool:
    """Whether there is an error in them that leaves no hook; with a placeholder that cannot be rendered it fails."""
    return any(each.severity is Severity.ERROR and each.code != BAD_TEMPLATE for each in problems)


def _meant(at: Reader, doing: Doing) -> May:
    """How it would have judged, could it be rendered."""
    key = _main_key(at.value)
    if key in _READ:
        reading = reading_of(at, _READ[key] or default_reads(doing.event), telling=False)
        return May.NOTHING if reading is None else reading.may & _JUDGES
    return _JUDGING.get(key, May.NOTHING)


def _main_key(value: dict[str, Any]) -> str:
    """The key that says what is done; the others are its options."""
    main = [key for key in value if key in ACTIONS]
    return next((each for each in main if each in ("run", "post", "call", "pipe")), main[0] if main else "")


def _action(at: Reader, doing: Doing) -> Action | None:
    if isinstance(at.value, list):
        return _chain_of(at, doing, stop_on_failure=False)
    if at.value in ("allow", "deny", "ask", "halt", "compact"):
        return Answer(_bare(at.value))
    if at.mapping() is None:
        return None
    key = _main_key(at.value)
    if not key:
        known = ACTIONS.keys() | _all_options()
        at.keys(known, "an action")
        if at.value.keys() <= known:  # else the word that is wrong was meant to say it
            at.problem("no-action", f"{at.place}: there is nothing to do here.", f"Write one of: {', '.join(ACTIONS)}.")
        return None
    make, options = ACTIONS[key]
    at.keys((key, *options), f"the action {key}")
    if any(each not in (key, *options) for each in at.value):
        return None
    value = at.get(key)
    return None if value is None else make(at, value, doing)


def _all_options() -> Collection[str]:
    return {option for _, options in ACTIONS.values() for option in options}


def _bare(word: str) -> Outcome:
    if word == "compact":
        return Outcome(requests=(Compact(),))
    return Outcome(halt=True) if word == "halt" else Outcome(Verdict[word.upper()])


def _verdict(verdict: Verdict) -> Maker:
    def make(at: Reader, value: Reader, doing: Doing) -> Action | None:
        if value.value is True or value.value is None:
            return Answer(Outcome(verdict))
        return _said(Outcome(verdict), text_of(value, doing.tongue))

    return make


def _halt(at: Reader, value: Reader, doing: Doing) -> Action | None:
    if value.value is True or value.value is None:
        return Answer(Outcome(halt=True))
    return _said(Outcome(halt=True), text_of(value, doing.tongue))


def _said(outcome: Outcome, reason: Template | None) -> Action | None:
    if reason is None:
        return None
    if all(name == "open_braces" for name in reason.names):
        return Answer(Outcome(outcome.verdict, reason.render(Event("", {})), halt=outcome.halt))
    return Say(outcome, reason)


def _tell(at: Reader, value: Reader, doing: Doing) -> Action | None:
    if isinstance(value.value, str):
        return _note(Note(""), text_of(value, doing.tongue))
    value.keys(("text", "to", "place", "role", "position"), "tell")
    text = value.get("text")
    if text is None:
        value.problem("missing-key", f"{value.place}: text is missing.", "Write tell: {text: …, to: agent}.")
        return None
    to = word_of(value, "to", [str(each) for each in Audience], "agent")
    place = word_of(value, "place", [str(each) for each in Place], "context")
    position = word_of(value, "position", ("start", "before_last", "end"), "end")
    role = word_of(value, "role", ROLES, "user")
    if to is None or place is None or role is None or position is None:
        return None
    return _note(Note("", Audience(to), Place(place), role, position), text_of(text, doing.tongue))


def _note(note: Note, text: Template | None) -> Action | None:
    if text is None:
        return None
    if text.constant:
        kept = Note(text.source, note.audience, note.place, note.role, note.position)
        return Answer(Outcome(notes=(kept,)))
    return Say(SILENT, notes=((note, text),))


def _log(at: Reader, value: Reader, doing: Doing) -> Action | None:
    if isinstance(value.value, str):
        text = text_of(value, doing.tongue)
        return None if text is None else Log(text)
    value.keys(("message", "level"), "log")
    message, level = value.get("message"), word_of(value, "level", LEVELS, "info")
    if message is None:
        value.problem("missing-key", f"{value.place}: message is missing.", "Write log: {message: …, level: info}.")
        return None
    text = text_of(message, doing.tongue)
    return None if text is None or level is None else Log(text, level)


def _notify(at: Reader, value: Reader, doing: Doing) -> Action | None:
    untitled = filled_text(value, "", doing.tongue)
    if isinstance(value.value, str):
        text = text_of(value, doing.tongue)
        return None if text is None or untitled is None else Notify(text, untitled)
    value.keys(("message", "title", "level", "tag"), "notify")
    message, title, tag = value.get("message"), value.get("title"), value.get("tag")
    level = word_of(value, "level", ("info", "warning", "error"), "info")
    if message is None:
        value.problem("missing-key", f"{value.place}: message is missing.", "Write notify: {message: …, title: …}.")
        return None
    text = text_of(message, doing.tongue)
    head = untitled if title is None else text_of(title, doing.tongue)
    group = "" if tag is None else tag.text()
    if text is None or head is None or group is None or level is None:
        return None
    return Notify(text, head, level, group)


def _run(at: Reader, value: Reader, doing: Doing) -> Action | None:
    return run(at, value, doing.event, doing.tongue, doing.timeout)


def _post(at: Reader, value: Reader, doing: Doing) -> Action | None:
    return post(at, value, doing.event, doing.tongue, doing.timeout)


def _script(at: Reader, value: Reader, doing: Doing) -> Action | None:
    source = value.text()
    given = at.get("variables")
    if given is None:
        event = filled_text(value, "{{event}}", doing.tongue)
        variables: Filled | None = Filled({"event": event})
    else:
        variables = filled(given, doing.tongue) if given.mapping() is not None else None
    return None if source is None or variables is None else RunScript(source, variables, doing.timeout)


def _compact(at: Reader, value: Reader, doing: Doing) -> Action | None:
    if value.value is True or value.value is None:
        return Answer(Outcome(requests=(Compact(),)))
    value.keys(("strategy", "keep_recent", "summary_max_tokens", "summary_prompt", "target_pressure"), "compact")
    before = len(at.problems)
    keep, most = value.get("keep_recent"), value.get("summary_max_tokens")
    prompt, target = value.get("summary_prompt"), value.get("target_pressure")
    request = Compact(
        word_of(value, "strategy", ("summarize", "truncate"), "summarize") or "",
        10 if keep is None else keep.whole(least=0) or 0,
        1024 if most is None else most.whole(least=1) or 1,
        None if prompt is None else prompt.text(),
        None if target is None else target.number(least=0, most=1),
    )
    return Answer(Outcome(requests=(request,))) if len(at.problems) == before else None


def _chain(at: Reader, value: Reader, doing: Doing) -> Action | None:
    stop = at.get("stop_on_failure")
    flag = False if stop is None else stop.flag()
    return None if flag is None else _chain_of(value, doing, stop_on_failure=flag)


def _chain_of(at: Reader, doing: Doing, *, stop_on_failure: bool) -> Action | None:
    if at.sequence() is None:
        return None
    steps = [_step(place, doing) for place in at.items()]
    found = tuple(step for step in steps if step is not None)
    return Chain(found, stop_on_failure) if len(found) == len(steps) else None


def longest(made: Action, timeout: timedelta) -> timedelta:
    """How long the action may take where its author allowed so much."""
    return made.longest if isinstance(made, Run) else timeout


STEP_KEYS: Final = ("on_error", "timeout", "ends_chain", "name")


def _step(at: Reader, doing: Doing) -> Step | None:
    given = at.value if isinstance(at.value, dict) else {}
    inner = Reader(at.document, at.path, at.problems, at.value)
    if given:
        inner.value = {key: value for key, value in given.items() if key not in STEP_KEYS}
    limit, ends, on_error = at.get("timeout"), at.get("ends_chain"), at.get("on_error")
    timeout = doing.timeout if limit is None else limit.duration()
    flag = False if ends is None else ends.flag()
    outcome = None if on_error is None else error_outcome(on_error)
    if timeout is None or flag is None or (outcome is None and on_error is not None):
        return None
    made = action(inner, replace(doing, timeout=timeout))
    outcome = None if outcome is None else withholding(outcome, doing.event, doing.hook)
    named = at.get("name")
    name = step_name(at.value) if named is None else named.text()
    return None if made is None or name is None else Step(name, made, outcome, longest(made, timeout), flag)


def step_name(value: Any) -> str:
    """What a step is called where nobody named it."""
    if isinstance(value, dict):
        return next((key for key in value if key in ACTIONS), "chain")
    return value if isinstance(value, str) else "chain"


ON_ERROR: Final = {
    "open": SILENT,
    "closed": Outcome(Verdict.DENY),
    "ask": Outcome(Verdict.ASK),
    "stop": Outcome(final=True),
    "tell": Outcome(notes=(Note(""),)),
    "tell_user": Outcome(notes=(Note("", Audience.USER),)),
}
"""What a failure counts as: nothing, a deny, a question, the end of its group, words for the agent or the user."""
_RESULT: Final[Path] = ("tool", "result")
_OK: Final[Path] = ("tool", "ok")
SAID_ON_ERROR: Final = {"deny": ON_ERROR["closed"], "ask": ON_ERROR["ask"]}


def error_outcome(at: Reader) -> Outcome | None:
    """A word, or `{deny: reason}`, in which {failure} stands for what happened."""
    if isinstance(at.value, dict):
        return _said_on_error(at)
    word = at.one_of(ON_ERROR, hint="open lets the event proceed when the hook fails; closed denies it.")
    return None if word is None else ON_ERROR[word]


def withholding(outcome: Outcome, event: str, hook: str) -> Outcome:
    """Where it is too late to deny, but not to change the result, closed keeps all of the result from the agent."""
    kind = EVENTS[event]
    if outcome.verdict is not Verdict.DENY or kind.accepts & May.DENY or not kind.takes_change(_RESULT):
        return outcome
    gone = tuple((path, REMOVED) for path in kind.changeable if path not in (_RESULT, _OK))
    told = (_RESULT, f"[withheld: hook {hook} could not check it]")
    return replace(outcome, verdict=Verdict.SILENT, changes=(told, *gone))


def as_said(on_error: Outcome) -> Outcome:
    """The on_error as its author wrote it, where it withholds the result."""
    withholds = any(path == _RESULT for path, _ in on_error.changes)
    return replace(on_error, verdict=Verdict.DENY, changes=()) if withholds else on_error


def _said_on_error(at: Reader) -> Outcome | None:
    at.keys(SAID_ON_ERROR, "on_error")
    said = [(word, place.text()) for word, place in at.entries() if word in SAID_ON_ERROR]
    if len(said) != 1 or len(at.value) != 1:
        at.problem("wrong-type", f"{at.place}: one answer is expected.", "Write on_error: {deny: reason}.")
        return None
    word, reason = said[0]
    return None if reason is None else replace(SAID_ON_ERROR[word], reason=reason)


def may_fail(made: Action) -> bool:
    """Whether it needs anything that can go wrong."""
    if isinstance(made, Chain):
        return any(may_fail(step.action) for step in made.steps)
    return not made.instant or isinstance(made, Broken)


def judges(made: Action) -> bool:
    return bool(made.may & _JUDGES)


_JUDGES: Final = May.DENY | May.ASK
_READ: Final = {"run": None, "post": Reads.JSON, "call": Reads.NEVER}
"""Whose answer is read from what it gets back, and how, where nobody wrote it; None: as its event has it."""
_JUDGING: Final = {"deny": May.DENY, "halt": May.DENY, "ask": May.ASK, "judge": May.DENY, "script": _JUDGES}
ACTIONS: Final[dict[str, tuple[Maker, Collection[str]]]] = {
    "deny": (_verdict(Verdict.DENY), ()),
    "ask": (_verdict(Verdict.ASK), ()),
    "allow": (_verdict(Verdict.ALLOW), ()),
    "halt": (_halt, ()),
    "tell": (_tell, ()),
    "log": (_log, ()),
    "notify": (_notify, ()),
    "set": (change, CHANGES),
    "remove": (change, CHANGES),
    "append": (change, CHANGES),
    "replace": (change, CHANGES),
    "run": (_run, PROGRAM_KEYS),
    "post": (_post, POST_KEYS),
    "script": (_script, ("variables",)),
    "call": (call, CALL_KEYS),
    "pipe": (pipe, ()),
    "judge": (judge, ("with",)),
    "compact": (_compact, ()),
    "diagnose": (diagnose, ()),
    "custom": (custom_action, ()),
    "chain": (_chain, ("stop_on_failure",)),
}
