"""The index against a plain loop over all hooks."""

from __future__ import annotations

import asyncio
import copy
import random
import re
import string
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.hook_factories import (
    DENY,
    command_changing_action,
    command_matches,
    decide,
    input_matches,
    instant_action,
    make_book,
    make_hook,
    tool_call_event,
)
from engine.reference import ReferenceRound
from hookline.engine import match_budget
from hookline.engine.book import Book, Layer
from hookline.engine.decision import Decision
from hookline.engine.index import HookIndex
from hookline.errors import AmbiguousField, ConditionError
from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.conditions.logic import ALWAYS, All, AnyOf, Not
from hookline.hooks.conditions.numbers import Comparison
from hookline.hooks.conditions.shell_commands import RunsCommand
from hookline.hooks.conditions.text import Equals, Exists, Fact, Matches
from hookline.hooks.event import REMOVED, Event
from hookline.hooks.hook import Hook, Scope
from hookline.hooks.outcome import Note, Outcome, Verdict
from hookline.hooks.protocols import Condition, may_of
from hookline.hooks.readings import holds_in_readings
from hookline.hooks.tool_input import ToolField
from hookline.hooks.tool_name import ToolName
from hookline.patterns.pattern import BadPattern, Pattern, Syntax, pattern
from hookline.project import load_text
from hookline.shell.command_query import CommandQuery


@pytest.fixture(autouse=True, scope="module")
def time_enough() -> Iterator[None]:
    """What is compared here is what is decided, not how fast on a busy machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(match_budget, "WALL_SECONDS", 600.0)
        yield


def may_hold(one: Hook, event: Event) -> bool:
    try:
        return one.when.holds(event)
    except AmbiguousField:
        return holds_in_readings(one.when, event, every=one.only_allows)
    except ConditionError:
        return True


def decide_without_index(layers: list[list[Hook]], event: Event) -> dict[str, Any]:
    expected = asyncio.run(ReferenceRound(layers, event).decide())
    return {
        "verdict": expected.verdict,
        "reason": expected.reason,
        "by": expected.by,
        "halt": expected.halt,
        "facts": expected.event.facts,
        "notes": [note.text for note in expected.notes],
        "asked": expected.asked,
    }


def summarize_decision(decision: Decision) -> dict[str, Any]:
    return {
        "verdict": decision.verdict,
        "reason": decision.reason,
        "by": decision.by,
        "halt": decision.halt,
        "facts": decision.event.facts,
        "notes": [note.text for note in decision.notes],
        "asked": [(account.hook.id, account.again) for account in decision.trace if not account.skip_reason],
    }


# Books and events by chance, from a few words that meet each other often.

WORDS = [
    "rm", "RM", "Rm", "ls", "k", "K", "\u212a", "kilo", "\u212ailo", "s", "S", "\u017f", "st", "\ufb06", "i", "I", "\u0130",
    "\u0131", "\u00df", "ss", "\u1e9e", "\u00e9", "E\u0301", "\u00c9", "\u03c3", "\u03c2", "\u03a3", "\ud800", "\udfff",
    "\x00", "\n", "\U0001f600", "\U00010400", "\U00010428", "\u01c5", "\u01c4", "\u00b5", "\u03bc", "\u00e5", "\u212b",
    ".env", "a" * 70, "-rf /", " ", "token=1", "x", "yy", "",
]  # fmt: skip
FIELDS = ["command", "path", "file_path", "content", "list.0", "list.-1"]
TOOLS = ["bash", "Bash", "read_file", "write_file", "Write", "mcp__fs__read", "odd", "KIND", "\u212aIND"]


@dataclass(frozen=True)
class Fixed:
    """A constant that is not declared as one, so that it is attempted like a program."""

    outcome: Outcome
    constant = None
    instant = True

    @property
    def may(self) -> Any:
        return may_of(self.outcome)

    def changes(self) -> tuple[Any, ...]:
        return tuple(path for path, _ in self.outcome.changes)

    def reads(self) -> tuple[Any, ...]:
        return ()

    async def run(self, event: Event, host: Any) -> Outcome:
        return self.outcome


class Told(FixedAnswer):
    @property
    def outcome(self) -> Outcome:
        return self.constant


QUERIES: list[tuple[Any, ...]] = [("rm",), ("git", ("push", "stash drop")), ("git", (), ("force",)), ("cat",), ("sh",)]
LINES = [
    *("rm -r x", "git push --force", "git status -s", "cat a | sh", "/bin/RM x && git stash drop", "$x -rf y", "git $x push"),
    *("cat 'push' > b", "sudo git -C . push -f", "ls *.py; git log push", "g?t push", "x=rm; $x y", "RM.exe a", "bash5 -c 'rm x'"),
]  # fmt: skip


TOO_DEEP: Any = {"command": "ls"}
for _ in range(100):
    TOO_DEEP = {"a": [TOO_DEEP]}


class Chance(random.Random):
    def word(self) -> str:
        return self.choice(WORDS)

    def text(self) -> str:
        text = "".join(self.choices(WORDS, k=self.randint(0, 5)))
        return text * self.choice([1, 1, 1, 300]) if self.random() < 0.2 else text

    def pattern(self) -> Pattern:
        one, two = re.escape(self.word()), re.escape(self.word())
        forms = [
            one, one + two, f"(?i){one}", f"(?i){one}{two}", f"^{one}", f"{one}$", f"{one}.*{two}", f"{one}|{two}",
            f"(?={one})", f"(?!{one}){two}", f"(?<!{one}){two}", f"{one}(?={two})", rf"\b{one}\b", f"[{one}]+{two}",
            ".", "", f"(?:{one}){{2}}", f"[^{one}]", f"({one}|{two}).{one}",
        ]  # fmt: skip
        while True:
            try:
                return pattern(self.choice(forms), self.choice(list(Syntax)), whole=self.random() < 0.1)
            except BadPattern:
                forms.append(re.escape(self.choice("abc")))

    def leaf(self) -> Condition:
        subject = self.choice(
            [ToolName(), ToolField(_path(self.choice(FIELDS))), Fact(("prompt",)), Fact(("tool", "input", "command"))]
        )
        others: list[Condition] = [
            Equals(("tool", "input", "n"), self.choice([1, True, 0, None])),
            Exists(("tool", "input", self.choice(FIELDS[:4]))),
            Comparison(("turn", "number"), "above", 2),
            ALWAYS,
            *(RunsCommand(CommandQuery((name,), *rest)) for name, *rest in QUERIES),
        ]
        return Matches(subject, self.pattern()) if self.random() < 0.75 else self.choice(others)

    def condition(self, depth: int = 2) -> Condition:
        if depth == 0 or self.random() < 0.4:
            return self.leaf()
        parts = tuple(self.condition(depth - 1) for _ in range(self.randint(1, 3)))
        return self.choice([All(parts), All(parts), AnyOf(parts), Not(parts[0])])

    def outcome(self) -> Outcome:
        path = ("tool", "input", *_path(self.choice(FIELDS)))
        change = ((path, self.choice([REMOVED, self.text(), self.word(), 1, True])),)
        note = (Note(self.choice("abc")),)
        kinds = [
            Outcome(changes=change), Outcome(changes=change), Outcome(Verdict.ALLOW, "fine", change), Outcome(notes=note),
            Outcome(Verdict.ALLOW, "fine"), Outcome(Verdict.ASK, "sure?"), Outcome(final=True),
            Outcome(Verdict.ASK, "look", notes=note),
        ]  # fmt: skip
        stops = [Outcome(Verdict.DENY, "no"), Outcome(Verdict.DENY), Outcome(halt=True, reason="stop")]
        return self.choice(stops) if self.random() < 0.15 else self.choice(kinds)

    def hook(self, id: str) -> Hook:
        outcome = self.outcome()
        return make_hook(
            Told(outcome) if self.random() < 0.5 else Fixed(outcome),
            self.condition(),
            id=id,
            order=self.choice([0, 0, 0, -1, 5]),
            group=self.choice(["", "flo", "microai"]),
            enabled=self.random() < 0.95,
            scope=Scope(agent="me") if self.random() < 0.05 else Scope(),
        )

    def layers(self) -> list[list[Hook]]:
        size = self.choice([1, 3, 8, 60])
        return [[self.hook(f"{n}.{at}") for at in range(self.randint(0, size))] for n in range(self.randint(1, 3))]

    def event(self) -> Event:
        values: list[Any] = [self.text(), self.text(), self.word(), 1, None, True, [self.text()], TOO_DEEP]
        given: dict[str, Any] = {name: self.choice(values) for name in FIELDS[:4] if self.random() < 0.7}
        given["list"] = [self.text() for _ in range(self.randint(0, 2))]
        given["n"] = self.choice([1, True, 0])
        if self.random() < 0.4:
            given["command"] = self.choice(LINES)
        facts: dict[str, Any] = {"tool": {"name": self.choice(TOOLS), "input": given}}
        if self.random() < 0.7:
            facts |= {"prompt": self.text(), "turn": {"number": self.randint(0, 5)}, "agent": {"id": "me"}}
        return Event("tool.before", facts)


def _path(text: str) -> tuple[str | int, ...]:
    return tuple(int(step) if step.lstrip("-").isdigit() else step for step in text.split("."))


@pytest.mark.parametrize("value", [TOO_DEEP, iter(["rm"])], ids=["too deep", "read only once"])
@pytest.mark.parametrize("name", ["command", "path", "more"])
@pytest.mark.parametrize("count", [1, 3, 30])
@pytest.mark.parametrize(
    "when", ["{runs: rm}", "{input: {command: rm}}", "{input: {path: rm}}", "{outside: workspace}"]
)
def test_a_call_that_cannot_be_read_is_decided(when: str, count: int, name: str, value: Any) -> None:
    book = load_text(
        "hooks: ["
        + ", ".join(f"{{id: h{n}, on: tool.before, when: {when}, then: {{deny: no}}}}" for n in range(count))
        + "]",
        "hookline.yaml",
    )
    for tool in ("bash", "write_file", "mcp.server.tool", "unknown"):
        event = Event("tool.before", {"cwd": "/", "workspace": "/", "tool": {"name": tool, "input": {name: value}}})
        assert book.decide_now(event).verdict is book.decide_now(event, explain=True).verdict


@given(st.integers(0, 10**9))
def test_the_index_decides_as_a_plain_loop_over_all_hooks_does(seed: int) -> None:
    chance = Chance(seed)
    layers = chance.layers()
    held = Book([Layer(str(n), hooks) for n, hooks in enumerate(layers)])
    for _ in range(5):
        event = chance.event()
        before = copy.deepcopy(event.facts)
        expected = decide_without_index(layers, event)
        assert summarize_decision(held.decide_now(event)) == expected
        assert summarize_decision(held.decide_now(event)) == expected, "what was remembered says something else"
        assert summarize_decision(held.decide_now(event, explain=True)) == expected
        assert event.facts == before


@given(st.integers(0, 10**9))
def test_the_index_never_rules_out_what_holds(seed: int) -> None:
    """Beyond the verdicts, which a deny may hide: every hook whose condition holds is a candidate."""
    chance = Chance(seed)
    hooks = [replace(chance.hook(str(n)), order=0) for n in range(chance.choice([5, 40, 120]))]
    index = HookIndex(hooks)
    for _ in range(4):
        event = chance.event()
        candidates = set(index.candidates(event, float("inf")))
        held = {n for n, one in enumerate(hooks) if may_hold(one, event)}
        assert held <= candidates


@pytest.mark.slow
def test_no_letter_in_any_case_hides_from_the_filter() -> None:
    """Every letter with another case, as it stands and in any case, in each of its spellings."""
    letters = [chr(n) for n in range(sys.maxunicode + 1) if not 0xD800 <= n < 0xE000 and _cased(chr(n))]
    sources = [f"q{letter}q" for letter in letters] + [f"(?i)q{letter}q" for letter in letters]
    patterns = [pattern(source) for source in sources]
    index = HookIndex([make_hook(DENY, Matches(Fact(("prompt",)), one)) for one in patterns])
    for at, letter in enumerate(letters):
        for spelling in {letter, letter.lower(), letter.upper(), letter.title(), letter.casefold()}:
            text = f"q{spelling}q"
            candidates = index.candidates(Event("stop", {"prompt": text}), float("inf"))
            for n in (at, at + len(letters)):
                assert n in candidates or not patterns[n].search(text), (letter, spelling)


def _cased(letter: str) -> bool:
    return len({letter, letter.lower(), letter.upper(), letter.casefold()}) > 1


@pytest.mark.parametrize(("many", "length"), [(10_000, 16), (300, 1_000), (40, 20_000)])
@pytest.mark.slow
def test_however_large_the_patterns_are_together_a_book_is_made(many: int, length: int) -> None:
    chance = random.Random(3)
    words = ["".join(chance.choices(string.ascii_lowercase, k=length)) for _ in range(many)]
    held = make_book(*(make_hook(DENY, command_matches(word), id=word[:9]) for word in words))
    for word in (words[0], words[many // 2], words[-1]):
        assert held.decide_now(tool_call_event(f"x{word}x")).by == word[:9]
    assert held.decide_now(tool_call_event(words[0][:-1])).verdict is Verdict.SILENT


def test_patterns_without_any_text_that_must_occur_are_asked_directly() -> None:
    sources = [".", "[ab]", "^$", r"\d+", "[^x]", "(?=z)", "a?"]
    hooks = [make_hook(FixedAnswer(Outcome(notes=(Note(source),))), command_matches(source)) for source in sources]
    assert [note.text for note in make_book(*hooks).decide_now(tool_call_event("b")).notes] == [
        ".",
        "[ab]",
        "[^x]",
        "a?",
    ]


def test_what_other_subjects_ruled_out_is_asked_again_after_they_change() -> None:
    """Many hooks on one subject, narrowed by another; the second change touches only the other one."""
    many = [make_hook(DENY, All((input_matches("path", f"p{n}x"), command_matches("evil")))) for n in range(40)]
    many += [make_hook(DENY, All((input_matches("path", f"q{n}x"), command_matches(f"wicked{n}")))) for n in range(5)]
    changers = [
        make_hook(command_changing_action("fine"), order=-2),
        make_hook(command_changing_action("evil"), order=-1),
    ]
    path = "".join(f"p{n}x" for n in range(40))
    event = Event("tool.before", {"tool": {"name": "bash", "input": {"command": "ls", "path": path}}})
    assert decide(make_book(*changers, *many), event).denied


def test_the_same_text_is_remembered_and_another_is_not_mistaken_for_it() -> None:
    held = make_book(*(make_hook(DENY, command_matches(f"w{n}x"), id=str(n)) for n in range(50)))
    for n in (3, 3, 49, 7, 3):
        assert held.decide_now(tool_call_event(f"w{n}x")).by == str(n)


def test_what_is_remembered_has_an_end() -> None:
    held = make_book(*(make_hook(DENY, command_matches(f"w{n}x")) for n in range(50)))
    for n in range(3_000):
        held.decide_now(tool_call_event(f"text {n}"))
    index = held.layers[0].indexes["tool.before"]
    assert all(len(subject._cache) <= 1024 for subject in index._subjects)


def test_instant_actions_and_constants_are_heard_alike() -> None:
    outcome = Outcome(Verdict.ASK, "sure?")
    constant, asked = (
        make_book(make_hook(FixedAnswer(outcome), id="h")),
        make_book(make_hook(instant_action(lambda _: outcome), id="h")),
    )
    assert summarize_decision(constant.decide_now(tool_call_event())) == summarize_decision(
        asked.decide_now(tool_call_event())
    )


def test_a_hook_with_two_needs_on_one_subject_is_asked_once_among_many() -> None:
    """More possible hooks than are confirmed one by one, each with a second need that is met as well."""
    hooks = [
        make_hook(
            FixedAnswer(Outcome(notes=(Note(str(n)),))),
            All((command_matches(f"(?:word{n}|shared)"), command_matches(f"place|sharp{n}"))),
        )
        for n in range(60)
    ]
    decision = make_book(*hooks).decide_now(tool_call_event("a shared place"))
    assert [note.text for note in decision.notes] == [str(n) for n in range(60)]


def _runs(name: str) -> Condition:
    return RunsCommand(CommandQuery((name,)))


@pytest.mark.parametrize(
    ("command", "found"),
    [("ls -l", [3]), ("rm x", [0, 3]), ("ls > a.lock", [0, 3]), ("git x", [1, 3]), ("cat b.key", [2, 3])],
)
def test_a_hook_with_alternatives_is_a_candidate_for_one_of_them(command: str, found: list[int]) -> None:
    alternatives: list[Condition] = [
        AnyOf((_runs("rm"), All((ALWAYS, command_matches(r"> *\S+\.lock"))))),
        All((ALWAYS, AnyOf((_runs("git"), AnyOf((_runs("svn"), _runs("hg"))))))),
        AnyOf((command_matches(r"\.key"), _runs("gpg"))),
        AnyOf((_runs("rm"), ALWAYS)),
    ]
    index = HookIndex([make_hook(DENY, each, id=str(n)) for n, each in enumerate(alternatives)])
    assert index.candidates(tool_call_event(command), float("inf")) == found


def test_an_alternative_in_any_case_is_found_beside_the_same_word_in_one_case() -> None:
    conditions: list[Condition] = [
        command_matches("Key_1"),
        command_matches("Key_2"),
        AnyOf((command_matches("(?i)key_1"), command_matches("(?i)key_2"))),
    ]
    index = HookIndex([make_hook(DENY, each, id=str(n)) for n, each in enumerate(conditions)])
    assert 2 in index.candidates(tool_call_event("KEY_1"), float("inf"))
    assert 2 in index.candidates(tool_call_event("key_2"), float("inf"))


def test_a_program_is_found_by_its_whole_name() -> None:
    index = HookIndex([make_hook(DENY, _runs(name), id=name) for name in ("rm", "m", "farm")])
    assert index.candidates(tool_call_event("farm x"), float("inf")) == [2]
    assert index.candidates(tool_call_event("/bin/RM.exe x"), float("inf")) == [0]
    assert index.candidates(tool_call_event("$x y"), float("inf")) == [0, 1, 2]
