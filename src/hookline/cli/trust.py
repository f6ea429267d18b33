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

NOT_ACCEPTED: Final = 3


@click.command(cls=Verb, short_help="Review and accept what a project's hooks run.")
@click.option("--yes", is_flag=True, help="Accept without asking.")
@json_option
def verb(yes: bool, as_json: bool) -> int:
    """Show what the hooks of this project do beyond denying, asking and logging, what an agent here starts and reads,
    and its skills, and ask you to accept it. Until you accept, none of it takes effect. When a file changes, or
    a file that it refers to, you have to accept again.

    \b
    hookline trust
    hookline trust --yes --json

    Exit codes: 0 everything is trusted, 1 something cannot be trusted, 3 something is not trusted yet.
    """
    store = trust()
    waiting, refused = [], False
    for source in store.untrusted_sources((*sources(), *skill_files())):
        try:
            waiting.append(store.review(source))
        except HooklineError as error:
            refused = True
            err(f"{source.display_path}: {error}, so it cannot be trusted")
    accepted = bool(waiting) and (yes or (not as_json and _confirm_reviews(waiting)))
    if accepted:
        store.accept(waiting)
    _print_result(waiting, accepted, as_json, yes)
    return 1 if refused else 0 if accepted or not waiting else NOT_ACCEPTED


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
        out(review.source.display_path)
        for hook in review.hook_effects:
            event = f"  on {hook.event}" if hook.event else ""
            out(f"  {hook.hook}{event}  line {hook.line}")
            for effect in hook.effects:
                first, *more = effect.text.split("\n")
                out(f"    {effect.what}: {first}" if first else f"    {effect.what}")
                for line in more:
                    out(f"      {line}")
        for name in review.names:
            out(f"  refers to the file {name}")


def _print_result(waiting: Sequence[Review], accepted: bool, as_json: bool, yes: bool) -> None:
    if as_json:
        out_json([{**review.as_json(), "trusted": accepted} for review in waiting])
    elif not waiting:
        out("Nothing here needs your trust.")
    elif accepted:
        if yes:
            _print_reviews(waiting)
        out(f"Trusted: {', '.join(review.source.display_path for review in waiting)}")
    else:
        out("Not trusted. Until you accept, these hooks answer as if they had failed.")
