"""Triggers, served by the command."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from cli.scripted_project import write_scripted_project

pytestmark = pytest.mark.slow


APP = """
model: script:model.yaml
hooks:
  - {id: no-drafts, on: activation, when: {fact: {trigger.body.version: '^draft'}}, then: {deny: Drafts are not deployed.}}
triggers:
  - {id: deployed, http: /deployed, prompt: "Version {{trigger.body.version}} is out."}
"""


def _post(address: str, version: str) -> tuple[int, dict[str, str]]:
    headers = {"Content-Type": "application/json", "Authorization": "Bearer of-the-test"}
    request = urllib.request.Request(address, json.dumps({"version": version}).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def test_a_line_for_each_trigger_that_fires_and_what_came_of_it(project: Path, command: list[str]) -> None:
    write_scripted_project(project, "- {when: {prompt: Version 1.2 is out}, say: I look at the log.}\n", APP)
    running = subprocess.Popen(
        [*command, "run", "--serve"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "HOOKLINE_TOKEN": "of-the-test"},
    )
    assert running.stdout is not None
    try:
        address = running.stdout.readline().split()[-1]
        assert address.endswith("/deployed")
        status, body = _post(address, "1.2")
        assert status == 202
        assert running.stdout.readline().split()[1:] == ["deployed", body["session"]]
        assert running.stdout.readline().rstrip().endswith("deployed  answered: I look at the log.")
        assert _post(address, "draft-1") == (
            403,
            {"error": "Drafts are not deployed. (hook no-drafts, hookline.yaml:4)"},
        )
        assert (
            running.stdout.readline()
            .rstrip()
            .endswith("deployed  denied: Drafts are not deployed. (hook no-drafts, hookline.yaml:4)")
        )
    finally:
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "bug" not in errors
    assert "of-the-test" not in errors
