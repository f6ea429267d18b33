"""`hookline check`"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click

from hookline.cli.agent_options import machine
from hookline.cli.context import skill_files, sources
from hookline.cli.options import Verb, dialect_option, json_option
from hookline.cli.output import err, fit_terminal, out, out_json
from hookline.cli.problem_text import show_problems
from hookline.config.problem import Problem, Severity
from hookline.dialects.dialect import FolderDialect, get_dialect
from hookline.hooks.actions.chain import leaf_actions
from hookline.hooks.hook import Hook
from hookline.hosts.agents import AGENT_NAMES
from hookline.hosts.agents.agent_tools import tools_of_agent
from hookline.lazy_imports import gc_paused
from hookline.project import Source, SourceLayer, named_source
from hookline.project.lint import lint_hooks
from hookline.project.parsed_file import ParsedFile, read_folders, read_source
from hookline.project.problem_lines import place_problems
from hookline.project.program_lint import lint_programs, lint_variables
from hookline.project.repeated_hooks import HooksOfFile, drop_repeated_hooks
from hookline.project.script_lint import script_problems
from hookline.runtime.apps.app_loader import app_problems
from hookline.runtime.skills import skill_problems

_MAX_TOOLS: Final = 5


@click.command(cls=Verb, short_help="Report every problem in the config files.")
@click.argument("paths", nargs=-1, type=click.Path(), metavar="[PATH]...")
@dialect_option
@json_option
def verb(paths: tuple[str, ...], dialect: str | None, as_json: bool) -> int:
    """Report every problem in these files and directories, or else in the files that apply here. Besides errors, it
    warns about hooks that can never act, are shadowed or contradict each other. It imports and runs nothing.

    \b
    hookline check
    hookline check hookline.yaml .microai/ --json

    Exit codes: 0 no errors (warnings are allowed), 1 at least one error.
    """
    here = [source for source in sources() if os.path.lexists(source.path)]  # not what is only trusted
    groups = [_sources_of_path(path, dialect) for path in paths] or [_filter_by_dialect(here, dialect)]
    with gc_paused():
        read_groups = [[read_source(source, with_document=True) for source in group] for group in groups]
        found = {problem for group in read_groups for problem in _find_problems(group)}
    problems = sorted(found if paths or dialect else found.union(skill_problems(skill_files())))
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    files = [file for group in read_groups for file in group]
    if as_json:
        out_json(_report_json(problems, files))
    else:
        _print_report(problems, files)
    if not paths:
        _note_unknown_tools()
    return 1 if errors else 0


def _note_unknown_tools() -> None:
    """No problem of a file, so it neither counts nor goes to stdout."""
    for name in AGENT_NAMES:
        unknown = [tool.name for tool in tools_of_agent(name, machine()) if not tool.is_known]
        if unknown:
            shown = ", ".join(unknown[:_MAX_TOOLS]) + (" …" if len(unknown) > _MAX_TOOLS else "")
            err(
                f"{name} has called tools that hookline does not know: {shown}. See hookline list --tools --agent {name}"
            )


def _sources_of_path(path: str, dialect: str | None) -> Sequence[Source]:
    """A directory means the hooks files in it, without the user's own files."""
    if not Path(path).is_dir() or _is_folder_dialect(dialect):
        return [named_source(path, dialect)]
    return [
        source for source in _filter_by_dialect(sources(Path(path)), dialect) if source.layer is not SourceLayer.USER
    ]


def _is_folder_dialect(name: str | None) -> bool:
    return name is not None and isinstance(get_dialect(name), FolderDialect)


def _filter_by_dialect(found: Sequence[Source], dialect: str | None) -> Sequence[Source]:
    return [source for source in found if dialect is None or source.dialect == dialect]


def _find_problems(group: Sequence[ParsedFile]) -> Iterator[Problem]:
    for file in group:
        yield from file.problems
    hooks = _unique_hooks(group)
    found = list(_problems_of_hooks(hooks))
    for file in group:
        if file.document is not None:
            found = place_problems(found, file.document, file.hooks)
    yield from found
    yield from app_problems(group)


def _problems_of_hooks(hooks: Sequence[Hook]) -> Iterator[Problem]:
    yield from lint_hooks(hooks)
    yield from script_problems(hooks)
    for hook in (hook for hook in hooks if hook.enabled):
        actions = list(leaf_actions(hook.then))
        yield from lint_programs(hook, actions, shutil.which)
        yield from lint_variables(hook, actions, lambda name: bool(os.environ.get(name)))


def _unique_hooks(group: Sequence[ParsedFile]) -> list[Hook]:
    of_files = [HooksOfFile(file.source.display_path, file.hooks, bool(file.packs)) for file in group]
    return [hook for hooks in drop_repeated_hooks(of_files) for hook in hooks]


def _report_json(problems: Sequence[Problem], files: Sequence[ParsedFile]) -> dict[str, object]:
    return {
        "problems": [problem.as_json() for problem in problems],
        "files": [
            {"file": file.source.display_path, "dialect": file.dialect, "hooks": _count_hooks(file)} for file in files
        ],
    }


def _count_hooks(file: ParsedFile) -> int:
    folders = [folder for folder in file.folders if folder.path.exists()]
    return len(file.hooks) + len(read_folders(folders).hooks)


def _print_report(problems: Sequence[Problem], files: Sequence[ParsedFile]) -> None:
    show_problems(problems, lambda text, colour: out(fit_terminal(text, sys.stdout), colour))
    if not files:
        out("No hooks file found. `hookline init` writes one.")
        return
    errors = sum(problem.severity is Severity.ERROR for problem in problems)
    hooks = sum(map(_count_hooks, files))
    found = (
        f"{_format_count(errors, 'error')}, {_format_count(len(problems) - errors, 'warning')}"
        if problems
        else "no problems"
    )
    out(f"{_format_count(len(files), 'file')}, {_format_count(hooks, 'hook')}: {found}")


def _format_count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
