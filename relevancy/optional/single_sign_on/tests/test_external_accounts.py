"""Who signs in with the provider, on every database: PostgreSQL folds letters that SQLite keeps apart."""

import pytest
from django.core.exceptions import ValidationError

from relevancy.models import User
from relevancy.optional.single_sign_on.external_accounts import find_or_create_user
from relevancy.optional.single_sign_on.models import ExternalAccount
from relevancy.optional.single_sign_on.openid_connect import Identity

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("address", ["adm\u0131n@corp.example", "bo\u017fs@corp.example", "mi\u212ae@corp.example"])
def test_address_that_looks_like_another_one_signs_nobody_in(address):
    for name in ("admin", "boss", "mike"):
        User.objects.create_user(f"{name}@corp.example")
    identity = Identity(issuer="https://idp.example", subject="7", email=address, is_email_verified=True, name="")
    with pytest.raises(ValidationError, match="ASCII"):
        find_or_create_user(identity)
    assert User.objects.find(address) is None
    assert not ExternalAccount.objects.exists()
