"""`hookline setup`"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from hookline.cli.agent_options import AgentName, machine, project_option, scope_of, user_option
from hookline.cli.context import current_directory, sources, trust
from hookline.cli.doctor import load_agent_book, print_diagnoses
from hookline.cli.extended_file import add_extends, complete_pack, extends_line, new_file_text, pack_references
from hookline.cli.init import FILE_NAME, SCHEMA_NAME
from hookline.cli.options import Verb, json_option
from hookline.cli.output import err, format_json, out, out_as_is, out_json
from hookline.dialects.dialect import get_dialect
from hookline.errors import HooklineError
from hookline.formatting import closest_match
from hookline.hosts.agents import AGENT_NAMES, get_agent
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.doctor.checks import examine_agent
from hookline.hosts.install import launcher
from hookline.hosts.install.installed_agents import is_agent_present
from hookline.hosts.install.plan import FileChange, apply_changes, plan_install, unified_diff
from hookline.hosts.install.text_files import make_directories, read_file_text, write_atomically
from hookline.lazy_dataclasses import dataclass
from hookline.project import Source
from hookline.project.packs import own_pack_names

NOT_CONFIRMED: Final = 3
DEFAULT_PACK: Final = "recommended"


@click.command(cls=Verb, short_help="Put a pack of guards into the coding agents on this machine.")
@click.option(
    "--agent",
    "agents",
    multiple=True,
    type=AgentName(),
    metavar="NAME",
    help="Set up this agent instead of asking; repeat it for several.",
)
@click.option(
    "--pack",
    "packs",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_pack,
    help="Use this pack instead of asking; repeat it for several.",
)
@user_option
@project_option
@click.option("--yes", is_flag=True, help="Ask nothing: every agent found, the recommended pack, for you.")
@json_option
def verb(agents: tuple[str, ...], packs: tuple[str, ...], user: bool, project: bool, yes: bool, as_json: bool) -> int:
    """Find the coding agents on this machine, and put a pack of guards into them. It asks which agents, which pack, and
    whether for you or for this project. It shows every change before it makes it, checks with doctor that the guards
    act, and tells you how to undo it.

    \b
    hookline setup
    hookline setup --yes
    hookline setup --agent codex --pack recommended --pack production --project

    With --json and without --yes, it prints what it would change, and changes nothing.

    Exit codes: 0 done, 1 a file cannot be changed or doctor found a problem, 3 you did not confirm.
    """
    here, chosen_scope = machine(), scope_of(user, project)
    found = [name for name in AGENT_NAMES if is_agent_present(get_agent(name), here)]
    if not (agents or found):
        raise HooklineError(
            "no coding agent found on the PATH or in your home directory. Install one, or name it as in `hookline setup --agent "
            f"claude-code`. Names: {', '.join(AGENT_NAMES)}"
        )
    asks = not (yes or as_json)
    try:
        names = list(dict.fromkeys(agents)) or (_ask_agents(found) if asks else found)
        references = pack_references(packs or (_ask_packs() if asks else (DEFAULT_PACK,)))
        scope = chosen_scope if user or project or not asks else _ask_scope(here)
        plan = _plan_setup(here, names, references, scope)
        if not as_json:
            _print_plan(plan)
        if not yes and (as_json or (plan.is_needed and not click.confirm("Make these changes?", default=True))):
            if as_json:
                out_json(_plan_as_json(plan))
            else:
                out("Nothing was changed.")
            return NOT_CONFIRMED
    except click.Abort as abort:
        if isinstance(abort.__context__, KeyboardInterrupt):
            raise
        err("\nhookline: no answer. Use `hookline setup --yes`.")
        return NOT_CONFIRMED
    _apply_setup(plan)
    diagnoses = [examine_agent(get_agent(name), here, load_agent_book(get_agent(name))) for name in names]
    if as_json:
        out_json({**_plan_as_json(plan), "applied": True, "doctor": [each.as_json() for each in diagnoses]})
    else:
        out()
        print_diagnoses(diagnoses, ())
        _print_undo(plan)
    return 0 if all(each.is_good for each in diagnoses) else 1


@dataclass(frozen=True)
class _HooksFile:
    """The file that extends the packs. With a schema, it is new."""

    path: Path
    before: str | None
    after: str
    schema: Path | None


@dataclass(frozen=True)
class _SetupPlan:
    here: Machine
    scope: InstallScope
    references: Sequence[str]
    hooks_file: _HooksFile
    agents: dict[str, tuple[FileChange, ...]]

    @property
    def is_needed(self) -> bool:
        return bool(self.diffs) or launcher.installed_kind(self.here) is None

    @property
    def diffs(self) -> dict[str, str]:
        """File → its difference, without the schema."""
        file = self.hooks_file
        shown = self.here.display_path(file.path)
        found = {shown: unified_diff(file.before, file.after, shown)} if file.before != file.after else {}
        changes = [change for each in self.agents.values() for change in each if change.is_needed]
        return {**found, **{self.here.display_path(change.path): change.diff(self.here) for change in changes}}

    @property
    def undo(self) -> list[str]:
        """What to do, in this order."""
        option = " --project" if self.scope is InstallScope.PROJECT else ""
        steps = [f"hookline uninstall {name}{option}" for name in self.agents]
        file = self.hooks_file
        if option and file.before is None:  # a trusted file stays in force when it is deleted
            steps.append("hookline trust --revoke")
        if file.before is None:
            steps.append(f"rm {' '.join(_shell_path(each, self.here) for each in (file.path, file.schema) if each)}")
        elif file.before != file.after:
            line = extends_line(self.references).strip()
            steps.append(f"remove the line `{line}` from {self.here.display_path(file.path)}")
            steps += ["hookline trust"] if option else []
        return steps


def _shell_path(path: Path, here: Machine) -> str:
    """As a shell in the current directory reads it."""
    directory = current_directory()
    shown = str(path.relative_to(directory)) if path.is_relative_to(directory) else str(path)
    short = f"~/{path.relative_to(here.home)}" if path.is_relative_to(here.home) else shown
    quoted = shlex.quote(shown)
    return short if quoted == shown == str(path) else quoted


def _ask_agents(found: Sequence[str]) -> list[str]:
    out("Found here: " + ", ".join(f"{get_agent(name).title} ({name})" for name in found))
    return _ask_names("Which agents?", ",".join(found), AGENT_NAMES, "agent")


def _ask_packs() -> list[str]:
    out(f"Packs: {', '.join(own_pack_names())}")
    return _ask_names("Which packs?", DEFAULT_PACK, own_pack_names(), "pack")


def _ask_names(question: str, default: str, known: Sequence[str], what: str) -> list[str]:
    """Asks again until every name is known."""
    while True:
        answer = str(click.prompt(question, default=default))
        names = list(dict.fromkeys(answer.replace(",", " ").split()))
        unknown = next((name for name in names if name not in known), None)
        if names and unknown is None:
            return names
        guess = closest_match(unknown or "", known)
        out(
            f"There is no {what} {unknown}. "
            + (f"Did you mean {guess}?" if guess else f"Choose from {', '.join(known)}.")
        )


def _ask_scope(here: Machine) -> InstallScope:
    out(f"user: for you, in every project. project: for everyone who works in {here.project}.")
    answer = click.prompt(
        "For whom?", default=InstallScope.USER.value, type=click.Choice([each.value for each in InstallScope])
    )
    return InstallScope(answer)


def _plan_setup(here: Machine, names: Sequence[str], references: Sequence[str], scope: InstallScope) -> _SetupPlan:
    """Everything is planned before anything is changed."""
    file = _plan_hooks_file(here, references, scope)
    agents = {}
    for name in names:
        try:
            agents[name] = plan_install(get_agent(name), here, scope)
        except HooklineError as error:
            raise HooklineError(f"{get_agent(name).title}: {error}\nNothing was changed.") from None
    return _SetupPlan(here, scope, references, file, agents)


def _plan_hooks_file(here: Machine, references: Sequence[str], scope: InstallScope) -> _HooksFile:
    directory = here.project if scope is InstallScope.PROJECT else here.config / "hookline"
    path, schema = directory / FILE_NAME, directory / SCHEMA_NAME
    for each in (path, schema) if scope is InstallScope.PROJECT else ():
        if each.is_symlink():  # a repository could name one of your own files by a link
            raise HooklineError(f"{here.display_path(each)} is a link to {each.resolve()}. Remove it first.")
    before = read_file_text(path)
    if before is None:
        return _HooksFile(path, None, new_file_text(references), schema)
    if trust().untrusted_sources(_sources_at(path)):  # what somebody else wrote is not trusted along with our line
        raise HooklineError(f"{here.display_path(path)} is not trusted. Review it with `hookline trust` first.")
    return _HooksFile(path, before, add_extends(before, references, here.display_path(path)), None)


def _sources_at(path: Path) -> list[Source]:
    return [source for source in sources(path.parent) if source.path == path.resolve()]


def _print_plan(plan: _SetupPlan) -> None:
    for diff in plan.diffs.values():
        out_as_is(diff.rstrip("\n"))
    show, file = plan.here.display_path, plan.hooks_file
    if file.schema is not None:
        out(f"Also writes {show(file.schema)}, the schema that lets an editor complete the file.")
    if launcher.installed_kind(plan.here) is None:
        out(f"Also writes {show(plan.here.launcher)}, the program that the agents call.")
    if not plan.is_needed:
        out("Everything is already set up.")
    elif plan.scope is InstallScope.PROJECT and file.before != file.after:
        out(f"Also trusts {show(file.path)}.")


def _apply_setup(plan: _SetupPlan) -> None:
    file = plan.hooks_file
    if read_file_text(file.path) != file.before:
        raise HooklineError(f"{plan.here.display_path(file.path)} has changed in the meantime; try again")
    if file.before != file.after:
        make_directories(file.path.parent)
        if file.schema is not None:
            write_atomically(file.schema, format_json(get_dialect("native").schema()) + "\n")
        write_atomically(file.path, file.after)
        trust().accept(_sources_at(file.path))
    launcher.install_launcher(plan.here)
    for changes in plan.agents.values():
        apply_changes(changes, plan.here)


def _print_undo(plan: _SetupPlan) -> None:
    out("\nTo undo it:")
    for step in plan.undo:
        out(f"  {step}")


def _plan_as_json(plan: _SetupPlan) -> dict[str, Any]:
    return {
        "agents": list(plan.agents),
        "packs": list(plan.references),
        "scope": plan.scope.value,
        "changes": [{"file": file, "diff": diff} for file, diff in plan.diffs.items()],
        "undo": plan.undo,
        "applied": False,
    }
