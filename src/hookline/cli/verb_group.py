"""The verbs of `hookline`, read by click. A verb is imported when it is called, so `--help` imports none."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Final

import click

from hookline.cli.main import INTERRUPTED, flush_streams
from hookline.cli.options import debug_option
from hookline.errors import HooklineError
from hookline.lazy_imports import import_without_gc

VERBS: Final = {
    "setup": ("hookline.cli.setup", "Put a pack of guards into the coding agents on this machine."),
    "init": ("hookline.cli.init", "Write a hookline.yaml with two example hooks, or with packs."),
    "check": ("hookline.cli.check", "Report every problem in the config files."),
    "list": ("hookline.cli.list", "List the active hooks in the order in which they run."),
    "fire": ("hookline.cli.fire", "Send one event through the hooks and show the decision."),
    "test": ("hookline.cli.test", "Run case files: a config, an event and the expected decision."),
    "trust": ("hookline.cli.trust", "Review and accept what a project's hooks do."),
    "convert": ("hookline.cli.convert", "Convert hooks files to another dialect."),
    "schema": ("hookline.cli.schema", "Print the JSON Schema of a dialect, for editors."),
    "install": ("hookline.cli.install", "Install the hooks into a coding agent."),
    "uninstall": ("hookline.cli.uninstall", "Remove the hooks from a coding agent."),
    "doctor": ("hookline.cli.doctor", "Check that hooks fire in your coding agents."),
    "mcp": ("hookline.cli.mcp", "Put hooks in front of an MCP server."),
    "ahp": ("hookline.cli.ahp", "Answer an agent that speaks the Agent Hooks Protocol."),
    "run": ("hookline.cli.chat.run", "Chat with an agent that works under your hooks."),
    "watch": ("hookline.cli.watch", "Watch decisions as they are made, and answer waiting approvals."),
    "approvals": ("hookline.cli.answer_approvals", "List and answer calls that wait for a person."),
    "log": ("hookline.cli.log", "Show what the hooks decided, newest last."),
    "why": ("hookline.cli.why", "Explain a recorded decision: every hook, and why it did or did not act."),
    "replay": ("hookline.cli.replay", "Decide recorded events anew, and show what would change."),
    "prove": ("hookline.cli.prove", "Prove that the hooks stop every event of a kind, or show one that passes."),
    "stats": ("hookline.cli.stats", "Count how often each hook acted, and how long it took."),
    "verify": ("hookline.cli.verify", "Check that no record was changed, removed or inserted."),
    "hub": ("hookline.cli.hub", "Serve the console, the API and browser agents."),
    "bridge": ("hookline.cli.bridge", "Answer an event of a coding agent: payload on stdin, reply on stdout."),
    "adapt": ("hookline.cli.adapt", "Run one agent's hook as a hook of another agent."),
    "serve": ("hookline.cli.serve", "Run the local engine that answers the bridge."),
    "help": ("hookline.cli.help", "Read the documentation in the terminal."),
    "completion": ("hookline.cli.completion", "Print a shell completion script."),
}
"""Verb → its module, which defines it as `verb`, and its short help."""

FAILED: Final = 1


class VerbGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_without_gc(VERBS[cmd_name][0]).verb
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in VERBS or args[0].startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        from hookline.formatting import closest_match, printable

        guess = closest_match(args[0], VERBS)
        hint = f"Did you mean {guess}?" if guess else f"The commands are {', '.join(VERBS)}."
        raise click.UsageError(f"Unknown command {printable(args[0])!r}. {hint}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in VERBS.items()])

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Ends the process with the verb's exit code. Only here do errors become exit codes."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        try:
            code = super().main(args, prog_name or "hookline", complete_var, standalone_mode=False, **extra)
        except Exception as error:
            code = handle_error(error)
        flush_streams()
        sys.exit(code if isinstance(code, int) else 0)


@click.group(
    cls=VerbGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 proceed or success, 1 a problem with the config or an option, 2 denied or halted, "
    "3 a person must approve.",
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
    """Prints what went wrong and returns the exit code. Any exception that is not a HooklineError is a bug."""
    from hookline.cli.output import err

    if isinstance(error, click.Abort):
        return INTERRUPTED if _was_interrupted(error) else FAILED
    if isinstance(error, click.ClickException):
        error.show()
        return FAILED
    if isinstance(error, HooklineError):
        err(f"hookline: {error}")
        return error.exit_code
    if isinstance(error, BrokenPipeError):
        return FAILED
    _report_bug(error)
    return FAILED


def _was_interrupted(abort: click.Abort) -> bool:
    return isinstance(abort.__cause__ or abort.__context__, KeyboardInterrupt)


def _report_bug(error: Exception) -> None:
    from hookline.cli.logging_setup import is_debugging
    from hookline.cli.output import err

    if is_debugging():
        import traceback

        err("".join(traceback.format_exception(error)).rstrip())
    text = " ".join(str(error).split())[:300]
    hint = "" if is_debugging() else " (--debug shows the traceback)"
    err(f"hookline: this is a bug in hookline: {type(error).__name__}: {text}{hint}")
