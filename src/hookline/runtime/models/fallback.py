"""A model with fallbacks: when one model fails, the next one takes over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from datetime import timedelta
from typing import Final

from hookline.runtime.models.model import Chunk, CompletionRequest, ErrorCode, Model, ModelError

MAX_FAILURES: Final = 2
RETURN_AFTER: Final = timedelta(minutes=5)


class FallbackError(ModelError):
    """The next call goes to another model, so a retry makes sense for every error code."""

    def __init__(self, error: ModelError, name: str) -> None:
        super().__init__(error.code, f"{error}; {name} is tried next", timedelta(0))

    @property
    def is_transient(self) -> bool:
        return True


class FallbackModel:
    """Raises every failure; the next call goes to the next model.

    It switches after a permanent error, or after two transient errors in a row. After a context overflow it switches only
    if the next model has a larger context limit. After five minutes it returns to the first model.
    """

    def __init__(self, models: Sequence[Model]) -> None:
        self._models = tuple(models)
        self._at = 0
        self._failures = 0
        self._left_at = 0.0

    @property
    def name(self) -> str:
        return self._models[self._at].name

    @property
    def context_limit(self) -> int:
        return self._models[self._at].context_limit

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[Chunk]:
        self._return_to_first()
        index = self._at
        try:
            async with aclosing(self._models[index].stream(request)) as stream:
                async for piece in stream:
                    yield piece
        except ModelError as error:
            raise self._record_failure(index, error) from None
        if index == self._at:
            self._failures = 0

    async def close(self) -> None:
        for model in self._models:
            await model.close()

    def _return_to_first(self) -> None:
        if self._at and _now() - self._left_at >= RETURN_AFTER.total_seconds():
            self._at = self._failures = 0

    def _record_failure(self, index: int, error: ModelError) -> ModelError:
        if index != self._at:  # another conversation has already switched
            return FallbackError(error, self.name)
        self._failures += 1
        if index + 1 == len(self._models) or not self._should_switch(self._models[index + 1], error):
            return error
        self._at, self._failures, self._left_at = index + 1, 0, _now()
        return FallbackError(error, self.name)

    def _should_switch(self, successor: Model, error: ModelError) -> bool:
        if error.code is ErrorCode.CONTEXT_OVERFLOW:
            return successor.context_limit > self.context_limit
        return not error.is_transient or self._failures >= MAX_FAILURES


def _now() -> float:
    return asyncio.get_running_loop().time()
