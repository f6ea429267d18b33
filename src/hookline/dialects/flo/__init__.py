"""flo: rules by event in hub.json, .flo/hooks.json and a skill's front matter."""

from hookline.dialects.flo.dialect import DIALECT

__all__ = ["DIALECT"]
