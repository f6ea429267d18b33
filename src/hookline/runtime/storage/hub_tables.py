"""The tables of the hub, in the schema of the runtime's own: one database has everything.

If you change a table, add a migration in `migrations/versions` and set VERSION in `tables` to its number.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import BigInteger, Boolean, Column, Double, ForeignKey, Index, Integer, Table, UniqueConstraint

from hookline.runtime.storage.columns import AnyText, JsonText, KeyText
from hookline.runtime.storage.tables import metadata


def _text(name: str, **also: Any) -> Column[str]:
    return Column(name, AnyText, nullable=False, **also)


def _key(name: str, **also: Any) -> Column[str]:
    return Column(name, KeyText, nullable=False, **also)


def _time(name: str) -> Column[float]:
    return Column(name, Double, nullable=False)


decisions: Final = Table(
    "decisions",
    metadata,
    Column("sequence", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    _key("origin"),
    Column("number", BigInteger, nullable=False),
    _text("kind"),  # decision, outcome, answer, start or gap
    _time("at"),
    _text("host"),
    _key("session"),
    _text("thread"),
    _text("agent"),
    _text("event"),
    _key("call"),  # the host's id of the call, or a hash of the tool and its input
    _key("tool"),
    _text("verdict"),
    _key("hook"),
    _text("outcome"),  # what came of a call, of a record that tells it: ok, failed, approved or refused
    _text("words"),  # what is searched, in lower case
    Column("took", Double),  # milliseconds
    _text("book"),  # the hash of the hooks in force
    _text("record"),  # the line as it was written
    _text("hash"),
    UniqueConstraint("origin", "number"),
)
Index("ix_decisions_session", decisions.c.session, decisions.c.sequence)
Index("ix_decisions_tool", decisions.c.tool, decisions.c.sequence)
Index("ix_decisions_at", decisions.c.at)
Index("ix_decisions_call", decisions.c.call)
Index(
    "ix_decisions_hook",
    decisions.c.hook,
    decisions.c.sequence,
    sqlite_where=decisions.c.hook != "",
    postgresql_where=decisions.c.hook != "",
)
Index(
    "ix_decisions_verdict",
    decisions.c.verdict,
    decisions.c.sequence,
    sqlite_where=decisions.c.verdict.in_(["allow", "ask", "deny"]),
    postgresql_where=decisions.c.verdict.in_(["allow", "ask", "deny"]),
)

books: Final = Table(
    "books",
    metadata,
    _key("hash", primary_key=True),
    _text("parts"),  # the texts of the hooks, as `HookFiles.data` writes them
    _time("first"),
)

origins: Final = Table(
    "origins",
    metadata,
    _key("id", primary_key=True),  # of a process that writes records
    _text("host"),
    _text("machine"),
    _text("user"),
    _text("workspace"),
    Column("pid", BigInteger),
    _text("version"),
    _key("key"),  # of the credential that reported it; empty: read from this machine's record
    _time("first"),
    _time("last"),
    Column("skew", Double, nullable=False),  # how far its clock is ahead of the hub's, in seconds
    Column("begin", BigInteger, nullable=False),  # the number of its first record here
    Column("number", BigInteger, nullable=False),  # all records up to this one are here
    _text("hash"),  # of that record
    Column("newest", BigInteger, nullable=False),  # the highest number that is here
    Column("lost", BigInteger, nullable=False),  # records that it could not write, as it says
    Column("removed", BigInteger, nullable=False),  # the highest number that retention has removed
    _text("removed_hash"),
    Column("broken", BigInteger),  # the first record that does not follow from the one before it
    Column("running", Boolean, nullable=False),
    _time("seen"),  # when its machine last said that it runs
)

questions: Final = Table(
    "questions",
    metadata,
    _key("id", primary_key=True),
    _key("origin"),
    _key("key"),  # of the credential that asked
    _text("host"),
    _text("machine"),
    _text("user"),
    _key("session"),
    _text("agent"),
    _key("call"),
    _text("tool"),
    Column("input", JsonText, nullable=False),
    _text("input_hash"),
    _text("reason"),
    _text("hook"),
    Column("can_edit", Boolean, nullable=False),
    _time("created"),
    _time("expires"),
    _text("state"),  # waiting, approved, denied, expired or withdrawn
    Column("by", AnyText),
    Column("answered_at", Double),
    Column("edited", JsonText),
    Column("why", AnyText),
    Column("remember", AnyText),
)
Index("ix_questions_session", questions.c.session, questions.c.created)
Index(
    "ix_questions_waiting",
    questions.c.created,
    sqlite_where=questions.c.state == "waiting",
    postgresql_where=questions.c.state == "waiting",
)

rule_sets: Final = Table(
    "rule_sets",
    metadata,
    _key("id", primary_key=True),  # everyone, agent:<id> or workspace:<path>
    _text("title"),
    _text("agent"),
    _text("workspace"),
    _text("dialect"),
    Column("head", BigInteger, nullable=False),  # the number of its last version
)

rule_versions: Final = Table(
    "rule_versions",
    metadata,
    Column("set", KeyText, ForeignKey("rule_sets.id", ondelete="CASCADE"), primary_key=True),
    Column("number", BigInteger, primary_key=True),
    _text("text"),
    _text("by"),
    _time("at"),
    _text("note"),
)

agents: Final = Table(
    "agents",
    metadata,
    _key("id", primary_key=True),
    _text("name"),
    _text("prompt"),
    _text("model"),
    Column("tools", JsonText, nullable=False),
    Column("network", JsonText, nullable=False),
    _text("workspace"),
    _text("by"),
    _time("created"),
)

page_states: Final = Table(
    "page_states",
    metadata,
    Column("session", KeyText, ForeignKey("sessions.id", ondelete="CASCADE"), primary_key=True),
    _text("dom"),
    _time("saved"),
)

users: Final = Table(
    "users",
    metadata,
    _key("id", primary_key=True),
    _key("name", unique=True),
    _text("role"),
    Column("subject", KeyText, unique=True),  # of an OpenID Connect provider
    _time("created"),
)

credentials: Final = Table(
    "credentials",
    metadata,
    _key("hash", primary_key=True),  # the secret itself is nowhere
    _key("id", unique=True),
    _text("kind"),  # code, session or key
    _text("name"),
    Column("user", KeyText, ForeignKey("users.id", ondelete="CASCADE")),
    _text("role"),
    _time("created"),
    Column("expires", Double),  # None: never
    Column("used", Double),  # None: never
)
Index("ix_credentials_user", credentials.c.user)

hubs: Final = Table(
    "hubs",
    metadata,
    _key("id", primary_key=True),
    _text("url"),
    _time("seen"),
)
