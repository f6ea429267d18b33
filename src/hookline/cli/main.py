"""The `hookline` command. A verb is imported when it is called: `--help` pays for none of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

import click

from hookline.cli.options import debug_option
from hookline.errors import HooklineError

VERBS: Final = {
    "init": ("hookline.cli.init", "Write a small commented hookline.yaml with two useful hooks."),
    "check": ("hookline.cli.check", "Every problem in every config, and what to write instead."),
    "list": ("hookline.cli.list", "The hooks in force here, in the order in which they are asked."),
    "fire": ("hookline.cli.fire", "One event through the hooks in force: the decision and why."),
    "test": ("hookline.cli.test", "Run case files: config and event against the expected decision."),
    "trust": ("hookline.cli.trust", "Look at and accept the commands that a project's files bring."),
    "convert": ("hookline.cli.convert", "A hooks file in the words of another dialect."),
    "schema": ("hookline.cli.schema", "The JSON Schema of a dialect, for editors."),
    "install": ("hookline.cli.install", "Plug the hooks into a coding agent."),
    "uninstall": ("hookline.cli.uninstall", "Take the hooks out of a coding agent."),
    "doctor": ("hookline.cli.doctor", "Prove that hooks really fire in the coding agents."),
    "mcp": ("hookline.cli.mcp", "Hooks in front of any MCP server."),
    "run": ("hookline.cli.chat.run", "An agent with hooks, in the terminal."),
    "bridge": ("hookline.cli.bridge", "What a coding agent calls: its payload on stdin, its answer on stdout."),
    "serve": ("hookline.cli.serve", "The warm local engine behind the bridge."),
    "completion": ("hookline.cli.completion", "The script that completes verbs, options and names in a shell."),
}
"""Verb → its module, which has it as `verb`, and one line about it."""

INTERRUPTED: Final = 130
BROKEN: Final = 1


class VerbGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        found: click.Command = import_module(VERBS[cmd_name][0]).verb
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in VERBS or args[0].startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        from hookline.formatting import closest_match, printable

        guess = closest_match(args[0], VERBS)
        hint = f"Did you mean {guess}?" if guess else f"The verbs are {', '.join(VERBS)}."
        raise click.UsageError(f"There is no verb {printable(args[0])!r}. {hint}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl([(name, line) for name, (_, line) in VERBS.items()])

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Ends the process with the verb's exit code. Errors become exit codes here and nowhere else."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        try:
            code = super().main(args, prog_name or "hookline", complete_var, standalone_mode=False, **extra)
        except Exception as error:
            code = handle_error(error)
        _flush_streams()
        sys.exit(code if isinstance(code, int) else 0)


@click.group(
    cls=VerbGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 proceed or fine, 1 a problem with the config or the call, 2 denied or halted, "
    "3 somebody must be asked.",
)
@click.version_option(package_name="hookline", message="hookline %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """One hooks engine for every AI agent.

    \b
    hookline init                                       write a first hookline.yaml
    hookline fire tool.before --tool bash --input '{"command": "git push"}'
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


cli.params.append(debug_option())


def handle_error(error: Exception) -> int:
    """Says what went wrong, and returns the exit code. An error that nobody foresaw is a bug of ours."""
    from hookline.cli.output import err

    if isinstance(error, click.Abort):
        return INTERRUPTED if _was_interrupted(error) else BROKEN
    if isinstance(error, click.ClickException):
        error.show()
        return BROKEN
    if isinstance(error, HooklineError):
        err(f"hookline: {error}")
        return error.exit_code
    if isinstance(error, BrokenPipeError):
        return BROKEN
    _report_bug(error)
    return BROKEN


def _flush_streams() -> None:
    """Whoever has stopped reading changes nothing, the exit code least of all."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except BrokenPipeError:
            from hookline.cli.output import silence

            silence(stream)


def _was_interrupted(abort: click.Abort) -> bool:
    return isinstance(abort.__cause__ or abort.__context__, KeyboardInterrupt)


def _report_bug(error: Exception) -> None:
    from hookline.cli.logging_setup import is_debugging
    from hookline.cli.output import err

    if is_debugging():
        import traceback

        err("".join(traceback.format_exception(error)).rstrip())
    said = " ".join(str(error).split())[:300]
    more = "" if is_debugging() else " (--debug shows where)"
    err(f"hookline: this is a bug in hookline: {type(error).__name__}: {said}{more}")


def main() -> None:
    try:
        cli.main(prog_name="hookline")
    except KeyboardInterrupt:  # one that came before or after click was listening
        sys.exit(INTERRUPTED)
