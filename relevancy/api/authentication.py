"""Who sends a request, and whether the token allows it."""

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from ninja.security import HttpBearer

from relevancy.accounts import api_tokens
from relevancy.models import ApiToken, User

from .rate_limits import RateLimiter

limiter = RateLimiter(settings.API_PER_MINUTE)


class ApiRequest(HttpRequest):
    """A request with a valid token; never instantiated, it only declares what `TokenAuth` adds."""

    user: User
    auth: ApiToken


class TooManyRequests(Exception):
    """The token has sent too many requests. seconds: until it may send another one."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"This token has sent too many requests. Try again in {seconds} s.")
        self.seconds = seconds


class TokenAuth(HttpBearer):
    """Accepts requests with a valid token of at least one scope. Cookies are ignored, so that no other site can use them."""

    openapi_description = "A token from the page “API tokens” of your account, such as `rlv_0a1b2c3d_…`."

    def __init__(self, scope: ApiToken.Scope) -> None:
        super().__init__()
        self.scope = scope

    def authenticate(self, request: HttpRequest, token: str) -> ApiToken | None:
        """Returns the token; None if it is not valid. Raises `TooManyRequests`, `PermissionDenied`."""
        api_token = api_tokens.find(token)
        if api_token is None:
            return None
        if seconds := limiter.take(api_token.pk):
            raise TooManyRequests(seconds)
        if not api_token.allows(self.scope):
            raise PermissionDenied(
                f"This token may only {api_token.get_scope_display()}. Create one that may {self.scope.label}."
            )
        api_tokens.record_use(api_token)
        request.user = api_token.user
        return api_token


READ, RATE, WRITE = (TokenAuth(scope) for scope in ApiToken.Scope)
