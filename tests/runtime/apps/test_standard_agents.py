from pathlib import Path

import pytest

from hookline.project import load
from hookline.runtime.apps.app import App, NamedModel
from hookline.runtime.apps.app_loader import load_app

CODE = """
from hookline.standard_agents import define_agent, define_hook, define_model, define_prompt, define_tool

CALLS = []

define_model(name="fast", provider="groq", model="llama", fallbacks=["slow"])
define_model(name="slow", provider="openai", model="gpt-5")
define_prompt(name="support", prompt="You help.", model="fast", tools=["look_up", "researcher", "summarise"])
define_prompt(name="summarise", prompt="You summarise.", tool_description="Makes it short", tools=["look_up"])
define_prompt(name="research", prompt="You research.")
define_agent(name="helper", side_a={"prompt": "support", "max_steps": 900, "stop_tool": "done", "label": "Help"},
             hooks=["seen"], max_session_turns=7, description="Helps")
define_agent(name="researcher", type="dual_ai", side_a={"prompt": "research"}, side_b={"prompt": "support"})


async def look_up(state, args):
    CALLS.append("tool")
    return "found"


define_tool(name="look_up", description="Looks it up", execute=look_up)


@define_hook(hook="filter_messages", id="seen")
async def seen(state, messages):
    CALLS.append("hook")
    return messages
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "all.py").write_text(CODE)
    (tmp_path / "hookline.yaml").write_text("standard_agents: agents\n")
    return tmp_path


def app(folder: Path, file: str = "hookline.yaml") -> App:
    return load_app(folder, folder / "nobody", file=folder / file)


def test_definitions_become_agents(folder: Path) -> None:
    found = app(folder)
    assert found.problems == ()
    helper, researcher, summarise = found.agents
    assert (helper.id, helper.description, helper.max_session_turns) == ("helper", "Helps", 7)
    assert (helper.side_a.prompt.name, helper.side_a.prompt.text) == ("support", "You help.")
    assert (helper.side_a.max_steps, helper.side_a.stop_tool, helper.side_a.label) == (250, "done", "Help")
    assert (helper.side_a.prompt.model, helper.side_b) == ("fast", None)
    assert researcher.side_b is not None
    assert researcher.side_b.prompt.name == "support"
    assert found.models == {"fast": NamedModel("groq:llama", ("slow",)), "slow": NamedModel("openai:gpt-5")}
    assert list(found.definitions.tools) == ["look_up"]
    assert summarise.description == "Makes it short"


def test_agents_and_prompts_among_the_tools_are_sub_agents(folder: Path) -> None:
    helper, researcher, summarise = app(folder).agents
    assert helper.subagents == ("researcher", "summarise")
    assert helper.side_a.prompt.tools == ("look_up",)
    assert (summarise.subagents, summarise.side_a.prompt.tools) == ((), ("look_up",))
    assert researcher.subagents == ("researcher", "summarise")
    assert researcher.side_a.prompt.tools == ()


def test_the_folder_itself_may_be_named(folder: Path) -> None:
    assert [agent.id for agent in app(folder, "agents").agents] == ["helper", "researcher", "summarise"]


def test_hooks_and_tools_share_what_their_modules_hold(folder: Path) -> None:
    book = load(folder / "hookline.yaml")
    found = app(folder)
    [hook] = book.hooks
    function = hook.then.function  # type: ignore[attr-defined]
    assert function.__globals__ is found.definitions.tools["look_up"].execute.__globals__


def test_a_changed_folder_is_imported_anew(folder: Path) -> None:
    before = app(folder)
    (folder / "agents" / "all.py").write_text(CODE.replace("You help.", "You listen."))
    assert app(folder).agents[0].side_a.prompt.text == "You listen."
    assert before.agents[0].side_a.prompt.text == "You help."


def test_a_prompt_that_is_not_defined_is_a_problem_where_the_agent_is(folder: Path) -> None:
    (folder / "agents" / "all.py").write_text(
        "from hookline.standard_agents import define_agent\n\ndefine_agent(name='a', side_a={'prompt': 'nothing'})\n"
    )
    [problem] = app(folder).problems
    assert (problem.code, problem.file, problem.line) == ("unknown-prompt", str(folder / "agents" / "all.py"), 3)


def test_an_agent_of_the_same_name_in_the_file_is_a_problem(folder: Path) -> None:
    (folder / "hookline.yaml").write_text("standard_agents: agents\nagents: [{id: helper, prompt: Mine.}]\n")
    found = app(folder)
    assert [problem.code for problem in found.problems] == ["duplicate-id"]
    assert found.agents[0].side_a.prompt.text == "Mine."
