"""Runs a case in a directory of its own and lists how the result differs from what it expects."""

from __future__ import annotations

import asyncio
import json
import logging
import tempfile
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path, PurePath
from typing import Any, Final, TypeVar

from hookline.config.problem import Problem
from hookline.dialects.dialect import CONFIG_LOCATIONS
from hookline.engine.book import Book
from hookline.engine.decision import Decision, TraceEntry, outcome_json
from hookline.errors import ConfigError, extra_required
from hookline.formatting import printable
from hookline.hooks.event import Event
from hookline.hooks.session_facts import SessionInfo, session_facts
from hookline.hosts.call_decision import decide_without_record
from hookline.lazy_dataclasses import dataclass
from hookline.project import Trust, find_sources, load_all, load_file, load_text, trust_file_path
from hookline.project.lint import lint_hooks
from hookline.project.parsed_file import read_source
from hookline.project.problem_lines import add_linted
from hookline.testing.case import Case, Step
from hookline.testing.expectation import ActualResult, Difference, expand_scratch, problem_differences
from hookline.testing.project_files import copy_run_files
from hookline.testing.scripted_host import ScriptedHost

_log = logging.getLogger("hookline")


@contextmanager
def scratch_directory(files: Mapping[str, str]) -> Iterator[Path]:
    """A new directory with these files and an empty `home/`. Files that start with #! are executable."""
    with tempfile.TemporaryDirectory(prefix="hookline-case-", ignore_cleanup_errors=True) as name:
        directory = Path(name).resolve()
        (directory / "home").mkdir()
        for relative, text in files.items():
            path = directory / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8", "surrogatepass"))
            if text.startswith("#!"):
                path.chmod(0o755)
        yield directory


class _LogCapture(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname.lower()}: {record.getMessage()}")


@contextmanager
def capture_log() -> Iterator[list[str]]:
    """Collects log lines from here on. They are shown only in debug output."""
    kept = _LogCapture()
    handlers, level, propagate = _log.handlers, _log.level, _log.propagate
    debugging = _log.isEnabledFor(logging.DEBUG) and bool(handlers)
    _log.handlers = [*handlers, kept] if debugging else [kept]
    _log.setLevel(logging.DEBUG if debugging else logging.INFO)
    _log.propagate = False
    try:
        yield kept.lines
    finally:
        _log.handlers, _log.propagate = handlers, propagate
        _log.setLevel(level)


T = TypeVar("T")


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as elsewhere:  # inside an async test
        return elsewhere.submit(asyncio.run, work).result()


_MAX_SHOWN: Final = 2_000
_PROOF_TIMEOUT: Final = timedelta(minutes=1)
SESSION_ID: Final = "test"
USER_NAME: Final = "tester"


@dataclass(frozen=True, slots=True)
class Result:
    case: Case
    differences: tuple[tuple[int, Difference], ...] = ()  # prefixed with the step's number, from 1; 0: while loading
    decisions: tuple[Decision, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.differences

    def __str__(self) -> str:
        lines = [f"{self.case.path}:{self.case.line}  {self.case.note}".rstrip()]
        for step, difference in self.differences:
            lines += _format_difference(difference, step if len(self.case.steps) > 1 else 0)
        if not self.ok:
            lines += [line for decision in self.decisions for line in decision_lines(decision)]
        return "\n".join(lines)


def run_case(case: Case) -> Result:
    """Runs the case; if it fails, runs it again with explanations of every hook."""
    result = run_sync(_run_once(case, explain=False))
    if result.ok or not case.steps:
        return result
    again = run_sync(_run_once(case, explain=True))
    return Result(case, result.differences, again.decisions)


async def _run_once(case: Case, *, explain: bool) -> Result:
    with scratch_directory(case.files) as directory, capture_log() as log:
        book = _load_case_book(case, directory)
        if case.config_file is not None:
            copy_run_files(book.hooks, case.config_file, directory)
        loaded = ActualResult(directory, problems=_all_problems(book))
        differences = [(0, each) for each in problem_differences(case.at_load, loaded)]
        env = {"HOME": str(directory / "home"), **expand_scratch(dict(case.env), directory)}
        host = ScriptedHost(case.tools, answers=case.model, env=env, book=book)
        decisions: list[Decision] = []
        for number, step in enumerate(case.steps, 1):
            happened = await _run_step(step, (book, host), directory, log, explain=explain)
            decisions.append(happened.required_decision)
            differences += [(number, each) for each in step.expect.differences(happened)]
        differences += [(0, each) for each in _unproved_properties(case, book, directory)]
        return Result(case, tuple(differences), tuple(decisions))


@contextmanager
def open_case(case: Case) -> Iterator[tuple[Book, Path]]:
    """Its hooks, and its directory. No step is run."""
    with scratch_directory(case.files) as directory, capture_log():
        yield _load_case_book(case, directory), directory


def _unproved_properties(case: Case, book: Book, directory: Path) -> Iterator[Difference]:
    if not case.properties:
        return
    with extra_required("a property needs the solver z3", "prove"):
        from hookline.prove.example_event import case_command
        from hookline.prove.prover import ProofResult, prove
    for wanted in case.properties:
        answer = prove(book, wanted, directory, _PROOF_TIMEOUT)
        if answer.result is ProofResult.COUNTER_EXAMPLE:
            command = case_command(wanted.event, answer.facts, case.config_file, case.dialect)
            yield Difference(wanted.id, "proved", f"{answer.result}: {command}")
        elif answer.result is not ProofResult.PROVED:
            yield Difference(wanted.id, "proved", "\n".join((str(answer.result), *answer.reasons)))


async def _run_step(
    step: Step, session: tuple[Book, ScriptedHost], directory: Path, log: list[str], *, explain: bool
) -> ActualResult:
    book, host = session
    host.time.advance(step.advance)
    host.called, host.published = [], []
    before = len(log)
    known = SessionInfo(SESSION_ID, USER_NAME, directory, host.time.wall())
    facts = session_facts(step.event, expand_scratch(dict(step.facts), directory), known)
    host.facts = {name: value for name, value in facts.items() if name != "tool"}
    decision = await decide_without_record(book, Event(step.event, facts), host, explain)
    await host.settle(decision)
    return ActualResult(directory, decision, (), host.called, host.published, log[before:])


def _load_case_book(case: Case, directory: Path) -> Book:
    """An unreadable file gives a book without hooks and a problem, which the case may expect."""
    try:
        if case.config_file is not None:
            return load_file(case.config_file, case.dialect)
        if case.config is not None:
            spoken = case.dialect or "native"
            return load_text(config_text(case.config), default_file_name(spoken), spoken)
    except ConfigError as error:
        return Book(problems=error.problems)
    return _load_found_files(directory, trusted=case.trusted)


def _load_found_files(directory: Path, *, trusted: bool) -> Book:
    home = directory / "home"
    trust = Trust(trust_file_path(home))
    sources = find_sources(directory, home)
    if trusted:
        trust.accept(source for source in sources if source.is_from_project and not read_source(source).is_unreadable)
    return load_all(sources, trust)


def config_text(config: Any) -> str:
    return config if isinstance(config, str) else json.dumps(config, ensure_ascii=False, indent=1)


def default_file_name(name: str) -> str:
    """The usual file name of this dialect, so that hooks without an id get their usual names."""
    patterns = [place.pattern for place in CONFIG_LOCATIONS[name] if "*" not in place.pattern and not place.user]
    return PurePath(patterns[0]).name if patterns else "hooks.yaml"


def _all_problems(book: Book) -> Sequence[Problem]:
    return tuple(dict.fromkeys(add_linted(book.problems, lint_hooks(book.hooks))))


def _format_difference(difference: Difference, step: int) -> list[str]:
    place = f"step {step}: " if step else ""
    return [
        f"  {place}{difference.key}",
        *_value_lines("expected", difference.expected),
        *_value_lines("got     ", difference.got),
    ]


def _value_lines(title: str, value: Any) -> list[str]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    lines = text[:_MAX_SHOWN].split("\n")
    return [f"    {title}  {printable(lines[0])}", *(f"              {printable(line)}" for line in lines[1:])]


def decision_lines(decision: Decision) -> list[str]:
    """The decision and the reason for each hook, as lines of text."""
    said = decision.verdict.word + (f": {decision.reason}" if decision.reason else "")
    return [
        f"  {decision.event.name} → {printable(said)}",
        *(f"    {_format_account(each)}" for each in decision.trace),
    ]


def _format_account(account: TraceEntry) -> str:
    origin = account.hook.origin
    place = f"{account.hook.id} ({origin.file}:{origin.line})"
    if account.failure is not None:
        answer = f"failed, {account.failure.kind}: {account.failure.text}"
    elif account.outcome is None:
        answer = "not asked" if account.skip_reason else "runs in the background"
    else:
        answer = json.dumps(outcome_json(account.outcome), ensure_ascii=False, default=str)
    return printable(f"{place}: {answer[:_MAX_SHOWN]} because {account.why}")
