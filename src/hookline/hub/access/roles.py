"""What a caller may do."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from hookline.lazy_dataclasses import dataclass


class Role(StrEnum):
    ANYONE = "anyone"  # of a route: no credential is needed
    REPORTER = "reporter"  # a machine: it reports and asks, and reads nothing but its own questions
    VIEWER = "viewer"
    APPROVER = "approver"
    EDITOR = "editor"
    OWNER = "owner"

    def includes(self, needed: Role) -> bool:
        """Whether somebody with this role may do what needs the other one."""
        if needed is Role.ANYONE:
            return True
        return needed is self if Role.REPORTER in (self, needed) else _RANKS[self] >= _RANKS[needed]


_RANKS: Final = {Role.ANYONE: 0, Role.VIEWER: 1, Role.APPROVER: 2, Role.EDITOR: 3, Role.OWNER: 4}
USER_ROLES: Final = (Role.VIEWER, Role.APPROVER, Role.EDITOR, Role.OWNER)
KEY_ROLES: Final = (Role.REPORTER, *USER_ROLES)


def weaker_role(one: Role, other: Role) -> Role:
    return other if one.includes(other) else one


@dataclass(frozen=True, slots=True)
class Caller:
    """Who makes a request."""

    role: Role
    name: str = ""  # as others see it: the user's name, or that of the key
    user: str = ""  # the user's id; empty for a key
    credential: str = ""  # the credential's id

    def may(self, *roles: Role) -> bool:
        """Whether one of these roles is among what the caller may do."""
        return any(self.role.includes(needed) for needed in roles)


NOBODY: Final = Caller(Role.ANYONE)
