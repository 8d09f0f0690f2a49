"""Public links: anyone who has one sees the scores and results of a case, and can change nothing."""

import hashlib
import secrets
from datetime import timedelta

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from relevancy import activity
from relevancy.models import Case, User
from relevancy.models.saving import clean_and_save

from .models import PublicLink

CREATED, WITHDRAWN = "sharing.link_created", "sharing.link_withdrawn"  # verbs of the log
MAX_VALID = 20  # per case
MAX_DAYS = 365


def create(*, case: Case, by: User, days: int) -> tuple[PublicLink, str]:
    """Creates a link to a case that expires in `days`, at most 365. Returns it with its token, which is not stored.

    Raises `ValidationError`.
    """
    if not 1 <= days <= MAX_DAYS:
        raise ValidationError({"days": f"A public link cannot be valid for {days} days. Choose 1 to {MAX_DAYS}."})
    if case.archived_at is not None:
        raise ValidationError(f"“{case}” is archived. Restore it before you create a public link to it.")
    token = secrets.token_urlsafe(32)
    expires_at = timezone.now() + timedelta(days=days)
    link = PublicLink(case=case, digest=_digest(token), created_by=by, expires_at=expires_at)
    with transaction.atomic():
        Case.objects.select_for_update(no_key=True).get(pk=case.pk)
        if PublicLink.objects.valid().filter(case=case).count() >= MAX_VALID:
            message = f"“{case}” has {MAX_VALID} public links, the most that are allowed. Withdraw one first."
            raise ValidationError(message)
        clean_and_save(link)
        activity.record(CREATED, case=case, by=by, subject=case, object_id=link.pk, days=days)
    return link, token


def find(token: str) -> PublicLink | None:
    """Returns the link that ends with a token, with its case, book and creator; None if it is not valid.

    It is not valid once the user who made it may no longer share the case: it is worth no more than that user's role.
    """
    valid = PublicLink.objects.valid().filter(digest=_digest(token))
    link: PublicLink | None = valid.select_related("case__book", "created_by").first()
    if link is None or not Case.objects.owned_by(link.created_by).filter(pk=link.case_id).exists():
        return None
    return link


def withdraw(*, link: PublicLink, by: User | None = None) -> None:
    """Makes a link invalid at once."""
    with transaction.atomic():
        if PublicLink.objects.filter(pk=link.pk, withdrawn_at=None).update(withdrawn_at=timezone.now()):
            activity.record(WITHDRAWN, case=link.case, by=by, subject=link.case, object_id=link.pk)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()
