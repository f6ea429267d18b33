"""Folders as people write them: none is refused, and every hook in them acts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

import hookline
from dialects.standard_agents.agent_folder import error_codes, write_folder
from hookline import Event
from hookline.cli.main import cli
from hookline.hooks.event import parse_path
from hookline.hooks.events import events_by_name

SA = "from hookline.standard_agents import define_agent, define_hook, define_model, define_prompt, define_tool\n"
AGENT = 'define_agent(name="support", hooks=[{ids}])\n'
EVENTS = events_by_name("standard_agents")
MESSAGE = {"id": "m1", "role": "user", "content": "hello", "created_at": 1}
TOOL = {"name": "pay", "id": "c1", "input": {"amount": 3}}


class Config(NamedTuple):
    hook: str
    code: str  # of a function `it` and what is around it; or of whole files
    facts: dict[str, Any]
    path: str = ""  # of the fact that it changes
    value: Any = None  # what the fact is then; "denied": the write is prevented
    files: Mapping[str, str] = MappingProxyType({})


def messages(*texts: str) -> dict[str, Any]:
    return {"messages": [{**MESSAGE, "id": f"m{n}", "content": text} for n, text in enumerate(texts)]}


def stored(content: str, **more: Any) -> dict[str, Any]:
    return {"message": {**MESSAGE, "content": content, **more}}


def result(text: Any, ok: bool = True) -> dict[str, Any]:
    return {"tool": {**TOOL, "ok": ok, **({"result": text} if ok else {"error": text})}}


CONFIGS = {
    "last two messages": Config(
        "filter_messages", "async def it(state, messages):\n    return messages[-2:]",
        messages("a", "b", "c"), "messages.0.content", "b"),
    "drop tool chatter": Config(
        "filter_messages", "async def it(state, messages):\n    return [m for m in messages if m['content'] != 'noise']",
        messages("noise", "b"), "messages.0.content", "b"),
    "keep system and last": Config(
        "filter_messages",
        "async def it(state, messages):\n    first = [m for m in messages if m['role'] == 'system']\n"
        "    return [*first, *[m for m in messages if m['role'] != 'system'][-1:]]",
        messages("a", "b"), "messages.0.content", "b"),
    "shorten long texts": Config(
        "filter_messages",
        "LIMIT = 5\n\nasync def it(state, messages):\n    return [{**m, 'content': m['content'][:LIMIT]} for m in messages]",
        messages("abcdefgh"), "messages.0.content", "abcde"),
    "mask mail addresses": Config(
        "filter_messages",
        "import re\nMAIL = re.compile(r'\\S+@\\S+')\n\nasync def it(state, messages):\n"
        "    return [{**m, 'content': MAIL.sub('<mail>', m['content'])} for m in messages]",
        messages("to a@b.c"), "messages.0.content", "to <mail>"),
    "a note for the request": Config(
        "prefilter_llm_history",
        "async def it(state, messages):\n    return [*messages, {'role': 'user', 'content': 'Answer in French.'}]",
        {"request": {"messages": [{"role": "user", "content": "hi"}]}}, "request.messages.1.content", "Answer in French."),
    "append to the last request": Config(
        "prefilter_llm_history",
        "async def it(state, messages):\n    *first, last = messages\n"
        "    return [*first, {**last, 'content': last['content'] + ' Be brief.'}]",
        {"request": {"messages": [{"role": "user", "content": "hi"}]}}, "request.messages.0.content", "hi Be brief."),
    "no images": Config(
        "prefilter_llm_history",
        "async def it(state, messages):\n    return [m for m in messages if isinstance(m['content'], str)]",
        {"request": {"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}, {"role": "user", "content": "b"}]}},
        "request.messages.0.content", "b"),
    "date in the system message": Config(
        "after_system_message", "def it(state, text):\n    return f'{text} Today is Monday.'",
        {"system": "You help."}, "system", "You help. Today is Monday."),
    "async system message": Config(
        "after_system_message", "async def it(state, text):\n    return text.replace('NAME', state.agent_id or 'support')",
        {"system": "I am NAME."}, "system", "I am support."),
    "policy from a file": Config(
        "after_system_message", "from . import policy\n\ndef it(state, text):\n    return text + policy.TEXT",
        {"system": "x"}, "system", "x!", {"policy": "TEXT = '!'\n"}),
    "policy beside it": Config(
        "after_system_message", "from policy import TEXT\n\ndef it(state, text):\n    return text + TEXT",
        {"system": "x"}, "system", "x!", {"policy": "TEXT = '!'\n"}),
    "metadata on messages": Config(
        "before_create_message",
        "async def it(state, message):\n    return {**message, 'metadata': {'side': state.execution.current_side}}",
        stored("x"), "message.metadata.side", "a"),
    "trim what is stored": Config(
        "before_create_message", "async def it(state, message):\n    return {**message, 'content': message['content'].strip()}",
        stored("  x "), "message.content", "x"),
    "no secrets in messages": Config(
        "before_create_message",
        "async def it(state, message):\n    if 'sk-' in message['content']:\n        raise ValueError('no secrets')\n    return message",
        stored("sk-1"), "", "denied"),
    "only known roles": Config(
        "before_create_message",
        "ROLES = {'user', 'assistant'}\n\nasync def it(state, message):\n    assert message['role'] in ROLES, message['role']",
        stored("x", role="tool"), "", "denied"),
    "a class of errors": Config(
        "before_create_message",
        "class Refused(Exception):\n    pass\n\nasync def it(state, message):\n    raise Refused('closed')",
        stored("x"), "", "denied"),
    "updates without roles": Config(
        "before_update_message",
        "async def it(state, message_id, updates):\n    return {k: v for k, v in updates.items() if k == 'content'}",
        {"message": {"id": "m1", "updates": {"content": "z", "role": "system"}}}, "message.updates", {"content": "z"}),
    "no edits": Config(
        "before_update_message", "async def it(state, message_id, updates):\n    raise PermissionError(message_id)",
        {"message": {"id": "m1", "updates": {"content": "z"}}}, "", "denied"),
    "cards": Config(
        "before_store_tool_result",
        "import re\n\nasync def it(state, tool_call, result):\n"
        "    return {**result, 'result': re.sub(r'\\d{4}(-\\d{4}){3}', '****', result['result'])}",
        result("4111-1111-1111-1111"), "tool.result", "****"),
    "shorter results": Config(
        "before_store_tool_result",
        "async def it(state, tool_call, result):\n    text = result.get('result') or ''\n"
        "    return {**result, 'result': text[:3] + '…'} if len(text) > 3 else None",
        result("abcdef"), "tool.result", "abc…"),
    "by the tool's name": Config(
        "before_store_tool_result",
        "import json\n\nasync def it(state, tool_call, result):\n    name = tool_call['function']['name']\n"
        "    amount = json.loads(tool_call['function']['arguments'])['amount']\n"
        "    return {**result, 'result': f'{name} {amount}'}",
        result("x"), "tool.result", "pay 3"),
    "friendlier successes": Config(
        "after_tool_call_success", "async def it(state, tool_call, result):\n    return {'status': 'success', 'result': 'Done.'}",
        result("ok"), "tool.result", "Done."),
    "a result as an object": Config(
        "after_tool_call_success",
        "import json\n\nasync def it(state, tool_call, result):\n    data = json.loads(result['result'])\n"
        "    return {**result, 'result': data['name']}",
        result({"name": "n"}), "tool.result", "n"),
    "errors in plain words": Config(
        "after_tool_call_failure", "async def it(state, tool_call, result):\n    return {**result, 'error': 'It did not work.'}",
        result("Traceback …", ok=False), "tool.error", "It did not work."),
    "an error becomes a result": Config(
        "after_tool_call_failure", "async def it(state, tool_call, result):\n    return {'status': 'success', 'result': 'later'}",
        result("x", ok=False), "tool.result", "later"),
    "with types": Config(
        "filter_messages",
        "from __future__ import annotations\nfrom typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n"
        "    from hookline.standard_agents import HookMessage, ThreadState\n\n"
        "async def it(state: ThreadState, messages: list[HookMessage]) -> list[HookMessage]:\n    return messages[1:]",
        messages("a", "b"), "messages.0.content", "b"),
    "helpers and constants": Config(
        "after_system_message",
        "import functools\nWORDS = ('a', 'b')\n\n@functools.lru_cache\ndef suffix():\n    return ''.join(WORDS)\n\n"
        "def it(state, text):\n    return text + suffix()",
        {"system": "x"}, "system", "xab"),
    "a prompt and its tools": Config(
        "after_system_message",
        "async def look_up(state, args):\n    return 'x'\n\n"
        "define_model(name='fast', provider='openai', model='gpt')\n"
        "define_tool(name='look_up', description='Looks up.', execute=look_up, args={'type': 'object'})\n"
        "define_prompt(name='main', prompt='You help.', model='fast', tools=['look_up'])\n\n"
        "def it(state, text):\n    return text + '!'",
        {"system": "x"}, "system", "x!"),
    "in another file": Config(
        "after_system_message", "from lib.words import BANG\n\ndef it(state, text):\n    return text + BANG",
        {"system": "x"}, "system", "x!", {"lib____init__": "", "lib__words": "BANG = '!'\n"}),
}  # fmt: skip


def definition(config: Config) -> str:
    future = "from __future__ import annotations\n"
    code = config.code.removeprefix(future)
    head = future if code != config.code else ""
    return f'{head}{SA}{code}\n\ndefine_hook(hook="{config.hook}", id="it", execute=it)\n' + AGENT.format(ids='"it"')


def test_there_are_thirty() -> None:
    assert len(CONFIGS) >= 30


@pytest.mark.parametrize("name", CONFIGS)
def test_a_folder_as_people_write_it_acts(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    config = CONFIGS[name]
    write_folder(tmp_path / "agents", main=definition(config), **config.files)
    (tmp_path / "hookline.yaml").write_text("standard_agents: agents\n")
    monkeypatch.chdir(tmp_path)
    checked = CliRunner().invoke(cli, ["check", "hookline.yaml"])
    assert checked.exit_code == 0, checked.output
    book = hookline.load("hookline.yaml")
    assert not error_codes(book.problems)
    event = Event(EVENTS[config.hook], {"agent": {"name": "support"}, **config.facts})
    decision = asyncio.run(book.decide(event))
    if config.value == "denied":
        assert decision.denied
        return
    assert not decision.failures
    assert decision.event.read(parse_path(config.path)) == config.value


@pytest.mark.parametrize("name", CONFIGS)
def test_an_id_with_a_typo_is_an_error(tmp_path: Path, name: str) -> None:
    """The hook would never run."""
    config = CONFIGS[name]
    text = definition(config).replace('hooks=["it"]', 'hooks=["its"]')
    write_folder(tmp_path / "agents", main=text, **config.files)
    (tmp_path / "hookline.yaml").write_text("standard_agents: agents\n")
    with pytest.raises(hookline.ConfigError, match="its"):
        hookline.load(tmp_path / "hookline.yaml")
