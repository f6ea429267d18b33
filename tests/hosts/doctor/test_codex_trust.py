from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from hookline.config.json_edit import parse_object
from hookline.hosts.agents.machine import Machine
from hookline.hosts.doctor.codex_trust import check_trust
from hookline.hosts.doctor.finding import Finding, Mark
from install_sandbox import install, make_machine

pytestmark = pytest.mark.slow


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = make_machine(tmp_path)
    hooks = machine.home / ".codex/hooks.json"
    hooks.parent.mkdir()
    hooks.write_text(
        '{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./mine"}]}]}}'
    )
    install("codex", machine)
    return machine


def trust_finding(machine: Machine) -> Finding:
    path = machine.home / ".codex/hooks.json"
    return check_trust(parse_object(path.read_text(), "hooks.json"), path, machine)


def trusted_states(machine: Machine) -> list[str]:
    """What Codex writes when its user accepts every hook of the file that has no matcher."""
    path = machine.home / ".codex/hooks.json"
    lines = []
    for event, groups in json.loads(path.read_text())["hooks"].items():
        label = "".join(f"_{char.lower()}" if char.isupper() else char for char in event)[1:]
        for index, group in enumerate(groups):
            if "matcher" in group:
                continue
            handler = group["hooks"][0]
            text = (
                f'{{"event_name":"{label}","hooks":[{{"async":false,"command":{json.dumps(handler["command"])},'
                f'"timeout":{handler["timeout"]},"type":"command"}}]}}'
            )
            digest = hashlib.sha256(text.encode()).hexdigest()
            lines += [f'[hooks.state."{path}:{label}:{index}:0"]', f'trusted_hash = "sha256:{digest}"']
    return lines


def write_config(machine: Machine, lines: list[str]) -> None:
    (machine.home / ".codex/config.toml").write_text("\n".join(lines))


def test_an_untrusted_entry_is_a_problem(machine: Machine) -> None:
    assert trust_finding(machine).mark is Mark.PROBLEM
    assert trust_finding(machine).message.startswith("not trusted: PreToolUse, SessionStart")
    assert "/hooks" in trust_finding(machine).fix


def test_trusted_entries_are_good(machine: Machine) -> None:
    lines = trusted_states(machine)
    assert any(":pre_tool_use:1:0" in line for line in lines)
    write_config(machine, lines)
    assert trust_finding(machine).mark is Mark.GOOD


def test_another_hash_or_a_switch_is_a_problem(machine: Machine) -> None:
    write_config(machine, [*trusted_states(machine)[:-1], 'trusted_hash = "sha256:0"'])
    assert trust_finding(machine).message == "changed since it was trusted: SessionEnd"
    write_config(machine, [*trusted_states(machine), "enabled = false"])
    assert trust_finding(machine).message == "disabled: SessionEnd"


def test_a_config_that_cannot_be_read_is_a_problem(machine: Machine) -> None:
    write_config(machine, ["[hooks"])
    assert trust_finding(machine).mark is Mark.PROBLEM
