"""Payloads of the coding agents, every kind of decision about them, and the golden files with the replies.

`fixtures/captures` holds payloads that the agents really sent, `fixtures/payloads` those written from their
documentation. A file is named after its event; what is special about it follows a `-`. `python tests/agent_payloads.py`
regenerates `hosts/golden/<agent>.json`; read the diff before you commit it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hookline.engine.decision import Decision
from hookline.hooks.event import REMOVED, Event
from hookline.hooks.events import EVENTS
from hookline.hooks.outcome import Audience, Note, Verdict
from hookline.hooks.protocols import May
from hookline.hosts.agents import AGENT_NAMES, get_agent
from hookline.hosts.agents.agent import CodingAgent, Reply

FIXTURES = Path(__file__).parent / "fixtures"
GOLDEN = Path(__file__).parent / "hosts" / "golden"

FOR_AGENT = (Note("mind the tests"),)
FOR_USER = (Note("seen", Audience.USER),)


def payloads(name: str) -> dict[str, dict[str, Any]]:
    """Every known payload of an agent, by file name."""
    folder = name.replace("-", "_")
    files = [*FIXTURES.glob(f"captures/{folder}/*.json"), *FIXTURES.glob(f"payloads/{folder}/*.json")]
    return {file.stem: json.loads(file.read_text("utf-8")) for file in sorted(files)}


def event_name(file: str) -> str:
    return file.partition("-")[0]


def _change(event: Event) -> Event:
    match event.name:
        case "tool.before" if isinstance(event.facts["tool"]["input"], dict):
            field = next(iter(event.facts["tool"]["input"]), "note")
            return event.with_changes(((("tool", "input", field), "safe"),))
        case "prompt.submit":
            return event.with_changes(((("prompt",), "another prompt"),))
        case "tool.after":
            return event.with_changes(((("tool", "result"), "clean"),))
    return event


def _append(event: Event) -> Event:
    if event.name == "prompt.submit":
        return event.with_changes(((("prompt",), event.facts["prompt"] + "\n\nand be brief"),))
    result = event.facts["tool"].get("result", "")
    text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False, separators=(",", ":"))
    return event.with_changes(((("tool", "result"), text + "\n2 warnings"),))


def _remove(event: Event) -> Event:
    field = next(iter(event.facts["tool"]["input"]), "note")
    return event.with_changes(((("tool", "input", field), REMOVED),))


def _halt(event: Event) -> Decision:
    denied = EVENTS[event.name].accepts & May.DENY
    return Decision(event, Verdict.DENY if denied else Verdict.SILENT, "enough", halt=True)


Decide = Callable[[Event], Decision]
KINDS: dict[str, tuple[May, Decide]] = {
    "silent": (May.NOTHING, Decision),
    "allow": (May.ALLOW, lambda event: Decision(event, Verdict.ALLOW, "fine")),
    "ask": (May.ASK, lambda event: Decision(event, Verdict.ASK, "look first")),
    "deny": (May.DENY, lambda event: Decision(event, Verdict.DENY, "not here")),
    "deny without a reason": (May.DENY, lambda event: Decision(event, Verdict.DENY, " ")),
    "deny with context": (May.DENY, lambda event: Decision(event, Verdict.DENY, "not here", notes=FOR_AGENT)),
    "change": (May.CHANGE, lambda event: Decision(_change(event))),
    "change and ask": (May.CHANGE | May.ASK, lambda event: Decision(_change(event), Verdict.ASK, "look first")),
    "change and allow": (May.CHANGE | May.ALLOW, lambda event: Decision(_change(event), Verdict.ALLOW, "fine")),
    "context": (May.NOTES, lambda event: Decision(event, notes=FOR_AGENT)),
    "note for the user": (May.NOTES, lambda event: Decision(event, notes=FOR_USER)),
    "halt": (May.HALT, _halt),
}


def decisions(event: Event) -> Iterator[tuple[str, Decide]]:
    """Every kind of decision that can be made about the event."""
    takes = EVENTS[event.name].accepts
    for kind, (needs, decide) in KINDS.items():
        if needs & takes == needs:
            yield kind, decide
    if event.name in ("prompt.submit", "tool.after"):
        yield "append", lambda event: Decision(_append(event))
    if event.name == "tool.before":
        yield "remove", lambda event: Decision(_remove(event))


def build_golden(agent: CodingAgent) -> dict[str, Any]:
    return {
        file: {
            "events": [
                {"event": event.name, "facts": event.facts} for event in agent.read(event_name(file), payload).events
            ],
            "replies": replies(agent, file, payload),
        }
        for file, payload in payloads(agent.name).items()
    }


def replies(agent: CodingAgent, file: str, payload: dict[str, Any]) -> dict[str, Any]:
    events = agent.read(event_name(file), payload).events
    if not events:
        return {"silent": reply_as_json(agent.reply(agent.read(event_name(file), payload), ()))}
    return {
        kind: reply_as_json(agent.reply(agent.read(event_name(file), payload), [decide(event) for event in events]))
        for kind, decide in decisions(events[0])
    }


def reply_as_json(reply: Reply) -> Any:
    """A reply as in a golden file: only its JSON if there is nothing else."""
    stdout = json.loads(reply.stdout) if reply.stdout.startswith("{") else reply.stdout
    if not reply.stderr and not reply.exit_code:
        return stdout
    return {"stdout": stdout, "stderr": reply.stderr, "exit code": reply.exit_code}


def read_golden(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLDEN / f"{name}.json").read_text("utf-8"))
    return found


def main() -> None:
    for name in sys.argv[1:] or AGENT_NAMES:
        text = json.dumps(build_golden(get_agent(name)), indent=1, ensure_ascii=False)
        (GOLDEN / f"{name}.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
