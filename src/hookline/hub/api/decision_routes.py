"""Decisions: listed, searched, explained, replayed and exported."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections.abc import AsyncIterator, Iterable
from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal

from fastapi import Depends, Query
from fastapi.responses import StreamingResponse
from pydantic import AfterValidator, Field

from hookline.config.problem import Problem
from hookline.dialects.dialect import DIALECT_NAMES
from hookline.errors import ConfigError
from hookline.hub.access.roles import Role
from hookline.hub.api.request_body import RequestBody
from hookline.hub.api.role_router import ApiError, HubOfRequest, RoleRouter
from hookline.hub.context.running_hub import Hub
from hookline.hub.explain.explanation import NotExplainable
from hookline.hub.explain.given_hooks import load_given_hooks
from hookline.hub.store.decision_table import MAX_ROWS, DecisionFilter, StoredDecision, first_outcome
from hookline.hub.store.record_line import call_name, row_json
from hookline.record.record_log import outcome_of

router = RoleRouter("decisions")

Text = Annotated[str, Query(max_length=400)]
_CSV_KEYS: Final = (
    *(
        "at",
        "machine",
        "host",
        "session",
        "agent",
        "user",
        "event",
        "tool",
        "what",
        "verdict",
        "reason",
        "hook",
        "file",
    ),
    *("line", "ms", "outcome", "id"),
)
_FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r")


def _known_dialect(name: str) -> str:
    if name not in DIALECT_NAMES:
        raise ValueError(f"the dialects are {', '.join(DIALECT_NAMES)}")
    return name


class ReplayBody(RequestBody):
    text: Annotated[str | None, Field(max_length=500_000)] = None
    dialect: Annotated[str, AfterValidator(_known_dialect), Field(json_schema_extra={"enum": list(DIALECT_NAMES)})] = (
        "flo"
    )


async def _filter(
    hub: HubOfRequest,
    host: Text = "",
    machine: Text = "",
    session: Text = "",
    thread: Text = "",
    agent: Text = "",
    event: Text = "",
    tool: Text = "",
    verdict: Literal["", "silent", "allow", "ask", "deny", "halt"] = "",
    hook: Text = "",
    call: Text = "",
    tag: Annotated[str, Query(max_length=400, description="Made by a hook that has this tag now.")] = "",
    q: Annotated[str, Query(max_length=200, description="Words, all of which must occur.")] = "",
    since: Annotated[datetime | None, Query(description="Decisions made at or after this time.")] = None,
    until: Annotated[datetime | None, Query(description="Decisions made before this time.")] = None,
) -> DecisionFilter:
    return DecisionFilter(
        host=host,
        machine=machine,
        session=session,
        thread=thread,
        agent=agent,
        event=event,
        tool=tool,
        verdict=verdict,
        hook=hook,
        call=call,
        hooks=await hub.hook_list.with_tag(tag) if tag else None,
        q=q,
        since=parse_seconds(since),
        until=parse_seconds(until),
    )


FilterOfRequest = Annotated[DecisionFilter, Depends(_filter)]


def parse_seconds(moment: datetime | None) -> float | None:
    """A time without a zone is in UTC."""
    if moment is None:
        return None
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (OverflowError, ValueError, OSError):
        raise ApiError(422, "this time is out of range") from None


@router.get("/decisions", Role.VIEWER)
async def list_decisions(
    hub: HubOfRequest,
    filter: FilterOfRequest,
    before: Annotated[int | None, Query(ge=0, le=2**62, description="`next` of the page before.")] = None,
    limit: Annotated[int, Query(ge=1, le=MAX_ROWS)] = 100,
) -> dict[str, Any]:
    """Decisions, newest first. `next` is the cursor of the next page, null on the last one."""
    rows, following = await hub.decisions.page(filter, before, limit)
    return {"items": rows, "next": following}


@router.get("/decisions/export", Role.VIEWER, response_class=StreamingResponse)
async def export_decisions(
    hub: HubOfRequest, filter: FilterOfRequest, format: Literal["jsonl", "csv"] = "jsonl"
) -> StreamingResponse:
    """All decisions that match, newest first."""
    name = f"decisions.{format}"
    kind = "application/x-ndjson" if format == "jsonl" else "text/csv; charset=utf-8"
    pieces = _as_jsonl(hub, filter) if format == "jsonl" else _as_csv(hub, filter)
    return StreamingResponse(pieces, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})


@router.get("/decisions/{id}", Role.VIEWER)
async def show_decision(id: str, hub: HubOfRequest) -> dict[str, Any]:
    """The whole record, and every other record about the same call: its outcome and its approval."""
    found = await find_decision(hub, id)
    call = call_name(found.record)
    related = [each for each in await hub.decisions.of_call(found.record, call) if each["id"] != found.record["id"]]
    later = [outcome for each in related if each["at"] >= found.record["at"] and (outcome := outcome_of(each))]
    return {
        "sequence": found.sequence,
        **row_json(found.record),
        "machine": found.machine,
        "outcome": first_outcome(later) if found.record.get("verdict") != "deny" else None,
        "record": found.record,
        "related": related,
    }


@router.get("/decisions/{id}/why", Role.VIEWER)
async def explain_decision(id: str, hub: HubOfRequest) -> dict[str, Any]:
    """Every hook that was in force: its answer, or the part of its condition that was not true."""
    found = await find_decision(hub, id)
    try:
        return await hub.explainer.explain(found)
    except NotExplainable as error:
        raise ApiError(409, str(error)) from error


@router.post("/decisions/{id}/replay", Role.VIEWER)
async def replay_decision(id: str, body: ReplayBody, hub: HubOfRequest) -> dict[str, Any]:
    """What would be decided under today's hooks of this machine, or under the hooks of `text`. Programs and tools do not run; scripts do, under today's hooks only."""
    found = await find_decision(hub, id)
    try:
        given = (body.text, body.dialect) if body.text is not None else None
        book = await asyncio.to_thread(load_given_hooks, *given) if given else None
        return await hub.explainer.replay(found, book)
    except NotExplainable as error:
        raise ApiError(409, str(error)) from error
    except ConfigError as error:
        raise ApiError(422, "the hooks have errors", problems_json(error.problems)) from error


def problems_json(problems: Iterable[object]) -> list[dict[str, Any]]:
    return [problem_json(each) for each in problems if isinstance(each, Problem)]


def problem_json(problem: Problem) -> dict[str, Any]:
    fields = ("code", "file", "line", "what", "hint")
    return {**{name: getattr(problem, name) for name in fields}, "severity": str(problem.severity)}


async def find_decision(hub: Hub, id: str) -> StoredDecision:
    found = await hub.decisions.find(id)
    if found is None or found.record.get("kind") != "decision":
        raise ApiError(404, "there is no such decision")
    return found


async def _as_jsonl(hub: Hub, filter: DecisionFilter) -> AsyncIterator[str]:
    async for rows in hub.decisions.export(filter):
        yield "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


async def _as_csv(hub: Hub, filter: DecisionFilter) -> AsyncIterator[str]:
    yield ",".join(_CSV_KEYS) + "\r\n"
    async for rows in hub.decisions.export(filter):
        text = io.StringIO()
        csv.writer(text).writerows([[_csv_value(row.get(key)) for key in _CSV_KEYS] for row in rows])
        yield text.getvalue()


def _csv_value(value: Any) -> Any:
    """A spreadsheet would run a text that begins like a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else value
