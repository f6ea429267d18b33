"""What a request's body may have.

    class AnswerBody(RequestBody):
        yes: StrictBool

A field that the model does not have is refused: a mistyped `input` must not approve what was there before.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic_core import PydanticCustomError

from hookline.formatting import closest_match


class RequestBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _check_names(cls, body: Any) -> Any:
        """Says which field was meant; `extra` alone does not."""
        known = sorted(cls.model_fields)
        unknown = next((name for name in body if name not in known), None) if isinstance(body, dict) else None
        if unknown is not None:
            raise PydanticCustomError("unknown_field", "{problem}", {"problem": _explain_unknown(str(unknown), known)})
        return body


def _explain_unknown(name: str, known: list[str]) -> str:
    meant = closest_match(name, known)
    hint = f"did you mean {meant}?" if meant else f"this route takes {', '.join(known)}"
    return f"there is no field {name[:100]!r}; {hint}"
