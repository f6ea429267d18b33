"""claude_code: the hooks of Claude Code's settings and plugins, for every other agent."""

from hookline.dialects.claude_code.dialect import DIALECT

__all__ = ["DIALECT"]
