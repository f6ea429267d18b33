"""Runs a case and says how what happened differs from what it expects."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Final

from hookline.config.problem import Problem, printable
from hookline.critique import critique
from hookline.dialects.table import dialect
from hookline.engine.account import Account, Decision, outcome_json
from hookline.engine.book import Book
from hookline.errors import ConfigError
from hookline.hooks.event import Event
from hookline.project import Trust, find, load, load_all, load_text, state_file
from hookline.testing.case import Case, Step
from hookline.testing.expect import Difference, Happened, in_directory, problem_differences
from hookline.testing.facts import Session, session_facts
from hookline.testing.host import ScriptedHost
from hookline.testing.scratch import kept_log, scratch
from hookline.testing.waiting import waited

_MOST_SHOWN: Final = 2_000
SESSION: Final = "test"
USER: Final = "tester"


@dataclass(frozen=True, slots=True)
class Result:
    case: Case
    differences: tuple[tuple[int, Difference], ...] = ()  # with the step's number, from 1; 0: at load
    decisions: tuple[Decision, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.differences

    def __str__(self) -> str:
        lines = [f"{self.case.path}:{self.case.line}  {self.case.note}".rstrip()]
        for step, difference in self.differences:
            lines += _shown(difference, step if len(self.case.steps) > 1 else 0)
        if not self.ok:
            lines += [line for decision in self.decisions for line in explained(decision)]
        return "\n".join(lines)


def run_case(case: Case) -> Result:
    """A case that fails is run once more, to explain why each hook was asked or not."""
    result = waited(_run(case, explain=False))
    if result.ok or not case.steps:
        return result
    again = waited(_run(case, explain=True))
    return Result(case, result.differences, again.decisions)


async def _run(case: Case, *, explain: bool) -> Result:
    with scratch(case.files) as directory, kept_log() as log:
        book = _book(case, directory)
        loaded = Happened(directory, problems=_problems(book))
        differences = [(0, each) for each in problem_differences(case.at_load, loaded)]
        env = {"HOME": str(directory / "home"), **case.env}
        host = ScriptedHost(case.tools, answers=case.model, env=env, book=book)
        decisions: list[Decision] = []
        for number, step in enumerate(case.steps, 1):
            happened = await _happened(step, (book, host), directory, log, explain=explain)
            decisions.append(happened.decided)
            differences += [(number, each) for each in step.expect.differences(happened)]
        return Result(case, tuple(differences), tuple(decisions))


async def _happened(
    step: Step, session: tuple[Book, ScriptedHost], directory: Path, log: list[str], *, explain: bool
) -> Happened:
    book, host = session
    host.time.advance(step.advance)
    host.called, host.published = [], []
    before = len(log)
    known = Session(SESSION, USER, directory, host.time.wall())
    facts = session_facts(step.event, in_directory(dict(step.facts), directory), known)
    host.facts = {name: value for name, value in facts.items() if name != "tool"}
    decision = await book.decide(Event(step.event, facts), host, explain)
    await host.settle(decision)
    return Happened(directory, decision, (), host.called, host.published, log[before:])


def _book(case: Case, directory: Path) -> Book:
    """A file that nobody can read is a book without hooks, and a problem that the case may expect."""
    try:
        if case.config_file is not None:
            return load(case.config_file, case.dialect)
        if case.config is not None:
            spoken = case.dialect or "native"
            return load_text(text_of(case.config), usual_name(spoken), spoken)
    except ConfigError as error:
        return Book(problems=error.problems)
    return _book_there(directory, trusted=case.trusted)


def _book_there(directory: Path, *, trusted: bool) -> Book:
    home = directory / "home"
    trust = Trust(state_file(home))
    sources = find(directory, home)
    if trusted:
        trust.accept(source for source in sources if source.foreign)
    return load_all(sources, trust)


def text_of(config: Any) -> str:
    return config if isinstance(config, str) else json.dumps(config, ensure_ascii=False, indent=1)


def usual_name(name: str) -> str:
    """What a file of this dialect is called, so that hooks without an id are called as they would be there."""
    patterns = [place.pattern for place in dialect(name).places if "*" not in place.pattern and not place.user]
    return PurePath(patterns[0]).name if patterns else "hooks.yaml"


def _problems(book: Book) -> Sequence[Problem]:
    return (*book.problems, *critique(book.hooks))


def _shown(difference: Difference, step: int) -> list[str]:
    place = f"step {step}: " if step else ""
    return [
        f"  {place}{difference.key}",
        *_value_lines("expected", difference.expected),
        *_value_lines("got     ", difference.got),
    ]


def _value_lines(title: str, value: Any) -> list[str]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    lines = text[:_MOST_SHOWN].split("\n")
    return [f"    {title}  {printable(lines[0])}", *(f"              {printable(line)}" for line in lines[1:])]


def explained(decision: Decision) -> list[str]:
    """The decision and, hook by hook, why: lines for people."""
    said = decision.verdict.word + (f": {decision.reason}" if decision.reason else "")
    return [f"  {decision.event.name} → {printable(said)}", *(f"    {_account(each)}" for each in decision.trace)]


def _account(account: Account) -> str:
    origin = account.hook.origin
    place = f"{account.hook.id} ({origin.file}:{origin.line})"
    if account.failure is not None:
        answer = f"failed, {account.failure.kind}: {account.failure.text}"
    elif account.outcome is None:
        answer = "not asked" if account.not_asked else "runs in the background"
    else:
        answer = json.dumps(outcome_json(account.outcome), ensure_ascii=False, default=str)
    return printable(f"{place}: {answer[:_MOST_SHOWN]} because {account.why}")
