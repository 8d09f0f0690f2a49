"""Public links: who can make them, and when they stop working."""

from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from relevancy import activity, cases
from relevancy.models import Case, Role, Team
from relevancy.optional.public_links import public_links
from relevancy.optional.public_links.models import PublicLink
from tests.factories import make_case, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def case() -> Case:
    return make_case(1)


def test_link_is_found_by_its_token_and_only_a_digest_is_stored(case: Case) -> None:
    link, token = public_links.create(case=case, by=case.owner, days=7)
    assert public_links.find(token) == link
    assert len(token) == 43
    assert token not in str(PublicLink.objects.values().get())
    for other in ("", token[:-1], token.swapcase(), link.digest, str(link.pk)):
        assert public_links.find(other) is None


def test_link_ends_when_it_is_withdrawn_or_expires(case: Case) -> None:
    link, token = public_links.create(case=case, by=case.owner, days=7)
    _, other_token = public_links.create(case=case, by=case.owner, days=7)
    public_links.withdraw(link=link)
    assert public_links.find(token) is None
    assert public_links.find(other_token) is not None
    PublicLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert public_links.find(other_token) is None


def test_link_rests_while_its_case_is_archived_or_its_creator_deactivated(case: Case) -> None:
    _, token = public_links.create(case=case, by=case.owner, days=7)
    cases.archive(case=case)
    assert public_links.find(token) is None
    cases.restore(case=case)
    assert public_links.find(token) is not None
    type(case.owner).objects.filter(pk=case.owner_id).update(is_active=False)
    assert public_links.find(token) is None


def test_link_is_worth_no_more_than_the_role_of_its_creator(case: Case) -> None:
    team, member = Team.objects.create(name="Search"), make_user("Member")
    membership = team.memberships.create(user=member, role=Role.OWNER)
    cases.share(case=case, team=team)
    _, token = public_links.create(case=case, by=member, days=7)
    assert public_links.find(token) is not None
    membership.role = Role.EDITOR
    membership.save()
    assert public_links.find(token) is None


@pytest.mark.parametrize("days", [0, -1, 366])
def test_link_without_an_end_is_refused(case: Case, days: int) -> None:
    with pytest.raises(ValidationError, match=f"{days} days"):
        public_links.create(case=case, by=case.owner, days=days)


def test_number_of_links_is_limited(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_links, "MAX_VALID", 2)
    first, _ = public_links.create(case=case, by=case.owner, days=7)
    public_links.create(case=case, by=case.owner, days=7)
    with pytest.raises(ValidationError, match="2 public links"):
        public_links.create(case=case, by=case.owner, days=7)
    public_links.withdraw(link=first)
    public_links.create(case=case, by=case.owner, days=7)


def test_link_to_an_archived_case_is_refused(case: Case) -> None:
    cases.archive(case=case)
    case.refresh_from_db()
    with pytest.raises(ValidationError, match="archived"):
        public_links.create(case=case, by=case.owner, days=7)


def test_links_are_in_the_log_of_the_case(case):
    link, _ = public_links.create(case=case, by=case.owner, days=7)
    public_links.withdraw(link=link, by=case.owner)
    public_links.withdraw(link=link, by=case.owner)
    rows = case.activities.filter(verb__startswith="sharing.")
    assert [activity.describe(row) for row in rows] == [
        "Withdrew a public link to the case",
        "Created a public link to the case, valid for 7 days",
    ]
