from __future__ import annotations

import asyncio
import subprocess
import sys

from hookline.runtime.models.providers import parse_address
from hookline.runtime.models.remote_model import RemoteModel

ADDRESS = "openai:a-model@http://127.0.0.1:9/v1"


def test_the_limit_is_the_providers_unless_it_is_given() -> None:
    address = parse_address(ADDRESS, {})
    assert RemoteModel(address).context_limit == address.context_limit
    assert RemoteModel(address, 5_000).context_limit == 5_000
    assert RemoteModel(address).name == address.name


def test_closing_before_the_first_request_connects_to_nothing() -> None:
    asyncio.run(RemoteModel(parse_address(ADDRESS, {})).close())


def test_the_libraries_are_not_imported_before_the_first_request() -> None:
    code = (
        "import sys\nfrom hookline.runtime.models.providers import parse_address\n"
        "from hookline.runtime.models.remote_model import RemoteModel\n"
        f"RemoteModel(parse_address({ADDRESS!r}, {{}}))\n"
        "assert 'pydantic_ai' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
