from __future__ import annotations

import json
import signal
import subprocess
import threading
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
    assert "no case matches" in none.stderr


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
    running = subprocess.Popen(
        [*command, "test", "--watch", "--junit", "report.xml"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    assert running.stderr is not None
    seen, enough = "", threading.Event()
    changing = threading.Thread(target=keep_changing, args=(Path("tests/hooks/bad.yaml").absolute(), enough))
    try:
        assert running.stderr.readline().startswith("watching ")
        changing.start()
        while "1 failed" not in seen and (line := running.stdout.readline()):
            seen += line
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=30)
    finally:
        enough.set()
        running.kill()
    assert seen.index("1 passed in") < seen.index("1 passed, 1 failed in")
    assert running.returncode == 130


def keep_changing(path: Path, enough: threading.Event) -> None:
    """The watcher does not say when it begins to look, so the file changes until somebody has seen it."""
    path.write_text(BAD)
    while not enough.wait(0.2):
        path.write_text(path.read_text() + "#\n")


def test_a_word_leaves_out_files_that_cannot_be_read(hookline):
    Path("tests/hooks/odd.yaml").write_text(GOOD.replace("expect:", "expects:"))
    result = hookline("test", "-k", "good")
    assert result.exit_code == 0
    assert "1 passed in" in result.stdout
    assert "skipped tests/hooks/odd.yaml: it cannot be read" in result.stderr
    assert hookline("test", "-k", "odd").exit_code == 1
