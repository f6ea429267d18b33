"""The session as a timeline for people: what was tried, what was decided, by which hook and why."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from hookline.demo.script import Call, Stop
from hookline.engine.account import Account, Decision
from hookline.hooks.host import ToolResult
from hookline.hooks.outcome import Verdict

_COLOURS = {Verdict.SILENT: "green", Verdict.ALLOW: "green", Verdict.ASK: "yellow", Verdict.DENY: "red"}
_MOST_LINES = 6


class Timeline:
    def __init__(self, console: Console) -> None:
        self._console = console
        self._number = 0

    def prompt(self, text: str, decision: Decision) -> None:
        self._head("you", text)
        self._decision(decision, "proceeds")

    def call(self, call: Call, decision: Decision) -> None:
        self._head("agent", call.says)
        self._line("tool", f"{call.tool} {_short(call.input)}")
        left = decision.event.facts["tool"]["input"]
        if left != call.input:
            self._line("changed", f"{call.tool} {_short(left)}", "cyan")
        word = {Verdict.DENY: "denied", Verdict.ASK: "asked"}.get(decision.verdict, "runs")
        self._decision(decision, word)

    def answer(self, yes: bool) -> None:
        self._line("person", "yes" if yes else "no, not today: the command does not run", "yellow")

    def result(self, result: ToolResult, decision: Decision) -> None:
        lines = str(result.content).strip().splitlines() or ["(no output)"]
        for line in lines[:_MOST_LINES]:
            self._line("result", line, "dim" if result.ok else "red")
        self._decision(decision, "")

    def stop(self, stop: Stop, decision: Decision) -> None:
        self._head("agent", stop.says)
        self._line("stop", "the agent wants to stop")
        self._decision(decision, "goes on" if decision.denied else "stops")

    def _head(self, who: str, text: str) -> None:
        self._number += 1
        self._console.print()
        self._console.print(Text.assemble((f"{self._number:>2}  {who:<11}", "bold"), text), soft_wrap=True)

    def _line(self, name: str, text: str, style: str = "") -> None:
        self._console.print(Text.assemble((f"    {name:<11}", "dim"), (text, style)), soft_wrap=True)

    def _decision(self, decision: Decision, word: str) -> None:
        """Which hooks spoke, where they stand, and why."""
        if word:
            reason = f": {decision.reason}" if decision.reason else ""
            self._line("→", f"{word}{reason}", f"bold {_COLOURS[decision.verdict]}")
        for account in decision.trace:
            self._line("hook", _account(account), "magenta")
        for note in decision.notes:
            for line in note.text.splitlines()[-_MOST_LINES:]:
                self._line(f"for {note.audience}", line, "cyan")


def _account(account: Account) -> str:
    origin = account.hook.origin
    return f"{account.hook.id} ({origin.file}:{origin.line}) because {account.why}"


def _short(input: dict[str, object]) -> str:
    return "  ".join(f"{name}={str(value)[:70]!r}" for name, value in input.items())
