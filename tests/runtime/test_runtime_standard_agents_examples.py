"""The format's examples 8.1 to 8.5, written in Python, at work in one session of an app that is a folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hookline.runtime.runtime import Runtime, Settings
from runtime.scripted_runtime import RecordingModel, run_async, tool_call_step

AGENTS = """
from hookline.standard_agents import define_agent, define_prompt, define_tool


async def payment_process(state, args):
    raise ValueError("card declined")


async def card_lookup(state, args):
    return "Paid with 4111-1111 1111 1111 and 5500 0000 0000 0004."


ARGS = {"type": "object", "properties": {"amount": {"type": "number"}, "customer": {"type": "string"}}}
define_tool(name="payment_process", description="Takes money", execute=payment_process, args=ARGS)
define_tool(name="card_lookup", description="Finds a card", execute=card_lookup, args=ARGS)
define_prompt(
    name="support_prompt",
    prompt="You help with payments.",
    tools=["payment_process", "card_lookup"],
    hooks=["limit_to_50_messages", "log_tool_calls", "alert_payment_failures", "add_execution_metadata", "redact_credit_cards"],
)
define_agent(name="support_agent", side_a={"prompt": "support_prompt"})
"""
LIMIT = """
from hookline.standard_agents import define_hook


async def execute(state, messages):
    # Keep only the most recent 50 messages
    return messages[-50:]


define_hook(hook="filter_messages", id="limit_to_50_messages", execute=execute)
"""
LOG = """
import json
import time
from pathlib import Path

from hookline.standard_agents import define_hook


@define_hook(hook="after_tool_call_success", id="log_tool_calls")
async def log_tool_calls(state, tool_call, result):
    line = {
        "event": "tool_success",
        "threadId": state.thread_id,
        "step": state.execution.step_count,
        "tool": tool_call["function"]["name"],
        "args": tool_call["function"]["arguments"],
        "result": result.get("result"),
        "timestamp": int(time.time() * 1000),
    }
    with (Path(__file__).parent / "log.jsonl").open("a") as log:
        print(json.dumps(line), file=log)
    return None  # Use original result
"""
ALERT = """
from alerts import send_alert
from hookline.standard_agents import define_hook


@define_hook(hook="after_tool_call_failure", id="alert_payment_failures")
async def alert(state, tool_call, result):
    # Send alert for critical tool failures
    if tool_call["function"]["name"] == "payment_process":
        await send_alert({
            "level": "critical",
            "message": f"Payment tool failed: {result['error']}",
            "context": {"threadId": state.thread_id},
        })
    return None  # Use original error
"""
ALERTS = """
import json
from pathlib import Path


async def send_alert(alert):
    with (Path(__file__).parent / "alerts.jsonl").open("a") as log:
        print(json.dumps(alert), file=log)
"""
METADATA = """
import json

from hookline.standard_agents import define_hook


@define_hook(hook="before_create_message", id="add_execution_metadata")
async def add_execution_metadata(state, message):
    return {
        **message,
        "metadata": json.dumps({
            "flow_id": state.execution.flow_id,
            "step": state.execution.step_count,
            "side": state.execution.current_side,
        }),
    }
"""
REDACT = r"""
import re

from hookline.standard_agents import define_hook


@define_hook(hook="before_store_tool_result", id="redact_credit_cards")
async def redact_credit_cards(state, tool_call, result):
    # Redact credit card numbers from results
    sanitized = {**result}
    if isinstance(sanitized.get("result"), str):
        sanitized["result"] = re.sub(
            r"\b\d{4}[-\s]?\d{4}[-\s]?\d{4}[-\s]?\d{4}\b", "****-****-****-****", sanitized["result"]
        )
    return sanitized
"""
FILES = {
    "scripted_runtime.py": AGENTS, "limit.py": LIMIT, "log.py": LOG, "alert.py": ALERT, "alerts.py": ALERTS,
    "metadata.py": METADATA, "redact.py": REDACT,
}  # fmt: skip


class Support:
    """A session of thirty prompts, of which the first uses both tools."""

    def __init__(self, workspace: Path) -> None:
        self.folder = workspace / "agents"
        self.folder.mkdir()
        for name, text in FILES.items():
            (self.folder / name).write_text(text)
        (workspace / "hookline.yaml").write_text("standard_agents: agents\n")
        self.model = RecordingModel(
            [
                tool_call_step(("card_lookup", {"customer": "c1"})),
                tool_call_step(("payment_process", {"amount": 3})),
                *[f"answer {n}" for n in range(30)],
            ]
        )
        run_async(lambda: self._run(workspace))

    async def _run(self, workspace: Path) -> None:
        settings = Settings(
            home=workspace / "home",
            env={},
            app_file=workspace / "hookline.yaml",
            model=self.model,
            store="sqlite://",
            unattended=True,
        )
        async with Runtime.open(workspace, settings) as runtime:
            assert runtime.problems == ()
            session = await runtime.start()
            self.session = session.id
            for n in range(30):
                await session.ask(f"prompt {n}")
            self.stored = await runtime.store.messages(session.id)
            await session.end()

    def lines(self, name: str) -> list[dict[str, object]]:
        return [json.loads(line) for line in (self.folder / name).read_text().splitlines()]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Support:
    return Support(tmp_path_factory.mktemp("support"))


def test_8_1_the_request_has_fifty_messages_while_the_store_keeps_all(ran: Support) -> None:
    assert len(ran.stored) == 64
    sent = ran.model.requests[-1].messages
    assert sent[0] == {"role": "system", "content": "You help with payments."}
    assert len(sent) == 51
    assert sent[-1]["content"] == "prompt 29"


def test_8_2_each_call_that_succeeds_is_logged_and_its_result_stays(ran: Support) -> None:
    [line] = ran.lines("log.jsonl")
    assert (line["event"], line["tool"], line["step"]) == ("tool_success", "card_lookup", 1)
    assert (line["threadId"], line["args"]) == (ran.session, '{"customer": "c1"}')
    assert "4111-1111 1111 1111" in str(line["result"])


def test_8_3_a_failed_payment_is_told_and_the_error_stays(ran: Support) -> None:
    [alert] = ran.lines("alerts.jsonl")
    assert alert["level"] == "critical"
    assert "card declined" in str(alert["message"])
    assert alert["context"] == {"threadId": ran.session}
    assert "card declined" in ran.model.requests[2].messages[-1]["content"]


def test_8_4_each_stored_message_has_the_metadata_of_its_execution(ran: Support) -> None:
    metadata = [json.loads(message["metadata"]) for message in ran.stored]
    assert [each["step"] for each in metadata[:6]] == [0, 1, 1, 2, 2, 3]
    assert {each["side"] for each in metadata} == {"a"}
    assert len({each["flow_id"] for each in metadata[:6]}) == 1
    assert len({each["flow_id"] for each in metadata}) == 30


def test_8_5_card_numbers_reach_neither_the_store_nor_the_model(ran: Support) -> None:
    redacted = "Paid with ****-****-****-**** and ****-****-****-****."
    assert ran.stored[2]["content"] == redacted
    assert ran.model.requests[1].messages[-1]["content"] == redacted
    assert "4111-1111" not in json.dumps(ran.stored)
