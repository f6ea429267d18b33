from __future__ import annotations

import pytest

from hookline.hosts.install.launcher import compile_client, python_client


@pytest.fixture(scope="session")
def c_client(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Not bound to a user's directories, because each test has its own."""
    target = tmp_path_factory.mktemp("client") / "hookline bridge"
    if not compile_client(target, {}):
        pytest.skip("there is no C compiler")
    return [str(target)]


@pytest.fixture(params=["python", "c"])
def argv(request: pytest.FixtureRequest) -> list[str]:
    """What an agent is told to call."""
    if request.param == "python":
        return python_client()
    compiled: list[str] = request.getfixturevalue("c_client")
    return compiled
