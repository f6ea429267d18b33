"""The files that GitHub and pre-commit read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from docs_pages import ROOT

YAML_FILES = sorted([*(ROOT / ".github").rglob("*.yml"), *ROOT.glob(".pre-commit*.yaml")])


@pytest.mark.parametrize("file", YAML_FILES, ids=lambda file: file.name)
def test_yaml_can_be_parsed(file: Path) -> None:
    assert yaml.safe_load(file.read_text(encoding="utf-8"))


def test_ci_runs_goals_that_exist() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))["jobs"]
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    assert commands == ["make check", "make docs", "make test", "make test-slow"]
    goals = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    assert {command.removeprefix("make ") for command in commands} <= set(goals)


def test_ci_runs_every_python_that_is_promised() -> None:
    promised = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', (ROOT / "pyproject.toml").read_text("utf-8"))
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))["jobs"]
    assert promised
    assert all(jobs[name]["strategy"]["matrix"]["python"] == promised for name in ("test", "test-slow"))


def test_pre_commit_uses_the_locked_ruff() -> None:
    locked = re.search(r"^ruff==(\S+)", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.M)
    assert locked
    [ruff] = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    assert ruff["rev"] == f"v{locked[1]}"


@pytest.mark.parametrize(
    ("path", "is_hooks_file"),
    [
        ("hookline.yaml", True),
        ("services/a/hookline.local.yaml", True),
        (".hookline/team.yaml", True),
        (".microai/settings.json", True),
        (".cursor/hooks.json", True),
        (".github/hooks/guard.json", True),
        (".factory/settings.json", True),
        ("package.json", False),
        ("my-hookline.yaml", False),
    ],
)
def test_pre_commit_checks_hooks_files(path: str, is_hooks_file: bool) -> None:
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert bool(re.search(hook["files"], path)) is is_hooks_file
