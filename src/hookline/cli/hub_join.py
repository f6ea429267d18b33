"""`hookline hub join`, `leave` and `push`"""

from __future__ import annotations

import sys

import click

from hookline.cli.async_runner import run_async
from hookline.cli.context import trust
from hookline.cli.options import Verb
from hookline.cli.output import out
from hookline.errors import HooklineError
from hookline.project.private_file import state_directory


@click.command("join", cls=Verb, short_help="Send this user's record and questions to a hub.")
@click.argument("url")
@click.option("--key", envvar="HOOKLINE_HUB_KEY", help="A reporter key of the hub.  [default: you are asked]")
@click.option(
    "--ask",
    type=click.Choice(["auto", "host", "hub"]),
    default="auto",
    show_default=True,
    help="Where a person is asked: at the hub where the agent cannot ask, never there, or always.",
)
@click.option("--take-rules", is_flag=True, help="Also take the hub's rules; `hookline trust` shows what they run.")
def join(url: str, key: str | None, ask: str, take_rules: bool) -> None:
    """Send what agents of this user do on this machine to a hub elsewhere, and ask its people. The key comes from
    `hookline hub keys add` on the hub's machine.

    \b
    hookline hub join https://hub.example.org
    hookline hub join https://hub.example.org --take-rules

    With `--take-rules`, the rules of its set `everyone` apply to agents here too, even while the hub cannot be reached.
    They can forbid and ask. What they run or allow waits until you accept it with `hookline trust`.
    """
    from hookline.hosts.hub import taken_rules
    from hookline.hosts.hub.hub_file import AskAt, JoinedHub, check_hub_url, write_hub_file

    url, key = check_hub_url(url), key or _ask_key()
    hub = JoinedHub(url, key, ask=AskAt(ask), reports=True)
    name = run_async(_check(hub.api, key))
    joined = JoinedHub(hub.url, key, name, hub.ask, reports=True, takes_rules=take_rules)
    if take_rules:
        run_async(taken_rules.take_rules(state_directory(), joined))
    else:
        taken_rules.drop_rules(state_directory(), trust())
    write_hub_file(state_directory(), joined)
    out(f"Joined {hub.url}. The record is sent while `hookline serve`, or `hookline hub push --follow`, runs.")
    if take_rules:
        out("Its rules are taken: `hookline list` shows them, `hookline trust` what they would run.")


def _ask_key() -> str:
    if not sys.stdin.isatty():
        where = "Set HOOKLINE_HUB_KEY or pass --key; `hookline hub keys add NAME` on the hub's machine prints a key."
        raise HooklineError(f"a key is needed, and stdin is not a terminal. {where}")
    return str(click.prompt("Key", hide_input=True))


async def _check(api: str, key: str) -> str:
    """The hub's name. Raises HooklineError if it cannot be reached, or the key does not report there."""
    import httpx2

    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/x-ndjson"}
    try:
        async with httpx2.AsyncClient(trust_env=False, timeout=10) as client:
            answer = await client.post(f"{api}/report", headers=headers, content=b"")
            health = await client.get(f"{api}/healthz")
    except httpx2.HTTPError as error:
        raise HooklineError(f"the hub cannot be reached: {type(error).__name__}") from None
    if answer.status_code in (401, 403):
        raise HooklineError("the hub does not accept this key; make one there with `hookline hub keys add NAME`")
    if answer.status_code != 200:
        raise HooklineError(f"this is not a hub: it answered with status {answer.status_code}")
    try:
        return str(health.json().get("name", ""))
    except (ValueError, AttributeError):
        return ""


@click.command("leave", cls=Verb, short_help="Send nothing to the hub any more.")
def leave() -> None:
    """Send nothing to the hub any more, and ask nobody there. What it has stays; rules that were taken from it go.

    \b
    hookline hub leave
    """
    from hookline.hosts.hub.hub_file import hub_file_path, read_joined_hub
    from hookline.hosts.hub.taken_rules import drop_rules

    hub = read_joined_hub(state_directory())
    if hub is None:
        raise HooklineError("you have not joined a hub")
    hub_file_path(state_directory()).unlink()
    drop_rules(state_directory(), trust())
    out(f"Left {hub.url}.")


@click.command("push", cls=Verb, short_help="Send what is recorded to the hub.")
@click.option("--follow", is_flag=True, help="Go on until you interrupt it.")
def push(follow: bool) -> None:
    """Send what is recorded and was not sent yet to the hub that you joined. `hookline serve` does it by itself.

    \b
    hookline hub push
    hookline hub push --follow
    """
    from hookline.hosts.hub.hub_file import read_joined_hub
    from hookline.hosts.hub.record_push import push_records

    hub = read_joined_hub(state_directory())
    if hub is None:
        raise HooklineError("you have not joined a hub. Run `hookline hub join URL`.")
    sent = run_async(push_records(state_directory(), once=not follow))
    out(f"Sent {sent} records to {hub.url}.")
