"""`hookline fire`"""

from __future__ import annotations

from typing import Any

import click

from hookline.cli.fire_call import FireOptions, fire
from hookline.cli.options import EventName, Verb, config_option, dialect_option, json_option


@click.command(cls=Verb, short_help="Send one event through the hooks and show the decision.")
@click.argument("event", type=EventName())
@config_option
@dialect_option
@click.option("--facts", metavar="JSON|@FILE|-", help="The event's facts as JSON: inline, @FILE, or - for stdin.")
@click.option("--tool", metavar="NAME", help="Name of the tool.")
@click.option("--input", metavar="JSON", help="Input of the tool.")
@click.option("--prompt", metavar="TEXT", help="Text of the user's prompt.")
@click.option("--dry-run", is_flag=True, help="Run no program, script or tool; print what would run.")
@click.option("--explain", is_flag=True, help="Explain every hook, including those that did not run.")
@json_option
def verb(event: str, **options: Any) -> int:
    """Send one event through the active hooks and show the decision and why. EVENT is an event's own name
    (tool.before) or a dialect's (PreToolUse). Facts that you leave out are filled in as in a session in this
    directory.

    \b
    hookline fire tool.before --tool bash --input '{"command": "git push"}'
    hookline fire UserPromptSubmit --prompt 'deploy it' --explain
    echo '{"tool": {"name": "bash", "input": {"command": "ls"}}}' | hookline fire PreToolUse --facts - --json

    Exit codes: 0 proceed, 1 a problem with the config or an option, 2 denied or halted, 3 a person must approve.
    """
    return fire(event, FireOptions(**options))
