"""`hookline test`"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click

from hookline.cli.context import current_directory
from hookline.cli.options import Verb, json_option
from hookline.cli.output import err, out, out_json, printable_lines, write_now
from hookline.errors import ConfigError, HooklineError
from hookline.lazy_dataclasses import dataclass
from hookline.testing.case import CASE_PATTERNS, Case, find_case_files, load_cases
from hookline.testing.case_runner import Result, run_case


@dataclass(frozen=True, slots=True)
class CaseReport:
    """A case that ran, or a file whose cases cannot be read."""

    file: str
    line: int
    note: str
    ok: bool
    report: str
    seconds: float = 0.0
    result: Result | None = None

    def as_json(self) -> dict[str, Any]:
        differences = self.result.differences if self.result else ()
        return {
            "file": self.file,
            "line": self.line,
            "note": self.note,
            "ok": self.ok,
            "seconds": round(self.seconds, 4),
            "differences": [
                {"step": step, "key": each.key, "expected": each.expected, "got": each.got}
                for step, each in differences
            ],
            "report": "" if self.ok else self.report,
        }


@click.command(cls=Verb, short_help="Run case files: a config, an event and the expected decision.")
@click.argument("paths", nargs=-1, type=click.Path(), metavar="[PATH]...")
@click.option("-k", "word", metavar="WORD", default="", help="Run only cases with this word in their note or path.")
@click.option("--watch", is_flag=True, help="Run again whenever a file changes.")
@click.option("--junit", type=click.Path(), metavar="FILE", help="Also write the results as JUnit XML.")
@json_option
def verb(paths: tuple[str, ...], word: str, watch: bool, junit: str | None, as_json: bool) -> int:
    """Run case files: each has a config, an event and the expected decision. Without PATH, it runs the cases in
    tests/hooks, hooks_tests and .hookline/tests. The hooks' programs run too, even if you do not trust the project, as
    in any test suite.

    \b
    # tests/hooks/push.yaml
    note: a push is asked about
    file: ../../hookline.yaml
    event: {name: tool.before, tool: {name: bash, input: {command: git push}}}
    expect: {verdict: ask, by: ask-before-push}

    \b
    hookline test
    hookline test tests/hooks/push.yaml -k push --junit report.xml
    """
    code = _run_all(paths, word, junit, as_json)
    if watch:
        _watch_files(lambda: _run_all(paths, word, junit, as_json), [] if junit is None else [Path(junit).absolute()])
    return code


def _run_all(paths: Sequence[str], word: str, junit: str | None, as_json: bool) -> int:
    files = _find_files(paths)
    begun = time.perf_counter()
    ran: list[CaseReport] = []
    for each in _run_files(files, word.casefold()):
        ran.append(each)
        if not as_json:
            write_now("." if each.ok else "F")
    if not ran:
        raise HooklineError(f"no case matches {word!r}" if word else "these files have no cases")
    if junit is not None:
        write_junit(Path(junit), ran)
    if as_json:
        out_json([each.as_json() for each in ran])
    else:
        _print_summary(ran, time.perf_counter() - begun)
    return 0 if all(each.ok for each in ran) else 1


def _find_files(paths: Sequence[str]) -> list[Path]:
    found: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            found += sorted((*path.rglob("*.yaml"), *path.rglob("*.yml")))
        else:
            found.append(path)
    if not paths:
        here = current_directory()
        found = [path.relative_to(here) for path in find_case_files(here)]
    if not found:
        where = ", ".join(paths) if paths else " or ".join(CASE_PATTERNS)
        raise HooklineError(f"no case file found in {where}. `hookline help testing` shows how to write one.")
    return found


def _run_files(files: Iterable[Path], word: str) -> Iterable[CaseReport]:
    for file in files:
        try:
            cases = load_cases(file)
        except ConfigError as error:
            if word in str(file).casefold():
                yield CaseReport(str(file), 1, "", False, str(error))
            else:
                err(f"skipped {file}: it cannot be read, so its cases cannot be compared with {word!r}")
            continue
        for case in cases:
            if word in f"{case.note} {file}".casefold():
                yield _run_one(case, file)


def _run_one(case: Case, file: Path) -> CaseReport:
    begun = time.perf_counter()
    result = run_case(case)
    return CaseReport(str(file), case.line, case.note, result.ok, str(result), time.perf_counter() - begun, result)


def _print_summary(ran: Sequence[CaseReport], seconds: float) -> None:
    out()
    failed = [each for each in ran if not each.ok]
    for each in failed:
        out()
        out(each.report)
    words = f"{len(ran) - len(failed)} passed" + (f", {len(failed)} failed" if failed else "")
    out(f"{words} in {seconds:.2f} s")


def _watch_files(again: Callable[[], object], own: Sequence[Path]) -> None:
    """Runs until interrupted. A broken file is reported; files that a run itself writes (`own`) are ignored."""
    from watchfiles import DefaultFilter, watch

    here = current_directory()
    err(f"watching {here}; press Ctrl-C to stop")
    for _ in watch(here, watch_filter=DefaultFilter(ignore_paths=own), raise_interrupt=True):
        try:
            again()
        except HooklineError as error:
            err(f"hookline: {error}")


def write_junit(path: Path, ran: Sequence[CaseReport]) -> None:
    failed = sum(not each.ok for each in ran)
    seconds = f"{sum(each.seconds for each in ran):.3f}"
    suite = ElementTree.Element(
        "testsuite", name="hookline", tests=str(len(ran)), failures=str(failed), errors="0", skipped="0", time=seconds
    )
    for each in ran:
        name = each.note or f"{each.file}:{each.line}"
        attributes = {
            "classname": printable_lines(each.file),
            "name": printable_lines(name),
            "time": f"{each.seconds:.3f}",
        }
        case = ElementTree.SubElement(suite, "testcase", attributes)
        if not each.ok:
            failure = ElementTree.SubElement(case, "failure", message="not as expected")
            failure.text = printable_lines(each.report)
    try:
        ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise HooklineError(f"{path} cannot be written: {error.strerror}") from None
