"""People who create their own account, with the link of an invitation or where anyone may."""

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from relevancy.models import User

from .raters import DOMAIN


def sign_up(*, email: str, name: str, password: str) -> None:
    """Creates an account, unless the address has one. Nothing that a caller sees depends on which: it returns nothing, and
    takes as long.

    The address is not confirmed: it may belong to another person. Raises `ValidationError` naming the field.
    """
    user = User(email=email, name=name, has_confirmed_email=False)
    user.clean_fields(exclude={"password"})
    if user.email.endswith(f"@{DOMAIN}"):
        raise ValidationError({"email": f"Addresses in {DOMAIN} cannot sign in. Enter your own address."})
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise ValidationError({"password": error.messages}) from None
    user.set_password(password)
    try:
        with transaction.atomic():
            user.save()
    except IntegrityError:
        if User.objects.find(user.email) is None:
            raise
