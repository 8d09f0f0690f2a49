"""What a user has to show besides the password to sign in."""

from typing import Any, NoReturn

from django.core.exceptions import ValidationError
from django.forms import CharField

from relevancy.hooks import Proof, proofs
from relevancy.models import RequiredProof, User


def required_proof(user: User) -> Proof | None:
    """Returns what the user has to show besides the password, if anything. One SQL statement.

    If this site leaves out the app that checks it, nobody can give the proof: the functions of what is returned raise
    `ValidationError`, which says what to do.
    """
    required = RequiredProof.objects.filter(user=user).first()
    if required is None:
        return None

    def refuse(*_: Any) -> NoReturn:
        raise ValidationError(
            f"Your account needs more than a password, but this site leaves out the app that asks for it, {required.app}. An admin of "
            f"this site can add the app again, or end this for all accounts with "
            f"`relevancy remove_app {required.app} --output FILE`."
        )

    return proofs.get(required.app) or Proof(ask=refuse, field=CharField(required=False), check=refuse)
