from __future__ import annotations

from typing import Any, BinaryIO, Final

from hookline.hooks.tools import Kind
from hookline.runtime.tools.aside import Until, aside
from hookline.runtime.tools.built_in import BuiltIn, takes, text, whole_number
from hookline.runtime.tools.contents import is_text
from hookline.runtime.tools.tool import Place
from hookline.runtime.tools.workspace import Refused, Spot, Workspace

MOST_RETURNED: Final = 1 << 20  # bytes
_LARGEST: Final = 256 << 20  # bytes of a file that is looked into
_LONGEST_LINE: Final = 100_000  # bytes of one line
_FARTHEST: Final = 100_000_000


async def _read(input: dict[str, Any], place: Place) -> str:
    first, limit = int(input.get("offset", 1)), input.get("limit")

    def work(until: Until) -> str:
        with Workspace(place.workspace).at(input["path"]) as spot, spot.open() as file:
            return _Lines(spot, file, until).read(max(first, 1), None if limit is None else int(limit))

    return await aside(work)


class _Lines:
    def __init__(self, spot: Spot, file: BinaryIO, until: Until) -> None:
        self._path = spot.path
        self._file = file
        self._until = until
        size = file.seek(0, 2)
        file.seek(0)
        if size > _LARGEST:
            raise Refused(f"{spot.path} has {size:,} bytes, too many to read; look into it with grep or bash")
        if not is_text(file.peek(8192)):  # type: ignore[attr-defined]
            raise Refused(f"{spot.path} is not text ({size:,} bytes)")

    def read(self, first: int, limit: int | None) -> str:
        for number in range(1, first):
            if not self._line()[0]:
                raise Refused(f"{self._path} has {number - 1} lines")
        kept: list[bytes] = []
        size, number, cut = 0, first, 0
        while limit is None or len(kept) < limit:
            line, longer = self._line()
            if not line or size + len(line) > MOST_RETURNED:
                return self._told(kept, number if line else None, cut)
            kept.append(line)
            size, number, cut = size + len(line), number + 1, cut + longer
        return self._told(kept, number if self._line()[0] else None, cut)

    def _line(self) -> tuple[bytes, bool]:
        """The next line, or its beginning; "" at the end."""
        self._until.check()
        line = self._file.readline(_LONGEST_LINE)
        longer = len(line) == _LONGEST_LINE and not line.endswith(b"\n")
        rest = line if longer else b""
        while rest and not rest.endswith(b"\n"):
            self._until.check()
            rest = self._file.readline(1 << 20)
        return (line + b"\n" if longer else line), longer

    def _told(self, kept: list[bytes], following: int | None, cut: int) -> str:
        said = b"".join(kept).decode("utf-8", "replace")
        notes = [] if following is None else [f"there is more: read on with offset {following}"]
        if cut:
            notes.append(f"{cut} lines were cut after {_LONGEST_LINE:,} bytes")
        start = "" if not said or said.endswith("\n") else "\n"
        return f"{said}{start}[{'; '.join(notes)}]" if notes else said


read_file = BuiltIn(
    "read_file",
    "Reads a text file of the workspace. A long one is returned in parts, with the offset to read on.",
    takes(
        "path",
        path=text("The file, relative to the workspace."),
        offset=whole_number("The first line to return, counted from 1.", 0, _FARTHEST),
        limit=whole_number("How many lines to return.", 1, _FARTHEST),
    ),
    Kind.READ,
    _read,
)
