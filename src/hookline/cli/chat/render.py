"""Shows updates as lines on the terminal: word wrapping, short texts for decisions and calls, and the screen."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from typing import Any, Final

from rich.cells import cell_len, get_character_cell_size
from rich.console import Console
from rich.text import Text

from hookline.cli.output import printable_lines
from hookline.engine.book import Book
from hookline.engine.decision import Decision, TraceEntry
from hookline.formatting import printable
from hookline.hooks.hook import Hook
from hookline.hooks.outcome import Audience, Outcome, Verdict
from hookline.hooks.tools import find_main_field
from hookline.runtime.update_json import applied_accounts, changed_facts
from hookline.runtime.updates import (
    ApprovalAnswered,
    DecisionMade,
    Ending,
    ExchangeEnded,
    HistoryCompacted,
    ModelRetry,
    Notification,
    StatusMessage,
    SubagentStarted,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    Update,
)
from hookline.standard_agents.state import result_text

_JOINERS: Final = "\u200c\u200d"
_TOKEN: Final = re.compile(r"\n|[^\S\n]+|\S+")


def escape_speech(text: str, after: str = "") -> str:
    """Escapes characters that could move the cursor or hide text, except joiners between non-ASCII characters.

    `after` is the character before the text.
    """
    shown = []
    for char in text:
        joins = char in _JOINERS and bool(after) and not after.isascii()
        shown.append(char if joins or char == "\n" else printable(char))
        after = char
    return "".join(shown)


class WordWrapper:
    """Wraps text that arrives in pieces. It holds a word back until it is complete, to know where it fits."""

    def __init__(self) -> None:
        self._column = 0
        self._space = ""
        self._word = ""

    def feed(self, piece: str, width: int) -> str:
        """Returns what can be shown now."""
        return "".join(shown for token in _TOKEN.findall(piece) for shown in self._feed_token(token, width))

    def flush(self, width: int) -> str:
        """Returns what is still held back. The next piece starts a line."""
        shown = self._take_word(width)
        self._column, self._space = 0, ""
        return shown

    def _feed_token(self, token: str, width: int) -> Iterator[str]:
        if token == "\n":
            yield self._take_word(width) + "\n"
            self._column, self._space = 0, ""
        elif token.isspace():
            yield self._take_word(width)
            self._space += token
        else:
            for char in token:
                wide = get_character_cell_size(char) > 1  # scripts without spaces can break anywhere
                yield self._take_word(width) if wide else ""
                self._word += char
                yield self._take_word(width) if wide else ""

    def _take_word(self, width: int) -> str:
        """Returns the completed word, after a line break if it does not fit."""
        word, self._word = self._word, ""
        size = cell_len(word)
        if not word:
            return ""
        lead, self._space = self._space, ""
        if self._column and self._column + cell_len(lead) + size > width:
            lead = "\n"
            self._column = 0
        self._column += 0 if lead == "\n" else cell_len(lead)
        self._column = (self._column + size) % width if size > width else self._column + size
        return lead + word


MAX_VALUE: Final = 200  # characters of a value that are shown
_MAX_LINE: Final = 300  # characters of a line of a result
_VERDICT_WORDS: Final = {Verdict.DENY: "denied", Verdict.ASK: "asks", Verdict.ALLOW: "allowed", Verdict.SILENT: ""}


def shorten_line(text: str, most: int = MAX_VALUE) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def format_input(input: dict[str, Any]) -> str:
    """The main field without its name, then the others with theirs."""
    main = find_main_field(input)
    first = [] if main is None else [shorten_line(input[main])]
    return "  ".join(first + [f"{name}={_format_value(value)}" for name, value in input.items() if name != main])


def is_shown_whole(input: dict[str, Any]) -> bool:
    """False if the line of a call shortens its input or joins lines."""
    texts = [value if isinstance(value, str) else json.dumps(value, default=str) for value in input.values()]
    return all(len(text) <= 60 and text == shorten_line(text) for text in texts) and len(texts) < 4


def format_whole_input(input: dict[str, Any]) -> str:
    """The complete input, line by line, for a person to approve."""
    lines = []
    for name, value in input.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2, default=str)
        lines += [f"    {name}:", *(f"    | {line}" for line in text.split("\n"))]
    return "\n".join(lines)


def _format_value(value: Any) -> str:
    return shorten_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str), 80)


def format_verdict(decision: Decision) -> str:
    """Empty if no hook decided."""
    word = "stopped" if decision.halt else _VERDICT_WORDS[decision.verdict]
    return f"{word}: {decision.reason}" if word and decision.reason else word


def format_hook_count(book: Book) -> str:
    count = sum(hook.enabled for hook in book.hooks)
    return f"{count} hook{'' if count == 1 else 's'}"


def format_hook(hook: Hook) -> str:
    return f"{hook.id} ({hook.origin.file}:{hook.origin.line})"


def format_account(account: TraceEntry) -> str:
    return f"{format_hook(account.hook)} because {account.why}"


def notable_accounts(decision: Decision) -> list[TraceEntry]:
    """The hooks worth showing. Logs and failures have their own lines."""
    return [
        account
        for account in applied_accounts(decision)
        if account.outcome is not None and _has_effect(account.outcome)
    ]


def _has_effect(outcome: Outcome) -> bool:
    return bool(outcome.verdict or outcome.changes or outcome.notes or outcome.requests or outcome.halt)


def agent_notes(decision: Decision) -> Iterator[str]:
    return (note.text for note in decision.notes if note.audience is Audience.AGENT)


def is_notable(decision: Decision) -> bool:
    """False if hooks only wrote a log."""
    return bool(decision.verdict or decision.halt or changed_facts(decision) or decision.requests) or any(
        agent_notes(decision)
    )


def _cut_line(line: str) -> str:
    return line if len(line) <= _MAX_LINE else f"{line[: _MAX_LINE - 1]}…"


def result_lines(content: Any, most: int) -> list[str]:
    """The first lines, and how many more there are."""
    lines = [_cut_line(line) for line in result_text(content).strip().splitlines()]
    if len(lines) <= most:
        return lines
    return [*lines[: most - 1], f"… {len(lines) - most + 1} more lines"]


MAX_LINES: Final = 6  # of a result or note
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
_SHOWN_BY_DECISION: Final = (Ending.REFUSED, Ending.HALTED)
_MIN_WIDTH: Final = 20  # columns for text after the indent


class Screen:
    """Call it with each update. Lines of sub-agents are indented; text of the main agent is streamed."""

    def __init__(self, console: Console, *, speech: bool = True) -> None:
        self.console = console
        self._speech = speech
        self._main: str | None = None
        self._depths: dict[str, int] = {}
        self._held: dict[str, str] = {}  # incomplete lines of sub-agents
        self._settled: set[str] = set()  # calls that were shown as denied or asked about
        self._running: dict[str, ToolCallStarted] = {}
        self._cancelled: set[str] = set()
        self._working_agents: dict[str, str] = {}  # thread of a sub-agent → its label
        self._named_thread: str | None = None  # the sub-agent named last
        self._speaker = ""  # of two agents that talk to each other, the one named last
        self._in_line = False
        self._flow = WordWrapper()
        self._last = ""  # last character of the streamed text
        self._waiting = False
        self._last_update = time.monotonic()

    def begin(self, main: str) -> None:
        """Sets the main thread."""
        self._main = main
        self._depths = {main: 0}

    def __call__(self, update: Update) -> None:
        self._last_update = time.monotonic()
        if self._main is None:
            self.begin(update.thread)
        if isinstance(update, TextDelta):
            self._show_text(update)
            return
        self._flush_held(update)
        match update:
            case DecisionMade(_, _, decision):
                self._show_decision(update, decision)
            case ToolCallStarted():
                self._show_call(update)
            case ToolCallFinished():
                self._show_result(update)
            case ApprovalAnswered(_, _, _, yes, by):
                self._print_line(update, "→", f"{'yes' if yes else 'no'}, {by}", "green" if yes else "red")
            case StatusMessage(_, _, text, level, _):
                self._print_line(update, "!" if level != "info" else "»", text, _LEVELS.get(level, "cyan"))
            case Notification(_, _, notice):
                words = f"{notice.title}: {notice.message}" if notice.title else notice.message
                self._print_line(update, "»", f"{words}  [{notice.hook}]", _LEVELS.get(notice.level, "cyan"))
            case ModelRetry(_, _, code, text, seconds):
                self._print_line(update, "↻", f"{code}: {text}; again in {seconds:g} s", "yellow")
            case HistoryCompacted(_, _, gone, summary):
                self._print_line(update, "≡", f"{gone} earlier messages became one: {shorten_line(summary)}", "cyan")
            case SubagentStarted(_, _, child, child_agent, task):
                self._depths[child] = self._depth(update) + 1
                self._working_agents[child] = self._label(child_agent)
                self._print_line(update, "▸", f"{self._working_agents[child]}: {shorten_line(task)}", "bold")
            case ExchangeEnded():
                self._show_ending(update)

    # Messages of the chat itself

    def show_waiting(self, since: float) -> None:
        """Shows what is running and for how long nothing has come. The next output replaces the line."""
        seconds = int(time.monotonic() - max(since, self._last_update))
        if self._in_line or not seconds or not self.console.is_terminal or self.console.is_dumb_terminal:
            return
        what = ", ".join(dict.fromkeys(calling.call.name for calling in self._running.values())) or "the model"
        shown = Text(self._fit(f"  … {what}, {seconds} s"), "dim")
        shown.truncate(self.console.width - 1)
        self.clear()
        self.console.print(shown, end="", soft_wrap=True)
        self._waiting = True

    def clear(self) -> None:
        """Removes the waiting line."""
        if self._waiting:
            self._waiting = False
            self.console.file.write("\r\x1b[K")
            self.console.file.flush()

    def say(self, text: str, style: str = "") -> None:
        """Shows a message of the chat itself, escaped like all other text."""
        self._end_line()
        for line in text.split("\n"):
            words = line.lstrip(" ")
            self._print_wrapped(" " * (len(line) - len(words)), words, style)

    def show_prompt(self, text: str) -> None:
        """Shows a prompt that the user did not type into the terminal."""
        self._end_line()
        self.console.print()
        for number, line in enumerate(text.split("\n")):
            self._print_wrapped("  " if number else "› ", line, "bold")

    def show_named(self, name: str, words: str) -> None:
        """Shows a name and its description."""
        self._end_line()
        self._print_wrapped(f"  {name:<13}", words)

    # Updates

    def _show_text(self, said: TextDelta) -> None:
        if not self._speech:
            return
        introduced = self._introduce_speaker(said)
        if self._depth(said):
            whole, newline, rest = (self._held.get(said.thread, "") + said.text).rpartition("\n")
            self._held[said.thread] = rest
            if newline:
                self._print_line(said, "", whole)
            return
        if not self._in_line and not introduced:
            self.clear()
            self.console.out("", highlight=False)
        self._in_line = True
        shown = self._encode_for_terminal(escape_speech(said.text.expandtabs(4), self._last))
        self._last = said.text[-1:] or self._last
        self._write(self._flow.feed(shown, self.console.width) if self.console.is_terminal else shown)

    def _introduce_speaker(self, update: Update) -> bool:
        """Names the next of two agents that talk to each other, if the speaker changes."""
        if update.speaker in ("", self._speaker):
            return False
        self._flush_held(update)
        self._end_line()
        depth, self._speaker = self._depth(update), update.speaker
        if not depth:
            self.console.out("", highlight=False)
        self._print_wrapped("  │ " * depth, update.speaker, "bold")
        return True

    def _write(self, text: str) -> None:
        self.console.out(text, end="", highlight=False)
        self.console.file.flush()

    def _flush_held(self, update: Update) -> None:
        held = self._held.pop(update.thread, "")
        if held.strip():
            self._print_line(update, "", held)

    def _show_decision(self, update: Update, decision: Decision) -> None:
        if decision.event.name == "tool.before" or not is_notable(decision):  # the call is shown next
            return
        words = format_verdict(decision)
        changed = f"changed {', '.join(changed_facts(decision))}" if changed_facts(decision) else ""
        asked = "compacts the history" if decision.requests else ""
        said = "; ".join(filter(None, (words, changed, asked)))
        self._print_line(update, "◆", f"{decision.event.name}  {said}".rstrip(), _COLOURS[decision.verdict])
        self._show_accounts(update, decision)

    def _show_call(self, calling: ToolCallStarted) -> None:
        call, decision = calling.call, calling.decision
        self._running[call.id] = calling
        self._introduce_speaker(calling)
        whose = f"  [{call.caller}]" if call.caller else ""
        self._print_line(
            calling, "↳" if call.is_internal else "●", f"{call.name} {format_input(call.input)}{whose}", "bold"
        )
        left = decision.event.read(("tool", "input"))
        if isinstance(left, dict) and left != call.input:
            self._print_line(calling, "", f"changed: {format_input(left)}", "cyan")
        if words := format_verdict(decision):
            self._settled |= {call.id} if decision.halt or decision.verdict >= Verdict.ASK else set()
            mark = {Verdict.DENY: "✗", Verdict.ASK: "?"}.get(decision.verdict, "")
            self._print_line(calling, mark, words, _COLOURS[decision.verdict])
        self._show_accounts(calling, decision)

    def _show_accounts(self, update: Update, decision: Decision) -> None:
        for account in notable_accounts(decision):
            self._print_line(update, "", format_account(account), "magenta")
        for note in agent_notes(decision):
            for number, line in enumerate(result_lines(note, MAX_LINES)):
                self._print_line(update, "", f"{'' if number else 'for the agent: '}{line}", "cyan")

    def _show_result(self, called: ToolCallFinished) -> None:
        result, id = called.result, called.call.id
        self._running.pop(id, None)
        if id in self._cancelled or (not called.ran and id in self._settled):
            return
        if called.call.is_internal and result.ok:
            return
        lines = result_lines(result.content if result.ok else result.error, MAX_LINES) or ["done"]
        for number, line in enumerate(lines):
            self._print_line(called, "" if number else ("✓" if result.ok else "✗"), line, "dim" if result.ok else "red")

    def _show_ending(self, ended: ExchangeEnded) -> None:
        self._working_agents.pop(ended.thread, None)
        self._speaker = ""
        if ended.ending is Ending.CANCELLED:  # covers the running calls, too
            self._cancelled |= {id for id, calling in self._running.items() if calling.thread == ended.thread}
            self._running = {id: each for id, each in self._running.items() if id not in self._cancelled}
        if ended.ending is Ending.ANSWERED:
            self._end_line()
            return
        words, style = _ENDINGS[ended.ending]
        said = ended.ending in _SHOWN_BY_DECISION or not ended.text
        text = words if said else ended.text if ended.text.startswith(words) else f"{words}: {ended.text}"
        self._print_line(ended, "■", text, style)

    # Lines

    def _label(self, agent: str) -> str:
        """The agent's name, with a number if that name is already working."""
        taken = self._working_agents.values()
        return next(name for name in (agent, *(f"{agent} {n}" for n in range(2, len(taken) + 3))) if name not in taken)

    def _depth(self, update: Update) -> int:
        return self._depths.get(update.thread, 1)

    def _print_line(self, update: Update, mark: str, text: str, style: str = "") -> None:
        self._end_line()
        depth = self._depth(update)
        indent = "  │ " * depth
        others = len(self._working_agents) > 1 or self._named_thread is not None
        if depth and others and self._named_thread != update.thread:
            name = self._working_agents.get(update.thread, update.agent)
            self.console.print(Text(self._fit(f"{indent}{name}"), "bold dim"), soft_wrap=True)
        self._named_thread = update.thread if depth else None
        for number, line in enumerate(text.split("\n")):
            self._print_wrapped(f"{indent}  {mark if number == 0 else '':<2}", line, style, f"{indent}    ")

    def _print_wrapped(self, lead: str, text: str, style: str = "", below: str | None = None) -> None:
        """Wraps the text; following lines start with `below` instead of `lead`."""
        words, room = Text(self._fit(text), style), max(self.console.width - cell_len(lead), _MIN_WIDTH)
        lines = words.wrap(self.console, room) if self.console.is_terminal and words.cell_len > room else [words]
        for number, line in enumerate(lines):
            before = lead if number == 0 else " " * cell_len(lead) if below is None else below
            self.console.print(Text.assemble((self._fit(before), "dim"), line), soft_wrap=True)

    def _end_line(self) -> None:
        self.clear()
        if self._in_line:
            self._write(self._flow.flush(self.console.width) + "\n")
            self._in_line, self._last = False, ""

    def _fit(self, text: str) -> str:
        """Escapes what this terminal cannot show, and what could control it."""
        return self._encode_for_terminal(printable_lines(text.expandtabs(4)))

    def _encode_for_terminal(self, text: str) -> str:
        return text.encode(self.console.encoding, "backslashreplace").decode(self.console.encoding)
