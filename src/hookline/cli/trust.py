"""`hookline trust`"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import click

from hookline.cli.context import skill_files, sources, trust
from hookline.cli.options import Verb, json_option
from hookline.cli.output import err, out, out_json
from hookline.cli.problem_text import show_problems
from hookline.config.problem import errors_of
from hookline.errors import HooklineError
from hookline.formatting import printable
from hookline.project import Review, Source, Trust
from hookline.project.parsed_file import read_source

NOT_ACCEPTED: Final = 3
_STATES: Final = {"new": "", "changed": "  changed since you trusted it", "deleted": "  deleted since you trusted it"}


@click.command(cls=Verb, short_help="Review and accept what a project's hooks do.")
@click.option("--yes", is_flag=True, help="Accept without asking.")
@click.option("--diff", "show_diff", is_flag=True, help="Show what changed since you accepted it, and accept nothing.")
@click.option("--revoke", is_flag=True, help="Withdraw your trust in the files of this project.")
@json_option
def verb(yes: bool, show_diff: bool, revoke: bool, as_json: bool) -> int:
    """Show what this project's hooks do, what an agent would start and read here, and its skills, and ask you to accept it.
    Until you accept, the hooks can only deny and ask, in hookline's words. When a file changes, or a file that it runs,
    what you accepted stays in force until you accept the change.

    \b
    hookline trust
    hookline trust --diff
    hookline trust --yes --json
    hookline trust --revoke

    Exit codes: 0 everything is trusted, 1 something cannot be trusted, 3 something is not trusted yet.
    """
    if revoke and (yes or show_diff):
        raise click.UsageError("--revoke cannot be combined with --yes or --diff")
    store, files = trust(), (*sources(), *skill_files())
    if revoke:
        return _revoke(store, files, as_json)
    show_problems(
        problem for source in files if source.is_from_project for problem in errors_of(read_source(source).problems)
    )
    if show_diff:
        return _show_diff(store, store.untrusted_sources(files), as_json)
    waiting, refused = _review_untrusted(store, files)
    accepted = bool(waiting) and (yes or (not as_json and _confirm_reviews(waiting)))
    if accepted:
        store.accept(waiting)
    if waiting or as_json or not refused:
        _print_result(waiting, accepted, as_json, yes)
    return 1 if refused else 0 if accepted or not waiting else NOT_ACCEPTED


def _review_untrusted(store: Trust, files: Sequence[Source]) -> tuple[list[Review], bool]:
    """The reviews of what is not trusted, and whether something cannot be."""
    waiting, refused = [], False
    for source in dict.fromkeys((*store.untrusted_sources(files), *_unreadable_sources(files))):
        try:
            waiting.append(store.review(source))
        except HooklineError as error:
            refused = True
            err(f"{source.display_path}: {error}, so it cannot be trusted")
    return waiting, refused


def _unreadable_sources(files: Sequence[Source]) -> Iterator[Source]:
    """Nothing of them waits for trust, because nobody knows what they have."""
    return (source for source in files if source.is_from_project and read_source(source).is_unreadable)


def _revoke(store: Trust, files: Sequence[Source], as_json: bool) -> int:
    revoked = [source.display_path for source in store.revoke(files)]
    if as_json:
        out_json(revoked)
    else:
        out(f"No longer trusted: {', '.join(revoked)}" if revoked else "Nothing here was trusted.")
    return 0


def _show_diff(store: Trust, waiting: Sequence[Source], as_json: bool) -> int:
    changes = {source.display_path: store.diff(source) for source in waiting}
    if as_json:
        out_json([{"file": file, "diff": text} for file, text in changes.items()])
    for file, text in () if as_json else changes.items():
        for line in text.splitlines() or [f"{file} was never trusted. Review it with `hookline trust`."]:
            out(printable(line))
    if not changes and not as_json:
        out("Nothing changed since you trusted it.")
    return NOT_ACCEPTED if changes else 0


def _confirm_reviews(waiting: Sequence[Review]) -> bool:
    _print_reviews(waiting)
    try:
        return click.confirm("Trust these hooks?")
    except click.Abort as abort:
        if isinstance(abort.__context__, KeyboardInterrupt):
            raise
        return False


def _print_reviews(waiting: Sequence[Review]) -> None:
    for review in waiting:
        out(f"{review.source.display_path}{_STATES[review.state]}")
        for hook in review.hook_effects:
            event = f"  on {hook.event}" if hook.event else ""
            place = f"{hook.file}:{hook.line}" if hook.file else f"line {hook.line}"
            out(f"  {hook.hook}{event}  {place}")
            for effect in hook.effects:
                first, *more = effect.text.split("\n")
                out(f"    {effect.what}: {first}" if first else f"    {effect.what}")
                for line in more:
                    out(f"      {line}")
        for pack in review.packs:
            out(f"  extends {printable(pack.shown_as)}")
        for name in review.names:
            out(f"  runs the file {name}")


def _print_result(waiting: Sequence[Review], accepted: bool, as_json: bool, yes: bool) -> None:
    if as_json:
        out_json([{**review.as_json(), "trusted": accepted} for review in waiting])
    elif not waiting:
        out("Nothing here needs your trust.")
    elif accepted:
        if yes:
            _print_reviews(waiting)
        out(f"Trusted: {', '.join(review.source.display_path for review in waiting)}")
    elif all(review.state != "new" for review in waiting):
        out("Not trusted. What you trusted before stays in force.")
    else:
        out("Not trusted. Until you accept, these hooks can only deny and ask; what they would run counts as failed.")
