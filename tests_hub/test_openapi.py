"""Schemathesis reads the OpenAPI document and sends whatever it allows, and what it does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from served_hub import served_hub


# A report is lines of JSON, which schemathesis cannot write: tests/hub/api/test_report_routes.py sends what is wrong there.
@pytest.mark.parametrize("role", ["owner", "reporter"])
def test_no_request_makes_the_hub_fail(role: str, tmp_path: Path) -> None:
    with served_hub(tmp_path) as hub:
        secret = hub.token if role == "owner" else hub.key
        command = [
            *(str(Path(sys.executable).parent / "schemathesis"), "run", f"{hub.url}/api/openapi.json"),
            *("--url", f"{hub.url}/api", "--checks", "not_a_server_error", "--no-color"),
            *("-H", f"Authorization: Bearer {secret}", "--seed", "1", "--max-examples", "10"),
            *(
                "--phases",
                "examples,coverage,fuzzing",
                "--exclude-path-regex",
                "/v1/(me|report)$",
                "--request-timeout",
                "30",
            ),
        ]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stdout[-6000:]
