"""All that happens, as lines for a person."""

from __future__ import annotations

import time
from typing import Final

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from hookline.cli.chat.flow import Flow, spoken
from hookline.cli.chat.words import (
    account_words,
    agent_notes,
    changes_of,
    input_words,
    mattered,
    result_lines,
    says_something,
    shortened,
    verdict_words,
)
from hookline.cli.output import safe
from hookline.engine.account import Decision
from hookline.hooks.outcome import Verdict
from hookline.runtime.happenings import (
    Answered,
    Called,
    Calling,
    Compacted,
    Decided,
    Ended,
    Ending,
    Happening,
    Noticed,
    Spawned,
    Spoke,
    Told,
    TryingAgain,
)

MOST_LINES: Final = 6  # of a result or a note
_COLOURS: Final = {Verdict.SILENT: "cyan", Verdict.ALLOW: "green", Verdict.ASK: "yellow", Verdict.DENY: "bold red"}
_LEVELS: Final = {"info": "cyan", "warning": "yellow", "error": "bold red"}
_ENDINGS: Final = {
    Ending.REFUSED: ("the prompt was not sent", "bold red"),
    Ending.HALTED: ("the agent was stopped", "bold red"),
    Ending.STEPS: ("stopped", "yellow"),
    Ending.SESSION_STOP: ("the agent ended the session", "green"),
    Ending.SESSION_FAIL: ("the agent gave up", "bold red"),
    Ending.FAILED: ("failed", "bold red"),
    Ending.CANCELLED: ("cancelled", "yellow"),
}
_ALREADY_SAID: Final = (Ending.REFUSED, Ending.HALTED)  # by the decision
_NARROWEST: Final = 20  # columns for words beside what stands before them


class Screen:
    """Call it with what happens. Lines of sub-agents are indented; what the main agent says comes as it says it."""

    def __init__(self, console: Console, *, speech: bool = True) -> None:
        self.console = console
        self._speech = speech
        self._main: str | None = None
        self._depths: dict[str, int] = {}
        self._held: dict[str, str] = {}  # what a sub-agent has said of a line that is not whole yet
        self._settled: set[str] = set()  # calls of which a line has said that they are not run, or asked about
        self._running: dict[str, Calling] = {}
        self._cancelled: set[str] = set()
        self._at_work: dict[str, str] = {}  # threads of sub-agents, and what each is called here
        self._named: str | None = None  # the sub-agent whose lines these are
        self._speaker = ""  # of two AIs, the one that was named last
        self._in_line = False
        self._flow = Flow()
        self._last = ""  # character of what is being said
        self._waiting = False
        self._happened = time.monotonic()

    def begin(self, main: str) -> None:
        """The thread that is talked to."""
        self._main = main
        self._depths = {main: 0}

    def __call__(self, happening: Happening) -> None:
        self._happened = time.monotonic()
        if self._main is None:
            self.begin(happening.thread)
        if isinstance(happening, Spoke):
            self._spoke(happening)
            return
        self._say_held(happening)
        match happening:
            case Decided(_, _, decision):
                self._decided(happening, decision)
            case Calling():
                self._calling(happening)
            case Called():
                self._called(happening)
            case Answered(_, _, _, yes, by):
                self._line(happening, "→", f"{'yes' if yes else 'no'}, {by}", "green" if yes else "red")
            case Told(_, _, text, level, _):
                self._line(happening, "!" if level != "info" else "»", text, _LEVELS.get(level, "cyan"))
            case Noticed(_, _, notice):
                words = f"{notice.title}: {notice.message}" if notice.title else notice.message
                self._line(happening, "»", f"{words}  [{notice.hook}]", _LEVELS.get(notice.level, "cyan"))
            case TryingAgain(_, _, code, text, seconds):
                self._line(happening, "↻", f"{code}: {text}; again in {seconds:g} s", "yellow")
            case Compacted(_, _, gone, summary):
                self._line(happening, "≡", f"{gone} earlier messages became one: {shortened(summary)}", "cyan")
            case Spawned(_, _, child, child_agent, task):
                self._depths[child] = self._depth(happening) + 1
                self._at_work[child] = self._label(child_agent)
                self._line(happening, "▸", f"{self._at_work[child]}: {shortened(task)}", "bold")
            case Ended():
                self._ended(happening)

    # Words of the chat itself

    def waiting(self, since: float) -> None:
        """A line that goes away with the next thing that happens: what is waited for, and how long nothing came."""
        seconds = int(time.monotonic() - max(since, self._happened))
        if self._in_line or not seconds or not self.console.is_terminal or self.console.is_dumb_terminal:
            return
        what = ", ".join(dict.fromkeys(calling.call.name for calling in self._running.values())) or "the model"
        shown = Text(self._fit(f"  … {what}, {seconds} s"), "dim")
        shown.truncate(self.console.width - 1)
        self.clear()
        self.console.print(shown, end="", soft_wrap=True)
        self._waiting = True

    def clear(self) -> None:
        """Nothing is waited for any more, or something else is to be shown."""
        if self._waiting:
            self._waiting = False
            self.console.file.write("\r\x1b[K")
            self.console.file.flush()

    def say(self, text: str, style: str = "") -> None:
        """Lines that nobody's agent or hook made; still, not a character of them moves the cursor."""
        self._end_line()
        for line in text.split("\n"):
            words = line.lstrip(" ")
            self._print(" " * (len(line) - len(words)), words, style)

    def prompt(self, text: str) -> None:
        """What the person said, where the terminal does not show it already."""
        self._end_line()
        self.console.print()
        for number, line in enumerate(text.split("\n")):
            self._print("  " if number else "› ", line, "bold")

    def named(self, name: str, words: str) -> None:
        """A name, and what is said of it beside it."""
        self._end_line()
        self._print(f"  {name:<13}", words)

    # What happens

    def _spoke(self, said: Spoke) -> None:
        if not self._speech:
            return
        introduced = self._introduced(said)
        if self._depth(said):
            whole, newline, rest = (self._held.get(said.thread, "") + said.text).rpartition("\n")
            self._held[said.thread] = rest
            if newline:
                self._line(said, "", whole)
            return
        if not self._in_line and not introduced:
            self.clear()
            self.console.out("", highlight=False)
        self._in_line = True
        shown = self._encoded(spoken(said.text.expandtabs(4), self._last))
        self._last = said.text[-1:] or self._last
        self._out(self._flow.takes(shown, self.console.width) if self.console.is_terminal else shown)

    def _introduced(self, happening: Happening) -> bool:
        """Names the one of two AIs whose words and calls come now, unless it is the one who spoke before."""
        if happening.speaker in ("", self._speaker):
            return False
        self._say_held(happening)
        self._end_line()
        depth, self._speaker = self._depth(happening), happening.speaker
        if not depth:
            self.console.out("", highlight=False)
        self._print("  │ " * depth, happening.speaker, "bold")
        return True

    def _out(self, text: str) -> None:
        self.console.out(text, end="", highlight=False)
        self.console.file.flush()

    def _say_held(self, happening: Happening) -> None:
        held = self._held.pop(happening.thread, "")
        if held.strip():
            self._line(happening, "", held)

    def _decided(self, happening: Happening, decision: Decision) -> None:
        if decision.event.name == "tool.before" or not says_something(decision):  # the call itself is told next
            return
        words = verdict_words(decision)
        changed = f"changed {', '.join(changes_of(decision))}" if changes_of(decision) else ""
        asked = "compacts the history" if decision.requests else ""
        said = "; ".join(filter(None, (words, changed, asked)))
        self._line(happening, "◆", f"{decision.event.name}  {said}".rstrip(), _COLOURS[decision.verdict])
        self._accounts(happening, decision)

    def _calling(self, calling: Calling) -> None:
        call, decision = calling.call, calling.decision
        self._running[call.id] = calling
        self._introduced(calling)
        whose = f"  [{call.caller}]" if call.caller else ""
        self._line(calling, "↳" if call.beside else "●", f"{call.name} {input_words(call.input)}{whose}", "bold")
        left = decision.event.read(("tool", "input"))
        if isinstance(left, dict) and left != call.input:
            self._line(calling, "", f"changed: {input_words(left)}", "cyan")
        if words := verdict_words(decision):
            self._settled |= {call.id} if decision.halt or decision.verdict >= Verdict.ASK else set()
            mark = {Verdict.DENY: "✗", Verdict.ASK: "?"}.get(decision.verdict, "")
            self._line(calling, mark, words, _COLOURS[decision.verdict])
        self._accounts(calling, decision)

    def _accounts(self, happening: Happening, decision: Decision) -> None:
        for account in mattered(decision):
            self._line(happening, "", account_words(account), "magenta")
        for note in agent_notes(decision):
            for number, line in enumerate(result_lines(note, MOST_LINES)):
                self._line(happening, "", f"{'' if number else 'for the agent: '}{line}", "cyan")

    def _called(self, called: Called) -> None:
        result, id = called.result, called.call.id
        self._running.pop(id, None)
        if id in self._cancelled or (not called.ran and id in self._settled):
            return
        if called.call.beside and result.ok:
            return
        lines = result_lines(result.content if result.ok else result.error, MOST_LINES) or ["done"]
        for number, line in enumerate(lines):
            self._line(called, "" if number else ("✓" if result.ok else "✗"), line, "dim" if result.ok else "red")

    def _ended(self, ended: Ended) -> None:
        self._at_work.pop(ended.thread, None)
        self._speaker = ""
        if ended.ending is Ending.CANCELLED:  # that says it of the calls that ran, too
            self._cancelled |= {id for id, calling in self._running.items() if calling.thread == ended.thread}
            self._running = {id: each for id, each in self._running.items() if id not in self._cancelled}
        if ended.ending is Ending.ANSWERED:
            self._end_line()
            return
        words, style = _ENDINGS[ended.ending]
        said = ended.ending in _ALREADY_SAID or not ended.text
        text = words if said else ended.text if ended.text.startswith(words) else f"{words}: {ended.text}"
        self._line(ended, "■", text, style)

    # Lines

    def _label(self, agent: str) -> str:
        """Its name; of several at work at once, the others with a number."""
        taken = self._at_work.values()
        return next(name for name in (agent, *(f"{agent} {n}" for n in range(2, len(taken) + 3))) if name not in taken)

    def _depth(self, happening: Happening) -> int:
        return self._depths.get(happening.thread, 1)

    def _line(self, happening: Happening, mark: str, text: str, style: str = "") -> None:
        self._end_line()
        depth = self._depth(happening)
        indent = "  │ " * depth
        others = len(self._at_work) > 1 or self._named is not None
        if depth and others and self._named != happening.thread:
            name = self._at_work.get(happening.thread, happening.agent)
            self.console.print(Text(self._fit(f"{indent}{name}"), "bold dim"), soft_wrap=True)
        self._named = happening.thread if depth else None
        for number, line in enumerate(text.split("\n")):
            self._print(f"{indent}  {mark if number == 0 else '':<2}", line, style, f"{indent}    ")

    def _print(self, lead: str, text: str, style: str = "", below: str | None = None) -> None:
        """Words that do not fit into the terminal's line go on in the next one, behind what stands `below` the lead."""
        words, room = Text(self._fit(text), style), max(self.console.width - cell_len(lead), _NARROWEST)
        lines = words.wrap(self.console, room) if self.console.is_terminal and words.cell_len > room else [words]
        for number, line in enumerate(lines):
            before = lead if number == 0 else " " * cell_len(lead) if below is None else below
            self.console.print(Text.assemble((self._fit(before), "dim"), line), soft_wrap=True)

    def _end_line(self) -> None:
        self.clear()
        if self._in_line:
            self._out(self._flow.rest(self.console.width) + "\n")
            self._in_line, self._last = False, ""

    def _fit(self, text: str) -> str:
        """What this terminal can show, and nothing that could do something to it."""
        return self._encoded(safe(text.expandtabs(4)))

    def _encoded(self, text: str) -> str:
        return text.encode(self.console.encoding, "backslashreplace").decode(self.console.encoding)
