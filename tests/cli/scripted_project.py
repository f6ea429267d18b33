"""A project with an agent whose model is a script, for tests of `hookline run`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hookline.project import Trust, find_sources, trust_file_path

HOOKS = """
model: script:model.yaml
hooks:
  - {id: no-rm, on: tool.before, when: {tool: bash, input: {command: 'rm -rf'}}, then: {deny: Nothing is removed here.}}
  - {id: ask-first, on: tool.before, when: {tool: bash, input: {command: deploy}}, then: {ask: Deploy now?}}
  - {id: no-secrets, on: prompt.submit, when: {prompt: 'sk-\\w+'}, then: {deny: That looks like a key.}}
"""
CALLS = """
- {say: I look., call: {bash: {command: echo hello}}}
- {say: I clean up., call: {bash: {command: rm -rf /tmp/nothing-of-ours}}}
- It is done.
"""
"""The steps of a model that calls two tools and answers."""


def trust_project(project: Path) -> None:
    """What `hookline trust --yes` does, in the home beside the project."""
    home = project.parent / "home"
    Trust(trust_file_path(home)).accept(find_sources(project, home))


def write_scripted_project(project: Path, steps: str, hooks: str = HOOKS) -> None:
    """Both files, trusted."""
    (project / "hookline.yaml").write_text(hooks, encoding="utf-8")
    (project / "model.yaml").write_text(f"steps:\n{steps}", encoding="utf-8")
    trust_project(project)


def read_json_lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]
