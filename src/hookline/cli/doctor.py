"""`hookline doctor`"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import click

from hookline.cli.agent_options import agent_argument, machine
from hookline.cli.context import sources, trust
from hookline.cli.options import Verb, json_option
from hookline.cli.output import err, out, out_json
from hookline.engine.book import Book
from hookline.hosts.agents import AGENT_NAMES, get_agent
from hookline.hosts.agents.agent import CodingAgent
from hookline.hosts.doctor.checks import examine_agent, is_plugged_in
from hookline.hosts.doctor.finding import Diagnosis, Mark
from hookline.hosts.install.installed_agents import is_agent_present
from hookline.project import load_all

_SIGNS: Final = {Mark.GOOD: "ok", Mark.PROBLEM: "!!", Mark.UNKNOWN: "??"}


@click.command(cls=Verb, short_help="Check that hooks fire in your coding agents.")
@agent_argument
@json_option
def verb(agent: str | None, as_json: bool) -> int:
    """Check that hooks fire: the agent's version, hookline's entries in its settings, its trust, a test call and how
    long it takes, and the hooks that apply here. Each problem comes with a fix. Without AGENT, it checks every agent
    that calls hookline.

    \b
    hookline doctor
    hookline doctor codex --json

    Exit codes: 0 no problem, 1 problems.
    """
    here = machine()
    names = [agent] if agent else [name for name in AGENT_NAMES if is_plugged_in(get_agent(name), here)]
    diagnoses = [examine_agent(get_agent(name), here, load_agent_book(get_agent(name))) for name in names]
    others = [
        name for name in AGENT_NAMES if not agent and name not in names and is_agent_present(get_agent(name), here)
    ]
    if as_json:
        out_json({"agents": [each.as_json() for each in diagnoses], "not_plugged_in": others})
    else:
        print_diagnoses(diagnoses, others)
    if not diagnoses:
        err("hookline: no coding agent calls hookline. Run `hookline install`.")
    return 0 if diagnoses and all(each.is_good for each in diagnoses) else 1


def load_agent_book(agent: CodingAgent) -> Book:
    found = [source for source in sources() if not agent.runs_hooks_of(source)]
    return load_all(found, trust(), importing=False)


def print_diagnoses(diagnoses: Sequence[Diagnosis], others: Sequence[str]) -> None:
    hooks: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    for each in diagnoses:
        out(each.title if each.verified else f"{each.title} (not tested by running it)")
        for finding in each.findings:
            out(f"  {_SIGNS[finding.mark]}  {finding.about}: {finding.message}")
            if finding.fix:
                out(f"      {finding.fix}")
        count = f"{len(each.hooks)} {'hook applies' if len(each.hooks) == 1 else 'hooks apply'} here"
        _print_hooks(count if each.hooks else "No hook applies here", each.hooks, hooks)
        if each.silent_hooks:
            why = f"Never run here, because {each.title} does not have their events"
            _print_hooks(why, each.silent_hooks, silent)
        hooks, silent = each.hooks, each.silent_hooks
    if others:
        out(f"Also found, but not calling hookline: {', '.join(others)}")


def _print_hooks(heading: str, hooks: tuple[str, ...], above: tuple[str, ...]) -> None:
    if not hooks or hooks == above:
        out(f"  {heading}{', the same as above' if hooks else ''}.")
        return
    out(f"  {heading}:")
    for hook in hooks:
        out(f"    {hook}")
