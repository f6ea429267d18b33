"""The `hookline` command. Most calls of `fire` are read without click, whose import takes a quarter of their time."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, Any, Final

from hookline.lazy_imports import gc_paused

if TYPE_CHECKING:
    from hookline.cli.verb_group import FAILED, VERBS, cli, handle_error

__all__ = ["FAILED", "INTERRUPTED", "VERBS", "cli", "flush_streams", "handle_error", "main"]

INTERRUPTED: Final = 130
_COMPLETION: Final = "_HOOKLINE_COMPLETE"
"""The variable with which a shell asks click for completions."""


def main() -> None:
    try:
        code = _fire_without_click(sys.argv[1:])
        if code is not None:
            sys.exit(code)
        from hookline.cli.verb_group import cli

        cli.main(prog_name="hookline")
    except KeyboardInterrupt:  # before or after click handles it
        sys.exit(INTERRUPTED)
    finally:
        gc.freeze()  # the process ends: its memory need not be searched for garbage


def _fire_without_click(arguments: list[str]) -> int | None:
    """The exit code of `fire`; None for another verb, or if click must explain or complete the call."""
    if arguments[:1] != ["fire"] or _COMPLETION in os.environ:
        return None
    with gc_paused():
        from hookline.cli.fire_call import fire, read_arguments
        from hookline.cli.logging_setup import start_log
    call = read_arguments(arguments[1:])
    if call is None:
        return None
    try:
        start_log(debug=False)
        code = fire(*call)
    except Exception as error:
        from hookline.cli.verb_group import handle_error

        code = handle_error(error)
    flush_streams()
    return code


def flush_streams() -> None:
    """A reader that has closed the pipe does not change the exit code."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except BrokenPipeError:
            from hookline.cli.output import silence

            silence(stream)


def __getattr__(name: str) -> Any:
    """The names of `verb_group`, which imports click: they are imported when somebody asks for them."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from hookline.cli import verb_group

    return getattr(verb_group, name)
