"""Tokens of the REST API: created, checked and revoked.

A token is `rlv_PREFIX_SECRET`. The prefix finds its row; the row holds a digest of the whole, from which the token cannot be recovered.
"""

import hashlib
import hmac
import re
import secrets
from datetime import timedelta

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from relevancy.models import ApiToken, User
from relevancy.models.saving import clean_and_save

MAX_VALID = 50  # per user
MAX_DAYS = 3650
USED_EVERY = timedelta(minutes=10)  # how exact `last_used_at` is
_FORM = re.compile(r"rlv_([a-z0-9]{8})_[A-Za-z0-9_-]{43}")


def create(*, user: User, name: str, scope: ApiToken.Scope, days: int | None) -> tuple[ApiToken, str]:
    """Creates a token of a user that expires in `days`; None for never. Returns it with its text, which is not stored.

    Raises `ValidationError` for the field: name, scope or days.
    """
    if days is not None and not 1 <= days <= MAX_DAYS:
        raise ValidationError({"days": f"A token cannot be valid for {days} days. Choose 1 to {MAX_DAYS:,}."})
    prefix = secrets.token_hex(4)
    text = f"rlv_{prefix}_{secrets.token_urlsafe(32)}"
    token = ApiToken(
        user=user,
        name=name,
        scope=scope,
        prefix=prefix,
        digest=_digest(text),
        expires_at=None if days is None else timezone.now() + timedelta(days=days),
    )
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=user.pk)
        if ApiToken.objects.valid().filter(user=user).count() >= MAX_VALID:
            raise ValidationError(f"You have {MAX_VALID} valid tokens, the most that are allowed. Revoke one first.")
        clean_and_save(token)
    return token, text


def find(text: str) -> ApiToken | None:
    """Returns the valid token with this text, with its user; None if there is none. One SQL statement.

    A token of a deactivated user is not valid.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        return None
    token: ApiToken | None = ApiToken.objects.valid().select_related("user").filter(prefix=match[1]).first()
    return token if token is not None and hmac.compare_digest(token.digest, _digest(text)) else None


def record_use(token: ApiToken) -> None:
    """Stores that a token was used just now, at most once in ten minutes. Otherwise it needs no SQL statement."""
    now = timezone.now()
    if token.last_used_at is not None and token.last_used_at > now - USED_EVERY:
        return
    is_older = Q(last_used_at=None) | Q(last_used_at__lte=now - USED_EVERY)
    ApiToken.objects.filter(is_older, pk=token.pk).update(last_used_at=now)
    token.last_used_at = now


def revoke(*, token: ApiToken) -> None:
    """Makes a token invalid at once. It stays in the list of the user's tokens."""
    ApiToken.objects.filter(pk=token.pk, revoked_at=None).update(revoked_at=timezone.now())


def revoke_all(*, user: User) -> None:
    """Makes all tokens of a user invalid at once."""
    user.api_tokens.filter(revoked_at=None).update(revoked_at=timezone.now())


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
