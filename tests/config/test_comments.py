from __future__ import annotations

from hookline.config.comments import Comment, assign_comments, find_comments

YAML = """\
# top
hooks:
  # above
  - id: a  # beside
    text: "no # comment"
    more: |
      # not one either
  - id: b#c
    # inside
    x: 1
# end
"""
JSON = """\
// top
{"a": "http://x", // beside
 /* two
  * lines */
 "b": 1}
"""


def test_yaml_comments_are_found_outside_texts() -> None:
    assert [(each.line, each.text, each.is_alone) for each in find_comments(YAML, is_json=False)] == [
        (1, "top", True),
        (3, "above", True),
        (4, "beside", False),
        (9, "inside", True),
        (11, "end", True),
    ]


def test_json_comments_are_found_outside_texts() -> None:
    assert find_comments(JSON, is_json=True) == [
        Comment(1, "top", True),
        Comment(2, "beside", False),
        Comment(3, "two", True),
        Comment(4, "lines", True),
    ]


def test_a_comment_belongs_to_the_entry_below_or_around_it() -> None:
    assigned = assign_comments(find_comments(YAML, is_json=False), YAML, [4, 8])
    assert assigned == {0: ["top"], 4: ["above", "beside"], 8: ["inside", "end"]}


def test_a_text_that_cannot_be_read_has_no_comments() -> None:
    assert find_comments("a: [# x\n", is_json=False) == []
