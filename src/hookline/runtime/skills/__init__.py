"""Skills: folders with a SKILL.md, which an agent reads when it needs them."""

from hookline.runtime.skills.found import Skills

__all__ = ["Skills"]
