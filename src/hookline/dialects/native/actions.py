"""`then:` — one action, or a list of them as a chain.

`call:`, `pipe:` and `judge:` — what the host's tools and its model are asked.

`set:`, `remove:`, `append:` and `replace:` — what an action changes of the event.

Actions in the native format's own words.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from hookline.config.node import Node
from hookline.config.problem import Problem, Severity
from hookline.config.scalars import format_duration
from hookline.dialects.conversion import NotExpressible, action_not_expressible
from hookline.dialects.native.keys import (
    BAD_TEMPLATE,
    ActionParser,
    HookInfo,
    compile_template,
    read_choice,
    read_data_template,
    read_template,
)
from hookline.dialects.native.programs import (
    POST_KEYS,
    PROGRAM_KEYS,
    default_result_format,
    parse_custom_action,
    parse_diagnose,
    parse_post,
    parse_result_keys,
    parse_run,
    write_diagnose,
)
from hookline.hooks.actions.answer import FixedAnswer, InvalidAction, TemplateAnswer
from hookline.hooks.actions.ask_model import AskModel
from hookline.hooks.actions.call_tool import CallTool, TellWhen
from hookline.hooks.actions.chain import Chain, ChainStep
from hookline.hooks.actions.change import INPUT_PATH, Append, ChangeFacts, Edit, Remove, Replace, Set
from hookline.hooks.actions.diagnose import Diagnose
from hookline.hooks.actions.notify import LEVELS, Log, Notify
from hookline.hooks.actions.post import PostEvent
from hookline.hooks.actions.program_result import DEFAULT_REASON, ResultFormat, ResultParser
from hookline.hooks.actions.python_function import CustomAction, RunPython
from hookline.hooks.actions.run_program import CommandTemplate, RunProgram
from hookline.hooks.actions.script import RunScript
from hookline.hooks.event import REMOVED, Event, FactPath, path_text
from hookline.hooks.events import EVENTS
from hookline.hooks.outcome import SILENT, Audience, Compact, Note, NotePlace, Outcome, Verdict
from hookline.hooks.placeholders import PlaceholderResolver, fact_path
from hookline.hooks.protocols import Action, May
from hookline.hooks.templates import DOUBLE_BRACES, DataTemplate, ShellTemplate, Template, parse_template
from hookline.patterns.pattern import BadPattern, pattern

ROLES: Final = ("user", "assistant", "system")
CALL_KEYS: Final = ("with", "literal", "tell", "prefix", "place", "role", "reads")


def parse_call(at: Node, value: Node, doing: HookInfo) -> Action | None:
    before = len(at.problems)
    tool, given, literal, reads = value.text(), at.get("with"), at.get("literal"), at.get("reads")
    input = (
        DataTemplate({})
        if given is None
        else read_data_template(given, doing.vocabulary)
        if given.mapping() is not None
        else None
    )
    extra = {} if literal is None else literal.mapping()
    tell = read_choice(at, "tell", [str(each) for each in TellWhen], "never")
    place = read_choice(at, "place", [str(each) for each in NotePlace], "context")
    role, prefix = read_choice(at, "role", ROLES, "user"), at.get("prefix")
    ahead = "" if prefix is None else prefix.text(empty=True)
    reading = None if reads is None else parse_result_keys(at, ResultFormat.NEVER, telling=False)
    if len(at.problems) > before or tool is None or input is None:
        return None
    told = TellWhen(tell or "never")
    return CallTool(
        tool, input, tuple((extra or {}).items()), told, ahead or "", NotePlace(place or "context"), role or "", reading
    )


def parse_pipe(at: Node, value: Node, doing: HookInfo) -> Action | None:
    """The current tool's output into another tool: a call, by the words people know for it."""
    value.check_keys(("to", "map", "extra"), "pipe")
    to, given, extra = value.get("to"), value.get("map"), value.get("extra")
    if to is None:
        value.add_problem(
            "missing-key", f"{value.location}: to is missing.", "Write pipe: {to: a tool, map: {field: …}}."
        )
        return None
    tool = to.text()
    input = DataTemplate({}) if given is None else read_data_template(given, doing.vocabulary)
    literal = {} if extra is None else extra.mapping()
    if tool is None or input is None or literal is None:
        return None
    return CallTool(tool, input, tuple(literal.items()))


def parse_judge(at: Node, value: Node, doing: HookInfo) -> Action | None:
    """The model's opinion; what it is given stands for $ARGUMENTS, and is the whole event where nothing is written."""
    prompt, given = value.text(), at.get("with")
    told = (
        DataTemplate(parse_template("{{event}}", PlaceholderResolver(doing.vocabulary)))
        if given is None
        else read_data_template(given, doing.vocabulary)
    )
    return None if prompt is None or told is None else AskModel(prompt, told)


CHANGE_KEYS: Final = ("set", "remove", "append", "replace")


def parse_change(at: Node, value: Node, doing: HookInfo) -> Action | None:
    before = len(at.problems)
    edits: list[Edit] = []
    for key, read in (
        ("set", _parse_set),
        ("remove", _parse_remove),
        ("append", _parse_append),
        ("replace", _parse_replace),
    ):
        place = at.get(key)
        if place is not None:
            edits += read(place, doing)
    return ChangeFacts(tuple(edits)) if len(at.problems) == before else None


def _parse_fact_path(at: Node, name: str) -> FactPath:
    path = fact_path(name)
    if path is None:
        at.add_problem(
            "unknown-fact", f"{name} is not a fact.", "Write input.…, result, prompt, or a fact's full path."
        )
    return path or ()


def _parse_set(at: Node, doing: HookInfo) -> list[Edit]:
    edits: list[Edit] = []
    for name, place in at.entries():
        value = read_data_template(place, doing.vocabulary)
        if value is None:
            continue
        path = _parse_fact_path(place, name)
        if path == INPUT_PATH and not isinstance(value.value, (dict, Template)):
            _report_not_object(place)
        edits.append(Set(path, value))
    return edits


def _report_not_object(at: Node) -> None:
    hint = "Name a field of it: input.command."
    at.add_problem("no-object", f"{at.location}: the tool's input would no longer be an object.", hint)


def _parse_remove(at: Node, doing: HookInfo) -> list[Edit]:
    paths = [_parse_fact_path(at, name) for name in at.texts() or ()]
    if INPUT_PATH in paths:
        _report_not_object(at)
    return [Remove(path) for path in paths]


def _parse_append(at: Node, doing: HookInfo) -> list[Edit]:
    texts = [(_parse_fact_path(place, name), read_template(place, doing.vocabulary)) for name, place in at.entries()]
    if any(path == INPUT_PATH for path, _ in texts):
        _report_not_object(at)
    return [Append(path, text) for path, text in texts if text is not None]


def _parse_replace(at: Node, doing: HookInfo) -> list[Edit]:
    edits: list[Edit] = []
    for place in at.items(one_or_many=True):
        place.check_keys(("in", "pattern", "with"), "replace")
        where, what, new = place.get("in"), place.get("pattern"), place.get("with")
        if where is None or what is None or new is None:
            place.add_problem("missing-key", f"{place.location}: in, pattern and with are needed.")
            continue
        name, source, text = where.text(), what.text(), new.text(empty=True)
        if name is None or source is None or text is None:
            continue
        try:
            edits.append(Replace(_parse_fact_path(where, name), pattern(source), text))
        except BadPattern as bad:
            what.add_problem("bad-pattern", f"{what.location}: {bad.why}.")
    return edits


def parse_action(at: Node, doing: HookInfo) -> Action | None:
    """None after a problem was noted; where only placeholders are wrong, an action that fails whenever it is asked."""
    before = len(at.problems)
    made = _parse_action_keys(at, doing)
    errors = [problem for problem in at.problems[before:] if problem.severity is Severity.ERROR]
    if made is not None or not errors or has_disabling_error(errors):
        return made
    return InvalidAction(f"cannot do what it says: {errors[0].what.removesuffix('.')}", _intended_verdict(at, doing))


def has_disabling_error(problems: list[Problem]) -> bool:
    """Whether there is an error in them that leaves no hook; with a placeholder that cannot be rendered it fails."""
    return any(each.severity is Severity.ERROR and each.code != BAD_TEMPLATE for each in problems)


def _intended_verdict(at: Node, doing: HookInfo) -> May:
    """How it would have judged, could it be rendered."""
    key = _main_key(at.value)
    if key in _DEFAULT_RESULT_FORMATS:
        reading = parse_result_keys(
            at, _DEFAULT_RESULT_FORMATS[key] or default_result_format(doing.event), telling=False
        )
        return May.NOTHING if reading is None else reading.may & _STOPPING
    return _INTENDED_VERDICTS.get(key, May.NOTHING)


def _main_key(value: dict[str, Any]) -> str:
    """The key that says what is done; the others are its options."""
    main = [key for key in value if key in ACTIONS]
    return next((each for each in main if each in ("run", "post", "call", "pipe")), main[0] if main else "")


def _parse_action_keys(at: Node, doing: HookInfo) -> Action | None:
    if isinstance(at.value, list):
        return _parse_steps(at, doing, stop_on_failure=False)
    if at.value in ("allow", "deny", "ask", "halt", "compact"):
        return FixedAnswer(_outcome_of_word(at.value))
    if at.mapping() is None:
        return None
    key = _main_key(at.value)
    if not key:
        known = ACTIONS.keys() | _all_options()
        at.check_keys(known, "an action")
        if at.value.keys() <= known:  # else the word that is wrong was meant to say it
            at.add_problem(
                "no-action", f"{at.location}: there is nothing to do here.", f"Write one of: {', '.join(ACTIONS)}."
            )
        return None
    make, options = ACTIONS[key]
    at.check_keys((key, *options), f"the action {key}")
    if any(each not in (key, *options) for each in at.value):
        return None
    value = at.get(key)
    return None if value is None else make(at, value, doing)


def _all_options() -> Collection[str]:
    return {option for _, options in ACTIONS.values() for option in options}


def _outcome_of_word(word: str) -> Outcome:
    if word == "compact":
        return Outcome(requests=(Compact(),))
    return Outcome(halt=True) if word == "halt" else Outcome(Verdict[word.upper()])


def _verdict_parser(verdict: Verdict) -> ActionParser:
    def make(at: Node, value: Node, doing: HookInfo) -> Action | None:
        if value.value is True or value.value is None:
            return FixedAnswer(Outcome(verdict))
        return _answer_with_reason(Outcome(verdict), read_template(value, doing.vocabulary))

    return make


def _parse_halt(at: Node, value: Node, doing: HookInfo) -> Action | None:
    if value.value is True or value.value is None:
        return FixedAnswer(Outcome(halt=True))
    return _answer_with_reason(Outcome(halt=True), read_template(value, doing.vocabulary))


def _answer_with_reason(outcome: Outcome, reason: Template | None) -> Action | None:
    if reason is None:
        return None
    if all(name == "open_braces" for name in reason.names):
        return FixedAnswer(Outcome(outcome.verdict, reason.render(Event("", {})), halt=outcome.halt))
    return TemplateAnswer(outcome, reason)


def _parse_tell(at: Node, value: Node, doing: HookInfo) -> Action | None:
    if isinstance(value.value, str):
        return _note_action(Note(""), read_template(value, doing.vocabulary))
    value.check_keys(("text", "to", "place", "role", "position"), "tell")
    text = value.get("text")
    if text is None:
        value.add_problem("missing-key", f"{value.location}: text is missing.", "Write tell: {text: …, to: agent}.")
        return None
    to = read_choice(value, "to", [str(each) for each in Audience], "agent")
    place = read_choice(value, "place", [str(each) for each in NotePlace], "context")
    position = read_choice(value, "position", ("start", "before_last", "end"), "end")
    role = read_choice(value, "role", ROLES, "user")
    if to is None or place is None or role is None or position is None:
        return None
    return _note_action(Note("", Audience(to), NotePlace(place), role, position), read_template(text, doing.vocabulary))


def _note_action(note: Note, text: Template | None) -> Action | None:
    if text is None:
        return None
    if text.constant:
        kept = Note(text.source, note.audience, note.place, note.role, note.position)
        return FixedAnswer(Outcome(notes=(kept,)))
    return TemplateAnswer(SILENT, notes=((note, text),))


def _parse_log(at: Node, value: Node, doing: HookInfo) -> Action | None:
    if isinstance(value.value, str):
        text = read_template(value, doing.vocabulary)
        return None if text is None else Log(text)
    value.check_keys(("message", "level"), "log")
    message, level = value.get("message"), read_choice(value, "level", LEVELS, "info")
    if message is None:
        value.add_problem(
            "missing-key", f"{value.location}: message is missing.", "Write log: {message: …, level: info}."
        )
        return None
    text = read_template(message, doing.vocabulary)
    return None if text is None or level is None else Log(text, level)


def _parse_notify(at: Node, value: Node, doing: HookInfo) -> Action | None:
    untitled = compile_template(value, "", doing.vocabulary)
    if isinstance(value.value, str):
        text = read_template(value, doing.vocabulary)
        return None if text is None or untitled is None else Notify(text, untitled)
    value.check_keys(("message", "title", "level", "tag"), "notify")
    message, title, tag = value.get("message"), value.get("title"), value.get("tag")
    level = read_choice(value, "level", ("info", "warning", "error"), "info")
    if message is None:
        value.add_problem(
            "missing-key", f"{value.location}: message is missing.", "Write notify: {message: …, title: …}."
        )
        return None
    text = read_template(message, doing.vocabulary)
    head = untitled if title is None else read_template(title, doing.vocabulary)
    group = "" if tag is None else tag.text()
    if text is None or head is None or group is None or level is None:
        return None
    return Notify(text, head, level, group)


def _parse_run(at: Node, value: Node, doing: HookInfo) -> Action | None:
    return parse_run(at, value, doing.event, doing.vocabulary, doing.timeout)


def _parse_post(at: Node, value: Node, doing: HookInfo) -> Action | None:
    return parse_post(at, value, doing.event, doing.vocabulary, doing.timeout)


def _parse_script(at: Node, value: Node, doing: HookInfo) -> Action | None:
    source = value.text()
    given = at.get("variables")
    if given is None:
        event = compile_template(value, "{{event}}", doing.vocabulary)
        variables: DataTemplate | None = DataTemplate({"event": event})
    else:
        variables = read_data_template(given, doing.vocabulary) if given.mapping() is not None else None
    return None if source is None or variables is None else RunScript(source, variables, doing.timeout)


def _parse_compact(at: Node, value: Node, doing: HookInfo) -> Action | None:
    if value.value is True or value.value is None:
        return FixedAnswer(Outcome(requests=(Compact(),)))
    value.check_keys(("strategy", "keep_recent", "summary_max_tokens", "summary_prompt", "target_pressure"), "compact")
    before = len(at.problems)
    keep, most = value.get("keep_recent"), value.get("summary_max_tokens")
    prompt, target = value.get("summary_prompt"), value.get("target_pressure")
    request = Compact(
        read_choice(value, "strategy", ("summarize", "truncate"), "summarize") or "",
        10 if keep is None else keep.integer(least=0) or 0,
        1024 if most is None else most.integer(least=1) or 1,
        None if prompt is None else prompt.text(),
        None if target is None else target.number(least=0, most=1),
    )
    return FixedAnswer(Outcome(requests=(request,))) if len(at.problems) == before else None


def _parse_chain(at: Node, value: Node, doing: HookInfo) -> Action | None:
    stop = at.get("stop_on_failure")
    flag = False if stop is None else stop.flag()
    return None if flag is None else _parse_steps(value, doing, stop_on_failure=flag)


def _parse_steps(at: Node, doing: HookInfo, *, stop_on_failure: bool) -> Action | None:
    if at.sequence() is None:
        return None
    steps = [_parse_step(place, doing) for place in at.items()]
    found = tuple(step for step in steps if step is not None)
    return Chain(found, stop_on_failure) if len(found) == len(steps) else None


def total_timeout(made: Action, timeout: timedelta) -> timedelta:
    """How long the action may take where its author allowed so much."""
    return made.total_timeout if isinstance(made, RunProgram) else timeout


STEP_KEYS: Final = ("on_error", "timeout", "ends_chain", "name")


def _parse_step(at: Node, doing: HookInfo) -> ChainStep | None:
    given = at.value if isinstance(at.value, dict) else {}
    inner = Node(at.document, at.path, at.problems, at.value)
    if given:
        inner.value = {key: value for key, value in given.items() if key not in STEP_KEYS}
    limit, ends, on_error = at.get("timeout"), at.get("ends_chain"), at.get("on_error")
    timeout = doing.timeout if limit is None else limit.duration()
    flag = False if ends is None else ends.flag()
    outcome = None if on_error is None else parse_on_error(on_error)
    if timeout is None or flag is None or (outcome is None and on_error is not None):
        return None
    made = parse_action(inner, replace(doing, timeout=timeout))
    outcome = None if outcome is None else withhold_result(outcome, doing.event, doing.hook_id)
    named = at.get("name")
    name = default_step_name(at.value) if named is None else named.text()
    return None if made is None or name is None else ChainStep(name, made, outcome, total_timeout(made, timeout), flag)


def default_step_name(value: Any) -> str:
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
_RESULT_PATH: Final[FactPath] = ("tool", "result")
_OK_PATH: Final[FactPath] = ("tool", "ok")
ON_ERROR_WITH_REASON: Final = {"deny": ON_ERROR["closed"], "ask": ON_ERROR["ask"]}


def parse_on_error(at: Node) -> Outcome | None:
    """A word, or `{deny: reason}`, in which {failure} stands for what happened."""
    if isinstance(at.value, dict):
        return _parse_on_error_reason(at)
    word = at.one_of(ON_ERROR, hint="open lets the event proceed when the hook fails; closed denies it.")
    return None if word is None else ON_ERROR[word]


def withhold_result(outcome: Outcome, event: str, hook: str) -> Outcome:
    """Where it is too late to deny, but not to change the result, closed keeps all of the result from the agent."""
    kind = EVENTS[event]
    if outcome.verdict is not Verdict.DENY or kind.accepts & May.DENY or not kind.accepts_change(_RESULT_PATH):
        return outcome
    gone = tuple((path, REMOVED) for path in kind.changeable if path not in (_RESULT_PATH, _OK_PATH))
    told = (_RESULT_PATH, f"[withheld: hook {hook} could not check it]")
    return replace(outcome, verdict=Verdict.SILENT, changes=(told, *gone))


def undo_withhold_result(on_error: Outcome) -> Outcome:
    """The on_error as its author wrote it, where it withholds the result."""
    withholds = any(path == _RESULT_PATH for path, _ in on_error.changes)
    return replace(on_error, verdict=Verdict.DENY, changes=()) if withholds else on_error


def _parse_on_error_reason(at: Node) -> Outcome | None:
    at.check_keys(ON_ERROR_WITH_REASON, "on_error")
    said = [(word, place.text()) for word, place in at.entries() if word in ON_ERROR_WITH_REASON]
    if len(said) != 1 or len(at.value) != 1:
        at.add_problem("wrong-type", f"{at.location}: one answer is expected.", "Write on_error: {deny: reason}.")
        return None
    word, reason = said[0]
    return None if reason is None else replace(ON_ERROR_WITH_REASON[word], reason=reason)


def may_fail(made: Action) -> bool:
    """Whether it needs anything that can go wrong."""
    if isinstance(made, Chain):
        return any(may_fail(step.action) for step in made.steps)
    return not made.instant or isinstance(made, InvalidAction)


def may_stop(made: Action) -> bool:
    return bool(made.may & _STOPPING)


_STOPPING: Final = May.DENY | May.ASK
_DEFAULT_RESULT_FORMATS: Final = {"run": None, "post": ResultFormat.JSON, "call": ResultFormat.NEVER}
"""Whose answer is read from what it gets back, and how, where nobody wrote it; None: as its event has it."""
_INTENDED_VERDICTS: Final = {"deny": May.DENY, "halt": May.DENY, "ask": May.ASK, "judge": May.DENY, "script": _STOPPING}
ACTIONS: Final[dict[str, tuple[ActionParser, Collection[str]]]] = {
    "deny": (_verdict_parser(Verdict.DENY), ()),
    "ask": (_verdict_parser(Verdict.ASK), ()),
    "allow": (_verdict_parser(Verdict.ALLOW), ()),
    "halt": (_parse_halt, ()),
    "tell": (_parse_tell, ()),
    "log": (_parse_log, ()),
    "notify": (_parse_notify, ()),
    "set": (parse_change, CHANGE_KEYS),
    "remove": (parse_change, CHANGE_KEYS),
    "append": (parse_change, CHANGE_KEYS),
    "replace": (parse_change, CHANGE_KEYS),
    "run": (_parse_run, PROGRAM_KEYS),
    "post": (_parse_post, POST_KEYS),
    "script": (_parse_script, ("variables",)),
    "call": (parse_call, CALL_KEYS),
    "pipe": (parse_pipe, ()),
    "judge": (parse_judge, ("with",)),
    "compact": (_parse_compact, ()),
    "diagnose": (parse_diagnose, ()),
    "custom": (parse_custom_action, ()),
    "chain": (_parse_chain, ("stop_on_failure",)),
}


def write_action(action: Action, event: str, timeout: timedelta) -> Any:
    match action:
        case FixedAnswer(outcome):
            return _write_answer(outcome)
        case TemplateAnswer(outcome, reason, notes):
            return _write_say(outcome, reason, notes)
        case Log(text, level):
            return {"log": {"message": text.source, "level": level}}
        case Notify(message, title, level, tag):
            return {"notify": _write_notify(message, title, level, tag)}
        case ChangeFacts(edits):
            return _write_change(edits)
        case RunProgram():
            return _write_run(action, event, timeout)
        case RunScript(source, variables):
            return {"script": source, "variables": _write_data(variables)}
        case CallTool():
            return _write_call(action)
        case PostEvent():
            return _write_post(action, timeout)
        case AskModel(prompt, given):
            return {"judge": prompt} | ({} if _write_data(given) == "{{event}}" else {"with": _write_data(given)})
        case Diagnose():
            return {"diagnose": write_diagnose(action)}
        case CustomAction(name, _, params):
            return {"custom": {name: params}}
        case RunPython(name):
            raise NotExpressible(f"the Python function {name}")
        case Chain(steps, stop_on_failure):
            return {"chain": [_write_step(step, event, timeout) for step in steps], "stop_on_failure": stop_on_failure}
        case _:
            raise action_not_expressible(action)


def _write_answer(outcome: Outcome) -> Any:
    if outcome.halt:
        return {"halt": _escape_braces(outcome.reason) or True}
    if outcome.verdict is not Verdict.SILENT and not outcome.notes and not outcome.requests:
        return {outcome.verdict.word: _escape_braces(outcome.reason) or True}
    if len(outcome.notes) == 1 and outcome.verdict is Verdict.SILENT:
        return {"tell": _write_note(outcome.notes[0], _escape_braces(outcome.notes[0].text))}
    if len(outcome.requests) == 1:
        return {"compact": _write_compact(outcome.requests[0])}
    raise NotExpressible("an answer of several parts")


def _write_say(outcome: Outcome, reason: Template | None, notes: tuple[tuple[Note, Template], ...]) -> Any:
    if reason is not None and not notes:
        return {"halt" if outcome.halt else outcome.verdict.word: reason.source}
    if reason is None and len(notes) == 1 and outcome == SILENT:
        note, text = notes[0]
        return {"tell": _write_note(note, text.source)}
    raise NotExpressible("an answer of several parts")


def _write_note(note: Note, text: str) -> Any:
    if note == Note(note.text):
        return text
    value = {"text": text, "to": str(note.audience), "place": str(note.place)}
    if note.place is NotePlace.MESSAGE:
        value |= {"role": note.role, "position": note.position}
    return value


def _write_compact(request: Compact) -> dict[str, Any]:
    value = {
        "strategy": request.strategy,
        "keep_recent": request.keep_recent,
        "summary_max_tokens": request.summary_max_tokens,
        "summary_prompt": request.summary_prompt,
        "target_pressure": request.target_pressure,
    }
    return {key: held for key, held in value.items() if held is not None}


def _write_notify(message: Template, title: Template, level: str, tag: str) -> dict[str, Any]:
    value = {"message": message.source, "title": title.source, "level": level, "tag": tag}
    return {key: held for key, held in value.items() if held}


def _write_change(edits: tuple[Edit, ...]) -> dict[str, Any]:
    said: dict[str, Any] = {}
    for edit in edits:
        match edit:
            case Set(path, value):
                said.setdefault("set", {})[_write_path(path)] = _write_data(value)
            case Remove(path):
                said.setdefault("remove", []).append(_write_path(path))
            case Append(path, text):
                said.setdefault("append", {})[_write_path(path)] = text.source
            case Replace(path, pattern, new):
                said.setdefault("replace", []).append({"in": _write_path(path), "pattern": pattern.source, "with": new})
            case _:
                raise NotExpressible(f"its change of {path_text(edit.path)}")
    return said


def _write_path(path: FactPath) -> str:
    if any(not step or "." in step for step in map(str, path)):
        raise NotExpressible(f"the place {path_text(path)!r}: a dot in a name means a step here")
    return path_text(path)


def _write_run(action: RunProgram, event: str, timeout: timedelta) -> dict[str, Any]:
    if action.total_timeout != timeout:
        raise NotExpressible("a program with a deadline other than its hook's")
    value = _write_program(action.program)
    if action.only_if is not None:
        value["only_if"] = _write_program(action.only_if)["run"]
    return value | _write_result_keys(action.result_parser, default_result_format(event))


def _write_shell(shell: ShellTemplate) -> Any:
    """Braces that are none of ours stand in a text without placeholders."""
    return {"literal": shell.source} if not shell.names and DOUBLE_BRACES.search(shell.source) else shell.source


def _write_program(program: CommandTemplate) -> dict[str, Any]:
    value: dict[str, Any] = {"run": _write_shell(program.shell) if program.shell else [t.source for t in program.argv]}
    value["stdin"] = "none" if program.stdin is None else _write_data(program.stdin)
    if value["stdin"] == "{{event}}":
        del value["stdin"]
    if program.env:
        value["env"] = {name: None if text is None else text.source for name, text in program.env}
    if program.inherit_env is not True:
        value["inherit_env"] = program.inherit_env if program.inherit_env is False else list(program.inherit_env)
    if program.cwd is not None:
        value["cwd"] = program.cwd.source
    return value


def _write_post(action: PostEvent, timeout: timedelta) -> dict[str, Any]:
    if action.timeout != timeout:
        raise NotExpressible("a URL with a deadline other than its hook's")
    value: dict[str, Any] = {"post": action.url, "body": _write_data(action.body)}
    if value["body"] == "{{event}}":
        del value["body"]
    if action.headers:
        value["headers"] = dict(action.headers)
    if action.variables:
        value["variables"] = list(action.variables)
    return value | _write_result_keys(action.result_parser, ResultFormat.JSON)


def _write_result_keys(reading: ResultParser, usual: ResultFormat) -> dict[str, Any]:
    value: dict[str, Any] = {}
    if reading.format is not usual:
        value["reads"] = str(reading.format)
    if reading.tell is not None:
        value["tell"] = str(Audience(reading.tell))
    if reading.reason != DEFAULT_REASON:
        value["reason"] = reading.reason
    return value


def _write_call(call: CallTool) -> dict[str, Any]:
    value: dict[str, Any] = {"call": call.tool, "with": _write_data(call.input)}
    if call.literal:
        value["literal"] = dict(call.literal)
    if call.tell is not TellWhen.NEVER:
        value["tell"] = str(call.tell)
    if call.prefix:
        value["prefix"] = call.prefix
    if call.place is not NotePlace.CONTEXT:
        value["place"] = str(call.place)
    if call.role != "user":
        value["role"] = call.role
    if call.result_parser is not None:
        value["reads"] = str(call.result_parser.format)
    return value


def _write_step(step: ChainStep, event: str, timeout: timedelta) -> Any:
    value = write_action(step.action, event, step.timeout)
    more: dict[str, Any] = {}
    if step.name != default_step_name(value):
        more["name"] = step.name
    if step.on_error is not None:
        more["on_error"] = write_on_error(step.on_error)
    if step.ends_chain:
        more["ends_chain"] = True
    own = step.action.timeout if isinstance(step.action, RunProgram) else step.timeout
    if own != timeout:
        more["timeout"] = format_duration(own)
    return {**value, **more}


def write_on_error(outcome: Outcome) -> Any:
    outcome = undo_withhold_result(outcome)
    for word, known in ON_ERROR.items():
        if outcome == known:
            return word
    for word, known in ON_ERROR_WITH_REASON.items():
        if outcome == replace(known, reason=outcome.reason):
            return {word: outcome.reason}
    raise NotExpressible("its answer to an error has no word")


def _write_data(filled: DataTemplate) -> Any:
    return _template_sources(filled.value)


def _template_sources(value: Any) -> Any:
    if isinstance(value, Template):
        return value.source
    if isinstance(value, dict):
        return {key: _template_sources(held) for key, held in value.items()}
    if isinstance(value, str):
        return _escape_braces(value)
    return [_template_sources(held) for held in value] if isinstance(value, (list, tuple)) else value


def _escape_braces(text: str) -> str:
    """The text in such a way that nothing in it is taken for a placeholder."""
    return DOUBLE_BRACES.sub(lambda found: "{{open_braces}}" + found[0][2:], text)
