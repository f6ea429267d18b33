"""What is found in a Python file without running it, and what is not taken for an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.config.problem import errors_of
from hookline.project import load_file

IMPORT = "from hookline.standard_agents import define_agent, define_hook, define_prompt, define_tool, define_model\n"
HOOK = "@define_hook(hook='filter_messages', id='one')\nasync def one(state, messages):\n    return messages\n"
AGENT = "define_agent(name='a', hooks=['one'])\n"


def find_errors(tmp_path: Path, text: str, *, importing: bool) -> list[str]:
    (tmp_path / "hooks").mkdir(exist_ok=True)
    (tmp_path / "hooks" / "hooks.py").write_text(text)
    (tmp_path / "hookline.yaml").write_text("standard_agents: hooks\n")
    problems = load_file(tmp_path / "hookline.yaml", importing=importing).problems
    return [f"{each.what} {each.hint}".strip() for each in errors_of(problems) if each.code != "not-imported"]


@pytest.mark.parametrize("importing", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(IMPORT + HOOK + AGENT, id="plain"),
        pytest.param(
            IMPORT
            + "async def f(state, message): return message\ndefine_hook(hook='before_create_message', id='r', execute=f)\ndefine_agent(name='a', hooks=['r'])\n",
            id="exec name",
        ),
        pytest.param(
            IMPORT
            + "async def f(state, message): return message\ndefine_hook('before_create_message','r',f)\ndefine_agent(name='a', hooks=['r'])\n",
            id="positional",
        ),
        pytest.param(
            IMPORT
            + "@define_hook(hook='before_store_tool_result', id='r')\nasync def f(state, *rest): return None\ndefine_agent(name='a', hooks=['r'])\n",
            id="varargs",
        ),
        pytest.param(
            IMPORT
            + "@define_hook(hook='filter_messages', id='one')\nasync def one(state, messages, limit=3): return messages[-limit:]\n"
            + AGENT,
            id="defaults",
        ),
        pytest.param(
            IMPORT
            + "@define_hook(hook='filter_messages', id='one')\nasync def one(state, messages, *, limit=3): return messages[-limit:]\n"
            + AGENT,
            id="kwonly default",
        ),
        pytest.param(
            IMPORT
            + "one = define_hook(hook='filter_messages', id='one')\n@one\nasync def f(state, messages): return messages\n"
            + AGENT,
            id="decorator in a variable",
        ),
        pytest.param(IMPORT + HOOK + "H=['one']\ndefine_agent(name='a', hooks=H)\n", id="list var"),
        pytest.param(IMPORT + HOOK + "H=['one']\ndefine_agent(name='a', hooks=[*H])\n", id="list concat"),
        pytest.param(
            IMPORT
            + HOOK
            + "P='p'\ndefine_prompt(name='p', prompt='x', hooks=['one'])\ndefine_agent(name='a', type='dual_ai', side_a={'prompt':P,'max_steps':3}, side_b=dict(prompt='p'))\n",
            id="sides",
        ),
        pytest.param(
            IMPORT
            + "from hookline.standard_agents import Side\n"
            + HOOK
            + "define_prompt(name='p', hooks=['one'])\ndefine_agent(name='a', side_a=Side(prompt='p'))\n",
            id="side obj",
        ),
        pytest.param(
            "import hookline.standard_agents as sa\n@sa.define_hook(hook='filter_messages', id='one')\nasync def one(state, messages): return messages\nsa."
            + AGENT,
            id="module attr",
        ),
        pytest.param(
            "from hookline.standard_agents import define_hook as hook, define_agent\n@hook(hook='filter_messages', id='one')\nasync def one(state, messages): return messages\n"
            + AGENT,
            id="alias",
        ),
        pytest.param("from hookline.standard_agents import *\n" + HOOK + AGENT, id="star"),
        pytest.param(
            IMPORT
            + "@define_hook(hook='after_system_message', id='s')\ndef s(state, system_message): return system_message + 'x'\ndefine_agent(name='a', hooks=['s'])\n",
            id="system plain",
        ),
        pytest.param(
            IMPORT
            + "define_hook(hook='after_system_message', id='s', execute=lambda state, text: text)\ndefine_agent(name='a', hooks=['s'])\n",
            id="system lambda",
        ),
        pytest.param(
            IMPORT
            + "import functools\nasync def f(n, state, messages): return messages[-n:]\ndefine_hook(hook='filter_messages', id='one', execute=functools.partial(f, 3))\n"
            + AGENT,
            id="partial",
        ),
        pytest.param(
            IMPORT
            + "def make(n):\n    async def f(state, messages): return messages[-n:]\n    return f\nfor n in (1,2):\n    define_hook(hook='filter_messages', id=f'last_{n}', execute=make(n))\ndefine_agent(name='a', hooks=['last_1','last_2'])\n",
            id="loop",
        ),
        pytest.param(
            IMPORT
            + HOOK
            + "async def t(state, args): return 'x'\ndefine_tool(name='t', description='d', execute=t, args={'type':'object'})\ndefine_model(name='m', provider='openai', model='x')\ndefine_prompt(name='p', model='m', tools=['t'], hooks=['one'])\n",
            id="tool",
        ),
        pytest.param(
            "try:\n    import nope_xyz\nexcept ImportError:\n    nope_xyz=None\nfrom hookline.standard_agents import define_agent, define_hook, define_prompt, define_tool, define_model\n"
            + HOOK
            + AGENT,
            id="try import",
        ),
        pytest.param(
            IMPORT
            + "class K:\n    async def go(self, state, messages): return messages\nk=K()\ndefine_hook(hook='filter_messages', id='one', execute=k.go)\n"
            + AGENT,
            id="class method",
        ),
        pytest.param(
            "from __future__ import annotations\nfrom typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from nope import X\nfrom hookline.standard_agents import define_agent, define_hook, define_prompt, define_tool, define_model\n"
            + HOOK
            + AGENT,
            id="typing",
        ),
        pytest.param(
            IMPORT
            + "async def one(a): ...\nasync def one(state, messages): return messages\ndefine_hook(hook='filter_messages', id='one', execute=one)\n"
            + AGENT,
            id="method same name",
        ),
        pytest.param(
            "def define_agent(**k): pass\nfrom hookline.standard_agents import define_hook\nfrom hookline import standard_agents\n"
            + HOOK
            + "standard_agents.define_agent(name='a', hooks=['one'])\ndefine_agent(zork=1)\n",
            id="own fn",
        ),
        pytest.param(
            IMPORT
            + "import functools\nfilter = functools.partial(define_hook, 'filter_messages')\n@filter(id='one')\nasync def one(state, messages): return messages\n"
            + AGENT,
            id="passed on",
        ),
    ],
)
def test_what_python_accepts_is_accepted(tmp_path: Path, text: str, importing: bool) -> None:
    assert find_errors(tmp_path, text, importing=importing) == []


@pytest.mark.parametrize(
    ("text", "what"),
    [
        pytest.param(
            IMPORT
            + "@define_hook(hook='filter_messages', id='one')\nasync def one(messages): return messages\n"
            + AGENT,
            "the hook one: filter_messages calls execute with state, messages, which it does not accept.",
            id="arity decorator",
        ),
        pytest.param(
            IMPORT
            + "@define_hook(hook='before_store_tool_result', id='one')\nasync def one(state, result): return result\n"
            + AGENT,
            "the hook one: before_store_tool_result calls execute with state, tool_call, tool_result, which it does not accept.",
            id="arity 3",
        ),
        pytest.param(
            IMPORT + "async def one(state): ...\ndefine_hook(hook='filter_messages', id='one', execute=one)\n" + AGENT,
            "the hook one: filter_messages calls execute with state, messages, which it does not accept.",
            id="arity exec",
        ),
        pytest.param(
            IMPORT
            + "@define_hook(hook='filter_messages', id='one')\nasync def one(state, *, messages): return messages\n"
            + AGENT,
            "the hook one: filter_messages calls execute with state, messages, which it does not accept.",
            id="arity kwonly",
        ),
        pytest.param(
            IMPORT
            + "def one(state, messages): return messages\ndefine_hook(hook='filter_messages', id='one', execute=one)\n"
            + AGENT,
            "the hook one: execute is not an async function. Write async def.",
            id="exec plain",
        ),
        pytest.param(
            IMPORT + "define_hook(hook='filter_messages', id='one', execute=lambda s, m: m)\n" + AGENT,
            "the hook one: execute is not an async function. Write async def.",
            id="exec lambda",
        ),
        pytest.param(
            IMPORT + "define_hook(hook='filter_messages', id='one')\n" + AGENT,
            "the hook one: execute is missing. Decorate a function, or write execute=.",
            id="no function",
        ),
        pytest.param(
            IMPORT + HOOK + AGENT.replace("'a'", "'a', side_a={'prompt': 'p', 'stop_on_response': 'no'}"),
            "stop_on_response in side_a of the agent 'a': 'no' is neither True nor False.",
            id="side type",
        ),
        pytest.param(
            IMPORT + HOOK + "define_agent(name='a', hooks='one')\n",
            "hooks of the agent 'a': 'one' is not a list of names.",
            id="hooks str",
        ),
        pytest.param(
            IMPORT + HOOK + "define_prompt(name='a', hooks='one')\n",
            "hooks of the prompt 'a': 'one' is not a list of names.",
            id="hooks prompt str",
        ),
        pytest.param(
            IMPORT + HOOK + "define_agent(name='a', hooks=[1])\n",
            "hooks of the agent 'a': 1 is not a name.",
            id="hooks int",
        ),
        pytest.param(
            IMPORT + HOOK + "define_agent(name='a', hook=['one'])\n",
            "define_agent has no argument hook. Did you mean hooks?",
            id="hook=",
        ),
        pytest.param(
            IMPORT + HOOK + "define_prompt(name='a', hook=['one'])\n",
            "define_prompt has no argument hook. Did you mean hooks?",
            id="hook= prompt",
        ),
        pytest.param(
            IMPORT
            + "@define_hook(event='filter_messages', id='one')\nasync def one(state, messages): return messages\n"
            + AGENT,
            "define_hook has no argument event. Known: hook, id, execute.",
            id="event=",
        ),
        pytest.param(
            IMPORT
            + "@define_hook(hook='filter_messages', name='one')\nasync def one(state, messages): return messages\n"
            + AGENT,
            "define_hook has no argument name. Known: hook, id, execute.",
            id="name= for id",
        ),
        pytest.param(
            IMPORT + "@define_hook(hook='filter_messages')\nasync def one(state, messages): return messages\n" + AGENT,
            "define_hook: missing a required argument: 'id'.",
            id="missing id",
        ),
        pytest.param(
            "from hookline.standard_agents import define_hooks, define_agent\n" + AGENT,
            "hookline.standard_agents has no define_hooks. Did you mean define_hook?",
            id="wrong import",
        ),
        pytest.param(
            "from hookline.standard_agent import define_hook, define_agent\n" + HOOK + AGENT,
            "there is no module hookline.standard_agent. Did you mean hookline.standard_agents?",
            id="wrong module",
        ),
        pytest.param(
            "from hookline import define_hook, define_agent\n" + HOOK + AGENT,
            "hookline has no define_agent. Write from hookline.standard_agents import define_agent.",
            id="from hookline",
        ),
        pytest.param(
            "from standardagents import define_hook, define_agent\n" + HOOK + AGENT,
            "there is no module standardagents. Did you mean hookline.standard_agents?",
            id="dashed",
        ),
        pytest.param(
            HOOK + AGENT,
            "define_hook is not imported. Write from hookline.standard_agents import define_hook.",
            id="no import",
        ),
        pytest.param(
            "from hookline.standard_agents import defineHook, define_agent\n" + AGENT,
            "hookline.standard_agents has no defineHook. Did you mean define_hook?",
            id="camel",
        ),
        pytest.param(
            IMPORT
            + "@define_hook(hook='filter_message', id='one')\nasync def one(state, messages): return messages\n"
            + AGENT,
            "there is no hook 'filter_message'.",
            id="typo hook",
        ),
        pytest.param(
            IMPORT
            + "@define_hook(hook='filter_messages', id='One-x')\nasync def one(state, messages): return messages\ndefine_agent(name='a', hooks=['One-x'])\n",
            "the id 'One-x' is not snake_case. Write it like limit_to_20_messages.",
            id="bad id",
        ),
        pytest.param(
            IMPORT + HOOK + "define_agent(name='a', type='dual', hooks=['one'])\n",
            "the agent 'a': there is no type 'dual'. Write ai_human or dual_ai.",
            id="type",
        ),
        pytest.param(
            IMPORT + HOOK + "define_agent(name='a', type='dual_ai', side_a={'prompt':'p'}, hooks=['one'])\n",
            "the agent 'a': the type dual_ai needs side_a and side_b.",
            id="dual no b",
        ),
        pytest.param(
            IMPORT + HOOK + "define_agent(name='a', side_a={'prompt':'p','maxSteps':3}, hooks=['one'])\n",
            "side_a of the agent 'a' has no 'maxSteps'. It may have prompt, label, stop_on_response, stop_tool, max_steps, session_stop, session_fail.",
            id="side key",
        ),
        pytest.param(
            IMPORT + HOOK + "define_agent(name='a', side_a={'prompt':'p','max_steps':0}, hooks=['one'])\n",
            "max_steps in side_a of the agent 'a': 0 is not a whole number of at least 1.",
            id="side steps",
        ),
        pytest.param(
            IMPORT + HOOK + "define_agent('a', hooks=['one'])\n",
            "define_agent: too many positional arguments.",
            id="name pos",
        ),
        pytest.param(
            IMPORT + HOOK + "define_agent(name='a', hooks=['one'])\ndefine_tool(name='t', description='d')\n",
            "define_tool: missing a required argument: 'execute'.",
            id="tool noexec",
        ),
        pytest.param(IMPORT + "define_hook(hook='x'\n", "this is not Python: '(' was never closed.", id="syntax"),
    ],
)
def test_what_python_would_refuse_is_found_without_importing(tmp_path: Path, text: str, what: str) -> None:
    assert find_errors(tmp_path, text, importing=False)[0].startswith(what)
    assert find_errors(tmp_path, text, importing=True)
