"""Signed out in the middle of something."""

import pytest
from django.urls import reverse

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("sender", "back"),
    [
        ("http://testserver/cases/7/?q=star", "/cases/7/%3Fq%3Dstar"),
        ("http://elsewhere.example/cases/7/", "/"),
        ("", "/"),
    ],
)
def test_signed_out_form_leads_back_to_the_page_that_sent_it(client, sender, back):
    response = client.post(reverse("team_new"), headers={"referer": sender})
    assert response.status_code == 302
    assert response.headers["Location"] == f"{reverse('login')}?next={back}"


def test_signed_out_page_leads_back_to_itself(client):
    response = client.get(reverse("teams"))
    assert response.headers["Location"] == f"{reverse('login')}?next=/teams/"
