from __future__ import annotations

from pathlib import Path

import pytest

HOOKS = """
hooks:
  - {id: no-rm, on: tool.before, when: {kind: shell, input: {command: 'rm '}}, then: {deny: Not rm.}}
  - {id: quiet, on: tool.before, when: {tool: curl, input: {url: '^http:'}}, then: {replace: {in: input.url, pattern: '^http:', with: 'https:'}}}
  - {id: push, on: tool.before, when: {input: {command: push}}, then: {ask: Push?}}
  - {id: ends, on: tool.before, when: {input: {command: 'halt'}}, then: {halt: Enough.}}
  - {id: mask, on: tool.after, when: {result: secret}, then: {set: {result: '***'}}}
  - {id: failed, on: tool.after, when: {failed: true}, then: {tell: 'It failed: {{tool.error}}'}}
  - {id: hello, on: session.start, then: {tell: Be brief.}}
  - {id: no-keys, on: prompt.submit, when: {prompt: 'sk-'}, then: {deny: No keys.}}
  - {id: polite, on: prompt.submit, then: {append: {prompt: Please.}}}
  - {id: log, on: session.end, then: {run: 'sleep 0.2; echo {{session.tool_calls}} > ended', stdin: none}, background: true, on_error: open}
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "hookline.yaml"
    path.write_text(HOOKS)
    return path
