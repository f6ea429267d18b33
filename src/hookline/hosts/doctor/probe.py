"""Two tests that hooks work: a call of the launcher, and a run of the agent itself against a fake model.

The launcher is called as the agent would call it, in a temporary project. The agent runs in a temporary home that
contains only hookline's entries and a launcher of its own, so it cannot reach the user's account, history or other
hooks. That run cannot prove trust that is bound to the user's own files.
"""

from __future__ import annotations

import json
import os
import secrets
import signal
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from hookline.engine.decision import Decision
from hookline.hooks.outcome import Verdict
from hookline.hosts.agents.agent import SAMPLE_COMMAND, CodingAgent, Reply
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.doctor.fake_model import ModelServer, ReceivedRequest
from hookline.hosts.doctor.finding import Finding, good_finding, problem_finding, unknown_finding
from hookline.hosts.install.launcher import install_launcher
from hookline.hosts.install.plan import apply_changes, plan_install
from hookline.lazy_dataclasses import dataclass, replace
from hookline.project.restrictions import UNTRUSTED_HOOK

_LAUNCHER_TIMEOUT: Final = 30.0  # seconds
_ROUNDS: Final = 5
_AGENT_TIMEOUT: Final = 180.0  # seconds, on a machine that does nothing else
_MAX_LOAD_FACTOR: Final = 5
_WORKING_SHARE: Final = 0.05  # of a processor: an agent that waits for something that never comes uses less
_MAX_OUTPUT: Final = 200
_INHERITED_VARIABLES: Final = ("PATH", "LANG", "USER", "LOGNAME", "TMPDIR", "XDG_RUNTIME_DIR")
_DATA_VARIABLE: Final = "XDG_DATA_HOME"
_CLOSED_PROXY: Final = "http://127.0.0.1:9"
_AGENT_VARIABLE_PREFIXES: Final = (
    "AUGMENT_", "CLAUDE", "CODEX_", "COPILOT_", "CRUSH", "CURSOR_", "DROID_", "FACTORY_", "GEMINI_", "GROK_", "LETTA_",
    "OPENHANDS_", "QWEN_",
)  # fmt: skip
TEST_HOOK: Final = """\
hooks:
  - id: hookline-doctor
    on: tool.before
    when: {{input: {{command: hookline doctor}}}}
    then: {{deny: {reason}}}
    order: -1000000
"""


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """The launcher's reply, and the reply that denies for the reason of the test hook."""

    actual: Reply
    expected: Reply
    reason: str  # random, so that only the test hook can give it
    milliseconds: float

    @property
    def is_expected(self) -> bool:
        """True if it denies for the test hook's reason. The reply may contain other messages too."""
        if self.actual == self.expected:
            return True
        has_reason = _has_reason(self.reason, self.actual.stdout + self.actual.stderr)
        return has_reason and self.actual.exit_code == self.expected.exit_code


def _has_reason(reason: str, text: str) -> bool:
    """The test hook's own file is not trusted, so the agent is told hookline's sentence about it."""
    return reason in text or UNTRUSTED_HOOK in text


def probe_launcher(agent: CodingAgent, machine: Machine) -> ProbeResult | str:
    """Returns a text that says why if the launcher cannot be run."""
    reason = f"hookline doctor {secrets.token_hex(8)}"
    with tempfile.TemporaryDirectory(prefix="hookline-doctor-") as temporary:
        directory = str(Path(temporary).resolve())
        Path(directory, "hookline.yaml").write_text(TEST_HOOK.format(reason=reason), "utf-8")
        event, payload = agent.sample_call(directory)
        arguments = [str(machine.launcher), agent.name, event]
        environ = _agent_environment(agent, machine, directory)
        times = []
        try:
            for _ in range(_ROUNDS + 1):  # the first call may have to start the engine
                started = time.perf_counter()
                actual = _run_launcher(arguments, json.dumps(payload), environ, directory)
                times.append((time.perf_counter() - started) * 1000)
        except subprocess.TimeoutExpired:
            return f"it did not answer within {_LAUNCHER_TIMEOUT:.0f} seconds"
        except OSError as error:
            return f"it cannot be run: {error.strerror}"
        parsed = agent.read(event, payload, directory)
        expected = agent.reply(parsed, [Decision(each, Verdict.DENY, reason) for each in parsed.events])
        return ProbeResult(actual, expected, reason, statistics.median(times[1:]))


def _agent_environment(agent: CodingAgent, machine: Machine, directory: str) -> dict[str, str]:
    """The environment that the agent gives its hooks, without that of an agent which may have started `doctor`."""
    environ = {name: value for name, value in machine.environ.items() if not name.startswith(_AGENT_VARIABLE_PREFIXES)}
    environ |= {"HOME": str(machine.home), **dict.fromkeys(agent.project_variables, directory)}
    return {**environ, **agent.hook_environment}


def _run_launcher(arguments: list[str], payload: str, environ: Mapping[str, str], directory: str) -> Reply:
    done = subprocess.run(
        arguments,
        input=payload,
        env=environ,
        cwd=directory,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=_LAUNCHER_TIMEOUT,
    )
    return Reply(done.stdout, done.stderr, done.returncode)


def prove_with_agent(agent: CodingAgent, program: Path, machine: Machine) -> Finding | None:
    """None if this agent cannot run without a person."""
    reason = f"hookline doctor {secrets.token_hex(8)}"
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="hookline-doctor-", ignore_cleanup_errors=True) as temporary:
        there = _isolated_machine(Path(temporary).resolve(), machine)
        (there.project / "hookline.yaml").write_text(TEST_HOOK.format(reason=reason), "utf-8")
        with ModelServer([SAMPLE_COMMAND]) as model:
            start = agent.headless_run(model.url, there.home)
            if start is None:
                return None
            environ = _isolated_environment(there, machine)
            install_launcher(replace(there, environ={**environ, _DATA_VARIABLE: there.environ[_DATA_VARIABLE]}))
            apply_changes(plan_install(agent, there, InstallScope.USER), there)
            output = _run_agent([str(program), *start.arguments], there, {**environ, **start.environment})
            requests = tuple(model.requests)
    seconds = time.monotonic() - started
    if agent.deny_ends_run and requests and not any(each.results for each in requests):
        return good_finding("proof", f"the agent itself ran, and ended at a hook that denies, in {seconds:.1f} s")
    return _proof_finding(requests, reason, output, seconds)


def _isolated_machine(directory: Path, machine: Machine) -> Machine:
    """An empty home and project, with the user's engine."""
    home, project = directory / "home", directory / "project"
    state = home / ".local" / "state"
    for path in (state, project):
        path.mkdir(parents=True)
    machine.records_directory.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    (state / "hookline").symlink_to(machine.records_directory.parent)
    return Machine(home, project, {_DATA_VARIABLE: str(directory / "data"), "XDG_STATE_HOME": str(directory / "state")})


def _isolated_environment(there: Machine, machine: Machine) -> dict[str, str]:
    """Without the user's keys, addresses and settings. A closed proxy blocks everything outside this machine."""
    kept = {name: value for name, value in machine.environ.items() if name in _INHERITED_VARIABLES}
    closed = {"HTTP_PROXY": _CLOSED_PROXY, "HTTPS_PROXY": _CLOSED_PROXY, "NO_PROXY": "127.0.0.1,localhost"}
    return {**kept, **closed, "HOME": str(there.home), "TERM": "xterm-256color"}


def _run_agent(command: list[str], there: Machine, environ: Mapping[str, str]) -> str:
    """Returns what the agent printed. After the timeout, it is killed with everything it started."""
    try:
        process = subprocess.Popen(
            command,
            cwd=there.project,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        return f"it cannot be run: {error.strerror}"
    try:
        return communicate(process, _AGENT_TIMEOUT)[0]
    except subprocess.TimeoutExpired as expired:
        return f"it did not end within {expired.timeout:.0f} seconds"
    finally:
        _kill_process_group(process)


def communicate(process: subprocess.Popen[str], seconds: float) -> tuple[str, str]:
    """Waits longer on a busy machine, and for an agent that still works: one that starts in seconds may need minutes there.

    The process must lead a session of its own. Raises TimeoutExpired.
    """
    waited = used = 0.0
    while True:
        try:
            return process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            waited += seconds
            before, used = used, _processor_time(process.pid)
            factor = _MAX_LOAD_FACTOR if used - before > seconds * _WORKING_SHARE else _load_factor()
            if waited >= seconds * factor:
                raise subprocess.TimeoutExpired(process.args, waited) from None


def _processor_time(session: int) -> float:
    """Seconds that the processes of a session have computed; 0 where the system does not say so as Linux does.

    In a container, the load is not always that of the processors which it may use.
    """
    total = 0
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = file.read_text("utf-8", "replace").rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if len(fields) > 14 and fields[3] == str(session):
            total += sum(map(int, fields[11:15]))  # its own, and that of its children which have ended
    return total / os.sysconf("SC_CLK_TCK")


def _load_factor() -> float:
    """How many programs want each of the machine's processors."""
    return min(os.getloadavg()[0] / (os.cpu_count() or 1), _MAX_LOAD_FACTOR)


def _kill_process_group(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _proof_finding(requests: tuple[ReceivedRequest, ...], reason: str, output: str, seconds: float) -> Finding:
    results = next((each.results for each in requests if each.results), None)
    if results is None:
        last = (output.strip().splitlines() or ["no output"])[-1]
        return unknown_finding("proof", f"the agent could not run without a person: {last[:_MAX_OUTPUT]}")
    if _has_reason(reason, str(results)):
        return good_finding("proof", f"the agent itself ran, and obeyed a hook that denies, in {seconds:.1f} s")
    return problem_finding(
        "proof",
        f"the agent itself ran, and did not obey a hook that denies: {str(results)[:_MAX_OUTPUT]}",
        "do not rely on hooks in this version of the agent; install a version that hookline is tested with",
    )
