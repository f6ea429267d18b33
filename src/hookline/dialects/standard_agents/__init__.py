"""standard_agents: Python functions as hooks, for the prompts and agents that list them."""

from typing import TYPE_CHECKING, Any

from hookline.dialects.standard_agents.dialect import DIALECT

if TYPE_CHECKING:
    from hookline.dialects.standard_agents.compiler import hooks_of

__all__ = ["DIALECT", "hooks_of"]


def __getattr__(name: str) -> Any:
    """Loads `hooks_of` on first use: most users have no such hooks."""
    if name != "hooks_of":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from hookline.dialects.standard_agents.compiler import hooks_of

    return hooks_of
