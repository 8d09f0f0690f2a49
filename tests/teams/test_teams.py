"""What two owners do at the same time."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.core.exceptions import ValidationError
from django.db import connection

from relevancy import teams
from relevancy.models import Membership, Role
from tests.factories import make_team


@pytest.mark.django_db(transaction=True)
def test_of_two_owners_who_leave_at_once_one_stays() -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite runs one write transaction at a time")
    for number in range(10):
        team = make_team(f"Team {number}", **{f"ann{number}": Role.OWNER, f"ben{number}": Role.OWNER})
        barrier = Barrier(2)

        def leave(pk: int, barrier: Barrier = barrier) -> bool:
            try:
                member = Membership.objects.select_related("team", "user").get(pk=pk)
                barrier.wait()
                teams.remove_member(member=member)
            except ValidationError:
                return False
            finally:
                connection.close()
            return True

        with ThreadPoolExecutor(2) as pool:
            left = list(pool.map(leave, team.memberships.values_list("pk", flat=True)))
        assert sorted(left) == [False, True]
        assert team.memberships.get().role == Role.OWNER


@pytest.mark.django_db
def test_a_role_is_read_again_under_the_lock() -> None:
    """The page of the second owner still shows both as owners."""
    team = make_team(ann=Role.OWNER, ben=Role.OWNER)
    ann, ben = team.memberships.order_by("user__name")
    teams.set_role(member=Membership.objects.get(pk=ann.pk), role=Role.RATER)
    with pytest.raises(ValidationError):
        teams.set_role(member=ben, role=Role.RATER)
    assert teams.set_role(member=ann, role=Role.EDITOR).role == Role.EDITOR
    teams.remove_member(member=Membership.objects.get(pk=ann.pk))
    with pytest.raises(ValidationError, match="no longer in"):
        teams.remove_member(member=Membership(pk=ann.pk, team=team, user=ann.user, role=Role.EDITOR))
