"""The second factor of signing in: set up, checked, removed.

See docs/decisions/0111.
"""

import base64
import hashlib
import secrets

import pyotp
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from relevancy.accounts import limits
from relevancy.models import RequiredProof, User

from .models import Authenticator, RecoveryCode

APP = "second_factor"  # in `RequiredProof`
ISSUER = "Relevancy"
CODES = 10
MAX_FAILURES = 10  # of an account in 15 minutes: with six digits, guessing takes years
_STEP = 30  # seconds
WRONG = "This code is wrong or was used already. Enter the code that the app shows now."


def is_on(user: User) -> bool:
    """Whether the user needs a code to sign in. One SQL statement."""
    return RequiredProof.objects.filter(user=user, app=APP).exists()


def begin(*, user: User) -> Authenticator:
    """Returns an authenticator to be confirmed, with a new secret. Raises `ValidationError` if the user has a confirmed one."""
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=user.pk)
        if is_on(user):
            raise ValidationError("The second factor is on already. Remove it first.")
        authenticator, _ = Authenticator.objects.update_or_create(
            user=user, defaults={"secret": {"key": pyotp.random_base32()}}
        )
    return authenticator


def picture(authenticator: Authenticator) -> str:
    """Returns the QR code that an app reads, as a data URI of an SVG image."""
    uri = _totp(authenticator).provisioning_uri(name=authenticator.user.email, issuer_name=ISSUER)
    import segno  # noqa: PLC0415 (no other page or command needs it)

    return str(segno.make(uri, error="m").svg_data_uri(scale=5, border=4, dark="#000", light="#fff"))


def confirm(*, user: User, code: str) -> list[str]:
    """Turns the second factor on with the first code of the app. Returns the recovery codes, which are not stored.

    Raises `ValidationError` for a wrong code.
    """
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=user.pk)
        if is_on(user) or not _use_app_code(user, code):
            raise ValidationError({"code": WRONG})
        RequiredProof.objects.create(user=user, app=APP)
        return renew_codes(user=user)


def renew_codes(*, user: User) -> list[str]:
    """Replaces the recovery codes of a user. Returns the new ones."""
    texts = [base64.b32encode(secrets.token_bytes(10)).decode().lower() for _ in range(CODES)]
    codes = ["-".join(text[start : start + 4] for start in range(0, len(text), 4)) for text in texts]
    with transaction.atomic():
        RecoveryCode.objects.filter(user=user).delete()
        RecoveryCode.objects.bulk_create([RecoveryCode(user=user, digest=_digest(code)) for code in codes])
    return codes


def check(user: User, code: str) -> None:
    """Uses up a code of the app or a recovery code. Raises `ValidationError` if it is wrong, or after too many wrong ones."""
    counter = {f"second factor of {user.pk}": MAX_FAILURES}
    limits.check(counter, "Too many wrong codes. Try again in {wait}.")
    unused = RecoveryCode.objects.filter(user=user, digest=_digest(code), used_at=None)
    if not (is_on(user) and (_use_app_code(user, code) or unused.update(used_at=timezone.now()))):
        limits.count_failure(counter)
        raise ValidationError({"code": WRONG})


def remove(*, user: User) -> None:
    """Turns the second factor off."""
    with transaction.atomic():
        RequiredProof.objects.filter(user=user, app=APP).delete()
        RecoveryCode.objects.filter(user=user).delete()
        Authenticator.objects.filter(user=user).delete()


def unused_codes(user: User) -> int:
    """Returns how many recovery codes are left."""
    return RecoveryCode.objects.filter(user=user, used_at=None).count()


def _use_app_code(user: User, code: str) -> bool:
    authenticator = Authenticator.objects.filter(user=user).first()
    step = _matching_step(authenticator, code) if authenticator else None
    if step is None:
        return False
    return bool(Authenticator.objects.filter(user=user, last_step__lt=step).update(last_step=step))


def _matching_step(authenticator: Authenticator, code: str) -> int | None:
    """The time step of a code: now, or one earlier or later, because clocks differ."""
    code = "".join(code.split())
    now = int(timezone.now().timestamp()) // _STEP
    totp = _totp(authenticator)
    for step in (now, now - 1, now + 1):
        expected = totp.generate_otp(step)
        if code.isascii() and secrets.compare_digest(expected, code):
            return step
    return None


def _totp(authenticator: Authenticator) -> pyotp.TOTP:
    return pyotp.TOTP(authenticator.secret["key"], interval=_STEP)


def _digest(code: str) -> str:
    letters = "".join(character for character in code.lower() if character.isalnum())
    return hashlib.sha256(letters.encode("utf-8", "replace")).hexdigest()
