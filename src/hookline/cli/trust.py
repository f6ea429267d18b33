"""`hookline trust`"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

from hookline.cli.context import skill_files, sources, trust
from hookline.cli.options import Verb, json_option
from hookline.cli.output import err, out, out_json
from hookline.errors import HooklineError
from hookline.project import Review

NOBODY_ACCEPTED: Final = 3


@click.command(cls=Verb, short_help="Look at and accept the commands that a project's files bring.")
@click.option("--yes", is_flag=True, help="Accept without a question.")
@json_option
def verb(yes: bool, as_json: bool) -> int:
    """Show what the hooks of this project's files would do beyond denying, asking and logging, what an agent here would
    start and be told, and its skills, and accept it. Until then none of that counts. You are asked again when a file,
    or a file that it names, changes.

    \b
    hookline trust
    hookline trust --yes --json

    Exit codes: 0 nothing waits any more, 1 something cannot be trusted, 3 somebody must be asked.
    """
    known = trust()
    waiting, refused = [], False
    for source in known.untrusted_sources((*sources(), *skill_files())):
        try:
            waiting.append(known.review(source))
        except HooklineError as error:
            refused = True
            err(f"{source.display_path}: {error}, so it cannot be trusted")
    accepted = bool(waiting) and (yes or (not as_json and _confirm_reviews(waiting)))
    if accepted:
        known.accept(waiting)
    _print_result(waiting, accepted, as_json, yes)
    return 1 if refused else 0 if accepted or not waiting else NOBODY_ACCEPTED


def _confirm_reviews(waiting: Sequence[Review]) -> bool:
    _print_reviews(waiting)
    try:
        return click.confirm("Let these hooks act?")
    except click.Abort as abort:
        if isinstance(abort.__context__, KeyboardInterrupt):
            raise
        return False


def _print_reviews(waiting: Sequence[Review]) -> None:
    for review in waiting:
        out(review.source.display_path)
        for wish in review.hook_effects:
            on = f"  on {wish.event}" if wish.event else ""
            out(f"  {wish.hook}{on}  line {wish.line}")
            for deed in wish.effects:
                first, *more = deed.text.split("\n")
                out(f"    {deed.what}: {first}" if first else f"    {deed.what}")
                for line in more:
                    out(f"      {line}")
        for name in review.names:
            out(f"  it names the file {name}")


def _print_result(waiting: Sequence[Review], accepted: bool, as_json: bool, yes: bool) -> None:
    if as_json:
        out_json([{**review.as_json(), "trusted": accepted} for review in waiting])
    elif not waiting:
        out("Nothing here waits for your trust.")
    elif accepted:
        if yes:
            _print_reviews(waiting)
        out(f"Trusted: {', '.join(review.source.display_path for review in waiting)}")
    else:
        out("Nothing was accepted; these hooks answer as if they had failed.")
