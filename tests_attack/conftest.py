"""Attacks on hookline. Each test makes many attempts of one kind; the table at the end counts them.

A new way in is a new attempt. An expectation is never changed to let an attempt pass.
"""

from collections import defaultdict
from collections.abc import Iterator

import pytest
from attempts import Attempt

_counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])  # kind → attempts, successes


@pytest.fixture
def attempt() -> Iterator[Attempt]:
    """`attempt(kind, succeeded, what)` counts one attempt. The test fails if any of its attempts succeeded."""
    successes: list[str] = []

    def count(kind: str, succeeded: bool, what: str) -> None:
        _counts[kind][0] += 1
        _counts[kind][1] += succeeded
        if succeeded:
            successes.append(f"{kind}: {what}")

    yield count
    if successes:
        pytest.fail(f"{len(successes)} attacks succeeded:\n" + "\n".join(successes[:50]), pytrace=False)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker of pytest-xdist hands its counts to the process that prints them."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["attempts"] = dict(_counts)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object) -> None:
    for kind, counted in getattr(node, "workeroutput", {}).get("attempts", {}).items():
        _counts[kind] = [sum(each) for each in zip(_counts[kind], counted, strict=True)]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not _counts:
        return
    width = max(len("kind of attack"), *map(len, _counts))
    terminalreporter.write_line(f"\n{'kind of attack':{width}}  attempts  successes")
    for kind, (attempts, successes) in sorted(_counts.items()):
        terminalreporter.write_line(f"{kind:{width}}  {attempts:8,}  {successes:9,}")
    attempts = sum(count[0] for count in _counts.values())
    successes = sum(count[1] for count in _counts.values())
    terminalreporter.write_line(f"{'all':{width}}  {attempts:8,}  {successes:9,}")
