from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hookline.cli import main, verb_group

CODE = "import sys; from hookline.cli.main import main\ntry: main()\nfinally: print('click' in sys.modules, file=sys.stderr)"


def run(directory: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    call = [sys.executable, "-c", CODE, *arguments]
    environment = {**os.environ, "HOME": str(directory), **variables}
    return subprocess.run(call, capture_output=True, text=True, cwd=directory, env=environment, timeout=60, check=False)


@pytest.mark.parametrize(
    ("arguments", "code", "needs_click"),
    [
        (["fire", "stop"], 0, False),
        (["fire", "stop", "--debug"], 0, True),
        (["fire", "no.event"], 1, True),
        (["list"], 0, True),
    ],
    ids=["usual", "debug", "wrong", "another verb"],
)
def test_a_usual_fire_needs_no_click(tmp_path: Path, arguments: list[str], code: int, needs_click: bool) -> None:
    done = run(tmp_path, *arguments)
    assert done.returncode == code
    assert done.stderr.splitlines()[-1] == str(needs_click)


def test_click_completes_fire(tmp_path: Path) -> None:
    done = run(tmp_path, "fire", _HOOKLINE_COMPLETE="bash_complete", COMP_WORDS="hookline fire sto", COMP_CWORD="2")
    assert "plain,stop" in done.stdout.splitlines()


@pytest.mark.parametrize("option", ["--explain", "--debug"])
def test_errors_are_shown_as_by_click(tmp_path: Path, option: str) -> None:
    """`--debug` is read by click, `--explain` is not."""
    done = run(tmp_path, "fire", "stop", "--facts", "[", option)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("hookline: --facts: invalid JSON: ")


def test_the_verbs_can_be_imported_from_here() -> None:
    assert (main.cli, main.VERBS) == (verb_group.cli, verb_group.VERBS)
    with pytest.raises(AttributeError, match="no_verb"):
        main.no_verb  # type: ignore[attr-defined]  # noqa: B018
