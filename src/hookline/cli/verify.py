"""`hookline verify`"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import click

from hookline.cli.context import load_book
from hookline.cli.options import Verb, json_option
from hookline.cli.output import Colour, out, out_json_line, out_labelled
from hookline.cli.progress import show_progress
from hookline.cli.record_options import quiet_hooks, require_records, the_record
from hookline.errors import HooklineError
from hookline.record.hash_chain import BrokenChain
from hookline.record.segment import RecordDirectory
from hookline.record.verification import Verified, check_anchor, verify_chains, write_anchor

_BROKEN: int = 2


def _read_keep() -> timedelta | None:
    """For how long records are kept, by `record.keep` in the user's own file."""
    with quiet_hooks():
        return load_book((), None, importing=False).record.keep


@click.command(cls=Verb, short_help="Check that no record was changed, removed or inserted.")
@click.option(
    "--anchor",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write this file if it does not exist; else check the record against it. Keep it on another machine.",
)
@json_option
def verb(anchor: Path | None, as_json: bool) -> int:
    """Recompute the hash chains of the record. Each record names the hash of the one before it, so a record that was
    changed, removed or inserted is found.

    \b
    hookline verify
    hookline verify --anchor ~/anchor.json      write it once, check it later

    Exit codes: 0 intact, 1 it could not be read, 2 broken.
    """
    directory = the_record()
    is_new = anchor is not None and not anchor.exists()
    if anchor is None or is_new:
        require_records(directory)
    try:
        verified = _verify(directory, anchor, is_new)
    except BrokenChain as broken:
        if as_json:
            out_json_line({"intact": False, "record": broken.where, "problem": broken.what})
        else:
            out_labelled("broken", Colour.RED, f": {broken.where}: {broken.what}")
        return _BROKEN
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise HooklineError(f"the record or the anchor cannot be read: {error}") from error
    chains = len(verified.heads)
    if as_json:
        counts = {"records": verified.records, "chains": chains, "lost": verified.lost}
        out_json_line({"intact": True, **counts, "without_end": verified.without_end})
        return 0
    lost = f"; {verified.lost} could not be written" if verified.lost else ""
    out_labelled(
        "intact", Colour.GREEN, f": {verified.records} records in {chains} {'chain' if chains == 1 else 'chains'}{lost}"
    )
    if verified.without_end:
        which = "1 chain" if verified.without_end == 1 else f"{verified.without_end} chains"
        out(f"  {which} without a noted end: of an earlier version, or after a power failure.")
    if is_new:
        out(f"  wrote {anchor}. Keep a copy elsewhere, and run this again to compare.")
    return 0


def _verify(directory: RecordDirectory, anchor: Path | None, is_new: bool) -> Verified:
    checked = 0

    def count() -> None:
        nonlocal checked
        checked += 1

    with show_progress(lambda: f"{checked:,} records checked"):
        if anchor is None:
            return verify_chains(directory, count)
        return (
            write_anchor(directory, anchor, count) if is_new else check_anchor(directory, anchor, _read_keep(), count)
        )
