"""Whether an agent's hooks really fire here: everything that can be seen from outside, and what can be run."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from hookline.engine.book import Book
from hookline.errors import HooklineError
from hookline.hooks.actions.untrusted import NotTrusted
from hookline.hooks.hook import Hook
from hookline.hosts.agent import CodingAgent
from hookline.hosts.doctor.codex_trust import trust
from hookline.hosts.doctor.finding import Diagnosis, Finding, good, problem, unknown
from hookline.hosts.doctor.firing import Fired, fired
from hookline.hosts.doctor.proof import prove_with_agent
from hookline.hosts.doctor.switches import switched_off
from hookline.hosts.install import launcher
from hookline.hosts.install.command import calling
from hookline.hosts.install.edit import read
from hookline.hosts.install.files import text_of
from hookline.hosts.install.found import is_here, program
from hookline.hosts.install.machine import Machine, Scope
from hookline.hosts.install.plan import has_entry, installed

_PATIENCE: Final = 20.0  # seconds for a program to tell its version
_LONGEST: Final = 200
_UNTRIED: Final = "the agent itself was not run, for not even the test call was answered"


def examine(agent: CodingAgent, machine: Machine, book: Book) -> Diagnosis:
    """`book` holds the hooks in force in the project, without those that the agent runs itself."""
    result = fired(agent, machine)
    findings = (
        _program(agent, machine),
        *_entries(agent, machine),
        _launcher(machine),
        _firing(result),
        _proof(agent, machine) if isinstance(result, Fired) and result.as_expected else unknown("proof", _UNTRIED),
    )
    trip = round(result.milliseconds, 2) if isinstance(result, Fired) else None
    return Diagnosis(agent.name, agent.title, agent.verified, findings, _acting(agent, book), trip)


def plugged_in(agent: CodingAgent, machine: Machine) -> bool:
    """True if there is an entry of ours, or a file that nobody can read."""
    try:
        return any(True for _ in installed(agent, machine))
    except HooklineError:
        return True


def _program(agent: CodingAgent, machine: Machine) -> Finding:
    found = program(agent.name, machine)
    if found is None:
        if is_here(agent.name, machine):
            return unknown("agent", "its files are here, but no program of it is on the PATH")
        return problem("agent", "it is not on this machine", f"install {agent.title}, or put it on the PATH")
    version = _version(found, machine)
    if version is None:
        return problem("agent", f"{found} --version fails", f"run {found} --version and see what is wrong with it")
    return good("agent", f"{version} ({found})")


def _version(found: Path, machine: Machine) -> str | None:
    environ = {**machine.environ, "HOME": str(machine.home)}
    try:
        done = subprocess.run(
            [str(found), "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            env=environ,
            encoding="utf-8",
            errors="replace",
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = (done.stdout.strip() or done.stderr.strip()).splitlines()
    return lines[0][:_LONGEST] if done.returncode == 0 and lines else None


def _entries(agent: CodingAgent, machine: Machine) -> Iterator[Finding]:
    install = f"hookline install {agent.name}"
    try:
        places = list(installed(agent, machine))
    except HooklineError as error:
        yield problem("entry", str(error), "mend that file; the agent may not be able to read it either")
        return
    if not places:
        yield problem("entry", "there is none of ours in its files", install)
    for scope in Scope:
        yield from _of_scope(agent, machine, scope, [each for each in places if each[0] is scope])
    if places:
        yield from _switches(agent, machine)
    if len({scope for scope, _, _ in places}) > 1:
        shown = " and ".join(dict.fromkeys(machine.shown(path) for _, path, _ in places))
        yield good("twice", f"it calls hookline from {shown}; what both tell of is decided once")


def _switches(agent: CodingAgent, machine: Machine) -> Iterator[Finding]:
    try:
        yield from switched_off(agent, machine)
    except HooklineError as error:
        yield problem("switch", str(error), "mend that file; the agent may not be able to read it either")


def _of_scope(
    agent: CodingAgent, machine: Machine, scope: Scope, places: Sequence[tuple[Scope, Path, frozenset[str]]]
) -> Iterator[Finding]:
    if not places:
        return
    wanted = {event.name for event in agent.events}
    heard = frozenset[str]().union(*(events for _, _, events in places))
    shown = ", ".join(dict.fromkeys(machine.shown(path if len(places) == 1 else path.parent) for _, path, _ in places))
    missing, again = sorted(wanted - heard), f"hookline install {agent.name} --{scope}"
    if missing:
        yield problem("entry", f"{shown} lacks {', '.join(missing)}", again)
    elif not has_entry(agent, machine, scope):
        yield problem("entry", f"{shown} does not say what this version writes there", again)
    else:
        yield good("entry", f"{shown}: all {len(wanted)} events")
    for _, path, _ in places if agent.name == "codex" else ():
        document = read(text_of(path) or "", machine.shown(path))
        yield trust(document, path, calling(agent.name, machine, scope), machine)


def _launcher(machine: Machine) -> Finding:
    shown = machine.shown(machine.launcher)
    try:
        kind = launcher.made_as(machine.launcher)
    except HooklineError as error:
        return problem("launcher", str(error), "remove it, and run hookline install again")
    if kind is None:
        return problem("launcher", f"{shown} is missing or of another version", "run hookline install again")
    return good("launcher", f"{shown}, {kind}")


def _firing(result: Fired | str) -> Finding:
    if isinstance(result, str):
        return problem("answer", result, "run hookline install again; bridge.log in the state directory may say more")
    if result.as_expected:
        return good("answer", f"a test deny came back in the agent's own words, in {result.milliseconds:.1f} ms")
    said = (result.said.stdout or result.said.stderr or f"exit code {result.said.exit_code}, and nothing else").strip()
    return problem("answer", f"instead of a test deny it said: {said[:_LONGEST]}", "hookline check, then doctor again")


def _proof(agent: CodingAgent, machine: Machine) -> Finding:
    found = program(agent.name, machine)
    proved = prove_with_agent(agent.name, found, machine) if found is not None else None
    return proved or unknown("proof", "not proved by running the agent itself")


def _acting(agent: CodingAgent, book: Book) -> tuple[str, ...]:
    heard = {event.event for event in agent.events}
    return tuple(
        f"{hook.id}  on {hook.event}  {hook.origin.file}:{hook.origin.line}{_waiting(hook)}"
        for hook in book.hooks
        if hook.enabled and hook.event in heard
    )


def _waiting(hook: Hook) -> str:
    return ", waits for hookline trust" if isinstance(hook.then, NotTrusted) else ""
