"""The format's four pipelines, in an app that runs: real MCP servers, a real language server, a scripted model."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

from hookline.runtime.runtime import Runtime, Settings
from hookline.runtime.updates import Notification
from runtime.scripted_runtime import RecordingModel, UpdateRecorder, run_async, send_prompt, tool_call_step

SERVICES = Path(__file__).parents[1] / "fixtures" / "mcp" / "services_server.py"

LINT_AND_NOTIFY = """
runtime:
  hooks:
    - id: lint_and_notify
      on: tool_end
      condition: { type: tool_name, match: "mcp_github.create_or_update_file" }
      action:
        type: chain
        actions:
          - type: lsp_diagnose
            path_field: [path]
            content_field: [content]
            inject_result: true # agent sees lint errors → self-corrects
          - type: pipe
            to: mcp_slack.send_message
            map:
              channel: "#deploy"
              text: |
                {{tool.params.owner}}/{{tool.params.repo}} - {{tool.params.path}}
                commit: {{tool.result.commit.sha}}
"""
SEARCH_TO_NOTION = """
runtime:
  hooks:
    - id: search_to_notion
      on: tool_end
      condition: { type: tool_name, match: "mcp_search.elastic" }
      action:
        type: pipe
        to: notion.page.create
        map:
          title: "{{tool.result.hits.0.title}}"
          url: "{{tool.result.hits.0.url}}"
          tags: "{{tool.result.hits.0.metadata.tags}}"
"""
FORWARD = """
action:
  type: pipe
  to: archive.log
  map:
    message: "{{tool.name}} completed"
    payload: "{{tool.result}}" # whole output, stringified JSON
"""
BUILD = """
action:
  type: chain
  actions:
    - type: pipe
      to: ci.trigger_build
      map:
        commit_sha: "{{tool.result.commit.sha}}"
      on_error: raise # abort the chain on upstream failure
    - type: pipe
      to: slack.send_message
      map:
        channel: "#ci"
        text: "Build started for {{tool.result.commit.sha}}"
"""


_HEAD = "runtime:\n  hooks:\n"


def _hook(id: str, match: str, action: str) -> str:
    """The format shows the action alone."""
    head = f"    - id: {id}\n      on: tool_end\n      condition: {{type: tool_name, match: {match}}}"
    return head + indent(action, "      ")


def _app(log: Path) -> str:
    hooks = (
        LINT_AND_NOTIFY.replace(_HEAD, ""),
        SEARCH_TO_NOTION.replace(_HEAD, ""),
        _hook("forward", "mcp_search.elastic", FORWARD),
        _hook("build", "mcp_github.create_or_update_file", BUILD),
    )
    names = ("github", "slack", "search", "notion", "archive", "ci")
    servers = {name: {"command": [sys.executable, str(SERVICES), name, str(log)]} for name in names}
    agents = [{"id": "worker", "role": "coordinator", "system_prompt": "You work."}]
    return f"agents: {json.dumps(agents)}\nmcp: {json.dumps({'servers': servers})}\n{_HEAD}{''.join(hooks)}"


class Pipelines:
    """One session in which the agent writes two files and searches once."""

    def __init__(self, workspace: Path) -> None:
        self.log = workspace / "log.jsonl"
        self.seen = UpdateRecorder()
        write = "mcp.github.create_or_update_file"
        good = {"owner": "o", "repo": "r", "path": "app.py", "content": "import os\n"}
        self.model = RecordingModel(
            [
                tool_call_step((write, good)),
                tool_call_step((write, {**good, "path": "broken.txt", "content": "-"})),
                tool_call_step(("mcp.search.elastic", {"query": "hooks"})),
                "done",
            ]
        )
        (workspace / "digitorn.yaml").write_text(_app(self.log))
        run_async(lambda: self._run(workspace))
        self.heard = [json.loads(line) for line in self.log.read_text().splitlines()]

    async def _run(self, workspace: Path) -> None:
        settings = Settings(
            home=workspace / "home",
            env=dict(os.environ),
            app_file=workspace / "digitorn.yaml",
            model=self.model,
            store="sqlite://",
            unattended=True,
            watch=self.seen,
        )
        async with Runtime.open(workspace, settings) as runtime:
            assert runtime.problems == ()
            session = await runtime.start()
            await send_prompt(session, "write and search")
            await session.end()

    def calls_of(self, tool: str) -> list[dict[str, Any]]:
        return [{k: v for k, v in each.items() if k != "tool"} for each in self.heard if each["tool"] == tool]

    def result(self, at: int) -> str:
        return str(self.model.requests[at + 1].messages[-1]["content"])


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Pipelines:
    return Pipelines(tmp_path_factory.mktemp("pipelines"))


@pytest.mark.slow
def test_the_agent_reads_the_lint_in_the_result_of_an_mcp_write_and_slack_hears_of_it(ran: Pipelines) -> None:
    assert "F401" in ran.result(0)
    assert "`os` imported but unused" in ran.result(0)
    assert ran.calls_of("slack.send_message")[0] == {"channel": "#deploy", "text": "o/r - app.py\ncommit: abc123\n"}
    assert any(each.notice.channel == "diagnostics" for each in ran.seen.of_type(Notification))


def test_an_element_of_a_nested_array_becomes_a_page_and_keeps_its_type(ran: Pipelines) -> None:
    [page] = ran.calls_of("notion.page.create")
    assert page == {"title": "Hooks", "url": "https://example.org/hooks", "tags": ["agents", "yaml"]}


def test_a_whole_result_is_forwarded_as_json(ran: Pipelines) -> None:
    [kept] = ran.calls_of("archive.log")
    assert kept["message"].endswith("search.elastic completed")
    assert json.loads(kept["payload"])["hits"][0]["metadata"]["tags"] == ["agents", "yaml"]


def test_what_comes_after_a_pipe_that_failed_does_not_run(ran: Pipelines) -> None:
    assert [each["commit_sha"] for each in ran.calls_of("ci.trigger_build")] == ["abc123", "bad"]
    told = [each["text"] for each in ran.calls_of("slack.send_message") if each["channel"] == "#ci"]
    assert told == ["Build started for abc123"]
