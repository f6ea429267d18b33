"""Installs each framework at its pinned version in an environment of its own, and runs the tests there.

`python tests_frameworks/run.py langchain strands` runs only those.
"""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
ENVIRONMENTS = ROOT / ".cache" / "frameworks"
UV = Path(sys.executable).parent / "uv"
WORKERS = 2  # frameworks at a time


class CannotInstallError(Exception):
    """The last line of what the installer said."""


def frameworks() -> list[str]:
    return sorted(file.stem.removeprefix("driver_") for file in HERE.glob("driver_*.py"))


def environment(name: str) -> Path:
    """The Python of the framework's environment, which is made if its lock is new. Raises CannotInstallError."""
    folder, lock = ENVIRONMENTS / name, HERE / f"{name}.lock"
    python, ready = folder / "bin" / "python", folder / ".ready"
    text = lock.read_text("utf-8") + (ROOT / "pyproject.toml").read_text("utf-8")
    if ready.is_file() and ready.read_text("utf-8") == text:
        return python
    if not python.exists():
        _run(sys.executable, "-m", "venv", "--without-pip", str(folder))
    _run(str(UV), "pip", "sync", "--quiet", "--python", str(python), "--require-hashes", str(lock))
    _run(str(UV), "pip", "install", "--quiet", "--python", str(python), "--no-deps", "-e", str(ROOT))
    ready.write_text(text, "utf-8")
    return python


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        said = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        raise CannotInstallError(said[-1].strip() if said else f"exit code {done.returncode}")


def test(name: str, python: Path) -> tuple[bool, str]:
    """Whether the tests passed, and what they said. Failed tests run once more: a busy machine misses deadlines."""
    env = {**os.environ, "HOOKLINE_FRAMEWORK": name, "PYTHONWARNINGS": "ignore"}
    env.pop("VIRTUAL_ENV", None)
    command = [str(python), "-m", "pytest", "-q", "--tb=short", "-rs", "-o", f"cache_dir={ENVIRONMENTS / name}/pytest"]
    said = ""
    for more in ([], ["--lf", "--lfnf=none"]):
        done = subprocess.run(
            [*command, *more], cwd=HERE, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        said += done.stdout
        if done.returncode == 0:
            return True, said
    return False, said


def install_and_test(name: str) -> bool:
    begun = monotonic()
    try:
        python = environment(name)
    except CannotInstallError as error:
        print(f"test-frameworks: {name} skipped: {error}", flush=True)
        return True
    installed = monotonic()
    passed, said = test(name, python)
    times = f"{installed - begun:.0f} s to install, {monotonic() - installed:.0f} s to test"
    print(f"test-frameworks: {name} ({times})\n{said}", end="", flush=True)
    return passed


def main(names: list[str]) -> int:
    known = frameworks()
    if not set(names) <= set(known):
        print(f"usage: run.py [NAME…], with names of {', '.join(known)}", file=sys.stderr)
        return 2
    chosen = names or known
    with ThreadPoolExecutor(WORKERS) as pool:
        passed = dict(zip(chosen, pool.map(install_and_test, chosen), strict=True))
    failed = [name for name in chosen if not passed[name]]
    if failed:
        print(f"test-frameworks: failed: {', '.join(failed)}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
