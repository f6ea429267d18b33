from __future__ import annotations

from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.actions.chain import Chain, ChainStep
from hookline.hooks.actions.change import Append, ChangeFacts, Remove, Set
from hookline.hooks.actions.diagnose import Diagnose
from hookline.hooks.actions.failing import InvalidAction, UntrustedAction
from hookline.hooks.actions.python_function import CustomAction
from hookline.hooks.event import Event
from hookline.hooks.host import Host
from hookline.hooks.outcome import Outcome, Verdict
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.templates import DataTemplate, parse_template

DENY = FixedAnswer(Outcome(Verdict.DENY, "no"))


async def open_ticket(params: object, event: Event, host: Host) -> None: ...


def test_a_chain_describes_its_steps_in_order() -> None:
    text = parse_template("by {{tool.name}}", PlaceholderResolver())
    edits = ChangeFacts((Set(("prompt",), DataTemplate("hi")), Append(("prompt",), text), Remove(("cwd",))))
    chain = Chain((ChainStep("change", edits), ChainStep("deny", DENY)))
    assert list(chain.describe()) == [
        ("set", "prompt = hi"),
        ("append", "prompt + by {{tool.name}}"),
        ("remove", "cwd"),
        ("deny", "no"),
    ]


def test_an_action_without_text_of_its_own_describes_its_settings() -> None:
    assert list(Diagnose(inject=False).describe()) == [
        ("diagnose", "the path is in path or file_path, the content in content or the file; to watchers")
    ]
    assert list(CustomAction("ticket", open_ticket, {"queue": "ops"}).describe()) == [
        ("custom", 'ticket {"queue": "ops"}')
    ]
    assert list(CustomAction("ticket", open_ticket).describe()) == [("custom", "ticket")]
    assert [what for what, _ in InvalidAction("bad").describe()] == ["broken"]


def test_an_untrusted_action_describes_the_one_that_it_replaces() -> None:
    assert list(UntrustedAction(DENY).describe()) == [("deny", "no")]


def test_labels_name_the_action_or_its_answer() -> None:
    assert DENY.label == "an answer of its own (deny)"
    assert Diagnose().label == "the action diagnose"
    assert InvalidAction("bad").label == "its action, which cannot be run"
