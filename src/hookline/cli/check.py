"""`hookline check`"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from hookline.cli.output import out, out_json
from hookline.cli.place import skill_files, sources
from hookline.cli.verb import Verb, dialect_option, json_option
from hookline.config.problem import Problem, Severity
from hookline.critique import critique, deeds
from hookline.dialects.dialect import FolderDialect
from hookline.dialects.table import dialect as named_dialect
from hookline.hooks.actions.script import RunScript
from hookline.hooks.hook import Hook
from hookline.project import Layering, Source, named
from hookline.project.held import Held, read
from hookline.runtime.apps.load import app_problems
from hookline.runtime.skills.found import skill_problems


@click.command(cls=Verb, short_help="Every problem in every config, and what to write instead.")
@click.argument("paths", nargs=-1, type=click.Path(), metavar="[PATH]...")
@dialect_option
@json_option
def verb(paths: tuple[str, ...], dialect: str | None, as_json: bool) -> int:
    """Show every problem in the files and directories named, or else in the files in force here: what cannot be read,
    and also hooks that can never act, are shadowed, or contradict each other. Nothing of a project is imported or run.

    \b
    hookline check
    hookline check hookline.yaml .microai/ --json

    Exit codes: 0 no problem, or only warnings; 1 at least one error.
    """
    groups = [_of_path(path, dialect) for path in paths] or [_of_dialect(sources(), dialect)]
    read_groups = [[read(source) for source in group] for group in groups]
    found = {problem for group in read_groups for problem in _problems(group)}
    problems = sorted(found if paths or dialect else found.union(skill_problems(skill_files())))
    errors = [problem for problem in problems if problem.severity is Severity.ERROR]
    files = [held for group in read_groups for held in group]
    if as_json:
        out_json(_json(problems, files))
    else:
        _show(problems, files)
    return 1 if errors else 0


def _of_path(path: str, dialect: str | None) -> Sequence[Source]:
    """A directory stands for the hooks files in it; the user's own files are none of them."""
    if not Path(path).is_dir() or _reads_folders(dialect):
        return [named(path, dialect)]
    return [source for source in _of_dialect(sources(Path(path)), dialect) if source.layer is not Layering.USER]


def _reads_folders(name: str | None) -> bool:
    return name is not None and isinstance(named_dialect(name), FolderDialect)


def _of_dialect(found: Sequence[Source], dialect: str | None) -> Sequence[Source]:
    return [source for source in found if dialect is None or source.dialect == dialect]


def _problems(group: Sequence[Held]) -> Iterator[Problem]:
    for held in group:
        yield from held.problems
    hooks = [hook for held in group for hook in held.hooks]
    yield from critique(hooks)
    yield from _unreadable_scripts(hooks)
    yield from app_problems(group)


def _unreadable_scripts(hooks: Sequence[Hook]) -> Iterator[Problem]:
    """Only here: a script is read with the first call, and reading all of them would make every start wait."""
    for hook in hooks:
        for script in (deed for deed in deeds(hook.then) if isinstance(deed, RunScript)):
            from hookline.runners.javascript_syntax import syntax_error

            if (found := syntax_error(script.source)) is not None:
                what = f"the script of {hook.id} cannot be read: {found[1]}, on its line {found[0]}."
                yield Problem("bad-script", hook.origin.file, hook.origin.line, what)


def _json(problems: Sequence[Problem], files: Sequence[Held]) -> dict[str, object]:
    return {
        "problems": [problem.as_json() for problem in problems],
        "files": [{"file": held.source.shown, "dialect": held.dialect, "hooks": len(held.hooks)} for held in files],
    }


def _show(problems: Sequence[Problem], files: Sequence[Held]) -> None:
    for problem in problems:
        warning = " (warning)" if problem.severity is Severity.WARNING else ""
        out(f"{problem}{warning}")
    if not files:
        out("There is no hooks file here. `hookline init` writes one.")
        return
    errors = sum(problem.severity is Severity.ERROR for problem in problems)
    hooks = sum(len(held.hooks) for held in files)
    found = f"{_count(errors, 'error')}, {_count(len(problems) - errors, 'warning')}" if problems else "no problem"
    out(f"{_count(len(files), 'file')}, {_count(hooks, 'hook')}: {found}")


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
