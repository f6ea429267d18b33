"""microai: settings.json, `Bash(git:*)`, environment variables, `condition` and `continueOnFailure`."""

from hookline.dialects.microai.dialect import DIALECT

__all__ = ["DIALECT"]
