"""The words of a dialect for messages about its files: events, answers, facts, keys and units."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import Final

from hookline.hooks.actions.program_result import ResultFormat
from hookline.hooks.event import FactPath, parse_path, path_text
from hookline.hooks.events import event_name_in
from hookline.hooks.hook import Hook
from hookline.hooks.outcome import Verdict
from hookline.hooks.protocols import May
from hookline.lazy_dataclasses import dataclass, field

_PLACEHOLDER: Final = re.compile(r"\{\{\s*([\w.-]+)(\s*(?:\|[^{}]*)?)\}\}")
_FACT: Final = re.compile(r"(?<![\w./])(?:tool|context|session|turn|error|stop)\.[a-z_]+(?![\w/])")
_NATIVE_ANSWERS: Final = {
    May.ALLOW: "allow",
    May.ASK: "ask",
    May.DENY: "deny",
    May.NOTES: "text for the agent",
    May.HALT: "halt",
    May.COMPACT: "compact",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wording:
    """What differs from hookline's own format. Facts by the start of their path, the longest first."""

    dialect: str
    answers: Mapping[May, str] = field(default_factory=lambda: _NATIVE_ANSWERS)
    facts: Mapping[str, str] = field(default_factory=dict)
    phrases: Mapping[str, str] = field(default_factory=dict)  # conditions that have a name of their own
    unit: str = ""  # of a number that is a duration: ms or s; empty: durations are written with their unit
    order_key: str = "order"
    priority: Callable[[int], int] | None = None  # of hookline's order
    default_order: int = 0
    adds_environment: bool = False  # to every program, so that its variables are not the author's
    failures: Mapping[str, str] = field(default_factory=dict)
    """What a failure means: where it `blocks`, where it `ends` the round, or by how an exit code is read."""
    run_earlier: str = "give it a lower order"
    never: str = "Remove the hook if that is what you want."
    wait: str = ""  # how to make a hook's answer count, if the dialect can say
    on_error: str = "on_error"

    def event(self, event: str) -> str:
        return event_name_in(self.dialect, event) or event

    def events(self, events: Iterable[str]) -> list[str]:
        """The dialect's names for those of these events that it has."""
        names = (event if self.dialect == "native" else event_name_in(self.dialect, event) for event in events)
        return [name for name in names if name is not None]

    def answer_words(self, may: May) -> list[str]:
        return [word for flag, word in self.answers.items() if flag in may]

    def fact(self, path: FactPath) -> str:
        text = path_text(path)
        for ours, theirs in self.facts.items():
            if text == ours or text.startswith(f"{ours}."):
                return theirs + text[len(ours) :]
        return text

    def order(self, order: int) -> str:
        """As the file says it; empty for the default and where only the place in the file counts."""
        number = self.priority(order) if self.priority is not None else order
        return "" if number == self.default_order else str(number)

    def condition(self, text: str) -> str:
        """The text of a condition, with facts as the dialect calls them."""
        for ours, theirs in self.phrases.items():
            text = text.replace(ours, theirs)
        return _FACT.sub(lambda found: self.fact(parse_path(found[0])), text)

    def as_written(self, text: str) -> str:
        """A command with its placeholders as the dialect calls them."""
        return _PLACEHOLDER.sub(lambda found: f"{{{{{self.fact(parse_path(found[1]))}{found[2]}}}}}", text)

    def duration(self, time: timedelta) -> str:
        """As the dialect counts: 200 ms, 1.5 s."""
        if self.unit == "ms":
            return f"{time / timedelta(milliseconds=1):g} ms"
        return f"{time.total_seconds():g} s"


_BLOCK: Final = {**_NATIVE_ANSWERS, May.DENY: "block"}
_WORDINGS: Final = {
    "native": Wording(
        dialect="native",
        never="Write `when: never` if that is what you want.",
        wait="Remove `background` if its answer should count.",
    ),
    "flo": Wording(
        dialect="flo",
        facts={
            "tool.input": "input",
            "tool.name": "toolName",
            "tool.result": "result",
            "stop.reason": "stopReason",
            "agent.id": "agentId",
            "workspace": "sandbox",
        },
        unit="ms",
        order_key="priority",
        priority=lambda order: -order,
        failures={
            "blocks": "continueOnError: false: a non-zero exit and an error deny",
            "ends": "continueOnError: false: a failure ends the remaining rules",
            "": "an error denies nothing",
            ResultFormat.NONZERO: "continueOnError not set: a non-zero exit denies, an error does not",
            ResultFormat.ERROR: "continueOnError: true: nothing denies",
            ResultFormat.NEVER: "nothing denies",
        },
        run_earlier="give it a higher priority",
        on_error="continueOnError",
    ),
    "microai": Wording(
        dialect="microai",
        answers=_BLOCK,
        facts={
            "tool.name": "TOOL_NAME",
            "tool.input": "INPUT",
            "tool.result": "OUTPUT",
            "prompt": "PROMPT",
            "user.name": "USER_NAME",
            "workspace": "PROJECT_ROOT",
        },
        unit="ms",
        adds_environment=True,
        failures={
            "blocks": "continueOnFailure: false: a failure blocks",
            "ends": "continueOnFailure: false: a failure ends the remaining hooks",
            ResultFormat.ERROR: "continues",
        },
        run_earlier="move it up in the file",
        on_error="continueOnFailure",
    ),
    "ai_agents": Wording(
        dialect="ai_agents",
        answers=_BLOCK,
        facts={"tool.name": "tool_name", "tool.input": "tool_input", "tool.result": "tool_response"},
        unit="s",
        adds_environment=True,
        failures={
            "blocks": "onFailure: block",
            ResultFormat.JSON: "exit code 2 blocks, another failure is shown",
            ResultFormat.CLAUDE: "exit code 2 blocks, another failure is shown",
        },
        run_earlier="move it up in the file",
    ),
    "claude_code": Wording(
        dialect="claude_code",
        answers=_BLOCK,
        facts={"tool.name": "tool_name", "tool.input": "tool_input", "tool.result": "tool_response"},
        unit="s",
        adds_environment=True,
        failures={
            "blocks": "onFailure: block",
            ResultFormat.JSON: "exit code 2 blocks, another failure is shown",
            ResultFormat.CLAUDE: "exit code 2 blocks, another failure is shown",
        },
        run_earlier="move it up in the file",
        wait="Remove `async` if its answer should count.",
        on_error="onFailure",
    ),
    "digitorn": Wording(
        dialect="digitorn",
        answers={
            **_NATIVE_ANSWERS,
            May.DENY: "gate",
            May.NOTES: "inject_message or another text for the agent",
            May.COMPACT: "compact_context",
        },
        facts={
            "tool.ok": "tool_failed",
            "tool.input": "tool.params",
            "error.code": "error_code",
            "context.pressure": "context_pressure",
            "session.tool_calls": "tool_calls",
            "messages": "message_count",
            "turn.number": "turn_count",
        },
        phrases={"tool.ok is false": "tool_failed"},
        unit="s",
        order_key="priority",
        priority=lambda order: order + 100,
        default_order=100,
        failures={ResultFormat.ERROR: "logged"},
        run_earlier="give it a lower priority",
    ),
    "standard_agents": Wording(dialect="standard_agents", run_earlier="list it earlier"),
}


def failure_text(hook: Hook, format: ResultFormat | None) -> str:
    """What happens if the hook fails, in the words of its file; empty where hookline's own words are used."""
    words = wording_of(hook.origin.dialect)
    blocks, ends = hook.on_error.verdict is Verdict.DENY, hook.on_error.final
    return words.failures.get("blocks" if blocks else "ends" if ends else str(format or ""), "")


def wording_of(dialect: str) -> Wording:
    """Hooks that Python code registers use hookline's own words."""
    return _WORDINGS.get(dialect, _WORDINGS["native"])


def event_name(hook: Hook) -> str:
    """The hook's event as its file calls it."""
    return wording_of(hook.origin.dialect).event(hook.event)
