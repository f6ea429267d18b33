"""`hookline approvals`"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Callable
from textwrap import indent
from typing import TYPE_CHECKING, Any, TypeVar

import click

from hookline.cli.async_runner import run_async
from hookline.cli.options import Verb, json_option
from hookline.cli.output import out, out_json
from hookline.errors import HooklineError, extra_required
from hookline.formatting import printable
from hookline.hooks.session_facts import login_name
from hookline.project.private_file import state_directory

if TYPE_CHECKING:
    from hookline.hub.approvals.approval_desk import ApprovalDesk

T = TypeVar("T")


class _ApprovalsVerb(Verb, click.Group):
    """A group with --debug."""


@click.group("approvals", cls=_ApprovalsVerb, short_help="List and answer calls that wait for a person.")
@click.option("--store", default=None, metavar="URL", help="The database of the hub or of `hookline run`.")
@click.pass_context
def verb(context: click.Context, store: str | None) -> None:
    """Calls that wait for a person: of hookline's own agents, and of every agent that asks at the hub on this machine.

    \b
    hookline approvals list
    hookline approvals approve question_4a59ab08
    hookline approvals deny question_4a59ab08 --reason 'not on a Friday'
    """
    context.obj = store


@verb.command("list", cls=Verb, short_help="List what waits.")
@json_option
@click.pass_obj
def list_waiting(store: str | None, as_json: bool) -> None:
    """What waits, oldest first."""
    found = run_async(_with_desk(store, lambda desk: desk.waiting()))
    if as_json:
        for each in found:
            out(json.dumps(each, ensure_ascii=False))
        return
    if not found:
        out("No call waits for approval.")
    for each in found:
        _show(each)


@verb.command("approve", cls=Verb, short_help="Let the call run.")
@click.argument("id")
@click.option("--input", "edited", metavar="JSON", help="Run it with this input, if the hooks agree.")
@click.option("--session", "remember", is_flag=True, help="The same call too, until the session ends.")
@click.pass_obj
def approve(store: str | None, id: str, edited: str | None, remember: bool) -> None:
    """Let the call run. ID may be the beginning of an id."""
    from hookline.cli.facts_input import parse_json_object_argument

    given = None if edited is None else parse_json_object_argument(edited, "--input")
    more = {"edited": given, "remember": "session" if remember else None}
    out_json(_short(run_async(_with_desk(store, lambda desk: _answer(desk, id, True, more)))))


@verb.command("deny", cls=Verb, short_help="Do not let the call run.")
@click.argument("id")
@click.option("--reason", default=None, metavar="TEXT", help="Tell the agent why.")
@click.pass_obj
def deny(store: str | None, id: str, reason: str | None) -> None:
    """Do not let the call run. ID may be the beginning of an id."""
    out_json(_short(run_async(_with_desk(store, lambda desk: _answer(desk, id, False, {"why": reason})))))


async def _answer(desk: ApprovalDesk, start: str, yes: bool, more: dict[str, Any]) -> dict[str, Any]:
    found = [each for each in await desk.waiting() if _begins(each["id"], start)]
    if len(found) != 1:
        what = "nothing with this id waits" if not found else "several ids begin with this; write more of it"
        raise HooklineError(f"{what}. `hookline approvals list` shows what waits.")
    if more.get("edited") is not None and not found[0]["can_edit"]:
        raise HooklineError("this agent cannot run a changed input")
    if not await desk.answer(found[0]["id"], yes, login_name(), **more):
        raise HooklineError("this call no longer waits: somebody else answered, or its time was over")
    answered = await desk.find(found[0]["id"])
    assert answered is not None
    return answered


def _begins(id: str, start: str) -> bool:
    """`question_4a59…` and `4a59…` name the same. An empty variable of a script names nothing."""
    return start != "" and (id.startswith(start) or id.partition("_")[2].startswith(start))


async def _with_desk(url: str | None, work: Callable[[ApprovalDesk], Awaitable[T]]) -> T:
    with extra_required("hookline approvals needs the hub's packages", "hub"):
        from hookline.hub.approvals.approval_desk import ApprovalDesk
        from hookline.hub.store.question_table import QuestionTable
        from hookline.runtime.storage.store import Store, file_url

    async def publish(*arguments: Any, **more: Any) -> None:
        """The hub looks at the database, and publishes it there."""

    store = await Store.open(url or file_url(state_directory() / "sessions.db"))
    try:
        return await work(ApprovalDesk(QuestionTable(store.database), store, publish))
    finally:
        await store.close()


def _show(each: dict[str, Any]) -> None:
    left = max(0, round(each["expires"] - time.time()))
    who = " ".join(part for part in (each["host"], each["machine"]) if part)
    # A host wrote the rest: none of its lines may look like another question.
    out(f"{each['id']}  {printable(who)}, {left} s left")
    out(f"  {printable(each['tool'])} {json.dumps(each['input'], ensure_ascii=False)}")
    if each["reason"]:
        out(indent(each["reason"], "  ", lambda line: True))


def _short(each: dict[str, Any]) -> dict[str, Any]:
    return {name: each[name] for name in ("id", "state", "by", "tool", "input", "edited", "why")}
