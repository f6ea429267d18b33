"""When a JavaScript back-reference finds its group unset.

JavaScript forgets what the groups inside a repetition held at each new round; the engine that runs back-references
for us does not. So a reference whose group is certainly unset becomes nothing here, and one that would read what an
earlier round left behind is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import count

from hookline.patterns.tree import EMPTY, BadPattern, Choice, Group, Look, Node, Reference, Repeat, Sequence, children


@dataclass(frozen=True, slots=True)
class Place:
    order: int
    above: tuple[Node, ...]


def resolved(tree: Node, mentions: dict[int, tuple[int, ...]]) -> Node:
    """The tree with references only to groups that may be set. `mentions`: the groups behind each negative number."""
    places: dict[int, Place] = {}
    _survey(tree, (), count(), places)
    return _rewritten(tree, (), count(), places, mentions)


def _survey(node: Node, above: tuple[Node, ...], order: count[int], places: dict[int, Place]) -> None:
    here = Place(next(order), above)
    if isinstance(node, Group):
        places[node.number] = here
    for child in children(node):
        _survey(child, (*above, node), order, places)


def _rewritten(
    node: Node,
    above: tuple[Node, ...],
    order: count[int],
    places: dict[int, Place],
    mentions: dict[int, tuple[int, ...]],
) -> Node:
    here = Place(next(order), above)
    if isinstance(node, Reference):
        numbers = mentions.get(node.groups[0], node.groups)
        kept = tuple(number for number in numbers if number in places and _may_be_set(here, number, places[number]))
        return replace(node, groups=kept) if kept else EMPTY
    inner = [_rewritten(child, (*above, node), order, places, mentions) for child in children(node)]
    match node:
        case Sequence():
            return Sequence(tuple(inner))
        case Choice():
            return Choice(tuple(inner))
        case Repeat() | Group() | Look():
            return replace(node, part=inner[0])
        case _:
            return node


def _may_be_set(reference: Place, number: int, group: Place) -> bool:
    shared = 0
    while shared < min(len(reference.above), len(group.above)) and reference.above[shared] is group.above[shared]:
        shared += 1
    if any(isinstance(node, Group) and node.number == number for node in reference.above):
        return False
    looks = [node for node in group.above[:shared] if isinstance(node, Look)]
    backwards = bool(looks) and not looks[-1].ahead
    if (reference.order < group.order) is not backwards:
        return False
    apart = group.above[shared:]
    if any(isinstance(node, Look) and node.negative for node in apart):
        return False
    if shared and isinstance(group.above[shared - 1], Choice):  # they stand in different branches of it
        return False
    return not _left_over(group, shared) or _refuse(number)


def _left_over(group: Place, shared: int) -> bool:
    """A later round may pass the group by."""
    for index, node in enumerate(group.above):
        if not isinstance(node, Repeat):
            continue
        below = group.above[max(index + 1, shared) :]
        if any(isinstance(inner, Look) for inner in below):
            return True
        if node.most != 1 and any(_may_skip(inner) for inner in below):
            return True
    return False


def _may_skip(node: Node) -> bool:
    return isinstance(node, Choice) or (isinstance(node, Repeat) and node.least == 0)


def _refuse(number: int) -> bool:
    raise BadPattern(f"the back-reference to group {number} would read what an earlier round of a repetition left")
