from __future__ import annotations

import json
from pathlib import Path

from hookline.project import load

CONFIG = """\
hooks:
  - id: a
    on: tool.before
    when: {tool: bash, input: {command: 'rm -rf'}}
    then: {deny: no}
    order: 3
"""


def test_native_to_native_says_the_same(hookline):
    Path("hookline.yaml").write_text(CONFIG)
    result = hookline("convert", "hookline.yaml", "--to", "native")
    assert (result.exit_code, result.stderr) == (0, "")
    Path("again.yaml").write_text(result.stdout)
    (one,), (two,) = load("hookline.yaml").hooks, load("again.yaml", "native").hooks
    assert (one.id, one.event, one.when, one.then, one.order) == (two.id, two.event, two.when, two.then, two.order)
    assert "\n    on: tool.before\n" in result.stdout


def test_a_bad_hook_is_named_and_the_rest_is_printed(hookline):
    Path("a.yaml").write_text(CONFIG + "  - {id: b, on: nowhere, then: deny}\n")
    result = hookline("convert", "a.yaml", "--to", "native", "--dialect", "native")
    assert result.exit_code == 1
    assert "a.yaml:7" in result.stderr
    assert "id: a" in result.stdout


def test_a_file_that_is_not_there_is_said(hookline):
    result = hookline("convert", "none.yaml", "--to", "native")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "none.yaml  This file does not exist." in result.stderr


def test_the_schema_of_the_native_format_is_the_default(hookline):
    result = hookline("schema")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["$schema"].startswith("https://json-schema.org/")
    assert hookline("schema", "native").stdout == result.stdout


def test_two_files_with_the_same_hook_keep_both(hookline):
    for name in ("a.yaml", "b.yaml"):
        Path(name).write_text("hooks: [{id: g, on: [tool.before, stop], then: {log: x}}]\n")
    Path("c.yaml").write_text(hookline("convert", "a.yaml", "b.yaml", "--to", "native").stdout)
    joined = [(hook.id, hook.event) for hook in load("c.yaml").hooks]
    assert joined == [("g", "tool.before"), ("g", "stop"), ("g#2", "tool.before"), ("g#2", "stop")]
