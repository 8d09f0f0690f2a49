"""The pages of the activity logs, and the logs as files."""

import csv

import pytest
from django.urls import reverse

from relevancy import activity, cases, ratings
from relevancy.models import Activity, RatingChange
from tests.factories import make_case, query_of
from tests.views.workbench.example_cases import attributes, by_id, elements, tree, words


@pytest.fixture
def case(people, team):
    case = make_case(1, owner=people["admin"])
    ratings.rate(query=query_of(case, "query 1"), doc_id="a", value=1, by=people["admin"])
    cases.share(case=case, team=team, by=people["owner"])
    return case


def lines(response):
    body = elements(by_id(response, "activity-log"), _name="tbody")[0]
    return [words(row) for row in elements(body, _name="tr")]


def test_the_log_of_a_case_is_linked_and_shows_who_did_what(sign_in, case):
    client = sign_in("viewer")
    url = reverse("case_activity", args=[case.pk])
    assert f'href="{url}"' in client.get(reverse("history", args=[case.pk])).content.decode()
    result = lines(client.get(url))
    assert "Owner Sharing Shared the case" in " ".join(result)
    assert any("Admin Ratings Rated 1 document" in line for line in result)
    assert any(f"Admin Case Created the case “{case.name}”" in line for line in result)


def test_the_log_of_a_team_is_linked_and_shows_what_is_shared(sign_in, case, team):
    client = sign_in("viewer")
    url = reverse("team_activity", args=[team.pk])
    assert f'href="{url}"' in client.get(reverse("team", args=[team.pk])).content.decode()
    assert [line.partition("Owner ")[2] for line in lines(client.get(url))] == [
        f"Sharing Shared the case “{case.name}” with the team Search"
    ]


def test_the_filter_and_the_pages(sign_in, case, people):
    for number in range(120):
        activity.record(Activity.Verb.RUN_PINNED, case=case, by=people["editor"], subject=f"run {number}")
    client = sign_in("viewer")
    url = reverse("case_activity", args=[case.pk])
    chosen = {"person": people["editor"].pk, "kind": "run"}
    seen = []
    response = client.get(url, chosen)
    while True:
        seen += lines(response)
        older = elements(tree(response), _name="a", rel="next")
        if not older:
            break
        assert "person=" in attributes(older[0])["href"]
        response = client.get(attributes(older[0])["href"])
    assert len(seen) == len(set(seen)) == 120
    assert by_id(client.get(url, {**chosen, "since": "2999-01-01"}), "activity-filter")
    assert "Nothing matches the filter" in client.get(url, {"since": "2999-01-01"}).content.decode()


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"since": "2026-02-02", "until": "2026-02-01"}, "The last day is before the first one"),
        ({"since": "yesterday"}, "Enter a valid date"),
        ({"person": "7777777"}, "Select a valid choice"),
        ({"kind": "x"}, "Select a valid choice"),
        ({"cursor": "x"}, "This is not a cursor of this log"),
    ],
)
def test_wrong_filters_are_explained(sign_in, case, parameters, text):
    client = sign_in("viewer")
    response = client.get(reverse("case_activity", args=[case.pk]), parameters)
    assert response.status_code == 422
    assert text in response.content.decode()
    if "cursor" not in parameters:
        response = client.get(reverse("case_activity_csv", args=[case.pk]), parameters)
        assert response.status_code == 400
        assert text in response.content.decode()


def test_an_empty_log_says_what_it_is_for(sign_in, case, team):
    Activity.objects.all().delete()
    RatingChange.objects.all().delete()
    client = sign_in("viewer")
    for name, row in (("case_activity", case), ("team_activity", team)):
        assert "Nothing was recorded in this" in client.get(reverse(name, args=[row.pk])).content.decode()


def test_the_file_has_all_entries_and_no_formulas(sign_in, case, people):
    activity.record(Activity.Verb.CASE_RENAMED, case=case, by=people["editor"], subject="=1+1", former="x")
    client = sign_in("viewer")
    response = client.get(reverse("case_activity_csv", args=[case.pk]), {"kind": "case"})
    assert response["Content-Disposition"].startswith("attachment; filename=")
    rows = list(csv.DictReader(b"".join(response.streaming_content).decode().splitlines()))
    assert [(row["by"], row["action"], row["subject"]) for row in rows] == [
        ("Editor", "case.renamed", "'=1+1"),
        ("Admin", "case.created", case.name),
    ]
    everything = client.get(reverse("case_activity_csv", args=[case.pk]))
    assert b"rating.given" in b"".join(everything.streaming_content)


def test_a_page_of_a_long_log_needs_as_many_statements(sign_in, case, people, django_assert_max_num_queries):
    for number in range(60):
        activity.record(Activity.Verb.RUN_PINNED, case=case, by=people["editor"], subject=f"run {number}")
    client = sign_in("viewer")
    with django_assert_max_num_queries(12):
        assert len(lines(client.get(reverse("case_activity", args=[case.pk])))) == 50


def test_names_are_escaped(sign_in, case, people):
    cases.rename(case=case, name="<b>x</b>", by=people["editor"])
    content = sign_in("viewer").get(reverse("case_activity", args=[case.pk])).content.decode()
    assert "“&lt;b&gt;x&lt;/b&gt;”" in content
    assert "<b>x</b>" not in content
