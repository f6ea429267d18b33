"""The cases about flo's scripts, with the scripts in a page. `make test` runs the same files with QuickJS, so both agree."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from browser_hub import PYTHON, ROOT, WAIT
from playwright.sync_api import Browser, expect

CASES = sorted((ROOT / "tests/cases/flo").glob("*script*.yaml"))


def results_of(process: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    assert process.stdout is not None
    for line in process.stdout:
        told = json.loads(line)
        if "done" in told:
            return
        yield told
    raise AssertionError("the hub ended before its cases did")


def test_scripts_in_the_page_and_in_quickjs_agree(browser: Browser) -> None:
    state = Path(tempfile.mkdtemp(prefix="hlb"))
    context = browser.new_context()
    command = [PYTHON, str(Path(__file__).with_name("script_cases_hub.py")), str(state), *map(str, CASES)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            results = results_of(process)
            told = next(results)
            page = context.new_page()
            page.goto(told["link"])
            page.get_by_role("heading", name="Decisions").wait_for(timeout=WAIT)
            page.goto(told["link"].partition("/#")[0] + told["path"])
            expect(page.get_by_text("This page runs it")).to_be_visible(timeout=WAIT)
            ran = list(results)
        finally:
            process.terminate()
            context.close()
            shutil.rmtree(state, ignore_errors=True)
    assert [each["failure"] for each in ran if each["failure"]] == []
    assert sum(each["scripts"] for each in ran) >= 20
