"""Routes that declare who may use them.

    router = RoleRouter("approvals")

    @router.post("/approvals/{id}/answer", Role.APPROVER)
    async def answer_approval(id: str, body: AnswerBody, hub: HubOfRequest, caller: CallerOfRequest) -> dict[str, Any]:
        ...
        raise ApiError(409, "this was answered already")

`hub_app.ROUTERS` lists the routers. The role is checked before the body is read. A route without a role cannot be declared.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any, Final, TypeVar

from fastapi import APIRouter, Depends, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from hookline.formatting import closest_match
from hookline.hub.access.roles import NOBODY, Caller, Role
from hookline.hub.cluster.peers import PASSED_ON
from hookline.hub.context.running_hub import Hub

F = TypeVar("F", bound=Callable[..., Any])
_ROLES_KEY: Final = "x-roles"
_OF_SESSION: Final = "x-session"


class ApiError(HTTPException):
    """An answer `{error, detail?}`."""

    def __init__(self, status: int, error: str, detail: Any = None) -> None:
        super().__init__(status, error)
        self.error = error
        self.more = detail


class RoleRoute(APIRoute):
    @property
    def roles(self) -> tuple[Role, ...]:
        return tuple(Role(name) for name in (self.openapi_extra or {})[_ROLES_KEY])

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        roles, of_session = self.roles, _OF_SESSION in (self.openapi_extra or {})
        parameters = sorted(_parameters(self.dependant))

        async def handle_with_role(request: Request) -> Response:
            request.state.caller = await authorise(request, roles)
            _check_parameters(request, parameters)
            answer = await _pass_on(request) if of_session else None
            return answer or await handle(request)

        return handle_with_role


def _parameters(dependant: Dependant) -> set[str]:
    """The names that a URL may have after its `?`."""
    own = {each.alias for each in dependant.query_params}
    return own.union(*(_parameters(each) for each in dependant.dependencies))


def _check_parameters(request: Request, known: list[str]) -> None:
    """A mistyped filter must not show, or export, everything. Raises ApiError 422."""
    unknown = [name for name in request.query_params if name not in known][:20]
    if unknown:
        detail = [{"where": f"query.{name[:100]}", "problem": _explain_unknown(name, known)} for name in unknown]
        raise ApiError(422, "the request is not valid", detail)


def _explain_unknown(name: str, known: list[str]) -> str:
    meant = closest_match(name, known)
    hint = f"did you mean {meant}?" if meant else f"this route takes {', '.join(known) or 'none'}"
    return f"there is no such parameter; {hint}"


async def _pass_on(request: Request) -> Response | None:
    """The answer of the hub that has the session; None if it is this one."""
    hub: Hub = request.app.state.hub
    if hub.peers is None or PASSED_ON in request.headers:
        return None
    owner = await hub.peers.owner_of(request.path_params["id"][:200])
    return None if owner is None else await hub.peers.pass_on(request, owner)


async def authorise(request: Request, roles: tuple[Role, ...]) -> Caller:
    """Raises ApiError 401 without a valid token, 403 if the caller's role does not allow it."""
    if Role.ANYONE in roles:
        return NOBODY
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    hub: Hub = request.app.state.hub
    caller = await hub.access.identify(token.strip()) if scheme.lower() == "bearer" else NOBODY
    if caller is NOBODY:
        raise ApiError(401, "sign in first")
    if not caller.may(*roles):
        raise ApiError(403, f"this needs the role {' or '.join(roles)}; yours is {caller.role}")
    return caller


def is_signed_in(request: Request) -> bool:
    """False also if the hub could not find out who asks."""
    caller: Caller = getattr(request.state, "caller", NOBODY)
    return caller is not NOBODY


class RoleRouter:
    def __init__(self, tag: str) -> None:
        self.router = APIRouter(tags=[tag], route_class=RoleRoute)

    def get(self, path: str, *roles: Role, **settings: Any) -> Callable[[F], F]:
        return self._add("GET", path, roles, settings)

    def post(self, path: str, *roles: Role, **settings: Any) -> Callable[[F], F]:
        return self._add("POST", path, roles, settings)

    def put(self, path: str, *roles: Role, **settings: Any) -> Callable[[F], F]:
        return self._add("PUT", path, roles, settings)

    def patch(self, path: str, *roles: Role, **settings: Any) -> Callable[[F], F]:
        return self._add("PATCH", path, roles, settings)

    def delete(self, path: str, *roles: Role, **settings: Any) -> Callable[[F], F]:
        return self._add("DELETE", path, roles, settings)

    @property
    def routes(self) -> list[RoleRoute]:
        return [route for route in self.router.routes if isinstance(route, RoleRoute)]

    def _add(self, method: str, path: str, roles: tuple[Role, ...], settings: dict[str, Any]) -> Callable[[F], F]:
        if not roles:
            raise TypeError(f"{method} {path} declares no role")
        extra = {**settings.pop("openapi_extra", {}), _ROLES_KEY: [str(role) for role in roles]}
        if settings.pop("of_session", False):  # the hub that has the session answers
            extra[_OF_SESSION] = True
        if Role.ANYONE not in roles:
            extra["security"] = [{"token": []}]

        def register(endpoint: F) -> F:
            self.router.add_api_route(path, endpoint, methods=[method], openapi_extra=extra, **settings)
            return endpoint

        return register


def _hub_of(request: Request) -> Hub:
    hub: Hub = request.app.state.hub
    return hub


def _caller_of(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


HubOfRequest = Annotated[Hub, Depends(_hub_of)]
CallerOfRequest = Annotated[Caller, Depends(_caller_of)]
