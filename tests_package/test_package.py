"""The built sdist and wheel: what is in them, and that they work in new environments, away from the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[1]
OFFLINE = ("error sending request", "Failed to fetch", "client error (Connect)", "dns error", "Network connectivity")
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
SYSTEM = "/usr/bin/python3"
"""Of the operating system: Debian 12 has 3.11.2, whose `re` has faults that the last 3.11 does not have."""


@dataclass(frozen=True)
class Distribution:
    sdist: Path
    wheel: Path  # built from the sdist


def _run_uv(*arguments: str) -> str:
    uv = shutil.which("uv", path=str(Path(sys.executable).parent)) or shutil.which("uv") or "uv"
    done = subprocess.run([uv, *arguments], capture_output=True, text=True, timeout=300, cwd=ROOT)
    if done.returncode != 0 and any(sign in done.stderr for sign in OFFLINE):
        pytest.skip("the package index cannot be reached")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Distribution:
    directory = tmp_path_factory.mktemp("dist")
    _run_uv("build", "--quiet", "--out-dir", str(directory))
    (sdist,), (wheel,) = directory.glob("*.tar.gz"), directory.glob("*.whl")
    return Distribution(sdist, wheel)


def _source_files() -> set[str]:
    listed = subprocess.run(
        ["git", "ls-files", "src/hookline"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert "src/hookline/packs/recommended.yaml" in listed
    assert "src/hookline/hosts/bridge/client.c" in listed
    return {name.removeprefix("src/") for name in listed}


def _console_files() -> set[str]:
    """What `make console` built: users of the wheel need no Node.js. git ignores it, so a new checkout has none."""
    built = ROOT / "src" / "hookline" / "hub" / "console_files"
    return {f"hookline/hub/console_files/{path.name}" for path in built.glob("*")}


def _pages() -> set[str]:
    """The documentation that `hookline help` shows."""
    listed = subprocess.run(
        ["git", "ls-files", "docs/*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    return {f"hookline/{name}" for name in listed if not name.startswith("docs/decisions/")}


def test_the_wheel_has_every_source_and_data_file_and_nothing_else(built: Distribution) -> None:
    with zipfile.ZipFile(built.wheel) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert names == _source_files() | _pages() | _console_files()


def test_the_sdist_has_the_sources_and_no_caches(built: Distribution) -> None:
    with tarfile.open(built.sdist) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert {f"src/{name}" for name in _source_files()} <= names
    assert {"README.md", "LICENSE", "CHANGELOG.md", "pyproject.toml"} <= names
    assert not [name for name in names if name.startswith((".cache", ".venv")) or "__pycache__" in name]


def test_a_package_index_accepts_the_metadata_and_renders_the_readme(built: Distribution) -> None:
    checked = _run_uv("tool", "run", "twine", "check", "--strict", str(built.sdist), str(built.wheel))
    assert checked.count("PASSED") == 2, checked


def test_the_description_on_a_package_index_has_no_relative_link(built: Distribution) -> None:
    with zipfile.ZipFile(built.wheel) as wheel:
        name = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        description = wheel.read(name).decode().partition("\n\n")[2]
    assert description.startswith("# hookline\n")
    assert "## Works with" in description
    assert re.findall(r"\]\((?!https?://)[^)]*\)", description) == []
    assert "![" not in description


@pytest.mark.parametrize("version", VERSIONS)
def test_every_requirement_has_a_wheel(version: str) -> None:
    """Without one, an installation needs a compiler."""
    _run_uv(
        "pip", "compile", "--quiet", "--python-version", version, "--python-platform", "linux",
        "--only-binary", ":all:", "pyproject.toml",
    )  # fmt: skip


def _find_python(version: str) -> str | None:
    """On the PATH, or below the directory of pyenv, whose programs on the PATH run only the version that is selected."""
    if version == "system":
        is_new = "import sys; sys.exit(sys.version_info < (3, 11))"
        return SYSTEM if os.path.exists(SYSTEM) and _runs(SYSTEM, is_new) else None
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found = [shutil.which(f"python{version}"), *map(str, sorted(pyenv.glob(f"{version}.*/bin/python{version}")))]
    return next((each for each in found if each and _runs(each)), None)


def _runs(python: str, code: str = "") -> bool:
    return subprocess.run([python, "-c", code], capture_output=True, timeout=60).returncode == 0


@pytest.fixture(scope="session", params=[*VERSIONS, "system", "sdist"])
def environment(request: pytest.FixtureRequest, built: Distribution, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with only the package: its wheel for each Python on this machine, and the sdist."""
    is_sdist = request.param == "sdist"
    python = sys.executable if is_sdist else _find_python(request.param)
    if python is None:
        pytest.skip(f"Python {request.param} is not on this machine")
    venv = tmp_path_factory.mktemp("venv") / "venv"
    _run_uv("venv", "--quiet", "--python", python, str(venv))
    _run_uv("pip", "install", "--quiet", "--python", str(venv), str(built.sdist if is_sdist else built.wheel))
    return venv


class User:
    """Somebody with an empty home and a project, and this environment alone."""

    def __init__(self, environment: Path, directory: Path) -> None:
        self.environment, self.home, self.project = environment, directory / "home", directory / "project"
        (self.home / ".claude").mkdir(parents=True)
        self.project.mkdir()

    def call(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.environment / "bin" / command[0]), *command[1:]],
            cwd=self.project,
            env={"HOME": str(self.home), "PATH": f"{self.environment / 'bin'}:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=60,
        )

    def fire(self, command: str) -> int:
        return self.call(
            "hookline", "fire", "tool.before", "--tool", "bash", "--input", f'{{"command": "{command}"}}'
        ).returncode


def test_the_installed_package_works(environment: Path, tmp_path: Path) -> None:
    user = User(environment, tmp_path)
    call, fire = user.call, user.fire
    where = call("python", "-c", "import hookline; print(hookline.__file__)").stdout.strip()
    assert Path(where).is_relative_to(environment)
    version = call("hookline", "--version").stdout
    assert version.startswith("hookline 0.")
    assert call("python", "-m", "hookline", "--version").stdout == version
    assert call("hookline", "init", "--pack", "recommended").returncode == 0
    assert call("hookline", "check").returncode == 0
    assert call("hookline", "help", "conditions").stdout.startswith("CONDITIONS\n")
    assert "cookbook" in call("hookline", "help").stdout
    assert (fire("rm -fr src"), fire("ls")) == (2, 0)
    assert call("python", "-m", "hookline", "list").stdout.count("no-recursive-delete") == 1
    planned = call("hookline", "setup", "--json")
    assert (planned.returncode, '"claude-code"' in planned.stdout) == (3, True), planned.stderr


ACME = {
    "pyproject.toml": """
        [build-system]
        requires = ["hatchling"]
        build-backend = "hatchling.build"
        [project]
        name = "acme-hooks"
        version = "1.0"
        [project.entry-points."hookline.packs"]
        acme = "acme_hooks.packs"
        [tool.hatch.build.targets.wheel]
        packages = ["acme_hooks"]
        """,
    "acme_hooks/__init__.py": "raise RuntimeError('a pack is read, not imported')",
    "acme_hooks/packs/base.yaml": """
        options: {words: [alpha]}
        hooks:
          - {id: words, on: tool.before, when: {tool: bash, input: {command: "${words}"}}, then: {deny: Not this word.}}
        """,
    "acme_hooks/packs/all.yaml": "extends: [acme:base, hookline:recommended]",
}


def test_a_distribution_has_packs(environment: Path, tmp_path: Path) -> None:
    source = tmp_path / "acme"
    for name, text in ACME.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(dedent(text).lstrip(), "utf-8")
    _run_uv("build", "--quiet", "--wheel", "--out-dir", str(tmp_path / "dist"), str(source))
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    user = User(environment, tmp_path)
    config = user.project / "hookline.yaml"
    config.write_text("extends: [acme:all]\n", "utf-8")
    missing = user.call("hookline", "check")
    assert (missing.returncode, "no package with packs named acme is installed" in missing.stdout) == (1, True)
    assert (user.fire("say alpha"), user.fire("ls")) == (3, 3)  # nobody can say what is guarded
    _run_uv("pip", "install", "--quiet", "--reinstall", "--python", str(environment), str(wheel))
    assert user.call("hookline", "check").returncode == 0
    assert (user.fire("say alpha"), user.fire("rm -fr src"), user.fire("ls")) == (2, 2, 0)
    config.write_text("extends: [acme:base: {words: [beta]}]\n", "utf-8")
    assert (user.fire("say alpha"), user.fire("say beta")) == (0, 2)
    assert "extends acme:base" in user.call("hookline", "trust", "--yes").stdout
    (pack,) = environment.glob("lib/python*/site-packages/acme_hooks/packs/base.yaml")
    pack.write_text("options: {words: []}\nhooks: []\n", "utf-8")
    assert (user.fire("say beta"), user.fire("ls")) == (2, 0)
    assert "-hooks: []" not in (changed := user.call("hookline", "trust", "--diff").stdout)
    assert "+hooks: []" in changed
    user.call("hookline", "trust", "--yes")
    assert user.fire("say beta") == 0
    _run_uv("pip", "uninstall", "--quiet", "--python", str(environment), "acme-hooks")
