"""Runs `hookline bridge AGENT EVENT` without an engine. An installation that cannot be imported still blocks a tool."""

from __future__ import annotations

import sys

from hookline.hosts.bridge import client


def run() -> None:
    try:
        from hookline.cli import verb_group  # noqa: F401  # `main` imports it late
        from hookline.cli.main import main
    except Exception as error:
        client.exit_without_answer(sys.argv[-1], error)
    main()
