"""`hookline completion`"""

from __future__ import annotations

import click
from click.shell_completion import ShellComplete, get_completion_class

from hookline.cli.options import Verb
from hookline.cli.output import out_as_is


@click.command(cls=Verb, short_help="Print a shell completion script.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def verb(context: click.Context, shell: str) -> None:
    """Print the script that completes verbs, options, events, dialects, agents, packs, hooks and files in your
    shell.

    \b
    hookline completion bash >> ~/.bashrc
    hookline completion fish > ~/.config/fish/completions/hookline.fish
    """
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"click has no completion for {shell}")
    script = kind(context.find_root().command, {}, "hookline", "_HOOKLINE_COMPLETE")
    out_as_is(ShellComplete.source(script))
