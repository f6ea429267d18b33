from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest

GOOD = """\
note: a push is asked about
file: ../../hookline.yaml
event: {name: tool.before, tool: {name: bash, input: {command: git push}}}
expect: {verdict: ask, by: ask-before-push}
"""
BAD = GOOD.replace("a push is asked about", "it is \\x1b denied").replace("verdict: ask", "verdict: deny")


@pytest.fixture(autouse=True)
def _cases(hookline):
    hookline("init")
    Path("tests/hooks").mkdir(parents=True)
    Path("tests/hooks/good.yaml").write_text(GOOD)


def test_cases_are_found_and_run(hookline):
    result = hookline("test")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == "."
    assert "1 passed in" in result.stdout


def test_a_failure_shows_the_difference_and_why(hookline):
    Path("tests/hooks/bad.yaml").write_text(BAD)
    result = hookline("test")
    assert result.exit_code == 1
    assert "expected  deny" in result.stdout
    assert "got       ask" in result.stdout
    assert "no-secrets-in-env-files (" in result.stdout
    assert "1 passed, 1 failed in" in result.stdout


def test_k_chooses_by_note_or_path(hookline):
    Path("tests/hooks/bad.yaml").write_text(BAD)
    assert hookline("test", "-k", "ASKED").exit_code == 0
    assert hookline("test", "-k", "bad").exit_code == 1
    none = hookline("test", "-k", "nothing has this")
    assert none.exit_code == 1
    assert "no case has the word" in none.stderr


def test_no_case_at_all_is_no_success(hookline):
    Path("tests/hooks/good.yaml").unlink()
    result = hookline("test")
    assert result.exit_code == 1
    assert "tests/hooks" in result.stderr


def test_a_file_that_is_no_case_fails_with_its_problems(hookline):
    Path("tests/hooks/odd.yaml").write_text(GOOD.replace("expect:", "expects:"))
    result = hookline("test")
    assert result.exit_code == 1
    assert "tests/hooks/odd.yaml:4  " in result.stdout
    assert "Did you mean expect?" in result.stdout


def test_json_and_junit_for_programs(hookline):
    Path("tests/hooks/bad.yaml").write_text(BAD)
    result = hookline("test", "tests/hooks", "--json", "--junit", "report.xml")
    bad, good = json.loads(result.stdout)
    assert (bad["ok"], good["ok"]) == (False, True)
    assert bad["differences"] == [{"step": 1, "key": "verdict", "expected": "deny", "got": "ask"}]
    suite = ElementTree.parse("report.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert "expected  deny" in (suite.findtext("testcase/failure") or "")


def test_watch_runs_again_after_a_change(command):
    running = subprocess.Popen([*command, "test", "--watch"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout is not None
    assert running.stderr is not None
    try:
        assert running.stderr.readline().startswith("watching ")
        time.sleep(0.5)  # the watcher says nothing when it has begun to look
        Path("tests/hooks/bad.yaml").write_text(BAD)
        seen = ""
        while "1 failed" not in seen and (line := running.stdout.readline()):
            seen += line
        running.send_signal(2)
        running.wait(timeout=30)
    finally:
        running.kill()
    assert "1 passed in" in seen
    assert "1 passed, 1 failed in" in seen
    assert running.returncode == 130
