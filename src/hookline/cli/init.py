"""`hookline init`"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import click

from hookline.cli.context import sources, trust
from hookline.cli.extended_file import complete_pack, new_file_text, pack_references
from hookline.cli.options import Verb
from hookline.cli.output import format_json, out
from hookline.dialects.dialect import get_dialect
from hookline.errors import HooklineError

FILE_NAME: Final = "hookline.yaml"
SCHEMA_NAME: Final = "hookline.schema.json"
TEMPLATE: Final = """\
# yaml-language-server: $schema=hookline.schema.json
# Hooks for every agent that works in this directory. After a change, run: hookline check
hooks:
  # Keep secrets out of .env files, whichever tool writes them.
  - id: no-secrets-in-env-files
    on: tool.before
    when:
      kind: [write, edit]
      input: {path: '(^|/)\\.env(\\.|$)'}
      any:
        - input: {content: '(?i)(api_?key|secret|token|password)'}
        - input: {new_string: '(?i)(api_?key|secret|token|password)'}
    then: {deny: Do not write secrets into .env files. Ask the user to add them.}

  # Ask before every push.
  - id: ask-before-push
    on: tool.before
    when: {kind: shell, input: {command: '(?s)\\bgit\\b.*\\bpush\\b'}}
    then: {ask: This sends commits to a remote repository.}

# Try them:
#   hookline fire tool.before --tool bash --input '{"command": "git push"}'
#   hookline fire tool.before --tool write_file --input '{"path": ".env", "content": "API_KEY=1"}'
"""


_EXAMPLE_COMMANDS: Final = {
    "recommended": "rm -rf .",
    "secrets": "cat .env",
    "production": "terraform apply",
    "workspace": "touch /opt/x",
}
"""Pack → a command that it stops, for users to try."""


@click.command(cls=Verb, short_help="Write a hookline.yaml with two example hooks, or with packs.")
@click.option(
    "--pack",
    "packs",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_pack,
    help="Extend this pack instead of writing example hooks; repeat it for several.",
)
@click.option("--force", is_flag=True, help="Overwrite an existing hookline.yaml.")
def verb(packs: tuple[str, ...], force: bool) -> None:
    """Write a hookline.yaml with two example hooks into the current directory, and beside it the schema with which an
    editor completes and checks it. You trust the new file by this. With --pack, it extends packs of hookline instead.

    \b
    hookline init
    hookline init --pack recommended
    hookline fire tool.before --tool bash --input '{"command": "git push"}'
    """
    text = new_file_text(pack_references(packs)) if packs else TEMPLATE
    path, schema = Path(FILE_NAME), Path(SCHEMA_NAME)
    for each in (path, schema):
        if each.is_symlink():  # a repository could name one of your own files by a link
            raise HooklineError(f"{each} is a link to {os.path.realpath(each)}. Remove it first.")
    try:
        with path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
        schema.write_text(format_json(get_dialect("native").schema()) + "\n", encoding="utf-8")
    except FileExistsError:
        raise HooklineError(f"{FILE_NAME} already exists. Use --force to overwrite it.") from None
    except OSError as error:
        raise HooklineError(f"{error.filename} cannot be written: {error.strerror}") from None
    trust().accept(source for source in sources() if source.path == path.resolve())
    if packs:
        examples = [command for pack in packs if (command := _EXAMPLE_COMMANDS.get(pack.removeprefix("hookline:")))]
        out(f"Wrote {FILE_NAME}, which extends {', '.join(packs)}.")
    else:
        examples = ["git push"]
        out(f"Wrote {FILE_NAME} with two hooks.")
    for command in examples:
        out(f"""  Try it: hookline fire tool.before --tool bash --input '{{"command": "{command}"}}'""")
    out("  Next: hookline install claude-code, or another agent. hookline setup finds yours.")
