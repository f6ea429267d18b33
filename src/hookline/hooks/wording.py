"""The words of a dialect for messages about its files: events, answers, facts, keys and units.

Every hook carries the wording of its dialect in its origin, so that whoever speaks about a hook uses the words of its
file. A dialect declares only what differs from hookline's own format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import Final

from hookline.hooks.event import FactPath, parse_path, path_text
from hookline.hooks.events import event_name_in
from hookline.hooks.outcome import Outcome, Verdict
from hookline.hooks.protocols import Action, Condition, May
from hookline.hooks.templates import Template
from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import lazy_pattern

_PLACEHOLDER: Final = lazy_pattern(r"\{\{\s*([\w.-]+)(\s*(?:\|[^{}]*)?)\}\}")
_FACT: Final = lazy_pattern(
    r"(?<![\w./])(?:(?:tool|context|session|turn|error|stop|notification|subagent)\.[a-z_]+(?![\w/])|input(?=\.\w))"
)
NATIVE_ANSWERS: Final = {
    May.ALLOW: "allow",
    May.ASK: "ask",
    May.DENY: "deny",
    May.NOTES: "text for the agent",
    May.HALT: "halt",
    May.COMPACT: "compact",
}

OK_PHRASES: Final = {
    "not (tool.ok is false)": "the tool succeeded",
    "tool.ok is false is true, but must not be": "the tool failed",
    "tool.ok is true, not false": "the tool succeeded",
    "tool.ok is absent, not false": "there is no result",
    "tool.ok is false": "the tool failed",
}
"""For a dialect that has no word of its own for whether a tool succeeded. The longest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """Facts by the start of their path, the longest first."""

    dialect: str
    answers: Mapping[May, str] = field(default_factory=lambda: NATIVE_ANSWERS)
    facts: Mapping[str, str] = field(default_factory=dict)
    phrases: Mapping[str, str] = field(default_factory=dict)  # conditions that have a name of their own
    placeholders: Mapping[str, str] = field(default_factory=dict)
    """Those that are more than a fact: what stands in hookline's braces, without spaces → what the file has."""
    action_word: Callable[[Action], str | None] | None = None  # None: as hookline calls its actions
    condition_word: Callable[[Condition], str | None] | None = None
    unit: str = ""  # of a number that is a duration: ms or s; empty: durations are written with their unit
    order_key: str = "order"
    order_sign: int = 1  # -1: the highest runs first
    default_order: int = 0
    environment: Mapping[str, str | None] = field(default_factory=dict)
    """The variables that every program gets, as templates, so that they are not the author's; None: with any value."""
    failures: Mapping[str, str] = field(default_factory=dict)
    """What a failure means: where it `blocks`, `ends` the round or `tells` the agent, or by how an exit code is read."""
    run_earlier: str = "give it a lower order"
    never: str = "Remove the hook if that is what you want."
    wait: str = ""  # how to make a hook's answer count, if the dialect can say
    on_error: str = "on_error"
    only_if: str = "only_if"  # the command that decides whether the hook's own runs
    variables_key: str = "variables"  # lists the environment variables that a URL may use
    regex_of_name: str = ""  # how a regular expression is written in place of a glob; empty: it cannot be
    regex_of_field: str = ""
    glob_of_field: str = ""
    result_key: str = ""  # says how a program's result is read; empty: no key does
    own_tool: str = "write [{0}]{1}"
    """How to name a tool that looks like a typo of a known one: `{0}` is its first letter, `{1}` the rest."""
    input_rule: str = "This is only compared with names. Write {0} alone, and test its input elsewhere."
    """What to write for `{1}`, a tool with a test of its input, where only its name is read."""

    def event(self, event: str) -> str:
        return event_name_in(self.dialect, event) or event

    def events(self, events: Iterable[str]) -> list[str]:
        """The dialect's names for those of these events that it has."""
        is_native = self is NATIVE_WORDING
        names = (event if is_native else event_name_in(self.dialect, event) for event in events)
        return [name for name in names if name is not None]

    def answer_words(self, may: May) -> list[str]:
        return [word for flag, word in self.answers.items() if flag in may]

    def rejection(self, may: May, paths: Iterable[FactPath]) -> list[str]:
        """What an event does not accept: answers, and changes of these facts."""
        return list(dict.fromkeys([*self.answer_words(may), *(f"a change of {self.fact(path)}" for path in paths)]))

    def fact(self, path: FactPath) -> str:
        text = path_text(path)
        for ours, theirs in self.facts.items():
            if text == ours or text.startswith(f"{ours}."):
                return theirs + text[len(ours) :]
        return text

    def author_variables(self, given: Iterable[tuple[str, Template | None]]) -> tuple[tuple[str, Template | None], ...]:
        """Those of a program's environment variables that stand in the file."""
        return tuple((name, value) for name, value in given if not self._gives(name, value))

    def _gives(self, name: str, value: Template | None) -> bool:
        ours = self.environment.get(name)
        return name in self.environment and (ours is None or value is None or value.source == ours)

    def order(self, order: int) -> str:
        """As the file says it; empty for the default and where only the place in the file counts."""
        return "" if order == 0 else str(order * self.order_sign + self.default_order)

    def action(self, action: Action) -> str:
        """A noun phrase: the action shell."""
        word = self.action_word(action) if self.action_word is not None else None
        return action.label if word is None else f"the action {word}"

    def condition(self, condition: Condition) -> str:
        """A noun phrase: the condition tool_failed, the condition that input.path matches \\.env$."""
        word = self.condition_word(condition) if self.condition_word is not None else None
        return f"the condition that {self.explain(str(condition))}" if word is None else f"the condition {word}"

    def explain(self, text: str) -> str:
        """The text of a condition, or why it does not hold, with facts as the dialect calls them."""
        for ours, theirs in self.phrases.items():
            text = text.replace(ours, theirs)
        return _FACT.sub(self._explain_fact, text) if self.facts else text

    def _explain_fact(self, found: re.Match[str]) -> str:
        if found[0] == "input":  # a field, which conditions name without `tool`
            return self.facts.get("tool.input", found[0])
        return self.fact(parse_path(found[0]))

    def as_written(self, text: str) -> str:
        """A text with its placeholders as the dialect calls them."""
        return _PLACEHOLDER.sub(self._write_placeholder, text)

    def _write_placeholder(self, found: re.Match[str]) -> str:
        filter = "" if self.facts and found[2].strip(" |") == "or_empty" else found[2]
        own = self.placeholders.get(f"{found[1]}{filter}".replace(" ", ""))
        return f"{{{{{self.fact(parse_path(found[1]))}{filter}}}}}" if own is None else own

    def result(self, format: str) -> str:
        """How the result of a program is read."""
        return f"{self.result_key}: {format}" if self.result_key else "how its exit code and its output count"

    def duration(self, time: timedelta) -> str:
        """As the dialect counts: 200 ms, 1.5 s."""
        seconds = time.total_seconds()
        if self.unit == "ms" or (not self.unit and seconds < 1):
            return f"{time / timedelta(milliseconds=1):g} ms"
        return f"{seconds:g} s"

    def failure(self, on_error: Outcome, format: str | None) -> str:
        """What happens if a hook fails; empty where hookline's own words are used."""
        if on_error.notes and "tells" in self.failures:
            return self.failures["tells"]
        blocks, ends = on_error.verdict is Verdict.DENY, on_error.final
        return self.failures.get("blocks" if blocks else "ends" if ends else format or "", "")


NATIVE_WORDING: Final = Wording(
    dialect="native",
    never="Write `when: never` if that is what you want.",
    wait="Remove `background` if its answer should count.",
    regex_of_name="/{}/",
    regex_of_field="matches: '{}'",
    glob_of_field="glob: '{}'",
    result_key="reads",
)
"""Hooks that Python code registers use it too."""
