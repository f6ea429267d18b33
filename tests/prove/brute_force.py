"""Random hooks and properties with finitely many events, which can all be decided one by one."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hookline.engine.book import Book, Layer
from hookline.hooks.event import Event
from hookline.hooks.hook import UNLIMITED
from hookline.hooks.readings import holds_in_readings
from hookline.hooks.session_facts import SessionInfo, session_facts
from hookline.hooks.tools import ToolKind, is_known_name
from hookline.project import load_text
from hookline.prove.properties import Property, parse_property
from hookline.prove.prover import ProofResult
from hookline.prove.tool_space import REQUIRED_FIELDS, known_tools

DIRECTORY = Path("/work space")
NAMES = (
    "Write",
    "edit",
    "bash",
    "Delete",
    "TodoWrite",
    "delete_file",
    "frob",
    "mcp__git__push",
    "MCP:save",
    "git_push",
)
TOOLS = (
    "write_file", "edit_file", "bash", "read_file", "'*'", "'frob|bash'", "'mcp*'", "'mcp.git.*'", "Write", "'*_file'",
    "/e/", "'git*'", "[bash, delete_file]",
)  # fmt: skip
PATTERNS = (
    "a", "b", "^a", "b$", "^$", "ab", "a|b$", "^[^a]*$", r"\ba", r"a\b", "^(?!a)", "a(?=b)", "(?<!a)b", "(^|b)a", "a.b",
    "^.{2}$", "(ab)+", "a*$", r"\W", "(?i)A", "^a?b?$", "..",
)  # fmt: skip
TEXTS = tuple("".join(each) for length in range(3) for each in itertools.product("ab", repeat=length)) + ("aba", "a b")


class RandomSet:
    """A book, a property and all events that the property can be about."""

    def __init__(self, seed: int, fields: tuple[str, ...] = ("x", "y"), dialect: str = "native") -> None:
        """dialect: whose names the hooks have for tools."""
        self.rng = random.Random(seed)
        self.fields = fields
        self.dialect = dialect
        self.names = self.rng.sample(NAMES, 3)
        hooks = "\n".join(self._hook(number) for number in range(self.rng.randint(1, 5)))
        self.config = f"hooks:\n{hooks}\n"
        self.text = f"all: [{self._finite()}, {{{self._condition(1)}}}]"
        self.ask_is_enough = self.rng.random() < 0.3

    @property
    def book(self) -> Book:
        book = load_text(self.config, "hookline.yaml", "native")
        assert not [
            problem for problem in book.problems if problem.severity == "error" and problem.code != "never-true"
        ], book.problems
        return book

    @property
    def property(self) -> Property:
        return parse_property(self.text, ask_is_enough=self.ask_is_enough)

    def _finite(self) -> str:
        tests = ", ".join(f"{field}: {{matches: '{'|'.join(TEXTS)}', whole: true}}" for field in self.fields)
        return f"{{fact: {{tool.name: {{exactly: [{', '.join(repr(name) for name in self.names)}]}}}}, input: {{{tests}}}}}"

    def _hook(self, number: int) -> str:
        answer = self.rng.choice(("deny", "deny", "deny", "ask", "allow"))
        then = "allow: true" if answer == "allow" else f"{answer}: no"
        extra = self.rng.choice(("", "", "", ", enabled: false", ", max_fires: 1", ", order: -5"))
        when = f"when: {{{self._condition(2)}}}, names: {self.dialect}"
        return f"  - {{id: h{number}, on: tool.before, {when}, then: {{{then}}}{extra}}}"

    def _condition(self, depth: int) -> str:
        kind = self.rng.random()
        if depth and kind < 0.15:
            return f"not: {{{self._condition(depth - 1)}}}"
        if depth and kind < 0.3:
            return f"any: [{{{self._condition(depth - 1)}}}, {{{self._condition(depth - 1)}}}]"
        if depth and kind < 0.55:
            return f"all: [{{{self._condition(depth - 1)}}}, {{{self._condition(depth - 1)}}}]"
        if kind < 0.65:
            return f"tool: {self.rng.choice(TOOLS)}"
        if kind < 0.7:
            return f"kind: {self.rng.choice(('write', 'edit', 'shell', 'other'))}"
        return f"input: {{{self.rng.choice(self.fields)}: {self._test()}}}"

    def _test(self) -> str:
        kind = self.rng.random()
        if kind < 0.7:
            return f"'{self.rng.choice(PATTERNS)}'"
        if kind < 0.8:
            return f"{{exactly: '{self.rng.choice(TEXTS[1:])}'}}"
        if kind < 0.85:
            return f"{{is: '{self.rng.choice(TEXTS)}'}}"
        return f"{{javascript: '{self.rng.choice(PATTERNS[:10])}'}}"

    def events(self) -> Iterator[Event]:
        for tool in self._tools():
            for texts in itertools.product(TEXTS, repeat=len(self.fields)):
                given = {**tool, "input": {**tool["input"], **dict(zip(self.fields, texts, strict=True))}}
                for host in ("hookline", "claude-code", "opencode"):
                    session = SessionInfo("test", "user", DIRECTORY, 0.0, host)
                    yield Event("tool.before", session_facts("tool.before", {"tool": given}, session))

    def _tools(self) -> Iterator[dict[str, Any]]:
        for name in self.names:
            if is_known_name(name):
                yield from (
                    {"name": name, "kind": str(each.kind), "input": {}} for each in known_tools() if each.name == name
                )
                continue
            for kind in ToolKind:
                input = {field: "q" for field in REQUIRED_FIELDS[kind] if field not in self.fields}
                yield {"name": name, "input": input}
                yield {"name": name, "kind": str(kind), "input": {}}


def expected_result(random_set: RandomSet) -> tuple[ProofResult, Event | None]:
    """Every event is decided. What a hook with a limit says is unknown: it may have fired before."""
    wanted = random_set.property
    hooks = [hook for hook in random_set.book.hooks if hook.enabled]
    limited = [hook for hook in hooks if hook.limit != UNLIMITED and hook.may_stop]
    book = Book([Layer("unlimited", [hook for hook in hooks if hook.limit == UNLIMITED])])
    unknown: Event | None = None
    for event in random_set.events():
        if not holds_in_readings(wanted.condition, event, every=False):
            continue
        if book.decide_now(event).verdict in wanted.stopping:
            continue
        if not any(holds_in_readings(hook.when, event, every=False) for hook in limited):
            return ProofResult.COUNTER_EXAMPLE, event
        unknown = event
    return (ProofResult.PROVED if unknown is None else ProofResult.NOT_PROVED), unknown


class ChangingSet(RandomSet):
    """Some of the hooks change the input, and the calls have fields that are read for others that they do not have."""

    tools = ("bash", "write_file", "edit_file", "read_file", "Write", "frob")
    given = ("command", "cmd", "path", "file_path", "content", "foo")

    def __init__(self, seed: int) -> None:
        super().__init__(seed, ("command", "path", "content"))
        self.text = self.rng.choice((self._condition(1), f"tool: bash, {self._input()}", self._input()))
        guards = [f"  - {{id: g, on: tool.before, when: {{{self.text}}}, then: {{deny: no}}}}"] if seed % 4 else []
        changes = [self._change(number) for number in range(self.rng.randint(1, 2))]
        self.config = "\n".join(("hooks:", *changes, *guards, *(self._hook(number) for number in range(2)), ""))

    def _change(self, number: int) -> str:
        when = self.rng.choice(
            ("tool: bash", "tool: '*'", self._input(), f"kind: {self.rng.choice(('write', 'shell'))}")
        )
        field = self.rng.choice(self.given)
        return (
            f"  - {{id: c{number}, on: tool.before, when: {{{when}}}, then: {{set: {{input.{field}: q}}}}, order: -6}}"
        )

    def _input(self) -> str:
        return f"input: {{{self.rng.choice(self.fields)}: {self._test()}}}"

    def events(self) -> Iterator[Event]:
        session = SessionInfo("test", "user", DIRECTORY, 0.0, "hookline")
        for name, field, text in itertools.product(self.tools, self.given, ("a", "b", "ab", "a b")):
            for rest in ({}, {"content": "k"}, {"foo": "k"}):
                facts = {"tool": {"name": name, "input": {**rest, field: text}}}
                yield Event("tool.before", session_facts("tool.before", facts, session))


def event_that_passes(random_set: RandomSet) -> Event | None:
    """An event that the property is about and that no hook stops, whatever fired before."""
    wanted = random_set.property
    for event in random_set.events():
        if holds_in_readings(wanted.condition, event, every=False):
            decision = random_set.book.decide_now(event)
            if decision.verdict not in wanted.stopping and not decision.halt:
                return event
    return None
