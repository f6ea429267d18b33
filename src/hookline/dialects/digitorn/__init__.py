"""digitorn: `runtime.hooks` and `agents[].hooks` of an app file."""

from hookline.dialects.digitorn.dialect import DIALECT

__all__ = ["DIALECT"]
