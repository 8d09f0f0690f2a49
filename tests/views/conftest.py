"""Fixtures for tests of pages: people to sign in as."""

import pytest

from relevancy.models import Team

from .factories import make_people


@pytest.fixture
def people(db):
    return make_people()


@pytest.fixture
def team(people):
    return Team.objects.get(name="Search")


@pytest.fixture
def sign_in(client, people):
    """Sign in as one of the people; returns the client."""

    def signed_in(name):
        client.force_login(people[name])
        return client

    return signed_in
