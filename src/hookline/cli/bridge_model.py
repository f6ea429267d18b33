"""Gives the bridge the model of the runtime, whose libraries are imported with the first hook that asks one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hookline.hosts.bridge.hook_cache import ReadableFiles
    from hookline.hosts.bridge.protocol import AgentCall


async def ask_user_model(call: AgentCall, prompt: str, files: ReadableFiles | None = None) -> str:
    """Raises UnavailableError if the user has named no model for hooks."""
    from hookline.runtime.models.hook_model import complete, open_hook_model

    user = call.user_directories
    environ = {os.fsdecode(name): os.fsdecode(value) for name, value in call.environment.items()}
    async with open_hook_model(user.home, user.config, environ) as model:
        if files is None:
            return await complete(model, prompt)
        from hookline.runtime.investigation import READING_TOOLS, HookedReader, investigate

        reader = HookedReader(files.decider, files.host, files.workspace, files.facts)
        return await investigate(model, prompt, READING_TOOLS, reader.read)
