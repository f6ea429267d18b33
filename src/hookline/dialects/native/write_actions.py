"""Actions in the native format's own words."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from hookline.config.duration import duration_text
from hookline.dialects.native.actions import ON_ERROR, SAID_ON_ERROR, as_said, step_name
from hookline.dialects.native.outside import diagnose_value
from hookline.dialects.native.programs import default_reads
from hookline.dialects.unsaid import Unsaid, unsaid_action
from hookline.hooks.action import Action
from hookline.hooks.actions.answer import Answer, Say
from hookline.hooks.actions.call import Call, Tell
from hookline.hooks.actions.chain import Chain, Step
from hookline.hooks.actions.change import Append, Change, Edit, Remove, Replace, Set
from hookline.hooks.actions.custom import Custom
from hookline.hooks.actions.diagnose import Diagnose
from hookline.hooks.actions.http import PostEvent
from hookline.hooks.actions.judge import Judge
from hookline.hooks.actions.program import Program, Run
from hookline.hooks.actions.python import RunPython
from hookline.hooks.actions.reading import REASON, Reading, Reads
from hookline.hooks.actions.script import RunScript
from hookline.hooks.actions.tell import Log, Notify
from hookline.hooks.event import Path, path_text
from hookline.hooks.filled import Filled
from hookline.hooks.outcome import SILENT, Audience, Compact, Note, Outcome, Place, Verdict
from hookline.hooks.placeholder import DOUBLE
from hookline.hooks.template import ShellTemplate, Template


def action_value(action: Action, event: str, timeout: timedelta) -> Any:
    match action:
        case Answer(outcome):
            return _answer(outcome)
        case Say(outcome, reason, notes):
            return _say(outcome, reason, notes)
        case Log(text, level):
            return {"log": {"message": text.source, "level": level}}
        case Notify(message, title, level, tag):
            return {"notify": _notify(message, title, level, tag)}
        case Change(edits):
            return _change(edits)
        case Run():
            return _run(action, event, timeout)
        case RunScript(source, variables):
            return {"script": source, "variables": _plain(variables)}
        case Call():
            return _call(action)
        case PostEvent():
            return _post(action, timeout)
        case Judge(prompt, given):
            return {"judge": prompt} | ({} if _plain(given) == "{{event}}" else {"with": _plain(given)})
        case Diagnose():
            return {"diagnose": diagnose_value(action)}
        case Custom(name, _, params):
            return {"custom": {name: params}}
        case RunPython(name):
            raise Unsaid(f"the Python function {name}")
        case Chain(steps, stop_on_failure):
            return {"chain": [_step(step, event, timeout) for step in steps], "stop_on_failure": stop_on_failure}
        case _:
            raise unsaid_action(action)


def _answer(outcome: Outcome) -> Any:
    if outcome.halt:
        return {"halt": _as_it_is(outcome.reason) or True}
    if outcome.verdict is not Verdict.SILENT and not outcome.notes and not outcome.requests:
        return {outcome.verdict.word: _as_it_is(outcome.reason) or True}
    if len(outcome.notes) == 1 and outcome.verdict is Verdict.SILENT:
        return {"tell": _note(outcome.notes[0], _as_it_is(outcome.notes[0].text))}
    if len(outcome.requests) == 1:
        return {"compact": _compact(outcome.requests[0])}
    raise Unsaid("an answer of several parts")


def _say(outcome: Outcome, reason: Template | None, notes: tuple[tuple[Note, Template], ...]) -> Any:
    if reason is not None and not notes:
        return {"halt" if outcome.halt else outcome.verdict.word: reason.source}
    if reason is None and len(notes) == 1 and outcome == SILENT:
        note, text = notes[0]
        return {"tell": _note(note, text.source)}
    raise Unsaid("an answer of several parts")


def _note(note: Note, text: str) -> Any:
    if note == Note(note.text):
        return text
    value = {"text": text, "to": str(note.audience), "place": str(note.place)}
    if note.place is Place.MESSAGE:
        value |= {"role": note.role, "position": note.position}
    return value


def _compact(request: Compact) -> dict[str, Any]:
    value = {
        "strategy": request.strategy,
        "keep_recent": request.keep_recent,
        "summary_max_tokens": request.summary_max_tokens,
        "summary_prompt": request.summary_prompt,
        "target_pressure": request.target_pressure,
    }
    return {key: held for key, held in value.items() if held is not None}


def _notify(message: Template, title: Template, level: str, tag: str) -> dict[str, Any]:
    value = {"message": message.source, "title": title.source, "level": level, "tag": tag}
    return {key: held for key, held in value.items() if held}


def _change(edits: tuple[Edit, ...]) -> dict[str, Any]:
    said: dict[str, Any] = {}
    for edit in edits:
        match edit:
            case Set(path, value):
                said.setdefault("set", {})[_place(path)] = _plain(value)
            case Remove(path):
                said.setdefault("remove", []).append(_place(path))
            case Append(path, text):
                said.setdefault("append", {})[_place(path)] = text.source
            case Replace(path, pattern, new):
                said.setdefault("replace", []).append({"in": _place(path), "pattern": pattern.source, "with": new})
            case _:
                raise Unsaid(f"its change of {path_text(edit.path)}")
    return said


def _place(path: Path) -> str:
    if any(not step or "." in step for step in map(str, path)):
        raise Unsaid(f"the place {path_text(path)!r}: a dot in a name means a step here")
    return path_text(path)


def _run(action: Run, event: str, timeout: timedelta) -> dict[str, Any]:
    if action.longest != timeout:
        raise Unsaid("a program with a deadline other than its hook's")
    value = _program(action.program)
    if action.only_if is not None:
        value["only_if"] = _program(action.only_if)["run"]
    return value | _reading(action.reading, default_reads(event))


def _shell(shell: ShellTemplate) -> Any:
    """Braces that are none of ours stand in a text without placeholders."""
    return {"literal": shell.source} if not shell.names and DOUBLE.search(shell.source) else shell.source


def _program(program: Program) -> dict[str, Any]:
    value: dict[str, Any] = {"run": _shell(program.shell) if program.shell else [t.source for t in program.argv]}
    value["stdin"] = "none" if program.stdin is None else _plain(program.stdin)
    if value["stdin"] == "{{event}}":
        del value["stdin"]
    if program.env:
        value["env"] = {name: None if text is None else text.source for name, text in program.env}
    if program.inherit_env is not True:
        value["inherit_env"] = program.inherit_env if program.inherit_env is False else list(program.inherit_env)
    if program.cwd is not None:
        value["cwd"] = program.cwd.source
    return value


def _post(action: PostEvent, timeout: timedelta) -> dict[str, Any]:
    if action.timeout != timeout:
        raise Unsaid("a URL with a deadline other than its hook's")
    value: dict[str, Any] = {"post": action.url, "body": _plain(action.body)}
    if value["body"] == "{{event}}":
        del value["body"]
    if action.headers:
        value["headers"] = dict(action.headers)
    if action.variables:
        value["variables"] = list(action.variables)
    return value | _reading(action.reading, Reads.JSON)


def _reading(reading: Reading, usual: Reads) -> dict[str, Any]:
    value: dict[str, Any] = {}
    if reading.how is not usual:
        value["reads"] = str(reading.how)
    if reading.tell is not None:
        value["tell"] = str(Audience(reading.tell))
    if reading.reason != REASON:
        value["reason"] = reading.reason
    return value


def _call(call: Call) -> dict[str, Any]:
    value: dict[str, Any] = {"call": call.tool, "with": _plain(call.input)}
    if call.literal:
        value["literal"] = dict(call.literal)
    if call.tell is not Tell.NEVER:
        value["tell"] = str(call.tell)
    if call.prefix:
        value["prefix"] = call.prefix
    if call.place is not Place.CONTEXT:
        value["place"] = str(call.place)
    if call.role != "user":
        value["role"] = call.role
    if call.reading is not None:
        value["reads"] = str(call.reading.how)
    return value


def _step(step: Step, event: str, timeout: timedelta) -> Any:
    value = action_value(step.action, event, step.timeout)
    more: dict[str, Any] = {}
    if step.name != step_name(value):
        more["name"] = step.name
    if step.on_error is not None:
        more["on_error"] = error_value(step.on_error)
    if step.ends_chain:
        more["ends_chain"] = True
    own = step.action.timeout if isinstance(step.action, Run) else step.timeout
    if own != timeout:
        more["timeout"] = duration_text(own)
    return {**value, **more}


def error_value(outcome: Outcome) -> Any:
    outcome = as_said(outcome)
    for word, known in ON_ERROR.items():
        if outcome == known:
            return word
    for word, known in SAID_ON_ERROR.items():
        if outcome == replace(known, reason=outcome.reason):
            return {word: outcome.reason}
    raise Unsaid("its answer to an error has no word")


def _plain(filled: Filled) -> Any:
    return _sources(filled.value)


def _sources(value: Any) -> Any:
    if isinstance(value, Template):
        return value.source
    if isinstance(value, dict):
        return {key: _sources(held) for key, held in value.items()}
    if isinstance(value, str):
        return _as_it_is(value)
    return [_sources(held) for held in value] if isinstance(value, (list, tuple)) else value


def _as_it_is(text: str) -> str:
    """The text in such a way that nothing in it is taken for a placeholder."""
    return DOUBLE.sub(lambda found: "{{open_braces}}" + found[0][2:], text)
