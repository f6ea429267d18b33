from __future__ import annotations

from pathlib import Path

from hookline.hub.access.hub_addresses import HubAddresses
from hookline.hub.access.response_headers import API, console_headers
from hookline.hub.config.hub_config import HubConfig


def test_the_console_runs_no_script_but_its_own_and_frames_only_the_sandbox() -> None:
    policy = console_headers(HubAddresses.of(HubConfig(state=Path("/state"), port=8000)))["content-security-policy"]
    parts = dict(part.split(" ", 1) for part in policy.split("; "))
    assert parts["default-src"] == "'none'"
    assert parts["script-src"] == "'self'"
    assert parts["require-trusted-types-for"] == "'script'"
    assert parts["frame-src"].split() == [
        f"http://{frame}{number}.localhost:8000/sandbox/{frame}"
        for frame in ("hooks", "agent", "net")
        for number in ("", *(f"-{number}" for number in range(2, 17)))
    ]
    assert "unsafe" not in policy
    assert "*" not in policy


def test_answers_of_the_api_are_never_stored_and_never_a_page() -> None:
    assert API["cache-control"] == "no-store"
    assert API["content-security-policy"].startswith("default-src 'none'; frame-ancestors 'none'")
