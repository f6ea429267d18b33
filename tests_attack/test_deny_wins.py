"""An allow, wherever it is and whatever its priority, never turns a deny."""

import itertools

from attempts import Attempt

from hookline.testing import fire


def test_no_allow_turns_a_deny(attempt: Attempt) -> None:
    for order_of_allow, order_of_deny in itertools.product(range(-3, 4), repeat=2):
        config = {
            "hooks": [
                {"id": "allow", "on": "tool.before", "order": order_of_allow, "then": {"allow": "yes"}},
                {"id": "deny", "on": "tool.before", "order": order_of_deny, "then": {"deny": "no"}},
            ]
        }
        decision = fire(config, {"name": "tool.before", "tool": {"name": "bash", "input": {"command": "ls"}}})
        attempt("an allow against a deny", decision.verdict.name != "DENY", f"{order_of_allow}, {order_of_deny}")
