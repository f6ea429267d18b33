"""The native format: `on / when / then`, the shortest way to say everything that the core can do."""

from hookline.dialects.native.dialect import DIALECT

__all__ = ["DIALECT"]
