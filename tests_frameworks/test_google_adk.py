"""What only Google ADK has: code in the model's text, and tools that Google runs."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from driver_google_adk import CodeModel, Executor, TrialModel, _run
from google.adk.agents import LlmAgent
from google.adk.code_executors.built_in_code_executor import BuiltInCodeExecutor
from google.adk.runners import InMemoryRunner
from google.adk.tools import google_search
from trial import CONFIG, Trial, record

from hookline.frameworks.google_adk import HooklinePlugin


def test_the_output_of_code_is_masked() -> None:
    trial = Trial([["echo plain"]])
    model = CodeModel(model="scripted", trial=trial)
    _run(trial, LlmAgent(name="main", model=model, code_executor=Executor(trial=trial)))
    assert trial.ran == ["echo plain"]
    assert "ran echo plain ***" in trial.read_last
    events = [(each["event"], each["tool"]) for each in record()]
    assert ("tool.before", "python_interpreter") in events
    assert ("tool.after", "python_interpreter") in events


class Gemini(TrialModel):
    """By its name, ADK gives it the tools that Google runs."""


@pytest.mark.parametrize("more", [{"tools": [google_search]}, {"code_executor": BuiltInCodeExecutor()}], ids=str)
@pytest.mark.parametrize("allowed", [False, True])
def test_tools_that_google_runs_are_refused(more: dict[str, Any], allowed: bool) -> None:
    trial = Trial([])
    agent = LlmAgent(name="main", model=Gemini(model="gemini-2.5-flash", trial=trial), **more)
    plugin = HooklinePlugin(config=CONFIG, allow_hosted=allowed)
    runner = InMemoryRunner(agent=agent, plugins=[plugin])
    events = asyncio.run(runner.run_debug("Go.", quiet=True))
    assert len(trial.requests) == (1 if allowed else 0)
    assert ("allow_hosted" in events[-1].content.parts[0].text) is not allowed
