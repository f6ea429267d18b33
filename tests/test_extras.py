"""What to run to get an extra, for each way to install hookline."""

import json
import sys
from importlib.metadata import PackageNotFoundError

import pytest

from hookline import extras
from hookline.extras import install_command

RECEIPT = '[tool]\nrequirements = [{ name = "hookline", extras = ["agent"], directory = "/src/hook line" }, { name = "other" }]\n'


class FakeDistribution:
    def __init__(self, direct_url: str | None) -> None:
        self.direct_url = direct_url

    def read_text(self, name: str) -> str | None:
        assert name == "direct_url.json"
        return self.direct_url


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Sets where hookline was installed from, and what the installer has written beside it."""

    def write(direct_url: object, **files: str) -> None:
        monkeypatch.setattr(sys, "prefix", str(tmp_path))
        text = direct_url if isinstance(direct_url, str | None) else json.dumps(direct_url)
        monkeypatch.setattr(extras, "distribution", lambda name: FakeDistribution(text))
        for name, content in files.items():
            (tmp_path / {"uv": "uv-receipt.toml", "pipx": "pipx_metadata.json"}[name]).write_text(content)

    return write


def directory(path: str, **info: bool) -> dict[str, object]:
    return {"url": f"file://{path}", "dir_info": info}


@pytest.mark.parametrize(
    ("direct_url", "command"),
    [
        (None, "pip install 'hookline[hub]'"),
        ("[]", "pip install 'hookline[hub]'"),
        ("no JSON", "pip install 'hookline[hub]'"),
        ({"url": "https://example.org/hookline.whl"}, "pip install 'hookline[hub]'"),
        (directory("/src/hookline"), "pip install '/src/hookline[hub]'"),
        (directory("/src/hook%20line"), "pip install '/src/hook line[hub]'"),
        (directory("/src/it's"), "pip install '/src/it'\"'\"'s[hub]'"),
        (directory("/src/hookline", editable=True), "pip install -e '/src/hookline[hub]'"),
        ({"url": "file:///src/hookline.whl", "archive_info": {}}, "pip install '/src/hookline.whl[hub]'"),
    ],
)
def test_pip_installs_from_the_same_place(install, direct_url, command):
    install(direct_url)
    assert install_command("hub") == command


@pytest.mark.parametrize(
    ("receipt", "extra", "chosen"),
    [(RECEIPT, "hub", "agent,hub"), (RECEIPT, "agent", "agent"), ("not TOML", "hub", "hub"), ("[tool]", "hub", "hub")],
)
def test_uv_keeps_the_other_extras(install, receipt, extra, chosen):
    install(directory("/src/hook line"), uv=receipt)
    assert install_command(extra) == f"uv tool install '/src/hook line[{chosen}]'"


@pytest.mark.parametrize(
    ("package", "chosen"),
    [("/src/hookline[watch, agent]", "watch,agent,hub"), ("/src/hookline", "hub"), (None, "hub"), (7, "hub")],
)
def test_pipx_keeps_the_other_extras(install, package, chosen):
    install(directory("/src/hookline"), pipx=json.dumps({"main_package": {"package_or_url": package}}))
    assert install_command("hub") == f"pipx install --force '/src/hookline[{chosen}]'"


def test_code_that_was_never_installed_names_the_package(install, monkeypatch):
    def nothing(name: str) -> FakeDistribution:
        raise PackageNotFoundError(name)

    install(None)
    monkeypatch.setattr(extras, "distribution", nothing)
    assert install_command("hub") == "pip install 'hookline[hub]'"
