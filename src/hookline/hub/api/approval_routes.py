"""Questions for a person, and their answers."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, Field, StrictBool, ValidationError

from hookline.hub.access.masked_question import question_for
from hookline.hub.access.roles import Caller, Role
from hookline.hub.api.request_body import RequestBody
from hookline.hub.api.role_router import ApiError, CallerOfRequest, HubOfRequest, RoleRouter
from hookline.hub.bus.event_bus import CommandError
from hookline.hub.context.running_hub import Hub
from hookline.runtime.gate import fingerprint

router = RoleRouter("approvals")

ShortText = Annotated[str, Field(max_length=256)]
LongText = Annotated[str, Field(max_length=20_000)]
MAX_WAIT = 25.0  # seconds of a long poll


class QuestionBody(BaseModel):
    """A host may be newer than the hub: a field that the hub does not know must not cost the question."""

    id: Annotated[str, Field(pattern=r"^question_[0-9a-f]{16}$")] | None = None  # so that a host may send it again
    host: ShortText
    tool: Annotated[str, Field(min_length=1, max_length=256)]
    input: dict[str, Any]
    reason: LongText = ""
    hook: ShortText = ""
    session: ShortText = ""
    agent: ShortText = ""
    call: ShortText = ""
    machine: ShortText = ""
    user: ShortText = ""
    can_edit: bool = False
    seconds: Annotated[float, Field(gt=0, le=3600, allow_inf_nan=False)] = 60


class AnswerBody(RequestBody):
    yes: StrictBool  # nothing that only resembles a yes lets a call run
    input: dict[str, Any] | None = None
    reason: LongText = ""
    remember: Literal["session"] | None = None


@router.get("/approvals", Role.VIEWER)
async def list_approvals(
    hub: HubOfRequest,
    caller: CallerOfRequest,
    state: Literal["waiting", "answered"] = "waiting",
    limit: Annotated[int, Query(ge=1, le=500)] = 100,
    before: float | None = None,
) -> dict[str, Any]:
    """Questions that wait, oldest first; or those that were answered, newest first, with secrets masked, as viewers see all."""
    if state == "waiting":
        return {"items": [question_for(caller, each) for each in await hub.approvals.waiting()], "next": None}
    items = [question_for(caller, each) for each in await hub.approvals.history(limit, before)]
    return {"items": items, "next": items[-1]["created"] if len(items) == limit else None}


@router.post("/approvals", Role.REPORTER, status_code=201)
async def ask(body: QuestionBody, hub: HubOfRequest, caller: CallerOfRequest) -> dict[str, Any]:
    """A question of another host, answered at `GET /approvals/{id}?wait=…`. Sent again with its `id`, it is stored once."""
    asked = await hub.approvals.ask(body.model_dump(), caller.credential)
    if asked is None:
        raise ApiError(429, "too many questions wait for an answer")
    return asked


@router.get("/approvals/{id}", Role.VIEWER, Role.REPORTER)
async def get_approval(
    id: str,
    hub: HubOfRequest,
    caller: CallerOfRequest,
    wait: Annotated[float, Query(ge=0, le=MAX_WAIT)] = 0,
) -> dict[str, Any]:
    """One question. With `wait`, returns when it is answered, or after that many seconds. A reporter sees its own questions."""
    await _check_asker(hub, caller, id)
    found = await hub.approvals.wait(id[:64], wait)
    if found is None:
        raise ApiError(404, "there is no such question")
    return question_for(caller, found)


@router.post("/approvals/{id}/answer", Role.APPROVER)
async def answer(id: str, body: AnswerBody, hub: HubOfRequest, caller: CallerOfRequest) -> dict[str, Any]:
    """Answers a question. The first answer counts. A changed input is decided again by the hooks of the host that asked."""
    found = await hub.approvals.find(id[:64])
    if found is None:
        raise ApiError(404, "there is no such question")
    edited = body.input if body.yes and body.input is not None and _differs(body.input, found["input"]) else None
    if edited is not None and not found["can_edit"]:
        raise ApiError(422, "this host cannot run a changed input")
    more = {"edited": edited, "why": body.reason or None, "remember": body.remember if body.yes else None}
    if not await hub.approvals.answer(found["id"], body.yes, caller.name, **more):
        raise ApiError(
            409, "this was answered already, or its time is over", await _describe_question(hub, caller, found["id"])
        )
    return await _describe_question(hub, caller, found["id"])


@router.post("/approvals/{id}/denial", Role.REPORTER)
async def report_denied_edit(id: str, hub: HubOfRequest, caller: CallerOfRequest) -> dict[str, Any]:
    """Reports that the asking host's hooks denied the edited input. The question's state becomes `denied`."""
    if not await hub.approvals.mark_edit_denied(id[:64], caller.credential):
        raise ApiError(404, "there is no such question, or no changed input was approved")
    return {"ok": True}


@router.delete("/approvals/{id}", Role.REPORTER)
async def withdraw(id: str, hub: HubOfRequest, caller: CallerOfRequest) -> dict[str, Any]:
    """Withdraws a question: the host that asked does not wait any more."""
    if not await hub.approvals.withdraw(id[:64], caller.credential):
        raise ApiError(404, "there is no such question")
    return {"ok": True}


def add_approval_commands(hub: Hub) -> None:
    """What clients of the bus may say."""

    async def answer_question(caller: Caller, data: dict[str, Any]) -> dict[str, Any]:
        try:
            given = {name: value for name, value in data.items() if name != "id"}
            return await answer(str(data.get("id")), AnswerBody.model_validate(given, strict=True), hub, caller)
        except ValidationError as error:
            raise CommandError(_explain_answer(error)) from None
        except ApiError as error:
            raise CommandError(error.error) from None

    hub.bus.add_command("answer", answer_question, Role.APPROVER)


def _differs(edited: dict[str, Any], asked: Any) -> bool:
    """Python's own comparison takes `1` for `true`."""
    return fingerprint("", edited) != fingerprint("", asked)


def _explain_answer(error: ValidationError) -> str:
    """Without the values, which may be secrets."""
    first = error.errors()[0]
    return ": ".join([*map(str, first["loc"]), first["msg"]])


async def _describe_question(hub: Hub, caller: Caller, id: str) -> dict[str, Any]:
    found = await hub.approvals.find(id)
    assert found is not None
    return question_for(caller, found)


async def _check_asker(hub: HubOfRequest, caller: Caller, id: str) -> None:
    """A reporter reads nothing but its own questions."""
    if caller.may(Role.VIEWER):
        return
    if not await hub.approvals.is_asked_by(id[:64], caller.credential):
        raise ApiError(404, "there is no such question")
