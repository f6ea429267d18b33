"""Checks whether an agent's hooks really fire: its program, its files, a test call, and a run of the agent itself."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hookline.config.json_edit import parse_object
from hookline.engine.book import Book
from hookline.errors import HooklineError
from hookline.hooks.actions.failing import UntrustedAction
from hookline.hooks.events import BACKGROUND_EVENTS
from hookline.hooks.hook import Hook
from hookline.hooks.tools import ToolKind
from hookline.hosts.agents.agent import CodingAgent, Proof
from hookline.hosts.agents.agent_tools import tools_of_agent
from hookline.hosts.agents.entries import EntriesFile
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.doctor.codex_trust import check_trust
from hookline.hosts.doctor.finding import Diagnosis, Finding, good_finding, problem_finding, unknown_finding
from hookline.hosts.doctor.probe import ProbeResult, probe_launcher, prove_with_agent
from hookline.hosts.install import launcher
from hookline.hosts.install.installed_agents import find_program, is_agent_present
from hookline.hosts.install.plan import desired_files, find_fault, has_current_entries, installed_entries
from hookline.hosts.install.text_files import read_file_text

_VERSION_TIMEOUT: Final = 60.0  # seconds; a large program that is not in memory yet takes long on a busy machine
_MAX_TEXT: Final = 200
_MAX_TOOLS: Final = 5
_VERSION: Final = re.compile(r"\d{1,9}(?:\.\d{1,9}){1,3}")
_BASIS: Final = {
    Proof.RUN: "hookline is tested with {versions}",
    Proof.CAPTURES: "hookline was seen to work with {versions}",
    Proof.SOURCE: "hookline follows the code of {versions}",
    Proof.DOCUMENTATION: "hookline follows the documentation of {versions}",
}
_AGENT_NOT_RUN: Final = "the agent itself was not run, because the test call failed"


def examine_agent(agent: CodingAgent, machine: Machine, book: Book) -> Diagnosis:
    """`book` contains the project's active hooks, without those that the agent runs itself."""
    packs = tuple(_check_packs(book))
    acting, silent = _hooks_by_effect(agent, book)
    if not is_plugged_in(agent, machine):
        findings = (
            *_check_program(agent, machine),
            *_check_entries(agent, machine),
            *_check_tools(agent, machine),
            *packs,
        )
        return Diagnosis(agent.name, agent.title, agent.verified, findings, acting, silent_hooks=silent)
    result = probe_launcher(agent, machine)
    findings = (
        *_check_program(agent, machine),
        *_check_entries(agent, machine),
        _check_launcher(machine),
        *_check_tools(agent, machine),
        _check_answer(result),
        _check_proof(agent, machine)
        if isinstance(result, ProbeResult) and result.is_expected
        else unknown_finding("proof", _AGENT_NOT_RUN),
        *packs,
    )
    trip = round(result.milliseconds, 2) if isinstance(result, ProbeResult) else None
    return Diagnosis(agent.name, agent.title, agent.verified, findings, acting, trip, silent)


def is_plugged_in(agent: CodingAgent, machine: Machine) -> bool:
    """True if one of the agent's files has an entry of hookline, or cannot be read."""
    try:
        return any(True for _ in installed_entries(agent, machine))
    except HooklineError:
        return True


def _check_program(agent: CodingAgent, machine: Machine) -> Iterator[Finding]:
    found = find_program(agent, machine)
    if found is None:
        if is_agent_present(agent, machine):
            yield unknown_finding("agent", "its files are here, but its program is not on the PATH")
        else:
            yield problem_finding("agent", "it is not on this machine", f"install {agent.title}, or put it on the PATH")
        return
    try:
        version = _program_version(found, machine)
    except subprocess.TimeoutExpired as expired:
        what = f"{found} --version did not answer within {expired.timeout:.0f} seconds"
        yield unknown_finding("agent", f"{what}: the machine is busy, or the program waits for something")
        return
    if version is None:
        yield problem_finding("agent", f"{found} --version fails", f"run {found} --version to see what is wrong")
        return
    yield good_finding("agent", f"{version} ({found})")
    if agent.versions:
        yield check_version(agent, version)


def check_version(agent: CodingAgent, printed: str) -> Finding:
    """Compares what the program printed with the versions that hookline is tested with."""
    known = _BASIS[agent.proof].format(versions=", ".join(agent.versions))
    found = _VERSION.search(printed)
    if found is None:
        return unknown_finding("version", f"{printed!r} names no version; {known}")
    if found[0] in agent.versions:
        return good_finding("version", f"{known}, and this is {found[0]}")
    what = "newer" if _version_numbers(found[0]) > max(map(_version_numbers, agent.versions)) else "another"
    return unknown_finding("version", f"{found[0]} is {what}: {known}. It may have other tools, events or replies")


def _version_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _program_version(found: Path, machine: Machine) -> str | None:
    """None if it fails. Raises TimeoutExpired."""
    environ = {**machine.environ, "HOME": str(machine.home)}
    try:
        done = subprocess.run(
            [str(found), "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_VERSION_TIMEOUT,
            env=environ,
            encoding="utf-8",
            errors="replace",
        )
    except OSError:
        return None
    lines = (done.stdout.strip() or done.stderr.strip()).splitlines()
    return lines[0][:_MAX_TEXT] if done.returncode == 0 and lines else None


def _check_entries(agent: CodingAgent, machine: Machine) -> Iterator[Finding]:
    install = f"hookline install {agent.name}"
    try:
        places = list(installed_entries(agent, machine))
    except HooklineError as error:
        yield problem_finding("entry", str(error), "fix that file; the agent may not be able to read it either")
        return
    if not places:
        yield problem_finding("entry", "its files do not call hookline", install)
    for scope in InstallScope:
        yield from _check_scope(agent, machine, scope, [each for each in places if each[0] is scope])
    if places:
        yield from _check_switches(agent, machine)
        yield from find_managed_files(agent, machine)
        what, fix = agent.find_obstacle(machine)
        if what:
            yield problem_finding("trust", what, fix)
    if len({scope for scope, _, _ in places}) > 1:
        shown = " and ".join(dict.fromkeys(machine.display_path(path) for _, path, _ in places))
        yield good_finding("twice", f"it calls hookline from {shown}; an event that both send is decided once")


def _check_switches(agent: CodingAgent, machine: Machine) -> Iterator[Finding]:
    try:
        yield from find_disabled_hooks(agent, machine)
    except HooklineError as error:
        yield problem_finding("switch", str(error), "fix that file; the agent may not be able to read it either")


def find_disabled_hooks(agent: CodingAgent, machine: Machine) -> Iterator[Finding]:
    """Raises HooklineError for a file that cannot be read."""
    for path in _switch_files(agent, machine):
        settings = parse_object(read_file_text(path) or "", machine.display_path(path)).value
        switch, is_off = agent.hook_switch(settings)
        if is_off is True:
            yield problem_finding("switch", f"{machine.display_path(path)} sets {switch}", f"remove {switch}")
        if is_off is not None and agent.project_settings:
            return


def find_managed_files(agent: CodingAgent, machine: Machine) -> Iterator[Finding]:
    """The administrator's files for this agent. Their hooks are the agent's own matter; whether they leave ours is not."""
    for pattern in agent.managed_files:
        for path in sorted(machine.root.glob(pattern.removeprefix("/"))):
            switch = agent.managed_switch(_managed_settings(path))
            if switch:
                fix = f"ask your administrator to remove {switch}, or to put hookline's entries into that file"
                yield problem_finding("managed", f"{path} sets {switch}, so the agent does not run your hooks", fix)
            else:
                what = "is your administrator's: it may add hooks, which hookline does not list, or switch yours off"
                yield unknown_finding("managed", f"{path} {what}")


def _managed_settings(path: Path) -> Mapping[str, Any]:
    """Empty if it cannot be read: many are for administrators only."""
    try:
        text = path.read_text("utf-8")
        found = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _switch_files(agent: CodingAgent, machine: Machine) -> Iterator[Path]:
    """The files that can disable hooks, the strongest first."""
    yield from (machine.project / each for each in agent.project_settings)
    yield from (agent.home_directories(machine)[0] / each for each in agent.user_settings)
    scopes = (InstallScope.USER,) if agent.project_settings else tuple(InstallScope)
    wants = (want for scope in scopes for want in desired_files(agent, machine, scope))
    yield from (want.path for want in wants if isinstance(want, EntriesFile))


def _check_scope(
    agent: CodingAgent,
    machine: Machine,
    scope: InstallScope,
    places: Sequence[tuple[InstallScope, Path, frozenset[str]]],
) -> Iterator[Finding]:
    if not places:
        return
    wanted = {event.name for event in agent.events}
    installed = frozenset[str]().union(*(events for _, _, events in places))
    shown = ", ".join(
        dict.fromkeys(machine.display_path(path if len(places) == 1 else path.parent) for _, path, _ in places)
    )
    missing, again = sorted(wanted - installed), f"hookline install {agent.name} --{scope}"
    faults = [find_fault(agent, machine, path, read_file_text(path)) for _, path, _ in places]
    if any(faults):
        yield problem_finding("entry", "; ".join(filter(None, faults)), "correct it: no hook in that file runs now")
    elif missing:
        yield problem_finding("entry", f"{shown} lacks {', '.join(missing)}", again)
    elif not has_current_entries(agent, machine, scope):
        yield problem_finding("entry", f"{shown} is not what this version of hookline writes", again)
    else:
        yield good_finding("entry", f"{shown}: all {len(wanted)} events")
    for _, path, _ in places if agent.name == "codex" else ():
        document = parse_object(read_file_text(path) or "", machine.display_path(path))
        yield check_trust(document, path, machine)


def _check_launcher(machine: Machine) -> Finding:
    shown = machine.display_path(machine.launcher)
    try:
        kind = launcher.installed_kind(machine)
    except HooklineError as error:
        return problem_finding("launcher", str(error), "remove it, and run hookline install again")
    if kind is None:
        why = "is missing, from another version, or bound to other directories than yours"
        return problem_finding("launcher", f"{shown} {why}", "run hookline install again")
    return good_finding("launcher", f"{shown}, {kind}")


def _check_tools(agent: CodingAgent, machine: Machine) -> Iterator[Finding]:
    """Tools that it has called and no table knows: a guard may not hold for them."""
    unknown = [tool for tool in tools_of_agent(agent.name, machine) if not tool.is_known]
    if not unknown:
        return
    shown = ", ".join(
        f"{tool.name} (taken for {tool.kind})" if tool.kind is not ToolKind.OTHER else tool.name
        for tool in unknown[:_MAX_TOOLS]
    )
    more = f" and {len(unknown) - _MAX_TOOLS} more" if len(unknown) > _MAX_TOOLS else ""
    yield unknown_finding(
        "tools",
        f"it calls tools that hookline does not know: {shown}{more}; see hookline list --tools --agent {agent.name}",
    )


def _check_answer(result: ProbeResult | str) -> Finding:
    if isinstance(result, str):
        return problem_finding(
            "answer", result, "run hookline install again; see also bridge.log in the state directory"
        )
    if result.is_expected:
        return good_finding(
            "answer", f"a test call was denied in the agent's own protocol, in {result.milliseconds:.1f} ms"
        )
    output = (
        result.actual.stdout or result.actual.stderr or f"exit code {result.actual.exit_code} without output"
    ).strip()
    return problem_finding(
        "answer",
        f"the test call was not denied; the reply was: {output[:_MAX_TEXT]}",
        "run hookline check, then doctor again",
    )


def _check_proof(agent: CodingAgent, machine: Machine) -> Finding:
    found = find_program(agent, machine)
    proved = prove_with_agent(agent, found, machine) if found is not None else None
    return proved or unknown_finding("proof", "not proved: the agent itself was not run")


def _check_packs(book: Book) -> Iterator[Finding]:
    """Packs that several files extend."""
    files_of: dict[str, tuple[str, ...]] = {}
    for file in book.files.files:
        for pack in file.packs:
            files_of[pack] = tuple(dict.fromkeys((*files_of.get(pack, ()), file.shown_as)))
    for files in dict.fromkeys(files_of.values()):
        if len(files) > 1:
            packs = sorted(pack for pack, extended_by in files_of.items() if extended_by == files)
            yield good_finding("packs", f"{' and '.join(files)} extend {', '.join(packs)}: equal hooks count once")


def _hooks_by_effect(agent: CodingAgent, book: Book) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The hooks that act in this agent, and those whose events it never has."""
    fired = {event.event for event in agent.events} | BACKGROUND_EVENTS
    if "session.start" in fired:
        fired.add("session.first_turn")  # the bridge fires it, because agents do not report their turns
    enabled = [hook for hook in book.hooks if hook.enabled]
    acting, silent = ([hook for hook in enabled if (hook.event in fired) is acts] for acts in (True, False))
    return tuple(f"{_hook_line(hook)}{_trust_suffix(hook)}" for hook in acting), tuple(map(_hook_line, silent))


def _hook_line(hook: Hook) -> str:
    return f"{hook.id}  on {hook.event_name}  {hook.origin.file}:{hook.origin.line}"


def _trust_suffix(hook: Hook) -> str:
    return ", waits for hookline trust" if isinstance(hook.then, UntrustedAction) else ""
