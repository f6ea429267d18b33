from __future__ import annotations

from pathlib import Path

import pytest

from hookline.errors import HooklineError
from hookline.hub.config.hub_config import HubConfig
from hookline.hub.store.open_store import open_store
from hub.hub_sandbox import async_test


@pytest.mark.parametrize("url", ["mysql://db/hub", "sqlite://file.db", "postgresql://@/x?host=/no/such/directory"])
@async_test
async def test_a_database_that_cannot_be_opened_is_told_with_the_line_that_names_it(url: str, tmp_path: Path) -> None:
    config = HubConfig(state=tmp_path, store=url, config_file=Path("hub.yaml"), lines={"store": 7})
    with pytest.raises(HooklineError, match=r"^hub\.yaml:7  "):
        await (await open_store(config)).close()
