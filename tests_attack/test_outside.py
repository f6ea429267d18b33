"""Shell lines and paths that reach a file outside the workspace, as a real shell opens it."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest
from attempts import Attempt

from hookline import Event
from hookline.project import load_text

GUARD = "hooks: [{id: stay, on: tool.before, when: {outside: workspace}, then: {deny: Stay here.}}]"
SECRET = "the secret outside"
LINES = (
    "cat {p}",
    "head -1 < {p}",
    "cd {d} && cat secret",
    "cd {d}; cat secret",
    "(cd {d}; cat ./secret)",
    "cd src; cat ../{p}; cat {p}",
    "cd missing; cat {p}",
    "false && cd src; cat {p}",
    "cd src | true; cat {p}",
    "x={p}; cat $x",
    "x={d}; cat ${{x}}/secret",
    "for f in {p}; do cat $f; done",
    "f() {{ cat $1; }}; f {p}",
    "eval cat {p}",
    "sh -c 'cat {p}'",
    "env cat {p}",
    "echo {p} | xargs cat",
    "grep -h . {p}",
    "sed -n 1p {p}",
    "awk 1 {p}",
    "dd if={p} status=none",
    "tail -n1 {d}/s*",
    "tar -cO -C{d} secret",
    "find {d} -name secret -exec cat {{}} +",
    "pushd {d} >/dev/null; cat secret",
    'set -- {p}; cat "$@"',
    "cat {{src/a,{p}}}",
    "python3 - {p} <<< 'import sys; print(open(sys.argv[1]).read())'",
    "ln -s {p} here; cat here",
    "bash <<< 'cat {p}'",
    "source {p} 2>&1",
)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src/deep").mkdir(parents=True)
    (root / "src/a").write_text("inside")
    (tmp_path / "secret").write_text(SECRET + "\n")
    (root / "up").symlink_to("..")
    (root / "src/up").symlink_to("../..")
    (root / "link").symlink_to("../secret")
    return root


def spellings(workspace: Path) -> list[tuple[str, str]]:
    """Pairs of a directory and a file in it, as a shell in the workspace reads them."""
    outer = workspace.parent
    relative = ["..", "./..", "src/../..", "up", "./up/.", "src/up", "src/deep/../../..", f"{outer}", f"{outer}//", "~"]
    relative += [
        "/proc/self/cwd/..",
        "$PWD/..",
        "${PWD%/*}",
        "$(dirname $PWD)",
        "'..'",
        '".."',
        "\\.\\.",
        "$'..'",
        "~+/..",
    ]
    pairs = [(each, f"{each}/secret") for each in relative]
    return [*pairs, ("up", "link"), ("up", "./link"), ("..", "src/../link")]


def reads_the_secret(line: str, workspace: Path) -> bool:
    environment = {"PATH": os.environ["PATH"], "HOME": str(workspace.parent)}
    (workspace / "here").unlink(missing_ok=True)
    ran = subprocess.run(
        ["bash", "-c", line], cwd=workspace, env=environment, capture_output=True, text=True, timeout=20, check=False
    )
    return SECRET.split()[-1] in ran.stdout and SECRET.split()[1] in ran.stdout


def test_no_line_reads_a_file_outside(workspace: Path, attempt: Attempt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(workspace.parent))
    book = load_text(GUARD, "hookline.yaml")
    pairs = [(line, pair) for line in LINES for pair in spellings(workspace)]
    for line, (directory, path) in random.Random(3).sample(pairs, 330):
        command = line.format(d=directory, p=path)
        tool = {"name": "bash", "input": {"command": command}}
        facts = {"tool": tool, "cwd": str(workspace), "workspace": str(workspace)}
        passed = not book.decide_now(Event("tool.before", facts)).denied
        attempt("a shell line that leaves the workspace", passed and reads_the_secret(command, workspace), command)


def test_no_path_leads_outside(workspace: Path, attempt: Attempt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(workspace.parent))
    monkeypatch.chdir(workspace)
    book, seed = load_text(GUARD, "hookline.yaml"), random.Random(5)
    steps = ["src", "deep", "..", ".", "up", "link", "a", "secret", "", "missing"]
    for _ in range(3000):
        path = "/".join(seed.choice(steps) for _ in range(seed.randint(1, 7)))
        path = seed.choice(["", "", f"{workspace}/", "/proc/self/cwd/", "./"]) + path
        facts = {
            "tool": {"name": "read_file", "input": {"path": path}},
            "cwd": str(workspace),
            "workspace": str(workspace),
        }
        passed = not book.decide_now(Event("tool.before", facts)).denied
        opened = os.path.realpath(path) if path else str(workspace)
        inside = opened == str(workspace) or opened.startswith(f"{workspace}/")
        attempt("a path that leaves the workspace", passed and not inside and os.path.exists(path), path)
