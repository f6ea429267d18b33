"""Gives the bridge the model of the runtime, whose libraries are imported with the first hook that asks one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hookline.hosts.bridge.protocol import AgentCall


async def ask_user_model(call: AgentCall, prompt: str) -> str:
    """Raises UnavailableError if the user has named no model for hooks."""
    from hookline.runtime.models.hook_model import complete

    user = call.user_directories
    environ = {os.fsdecode(name): os.fsdecode(value) for name, value in call.environment.items()}
    return await complete(prompt, user.home, user.config, environ)
