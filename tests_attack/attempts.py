"""The type of the fixture `attempt`: kind of attack, whether it succeeded, what was tried."""

from collections.abc import Callable

Attempt = Callable[[str, bool, str], None]
