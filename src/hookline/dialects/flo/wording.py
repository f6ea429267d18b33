"""flo's words for messages about its files."""

from __future__ import annotations

from typing import Final

from hookline.dialects.flo.names import NAME
from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.actions.program_result import ResultFormat
from hookline.hooks.actions.run_program import RunProgram
from hookline.hooks.protocols import Action
from hookline.hooks.wording import Wording


def _action_word(action: Action) -> str | None:
    match action:
        case RunProgram():
            return "command"
        case FixedAnswer(outcome):
            return outcome.verdict.word
        case _:
            return None


WORDING: Final = Wording(
    dialect=NAME,
    input_rule='This is only compared with names. Write "matcher": "^{0}$", and inputMatchers for its input.',
    facts={
        "tool.input": "input",
        "tool.name": "toolName",
        "tool.result": "result",
        "stop.reason": "stopReason",
        "agent.id": "agentId",
        "workspace": "sandbox",
    },
    placeholders={"tool|content": "{{result}}"},
    action_word=_action_word,
    unit="ms",
    order_key="priority",
    order_sign=-1,
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
)
