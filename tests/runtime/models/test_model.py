from __future__ import annotations

import pytest

from hookline.runtime.models.model import ErrorCode, ModelError

TRANSIENT = {ErrorCode.RATE_LIMIT, ErrorCode.TIMEOUT, ErrorCode.NETWORK, ErrorCode.INTERNAL}


@pytest.mark.parametrize("code", ErrorCode)
def test_an_error_is_transient_if_the_same_request_may_succeed_later(code: ErrorCode) -> None:
    assert ModelError(code, "x").is_transient is (code in TRANSIENT)


@pytest.mark.parametrize("code", ErrorCode)
def test_a_refused_request_is_never_tried_again(code: ErrorCode) -> None:
    assert not ModelError(code, "x", refused=True).is_transient
