"""hook_interchange: manifests of the Hook Interchange Format, which many tools exchange hooks in."""

from hookline.dialects.hook_interchange.dialect import DIALECT

__all__ = ["DIALECT"]
