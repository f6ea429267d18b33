"""What all readers of shell text have in common: assignments, and the characters with a meaning of ours."""

from __future__ import annotations

from typing import Final

from hookline.lazy_imports import lazy_pattern

ASSIGNMENT: Final = lazy_pattern(r"([A-Za-z_]\w*)(\[[^\]]*\])?(\+?)=")
"""`name=`, `name+=` or `name[key]=` at the start of a word."""

UNKNOWN: Final = "\ue00f"
"""Any text within one word."""
UNKNOWN_WORDS: Final = "\ue010"
"""Any text, which may also end the word and begin others."""
UNKNOWN_PATH: Final = "\ue011"
"""An absolute path within one word."""
UNREAD: Final = "\ue012"
"""After an unknown part: there were more possible values than the reader looks at."""
TEMPORARY: Final = "\ue016"
"""The path of what mktemp just made, or nothing if it failed."""
HERE: Final = "\ue017"
"""The path of the directory in which the shell is."""
REPOSITORY: Final = "\ue018"
"""The path of the repository around that directory, or nothing if there is none."""
HAS_UNKNOWN: Final = lazy_pattern("[\ue00f-\ue012\ue016-\ue018]")
PRIVATE_CHARACTERS: Final = lazy_pattern("[\ue000-\uf8ff\U000f0000-\U0010ffff]")
"""Characters that have a meaning of ours in a word. A text must not have them before it is parsed."""
