"""hookline's own agent under the Conformance Test Kit of AGENT-HOOKS 0.1: prints what became of each vector.

With the argument `slow` it prints the outcome of a session whose interceptor never answers about a tool call.

It runs in hookline's environment, with the packages of `make test-protocols` on the path.
"""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from agent_hooks import InterceptionEmitter
from agent_hooks.ctk import Capability, RunOutcome, RunRecord, Scenario
from agent_hooks.ctk.harness import ToolSpec
from agent_hooks.ctk.runner import load_vectors, run_vector
from agent_hooks.ctk.scripted import redact_paths
from agent_hooks.emitter import IdentityProvider

from hookline import Runtime, Settings
from hookline.engine.book import Book
from hookline.errors import Denied
from hookline.hooks.host import ToolResult
from hookline.hooks.tools import ToolKind
from hookline.runtime.apps.app import Agent, AgentSide, App, Prompt
from hookline.runtime.models.model import Chunk, CompletionRequest, RequestedCall, TextChunk
from hookline.runtime.tools.tool_definition import ToolContext
from hookline.runtime.updates import Ending, ExchangeEnded, TextDelta, Update

OUTCOMES = {
    Ending.ANSWERED: RunOutcome.COMPLETED,
    Ending.REFUSED: RunOutcome.BLOCKED,
    Ending.HALTED: RunOutcome.BLOCKED,
}


class KitModel:
    name = "kit"
    context_limit = 100_000

    def __init__(self, scenario: Scenario) -> None:
        self._answers = iter(scenario.model_script)

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[Chunk]:
        answer = next(self._answers)
        for letter in answer.content or "":
            yield TextChunk(letter)
        for call in answer.tool_calls:
            yield RequestedCall(call["id"], call["name"], json.dumps(call["args"]))

    async def close(self) -> None:
        pass


class KitTool:
    kind = ToolKind.OTHER
    description = "A tool of the kit."

    def __init__(self, spec: ToolSpec, log: list[dict[str, Any]]) -> None:
        self._spec, self._log = spec, log
        self.name, self.schema = spec.name, spec.schema or {"type": "object"}

    async def perform(self, input: dict[str, Any], context: ToolContext) -> ToolResult:
        self._log.append({"name": self.name, "args": input})
        value, is_error = self._spec.invoke(input)
        return ToolResult(None, False, str(value)) if is_error else ToolResult(value, True)


class HooklineHarness:
    name = "hookline"
    tool_seam_host_error = "continue"
    capabilities = frozenset(
        {
            Capability.MODEL_CALLS,
            Capability.TOOL_CALLS,
            Capability.MULTI_TURN,
            Capability.INT64_JSON,
            Capability.BIGINT_JSON,
            Capability.HOST_DECLARATION,
        }
    )

    def setup(
        self,
        scenario: Scenario,
        interceptors: list[Any],
        resolver: Any,
        mode: Any,
        composition: Any,
        identity_provider: str | None,
        redact_for_approval: list[str] | None = None,
    ) -> None:
        provider: Any = identity_provider
        if identity_provider == "ctk-fault":
            provider = IdentityProvider("ctk-fault", fail)
        emitter = InterceptionEmitter(mode=mode, resolver=resolver, composition=composition, identity_provider=provider)
        self.setup_emitter(scenario, emitter)
        for interceptor in interceptors:
            emitter.register(interceptor)
        if redact_for_approval:
            emitter.set_approval_redactor(lambda context: redact_paths(context, redact_for_approval))

    def setup_declared(self, scenario: Scenario, document: dict[str, Any], registry: Any) -> None:
        self.setup_emitter(scenario, InterceptionEmitter.from_declaration_value(document, registry))

    def setup_emitter(self, scenario: Scenario, emitter: InterceptionEmitter) -> None:
        self._scenario, self.emitter = scenario, emitter

    async def run(self) -> RunRecord:
        calls: list[dict[str, Any]] = []
        tools = tuple(KitTool(spec, calls) for spec in self._scenario.tools.values())
        seen: list[Update] = []
        with tempfile.TemporaryDirectory() as directory:
            settings = Settings(
                home=Path(directory),
                env={"PATH": os.environ["PATH"]},
                app=App((Agent("kit", AgentSide(Prompt("main", "", tools=tuple(self._scenario.tools)))),)),
                book=Book(),
                model=KitModel(self._scenario),
                store="sqlite://",
                tools_for=lambda session: tools,
                interceptors=self.emitter,
                watch=seen.append,
            )
            async with Runtime.open(directory, settings) as runtime:
                outcome, text = await converse(runtime, self._scenario.input["content"])
        shown = "".join(update.text for update in seen if isinstance(update, TextDelta))
        assert shown == (text or ""), f"shown: {shown!r}, returned: {text!r}"
        records = self.emitter.results
        return RunRecord(
            outcome=outcome,
            final_output=text,
            tool_invocations=calls,
            identities=[(each.input_identity, each.enforced_identity) for each in records],
            records=[each.to_wire() for each in records],
        )

    def teardown(self) -> None:
        pass


async def converse(runtime: Runtime, prompt: str) -> tuple[RunOutcome, str | None]:
    try:
        session = await runtime.start()
    except Denied:
        return RunOutcome.BLOCKED, None
    ended = [update async for update in session.say(prompt) if isinstance(update, ExchangeEnded)][-1]
    await session.end()
    outcome = OUTCOMES.get(ended.ending, RunOutcome.ERROR)
    return outcome, ended.text if outcome is RunOutcome.COMPLETED else None


def fail(context: dict[str, Any]) -> str:
    raise RuntimeError("the identity provider fails")


class SlowInterceptor:
    async def intercept(self, context: dict[str, Any]) -> dict[str, Any]:
        if context["interception_point"] == "pre_tool_call":
            await asyncio.Event().wait()
        return {"decision": "allow"}


async def run_slow_interceptor() -> None:
    (vector,) = (each for each in load_vectors() if each["id"] == "AH-CTK-001")
    harness = HooklineHarness()
    harness.setup_emitter(Scenario.from_wire(vector["scenario"]), InterceptionEmitter(timeout=0.1))
    harness.emitter.register(SlowInterceptor())
    run = await harness.run()
    reasons = [record["verdict"].get("reason") for record in run.records if record["verdict"]["decision"] == "deny"]
    print(json.dumps({"outcome": run.outcome, "calls": run.tool_invocations, "reasons": reasons}))


async def main() -> None:
    for vector in load_vectors():
        result = await run_vector(HooklineHarness(), vector)
        why = "; ".join(result.failures) or result.detail
        print(json.dumps({"id": result.id, "status": result.status, "why": why}), flush=True)


asyncio.run(run_slow_interceptor() if sys.argv[1:] == ["slow"] else main())
