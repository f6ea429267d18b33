"""libyaml's complaints, in words that say what to write."""

from __future__ import annotations

from yaml.error import MarkedYAMLError

_HINTS = {
    "mapping values are not allowed in this context": 'Put text that has ": " in it in quotes, or mend the indentation.',
    "could not find expected ':'": 'A key needs ": " after it; mend the indentation, or quote the text.',
    "did not find expected key": "The lines of one mapping begin in the same column; quotes must surround the whole text.",
    "did not find expected '-' indicator": 'The elements of a list begin with "- " in the same column.',
    "did not find expected ',' or ']'": "Close the list with ].",
    "did not find expected ',' or '}'": "Close the mapping with }; quote text that has commas or braces in it.",
    "found unexpected end of stream": "Close the quotes.",
    "found unexpected document indicator": "Close the quotes.",
    "found unknown escape character": "In double quotes a backslash begins an escape; use single quotes: '\\d'.",
    "did not find expected alphabetic or numeric character": "Put text that begins with * or & in quotes.",
    "found a tab character that violates indentation": "Indent with spaces.",
}


def explain(error: MarkedYAMLError, text: str, first_line: int) -> tuple[str, int, str, str]:
    """Code, position, what and hint of a syntax error; where quotes or brackets are never closed, it stands at their opening."""
    mark = error.problem_mark or error.context_mark
    said = str(error.problem or error.context or "it cannot be parsed")
    opened = error.context_mark
    position = int(mark.index) if mark else 0
    if opened and "end of stream" in said:
        return "syntax", int(opened.index), f"{_opening(error)} is never closed.", _HINTS.get(said, "")
    what = f"This is not YAML: {said}"
    if opened and mark and opened.line != mark.line and error.context:
        what += f", {error.context} that begins on line {opened.line + first_line}"
    return "syntax", position, what + ".", _hint(said, text[position : position + 1])


def _opening(error: MarkedYAMLError) -> str:
    return "The text in quotes that begins here" if "scalar" in str(error.context) else "What begins here"


def _hint(said: str, found: str) -> str:
    if said != "found character that cannot start any token":
        return _HINTS.get(said, "")
    if found == "\t":
        return "Indent with spaces, not tabs."
    return f"Put text that begins with {found} in quotes." if found else ""
