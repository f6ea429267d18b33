from hookline.config.problem import Severity
from hookline.project import load_text
from hookline.project.hook_problem import hook_problem


def test_a_problem_is_at_the_line_of_its_hook_and_only_warns() -> None:
    text = "hooks:\n  - id: first\n    on: stop\n    then: {log: x}\n  - id: second\n    on: stop\n    then: {log: x}\n"
    hook = load_text(text, "hookline.yaml").hooks[1]
    found = hook_problem("some-code", hook, "something is odd.", "Write it differently.")
    assert str(found) == "hookline.yaml:5  something is odd. Write it differently."
    assert found.severity is Severity.WARNING
