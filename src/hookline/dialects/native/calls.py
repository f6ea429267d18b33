"""`call:`, `pipe:` and `judge:` — what the host's tools and its model are asked."""

from __future__ import annotations

from typing import Final

from hookline.config.shape import Reader
from hookline.dialects.native.doing import Doing
from hookline.dialects.native.programs import reading_of
from hookline.dialects.native.texts import filled, word_of
from hookline.hooks.action import Action
from hookline.hooks.actions.call import Call, Tell
from hookline.hooks.actions.judge import Judge
from hookline.hooks.actions.reading import Reads
from hookline.hooks.facts import Names
from hookline.hooks.filled import Filled
from hookline.hooks.outcome import Place
from hookline.hooks.template import template

ROLES: Final = ("user", "assistant", "system")
CALL_KEYS: Final = ("with", "literal", "tell", "prefix", "place", "role", "reads")


def call(at: Reader, value: Reader, doing: Doing) -> Action | None:
    before = len(at.problems)
    tool, given, literal, reads = value.text(), at.get("with"), at.get("literal"), at.get("reads")
    input = Filled({}) if given is None else filled(given, doing.tongue) if given.mapping() is not None else None
    extra = {} if literal is None else literal.mapping()
    tell = word_of(at, "tell", [str(each) for each in Tell], "never")
    place = word_of(at, "place", [str(each) for each in Place], "context")
    role, prefix = word_of(at, "role", ROLES, "user"), at.get("prefix")
    ahead = "" if prefix is None else prefix.text(empty=True)
    reading = None if reads is None else reading_of(at, Reads.NEVER, telling=False)
    if len(at.problems) > before or tool is None or input is None:
        return None
    told = Tell(tell or "never")
    return Call(
        tool, input, tuple((extra or {}).items()), told, ahead or "", Place(place or "context"), role or "", reading
    )


def pipe(at: Reader, value: Reader, doing: Doing) -> Action | None:
    """The current tool's output into another tool: a call, by the words people know for it."""
    value.keys(("to", "map", "extra"), "pipe")
    to, given, extra = value.get("to"), value.get("map"), value.get("extra")
    if to is None:
        value.problem("missing-key", f"{value.place}: to is missing.", "Write pipe: {to: a tool, map: {field: …}}.")
        return None
    tool = to.text()
    input = Filled({}) if given is None else filled(given, doing.tongue)
    literal = {} if extra is None else extra.mapping()
    if tool is None or input is None or literal is None:
        return None
    return Call(tool, input, tuple(literal.items()))


def judge(at: Reader, value: Reader, doing: Doing) -> Action | None:
    """The model's opinion; what it is given stands for $ARGUMENTS, and is the whole event where nothing is written."""
    prompt, given = value.text(), at.get("with")
    told = Filled(template("{{event}}", Names(doing.tongue))) if given is None else filled(given, doing.tongue)
    return None if prompt is None or told is None else Judge(prompt, told)
