"""Every way to write the path of a file that a guard denies."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from attempts import Attempt

import hookline
from hookline import Event

GUARDS = {
    "regex": r"{path: '(^|/)\.env$'}",
    "whole": "{path: {matches: '.env', whole: true}}",
    "glob": "{path: {glob: .env}}",
    "exactly": "{path: {exactly: .env}}",
    "is": "{path: {is: .env}}",
    "begins": "{path: {begins: .env}}",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    (project / "src/deep").mkdir(parents=True)
    (project / ".env").write_text("KEY=1")
    (project / "link").symlink_to(".env")
    (project / "src/up").symlink_to("..")
    (project / "src/chain").symlink_to("../link")
    (project / "absolute").symlink_to(project / ".env")
    (tmp_path / "outside").symlink_to(project)
    return project


def spellings(project: Path, count: int) -> list[str]:
    """Texts that the operating system opens as the denied file."""
    seed = random.Random(7)
    names = [
        ".env",
        "link",
        "src/../.env",
        "src/chain",
        "src/up/.env",
        "src/deep/../../.env",
        "absolute",
        "src/up/link",
    ]
    prefixes = [
        "",
        "./",
        f"{project}/",
        f"/{project}/",
        f"{project}/src/../",
        f"{project.parent}/outside/",
        "src/up/src/up/",
        "././",
    ]
    found: list[str] = []
    while len(found) < count:
        text = seed.choice(prefixes) + seed.choice(names)
        for _ in range(seed.randrange(3)):
            at = text.find("/", seed.randrange(len(text)))
            text = text if at < 0 else text[:at] + seed.choice(["//", "/./", "/././/"]) + text[at + 1 :]
        assert os.path.samefile(project / text, project / ".env"), text
        end = seed.choice(["", "", "/", "/.", "//", "\0", "\0.txt"])  # a tool may leave some out
        found.append(text + end)
    return found


@pytest.mark.parametrize("form", GUARDS)
def test_no_spelling_of_a_denied_file_passes(form: str, project: Path, attempt: Attempt) -> None:
    config = project.parent / "guard.yaml"
    config.write_text(
        f"hooks: [{{id: g, on: tool.before, when: {{kind: [read, write, edit], input: {GUARDS[form]}}}, then: {{deny: No.}}}}]"
    )
    book = hookline.load(config)
    tools = ("write_file", "Read", "edit_file")
    for n, path in enumerate(spellings(project, 400)):
        field = ("path", "file_path", "paths")[n % 3]
        tool = {"name": tools[n % 3], "input": {field: [path] if field == "paths" else path}}
        event = Event("tool.before", {"cwd": str(project), "workspace": str(project), "tool": tool})
        attempt("a denied file in another spelling", not book.decide_now(event).denied, f"{form}: {path}")


def test_no_spelling_leaves_the_only_folder_that_is_let_through(project: Path, attempt: Attempt) -> None:
    config = project.parent / "guard.yaml"
    for test in ("^src/", "{glob: 'src/**'}", "{begins: src}"):
        config.write_text(
            f"hooks: [{{id: g, on: tool.before, when: {{kind: write, not: {{input: {{path: {test}}}}}}}, then: {{deny: No.}}}}]"
        )
        book = hookline.load(config)
        for path in spellings(project, 200):
            tool = {"name": "write_file", "input": {"path": path}}
            event = Event("tool.before", {"cwd": str(project), "workspace": str(project), "tool": tool})
            attempt("out of the folder that is let through", not book.decide_now(event).denied, f"{test}: {path}")


def test_no_spelling_is_allowed_by_a_rule_for_another_folder(project: Path, attempt: Attempt) -> None:
    config = project.parent / "guard.yaml"
    for test in ("^src/", "{glob: 'src/**'}", "{begins: src}", "project/src"):
        config.write_text(
            f"hooks: [{{id: g, on: tool.before, when: {{kind: write, input: {{path: {test}}}}}, then: allow}}]"
        )
        book = hookline.load(config)
        for path in spellings(project, 200):
            tool = {"name": "write_file", "input": {"path": path}}
            event = Event("tool.before", {"cwd": str(project), "workspace": str(project), "tool": tool})
            allowed = book.decide_now(event).verdict.name == "ALLOW"
            attempt("allowed as a file of another folder", allowed, f"{test}: {path}")
