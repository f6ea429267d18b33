"""Schemathesis reads the OpenAPI document and sends whatever it allows, and what it does not."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from served_hub import ServedHub, served_hub
from test_official_client import DECISION, report

# Its largest values are 20,000 messages and 5,000 stored values: writing them takes schemathesis many minutes.
LARGE_BODIES = "/v1/sessions/import"
# A report is lines of JSON, which schemathesis cannot write: tests/hub/api/test_report_routes.py sends what is wrong there.
# Signing out would end the run.
EXCLUDED = "/v1/(me|report)$"


@pytest.mark.parametrize("role", ["owner", "reporter"])
def test_no_request_makes_the_hub_fail(role: str, tmp_path: Path) -> None:
    with served_hub(tmp_path) as hub:
        report(hub, "rm -rf /")
        known, removed = (known_ids(hub, number) for number in range(2))
        config = tmp_path / "schemathesis.toml"
        config.write_text("\n".join(config_lines(known, removed)))
        secret = hub.token if role == "owner" else hub.key
        done = run_schemathesis(hub, secret, config)
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        if role == "owner":
            assert reached(hub, known) == dict.fromkeys(known, 200)


def run_schemathesis(hub: ServedHub, secret: str, config: Path) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).parent / "schemathesis"
    command = [
        *(str(program), "--config-file", str(config), "run", f"{hub.url}/api/openapi.json", "--url", f"{hub.url}/api"),
        *("--checks", "not_a_server_error", "--header", f"Authorization: Bearer {secret}"),
        *("--phases", "examples,coverage,fuzzing", "--max-examples", "10", "--seed", "1"),
        *("--exclude-path-regex", EXCLUDED, "--request-timeout", "30", "--no-color"),
    ]
    return subprocess.run(command, capture_output=True, text=True, cwd=config.parent, check=False)


def known_ids(hub: ServedHub, number: int) -> dict[str, str]:
    """One of each thing that a path names, so that more than "not found" is tried."""
    person = {"authorization": f"Bearer {hub.token}"}
    with httpx.Client(base_url=f"{hub.url}/api/v1", headers=person, timeout=30) as http:

        def create(path: str, body: dict[str, Any], **headers: str) -> str:
            answer = http.post(path, json=body, headers=headers)
            assert answer.status_code == 201, answer.text
            return str(answer.json()["id"])

        agent = create("/agents", {"name": f"writer {number}"})
        rule = {"event": "PreToolUse", "rule": {"matcher": "bash", "action": "deny", "reason": "no"}, "base": number}
        question = {"host": "codex", "tool": "shell", "input": {"command": "ls"}, "can_edit": True}
        approval = create("/approvals", question, authorization=f"Bearer {hub.key}")
        assert http.post(f"/approvals/{approval}/answer", json={"yes": True}).status_code == 200
        return {
            "agents": agent,
            "apps": agent,
            "sessions": create("/sessions", {"agent": agent}),
            "decisions": DECISION,
            "approvals": approval,  # answered: one that waits would hold each request for 25 seconds
            "users": create("/users", {"name": f"eve {number}", "role": "viewer"}),
            "rules": create("/rules/everyone/rules", rule),
        }


def config_lines(known: dict[str, str], removed: dict[str, str]) -> Iterator[str]:
    yield f'[[operations]]\ninclude-path = "{LARGE_BODIES}"\nphases.coverage.enabled = false'
    for choice, ids in (('exclude-method = "DELETE"', known), ('include-method = "DELETE"', removed)):
        for name, id in ids.items():
            of_rule = f'{{ "path.set" = "everyone", "path.rule" = "{id}" }}'
            values = of_rule if name == "rules" else f'{{ "path.id" = "{id}" }}'
            yield f'[[operations]]\ninclude-path-regex = "^/v1/{name}/[{{]"\n{choice}\nparameters = {values}'


def reached(hub: ServedHub, known: dict[str, str]) -> dict[str, int]:
    """Whether each of them is still there: else the run has asked for what is not."""
    person = {"authorization": f"Bearer {hub.token}"}
    with httpx.Client(base_url=f"{hub.url}/api/v1", headers=person, timeout=30) as http:
        paths = {name: f"/{name}/{id}" for name, id in known.items()}
        paths |= {"apps": f"/apps/{known['apps']}/hooks", "users": "/users", "rules": "/rules/everyone"}
        return {name: http.get(path).status_code for name, path in paths.items()}
