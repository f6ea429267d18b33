"""Writes the tables that `make bench` printed into the page about speed: `python -m bench.update_docs OUTPUT [PAGE]`.

A table replaces the one with the same heads. What the page says around it is for a person to check.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

_PAGE: Final = "docs/benchmarks.md"


def find_tables(text: str) -> dict[str, str]:
    """Each table by the line of its heads."""
    found: dict[str, list[str]] = {}
    rows: list[str] = []
    for line in (*text.splitlines(), ""):
        if line.startswith("|"):
            rows.append(line)
        elif rows:
            found[rows[0]] = rows
            rows = []
    return {heads: "\n".join(table) for heads, table in found.items()}


def main() -> None:
    output, page = Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else _PAGE)
    measured, text = find_tables(output.read_text("utf-8")), page.read_text("utf-8")
    shown = find_tables(text)
    for heads, table in measured.items():
        if heads in shown:
            text = text.replace(shown[heads], table)
        else:
            print(f"not in {page}: {heads}")
    for heads in shown.keys() - measured.keys():
        print(f"not measured, left as it was: {heads}")
    page.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
