"""Messages about checks that have not passed: by e-mail, and to a webhook, signed and repeated until it is received."""

import hashlib
import hmac
import json
import logging
import smtplib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.db.models import F
from django.utils import timezone

from relevancy import endpoints, engines
from relevancy.models import UnreadableSecret, User
from relevancy.optional.groups.models import CaseGroup
from relevancy.slow_requests import slow_request

from .group_checks import sees_cases
from .models import Notification, Schedule, ScheduledCheck

DELAYS = [
    timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 480)
]  # between attempts; then it is not tried again
SENDING = timedelta(minutes=2)  # a message that was being sent for longer was left by a worker that stopped
CONNECT_SECONDS, READ_SECONDS = 5.0, 15.0
NO_MAIL_SERVER = "No mail server is set (RELEVANCY_MAIL_HOST)."
DELIVERY_ERRORS = (engines.EngineError, UnreadableSecret, smtplib.SMTPException, OSError)
log = logging.getLogger("relevancy.optional.schedules")


@dataclass(frozen=True)
class SentMessage:
    """A test message. to: an address of a webhook or of a person. error: why it was not delivered; empty if it was."""

    to: str
    error: str


def send_due() -> int:
    """Sends every message that is due, and returns how many were delivered.

    A message that cannot be delivered is tried again after 1, 5, 30, 120 and 480 minutes. A receiver may get a message twice, if the
    worker stops while it is sent; its `id` stays the same.
    """
    now = timezone.now()
    delivered = 0
    due = Notification.objects.filter(next_at__lte=now)
    for message in due.select_related("check_of__case", "check_of__group", "recipient"):
        claimed = Notification.objects.filter(pk=message.pk, next_at=message.next_at)
        if claimed.update(next_at=now + SENDING, attempts=F("attempts") + 1):
            delivered += _send(message)
    return delivered


def _send(message: Notification) -> bool:
    attempts = message.attempts + 1
    stored = Notification.objects.filter(pk=message.pk)
    try:
        reason = _send_email(message) if message.kind == Notification.Kind.EMAIL else _post(message)
    except DELIVERY_ERRORS as error:
        is_last = attempts > len(DELAYS)
        next_at = None if is_last else timezone.now() + DELAYS[attempts - 1]
        stored.update(error=" ".join(str(error).split())[:1000], next_at=next_at)
        # Errors name the address of the webhook, which may be a secret, or that of a person; the row has the reason.
        log.warning("The message %s was not delivered (%s).", message.pk, type(error).__name__)
        return False
    stored.update(error=reason, next_at=None, delivered_at=None if reason else timezone.now())
    return not reason


def _send_email(message: Notification) -> str:
    """Sends an e-mail. Returns why none was sent; an empty string if it was."""
    check, user = message.check_of, message.recipient
    if (
        user is None
        or not user.is_active
        or not sees_cases(check, user)
        or (check.group is not None and not CaseGroup.objects.visible_to(user).filter(pk=check.group.pk).exists())
    ):
        return f"The recipient can no longer see the {'case' if check.case_id else 'group and all of its cases'}."
    if not settings.MAIL_HOST:
        return NO_MAIL_SERVER
    EmailMessage(
        subject=f"{check.case or check.group}: scheduled check {check.status}",
        body=f"{check.message}\n\n{schedule_url(check)}".rstrip() + "\n",
        to=[user.email],
    ).send()
    return ""


def send_test_messages(*, schedule: Schedule, by: User) -> list[SentMessage]:
    """Sends a test message to the webhook of a schedule and, if it has recipients, an e-mail to `by`: now, and once.

    Sends requests to other servers: never call it in a transaction. Raises `ValidationError` if the schedule tells nobody, and `Busy`.
    """
    if not schedule.webhook_url and not schedule.recipients.exists():
        raise ValidationError("The schedule has no webhook and no recipients, so it tells nobody.")
    text = f"This is a test message of the schedule of {schedule.scheduled}. Nothing was run."
    sent = []
    with slow_request(settings.SLOW_THREADS):
        if schedule.webhook_url:
            content = {"id": f"test-{schedule.pk}", "event": "test", **_about(schedule), "message": text}
            sent.append(_try(schedule.webhook_url, lambda: _post_to_webhook(schedule, content)))
        if schedule.recipients.exists():
            link = schedule_url(schedule)
            email = EmailMessage(subject="Test message", body=f"{text}\n\n{link}".rstrip() + "\n", to=[by.email])
            sent.append(_try(by.email, email.send) if settings.MAIL_HOST else SentMessage(by.email, NO_MAIL_SERVER))
    return sent


def _try(to: str, send: Callable[[], object]) -> SentMessage:
    try:
        send()
    except DELIVERY_ERRORS as error:
        return SentMessage(to, " ".join(str(error).split()))
    return SentMessage(to, "")


def _post(message: Notification) -> str:
    """Posts a check to the webhook of the schedule. Returns why it was not posted; an empty string if it was."""
    check = message.check_of
    schedule = Schedule.objects.filter(case=check.case_id, group=check.group_id).first()
    if schedule is None or not schedule.webhook_url:
        return "The schedule has no webhook any more."
    _post_to_webhook(schedule, payload(message))
    return ""


def _post_to_webhook(schedule: Schedule, content: dict[str, Any]) -> None:
    body = json.dumps(content, ensure_ascii=False).encode()
    now = timezone.now()
    headers = {
        "content-type": "application/json",
        "x-relevancy-signature": sign(schedule.webhook_secret["key"], now, body),
    }
    rules = endpoints.address_rules()
    address = rules.parse_url(schedule.webhook_url)
    connection = engines.Connection(
        engine="http", url=schedule.webhook_url, rules=rules, connect_timeout=CONNECT_SECONDS, read_timeout=READ_SECONDS
    )
    client = engines.HttpClient(connection, address, lambda _: "")
    try:
        client.send("POST", address.path or "/", body=body, headers=headers)
    finally:
        client.close()


def payload(message: Notification) -> dict[str, Any]:
    """Returns what a webhook receives about a check. `run` and `baseline` are ids, as commands take them."""
    check = message.check_of
    about = _about(check)
    if check.group_id is not None:
        about["runs"] = list(check.runs.order_by("pk").values("case", "run", "baseline"))
    else:
        about |= check.runs.values("run", "baseline").get()
    return {
        "id": f"check-{check.pk}",
        "event": f"check.{check.status}",
        **about,
        "message": check.message,
        "finished_at": check.finished_at.isoformat() if check.finished_at else None,
    }


def _about(scheduled: ScheduledCheck | Schedule) -> dict[str, Any]:
    url = {"url": schedule_url(scheduled)} if settings.SITE_URL else {}
    if scheduled.group is not None:
        return {"group": {"id": scheduled.group.pk, "name": scheduled.group.name, **url}}
    assert scheduled.case is not None
    return {"case": {"id": scheduled.case.pk, "name": scheduled.case.name, **url}}


def sign(key: str, at: datetime, body: bytes) -> str:
    """Returns `t=SECONDS,v1=HEX`: HMAC-SHA256 with the key over the seconds since 1970, a full stop and the body."""
    seconds = int(at.timestamp())
    digest = hmac.new(key.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={seconds},v1={digest}"


def schedule_url(scheduled: ScheduledCheck | Schedule) -> str:
    """Returns the address of the schedule of the case or group; empty if RELEVANCY_SITE_URL is not set."""
    if not settings.SITE_URL:
        return ""
    path = f"cases/{scheduled.case_id}" if scheduled.case_id is not None else f"groups/{scheduled.group_id}"
    return f"{settings.SITE_URL}/{path}/schedule/"
