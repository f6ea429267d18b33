"""The MCP servers that a client's file lists, with the proxy in front of them and without."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hookline.cli.output import out, out_as_is
from hookline.errors import HooklineError
from hookline.hosts.install.diff import diff
from hookline.hosts.install.files import mode_of, remove, text_of, write
from hookline.hosts.install.plan import BACKUP
from hookline.hosts.mcp.wrapping import NotWrappable, unwrap_servers, unwrappable, wrap_servers


def wrap(file: Path, command: str, dry_run: bool) -> int:
    before, after = _edited(file, lambda text: wrap_servers(text, command))
    if before != after and not dry_run:
        write(_backup(file), unwrap_servers(before), mode_of(file))
        write(file, after)
    _tell(file, before, after, dry_run, "has hooks in front of its servers")
    for name in unwrappable(after):
        out(f"  {name}: this server cannot be wrapped")
    return 0


def unwrap(file: Path, dry_run: bool) -> int:
    before, after = _edited(file, unwrap_servers)
    if before != after and not dry_run:
        write(file, after)
        if text_of(_backup(file)) == after:
            remove(_backup(file))
    _tell(file, before, after, dry_run, "has no hooks in front of its servers")
    return 0


def _edited(file: Path, edit: Callable[[str], str]) -> tuple[str, str]:
    text = text_of(file)
    if text is None:
        raise HooklineError(f"{file} does not exist")
    try:
        return text, edit(text)
    except NotWrappable as error:
        raise HooklineError(f"{file}: {error}") from None


def _tell(file: Path, before: str, after: str, dry_run: bool, state: str) -> None:
    if dry_run and before != after:
        out_as_is(diff(before, after, str(file)).rstrip("\n"))
    elif before == after:
        out(f"{file}: nothing to do")
    else:
        out(f"{file} {state} now.")


def _backup(file: Path) -> Path:
    return file.with_name(file.name + BACKUP)
