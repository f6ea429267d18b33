"""The text of an `apply_patch` call → what it does to each file.

```
*** Begin Patch
*** Update File: old.py
*** Move to: new.py
@@ def f():
-    return 1
+    return 2
*** Add File: note.txt
+hello
*** Delete File: gone.txt
*** End Patch
```
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

from hookline.hooks.tools import Kind

_HEADER: Final = re.compile(r"\*\*\* (Add File|Update File|Delete File|Move to|Environment ID): ?(.*)")


@dataclass(slots=True)
class _File:
    verb: str
    path: str
    lines: list[str] = field(default_factory=list)
    target: str = ""


def calls(text: str) -> list[tuple[Kind, dict[str, Any]]]:
    """One call for each file: a write of what is added, an edit of what is updated, deleted or moved.

    A text that is not such a patch is one edit with the whole of it, and one for each path that it mentions:
    a guard of those paths must hear of it, whatever the agent makes of the text.
    """
    files = _files(text)
    if files is None:
        mentioned = dict.fromkeys(_mentioned(text))
        whole = {"patch": text, "new_string": text}
        return [(Kind.EDIT, whole), *((Kind.EDIT, {"path": path, **whole}) for path in mentioned)]
    return [call for each in files for call in _calls_of(each)]


def _mentioned(text: str) -> list[str]:
    headers = [_HEADER.fullmatch(each.strip()) for each in text.splitlines()]
    return [path for header in headers if header and (path := header[2].strip())]


def _calls_of(file: _File) -> list[tuple[Kind, dict[str, Any]]]:
    moved = [f"*** Move to: {file.target}"] if file.target else []
    patch = "\n".join((f"*** {file.verb}: {file.path}", *moved, *file.lines))
    if file.verb == "Add File":
        return [(Kind.WRITE, {"path": file.path, "content": "\n".join(_after(file, "+")) + "\n", "patch": patch})]
    said = {"patch": patch, "old_string": "\n".join(_after(file, "- ")), "new_string": "\n".join(_after(file, "+ "))}
    found = [(Kind.EDIT, {"path": file.path, **said})]
    return found if not file.target else [*found, (Kind.EDIT, {"path": file.target, **said})]


def _after(file: _File, marks: str) -> list[str]:
    return [each[1:] for each in file.lines if each[:1] and each[:1] in marks]


def _files(text: str) -> list[_File] | None:
    lines = _body(text)
    if lines is None:
        return None
    files: list[_File] = []
    for number, each in enumerate(lines):
        file = files[-1] if files else None
        if file is not None and _continues(file, each):
            file.lines.append(each)
            continue
        header = _HEADER.fullmatch(each.strip())
        if header is None:
            if each.strip():
                return None
        elif not _begun(files, header[1], header[2].strip(), first=number == 0):
            return None
    return files or None


def _body(text: str) -> list[str] | None:
    """What stands between the two marks, out of a here-document too."""
    lines = [each.removesuffix("\r") for each in text.strip().split("\n")]
    if lines[0].startswith("<<") and lines[0].strip("<'\" \t") == lines[-1].strip():
        lines = "\n".join(lines[1:-1]).strip().split("\n")
    if len(lines) < 3 or lines[0].strip() != "*** Begin Patch" or lines[-1].strip() != "*** End Patch":
        return None
    return lines[1:-1]


def _continues(file: _File, line: str) -> bool:
    """Whether the line is part of what is done to the file, as the agents' own parsers see it."""
    if file.verb == "Add File":
        return line.startswith("+")
    if file.verb == "Update File":
        return line[:1] in ("", " ", "+", "-") or line.startswith(("@@", "*** End of File"))
    return False


def _begun(files: list[_File], verb: str, path: str, *, first: bool) -> bool:
    if verb == "Environment ID":
        return first
    if not path:
        return False
    if verb != "Move to":
        files.append(_File(verb, path))
        return True
    if not files or files[-1].verb != "Update File" or files[-1].lines or files[-1].target:
        return False
    files[-1].target = path
    return True
