from __future__ import annotations

import pytest

from hookline.errors import HooklineError
from hookline.hub.store.outage_log import OutageLog


def test_an_outage_is_told_once_and_its_end_too(caplog: pytest.LogCaptureFixture) -> None:
    log = OutageLog("rules cannot be read", "rules are read again")
    log.report_success()
    for reason in ("it is locked", "it is locked", "it is away", "it is away"):
        log.report(HooklineError(reason))
    assert log.reason == "it is away"
    log.report_success()
    log.report_success()
    assert [each.getMessage() for each in caplog.records] == [
        "rules cannot be read: it is locked",
        "rules cannot be read: it is away",
        "rules are read again",
    ]
    assert log.reason == ""
