"""A host of AGENT-HOOKS 0.1: the published SDK's reference agent, with hookline's interceptor registered.

It runs in hookline's environment, with the packages of `make test-protocols` on the path.
"""

import asyncio
import json
import sys

import agent_hooks
from agent_hooks import AgentContextBuilder, InterceptionBlocked, InterceptionEmitter

import hookline
from hookline.hosts.protocols.agent_hooks import SPEC, HooksInterceptor


async def main() -> None:
    assert agent_hooks.SPEC_VERSION == SPEC
    builder = AgentContextBuilder(agent_id="a", framework="test", session_id="s1")
    async with hookline.session(".", config=sys.argv[1]) as session:
        emitter = InterceptionEmitter().register(HooksInterceptor(session))
        await emitter.emit(builder.agent_startup(tools_registered=["bash"]))
        for command in ("rm -rf /", "ls", "git push", "pwd"):
            context = builder.pre_tool_call(call_id="c", name="bash", args={"command": command})
            try:
                await emitter.emit(context)
                print(json.dumps({"runs": context["tool_call"]["args"]["command"]}))
            except InterceptionBlocked as blocked:
                verdict = blocked.result.verdict
                print(json.dumps({"blocked": verdict.message, "liftable": verdict.is_liftable}))
        result = builder.post_tool_call(call_id="c", name="bash", args={}, value="a KEY")
        await emitter.emit(result)
        print(json.dumps({"result": result["tool_result"]["value"]}))
        print(json.dumps({"host_errors": sum("host_error" in str(each.to_wire()) for each in emitter.results)}))


asyncio.run(main())
