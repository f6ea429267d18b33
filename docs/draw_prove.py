"""Draws the picture of docs/prove.md: what `hookline prove` and the command that it prints show, exported from the terminal.

python docs/draw_prove.py [FOLDER]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from draw_record import DOCS, draw_commands, run, write_example


def main(folder: Path = DOCS) -> None:
    proved = """hookline prove --config hookline.yaml --denied 'kind: write, input: {path: {glob: "**/.env"}}'"""
    refuted = """hookline prove --config hookline.yaml --denied 'kind: write, input: {path: {glob: "**/.env.*"}}'"""
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        write_example(home, "prove.md")
        printed = run(home, refuted).splitlines()[1].strip()
        picture = draw_commands(home, proved, refuted, printed)
    (folder / "prove.svg").write_text(picture, "utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
