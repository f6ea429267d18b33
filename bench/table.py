"""Rows as a Markdown table."""

from __future__ import annotations


def table(rows: list[dict[str, str]]) -> str:
    heads = list(dict.fromkeys(head for row in rows for head in row))
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    lines += ["| " + " | ".join(row.get(head, "–") for head in heads) + " |" for row in rows]
    return "\n".join(lines)
