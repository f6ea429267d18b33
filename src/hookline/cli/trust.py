"""`hookline trust`"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

from hookline.cli.output import err, out, out_json
from hookline.cli.place import skill_files, sources, trust
from hookline.cli.verb import Verb, json_option
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
    for source in known.unaccepted((*sources(), *skill_files())):
        try:
            waiting.append(known.review(source))
        except HooklineError as error:
            refused = True
            err(f"{source.shown}: {error}, so it cannot be trusted")
    accepted = bool(waiting) and (yes or (not as_json and _asked(waiting)))
    if accepted:
        known.accept(waiting)
    _tell(waiting, accepted, as_json, yes)
    return 1 if refused else 0 if accepted or not waiting else NOBODY_ACCEPTED


def _asked(waiting: Sequence[Review]) -> bool:
    _show(waiting)
    try:
        return click.confirm("Let these hooks act?")
    except click.Abort as abort:
        if isinstance(abort.__context__, KeyboardInterrupt):
            raise
        return False


def _show(waiting: Sequence[Review]) -> None:
    for review in waiting:
        out(review.source.shown)
        for wish in review.wishes:
            on = f"  on {wish.event}" if wish.event else ""
            out(f"  {wish.hook}{on}  line {wish.line}")
            for deed in wish.deeds:
                first, *more = deed.text.split("\n")
                out(f"    {deed.what}: {first}" if first else f"    {deed.what}")
                for line in more:
                    out(f"      {line}")
        for name in review.names:
            out(f"  it names the file {name}")


def _tell(waiting: Sequence[Review], accepted: bool, as_json: bool, yes: bool) -> None:
    if as_json:
        out_json([{**review.as_json(), "trusted": accepted} for review in waiting])
    elif not waiting:
        out("Nothing here waits for your trust.")
    elif accepted:
        if yes:
            _show(waiting)
        out(f"Trusted: {', '.join(review.source.shown for review in waiting)}")
    else:
        out("Nothing was accepted; these hooks answer as if they had failed.")
