"""Sign in with an OpenID Connect provider: authorization code with PKCE. It ends in the same one-time code as a link."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import secrets
import time
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

import httpx2

from hookline.errors import HooklineError, extra_required
from hookline.hub.access.access import Access
from hookline.hub.access.roles import Role
from hookline.hub.config.hub_config import OidcSettings
from hookline.hub.store.user_table import UserRow
from hookline.lazy_dataclasses import dataclass

STATE_LIFETIME: Final = 600  # seconds
_ALGORITHMS: Final = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]
_LEEWAY: Final = 60  # seconds that clocks may differ
_KEEP_SECONDS: Final = 3600.0
_TIMEOUT: Final = 10.0
_STRENGTH: Final = (Role.VIEWER, Role.APPROVER, Role.EDITOR, Role.OWNER)


class SignInRefused(HooklineError):
    """The person sees the text."""


@dataclass(frozen=True, slots=True)
class LoginStep:
    """The provider's page, and what the browser keeps until it comes back: signed, for ten minutes."""

    url: str
    cookie: str


class OidcLogin:
    def __init__(self, settings: OidcSettings, client_secret: str, cookie_secret: str, back_url: str) -> None:
        """Raises MissingExtraError."""
        with extra_required("OpenID Connect needs joserfc", "oidc"):
            import joserfc  # noqa: F401
            from itsdangerous import URLSafeTimedSerializer
        self._settings = settings
        self._secret = client_secret
        self._back_url = back_url
        self._signer = URLSafeTimedSerializer(cookie_secret, "hookline oidc")
        self._about: dict[str, Any] = {}
        self._keys: Any = None
        self._read_at = 0.0
        self._used: dict[str, float] = {}
        self._lock = asyncio.Lock()

    async def begin(self) -> LoginStep:
        about = await self._provider()
        kept = {name: secrets.token_urlsafe(32) for name in ("state", "nonce", "verifier")}
        query = {
            "response_type": "code",
            "client_id": self._settings.client_id,
            "redirect_uri": self._back_url,
            "scope": "openid profile email",
            "state": kept["state"],
            "nonce": kept["nonce"],
            "code_challenge": _challenge_of(kept["verifier"]),
            "code_challenge_method": "S256",
        }
        joint = "&" if "?" in about["authorization_endpoint"] else "?"
        return LoginStep(f"{about['authorization_endpoint']}{joint}{urlencode(query)}", self._signer.dumps(kept))

    async def finish(self, query: Mapping[str, str], cookie: str) -> dict[str, Any]:
        """The claims of the person who signed in. Raises SignInRefused."""
        from itsdangerous import BadData

        try:
            kept = self._signer.loads(cookie, max_age=STATE_LIFETIME)
        except BadData:
            raise SignInRefused("This took too long, or began in another browser. Sign in again.") from None
        if not secrets.compare_digest(query.get("state", ""), kept["state"]) or not self._use(kept["state"]):
            raise SignInRefused("This answer does not belong to your sign-in. Sign in again.")
        if "error" in query or not query.get("code"):
            raise SignInRefused("The provider did not sign you in.")
        tokens = await self._exchange(query["code"], kept["verifier"])
        claims = await self._verify(tokens.get("id_token"), kept["nonce"])
        return claims if "groups" in claims else {**claims, **await self._user_info(tokens, claims)}

    def role_of(self, claims: Mapping[str, Any]) -> Role:
        """The strongest of the person's groups. Raises SignInRefused without one, unless there is a default."""
        groups = claims.get("groups")
        names = [groups] if isinstance(groups, str) else groups if isinstance(groups, list) else []
        found = {self._settings.roles[each] for each in names if isinstance(each, str) and each in self._settings.roles}
        if not found and not self._settings.default:
            raise SignInRefused("You are in no group that may use this hub.")
        return max((Role(each) for each in found or {self._settings.default}), key=_STRENGTH.index)

    async def user(self, access: Access, claims: Mapping[str, Any]) -> UserRow:
        """The hub's user for the claims; the role follows the groups at each sign-in."""
        role = self.role_of(claims)
        subject = f"{self._settings.issuer}#{claims['sub']}"
        known = await access.table.user_of_subject(subject)
        if known is None:
            return await access.add_user(await _free_name(access, claims), role, subject)
        if known.role != role and not await access.table.set_role(known.id, role, Role.OWNER):
            raise SignInRefused("You are the only owner of this hub: your role stays until there is another one.")
        return await access.table.user(known.id) or known

    async def _exchange(self, code: str, verifier: str) -> dict[str, Any]:
        about = await self._provider()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self._back_url,
            "code_verifier": verifier,
            "client_id": self._settings.client_id,
        }
        more: dict[str, Any] = {}
        if self._secret:
            methods = about.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
            if "client_secret_basic" in methods:
                more["auth"] = httpx2.BasicAuth(self._settings.client_id, self._secret)
            else:
                form["client_secret"] = self._secret
        async with _client() as http:
            return await _fetch(http.post(about["token_endpoint"], data=form, **more))

    async def _verify(self, token: object, nonce: str) -> dict[str, Any]:
        """Signature, issuer, audience, time and nonce."""
        from joserfc import jwt
        from joserfc.errors import JoseError

        if not isinstance(token, str) or len(token) > 100_000:
            raise SignInRefused("The provider sent no identity.")
        about = await self._provider()
        audience, issuer = self._settings.client_id, self._settings.issuer
        registry = jwt.JWTClaimsRegistry(
            leeway=_LEEWAY,
            iss={"essential": True, "value": about["issuer"]},
            aud={"essential": True, "value": audience},
            exp={"essential": True},
            sub={"essential": True},
            nonce={"essential": True, "value": nonce},
        )
        for is_last in (False, True):
            try:
                claims = jwt.decode(token, self._keys, algorithms=_ALGORITHMS).claims
                registry.validate(claims)
                break
            except (JoseError, ValueError, TypeError):
                if is_last:
                    raise SignInRefused(f"The identity that {issuer} sent is not valid.") from None
                await self._provider(again=True)  # it may have new keys
        if isinstance(claims.get("aud"), list) and claims.get("azp", audience) != audience:
            raise SignInRefused("The identity was made for another program.")
        return dict(claims)

    async def _user_info(self, tokens: Mapping[str, Any], claims: Mapping[str, Any]) -> dict[str, Any]:
        about = await self._provider()
        if "userinfo_endpoint" not in about or not isinstance(tokens.get("access_token"), str):
            return {}
        headers = {"authorization": f"Bearer {tokens['access_token']}"}
        async with _client() as http:
            found = await _fetch(http.get(about["userinfo_endpoint"], headers=headers))
        if found.get("sub") != claims["sub"]:
            raise SignInRefused("The provider mixed up two people.")
        return {name: found[name] for name in ("groups", "name", "email", "preferred_username") if name in found}

    async def _provider(self, again: bool = False) -> dict[str, Any]:
        """What the provider says about itself, and its keys."""
        async with self._lock:
            if again or time.monotonic() - self._read_at > _KEEP_SECONDS or not self._about:
                from joserfc.jwk import KeySet

                issuer = self._settings.issuer.rstrip("/")
                async with _client() as http:
                    about = await _fetch(http.get(f"{issuer}/.well-known/openid-configuration"))
                    if str(about.get("issuer", "")).rstrip("/") != issuer:
                        raise SignInRefused("The provider has another name than the hub expects.")
                    keys = await _fetch(http.get(about["jwks_uri"]))
                self._about, self._keys = about, KeySet.import_key_set(keys)  # type: ignore[arg-type]
                self._read_at = time.monotonic()
            return self._about

    def _use(self, state: str) -> bool:
        """False if it was used already."""
        now = time.monotonic()
        self._used = {each: until for each, until in self._used.items() if until > now}
        return self._used.setdefault(state, now + STATE_LIFETIME) == now + STATE_LIFETIME


def _challenge_of(verifier: str) -> str:
    """PKCE, S256."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def _client() -> httpx2.AsyncClient:
    return httpx2.AsyncClient(timeout=_TIMEOUT, follow_redirects=False)


async def _fetch(request: Any) -> dict[str, Any]:
    try:
        answer = await request
        found = answer.json() if answer.status_code == 200 else None
    except (httpx2.HTTPError, ValueError):
        found = None
    if not isinstance(found, dict):
        raise SignInRefused("The provider cannot be reached, or did not accept the answer. Try again.")
    return found


async def _free_name(access: Access, claims: Mapping[str, Any]) -> str:
    given = (claims.get(name) for name in ("preferred_username", "email", "name"))
    wanted = next((each for each in given if isinstance(each, str) and each.strip()), str(claims["sub"]))
    name = "".join(letter for letter in wanted if letter.isprintable()).strip()[:90]
    while await access.table.user_named(name) is not None:
        name = f"{name[:80]} {secrets.token_hex(3)}"
    return name
