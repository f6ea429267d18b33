"""A plain loop with the openai package, and hooks around its tools.

pip install hookline openai
OPENAI_API_KEY=… python examples/openai_loop.py "Which files are here?"
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import Any

from openai import AsyncOpenAI

import hookline


@hookline.guard(kind="shell", on_deny="return")
def bash(command: str) -> str:
    """Runs a shell command."""
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, timeout=60)
    return done.stdout + done.stderr


TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": "bash",
            "description": bash.__doc__,
            "parameters": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
        },
    }
]


def ask(question: hookline.Question) -> bool:
    return input(f"{question.tool} {question.input}\n{question.reason} [y/N] ").strip().lower() == "y"


async def main(text: str, model: str = "gpt-5-mini") -> str:
    client = AsyncOpenAI()
    async with hookline.session(host_name="openai-loop", ask=ask) as session:
        messages: list[Any] = [{"role": "user", "content": await session.prompt(text)}]
        while True:
            if notes := session.take_notes():
                messages.append({"role": "system", "content": notes})
            reply = await client.chat.completions.create(model=model, messages=messages, tools=TOOLS)
            message = reply.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            if message.tool_calls:
                for call in message.tool_calls:
                    result = await asyncio.to_thread(bash, **json.loads(call.function.arguments))
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
                continue
            stop = await session.decide("stop", stop={"reason": "end_turn", "message": message.content or ""})
            if not stop.denied or stop.halt:
                return message.content or ""
            messages.append({"role": "user", "content": stop.reason})


if __name__ == "__main__":
    print(asyncio.run(main(" ".join(sys.argv[1:]) or "Which files are here?")))
