"""Tags, information need and notes of a query; scores by tag."""

import pytest

from relevancy.models import Query
from tests.factories import query_of

from .example_cases import HTMX, at, attributes, by_id, case_query_of, elements, make_workbench_case, tree, words


@pytest.fixture
def case(people, team, script):
    case = make_workbench_case(people, team)
    case.book.teams.add(team)
    return case


def tag(client, case, text="query 1", **sent):
    return client.post(at(case, "query_tag", case_query_of(case, text).pk), sent, headers=HTMX)


def tags_of(case, text="query 1"):
    return query_of(case, text).tags


def test_tag_adds_and_takes_off(sign_in, case):
    client = sign_in("editor")
    answer = tag(client, case, add="brand, long tail")
    assert tags_of(case) == ["brand", "long tail"]
    case_query = case_query_of(case, "query 1")
    part = by_id(answer, f"about-{case_query.pk}")
    assert "brand" in words(part)
    row = by_id(answer, f"query-row-{case_query.pk}")
    assert "long tail" in words(row)
    tag(client, case, remove="brand")
    assert tags_of(case) == ["long tail"]


def test_tag_updates_the_filter_and_the_scores_by_tag(sign_in, case):
    client = sign_in("editor")
    first = tag(client, case, add="brand")
    options = elements(by_id(first, "tag"), _name="option")
    assert [words(option) for option in options] == ["All tags", "brand"]
    assert elements(by_id(first, "tag-scores"), cls="tag-scores")
    second = tag(client, case, "query 2", add="long tail")
    assert [attributes(option)["value"] for option in elements(by_id(second, "case-tags"), _name="option")] == [
        "brand",
        "long tail",
    ]
    assert elements(tree(second), id="tag-scores") == [], "An opened table of scores would close."
    assert elements(tree(tag(client, case, "query 2", add="brand")), id="tag-filter") == [], "The list is the same."
    tag(client, case, "query 2", remove="brand")
    tag(client, case, "query 2", remove="long tail")
    last = tag(client, case, remove="brand")
    assert elements(by_id(last, "tag-filter"), _name="select") == []
    assert elements(by_id(last, "tag-scores"), cls="tag-scores") == []


def test_tag_refuses(sign_in, case):
    answer = tag(sign_in("editor"), case, add="x" * 51)
    assert answer.status_code == 409
    assert "51 characters" in answer.content.decode()
    assert tags_of(case) == []


def test_tag_without_htmx(sign_in, case):
    case_query = case_query_of(case, "query 1")
    answer = sign_in("editor").post(at(case, "query_tag", case_query.pk), {"add": "x"})
    assert answer["Location"] == at(case, "case", open=case_query.pk) + f"#query-{case_query.pk}"


def test_notes_are_edited_and_shown_as_markdown(sign_in, case):
    client = sign_in("editor")
    case_query = case_query_of(case, "query 1")
    position = at(case, "query_notes", case_query.pk)
    form = by_id(client.get(position, headers=HTMX), f"about-{case_query.pk}")
    assert form.name == "form"
    sent = {"information_need": " All the **films** ", "notes": "<script>alert(1)</script>\n\n- one"}
    answer = client.post(position, sent, headers=HTMX)
    part = by_id(answer, f"about-{case_query.pk}")
    assert [words(bold) for bold in elements(part, _name="strong")] == ["films"]
    assert elements(part, _name="script") == []
    assert "<script>alert(1)</script>" in words(part).replace("&lt;", "<").replace("&gt;", ">")
    assert query_of(case, "query 1").information_need == "All the **films**"
    page = client.get(at(case, "query_notes", case_query.pk)).content.decode()
    assert "All the **films**" in page and "<html" in page


def test_reference_answer_is_edited_and_shown_and_others_stay(sign_in, case):
    client = sign_in("editor")
    case_query = case_query_of(case, "query 1")
    position = at(case, "query_notes", case_query.pk)
    client.post(
        position, {"information_need": "need", "reference_answer": "The *first* film.", "notes": ""}, headers=HTMX
    )
    part = by_id(client.get(at(case, "query_about", case_query.pk), headers=HTMX), f"about-{case_query.pk}")
    (shown,) = elements(part, **{"data-reference-answer": ""})
    assert [words(emphasis) for emphasis in elements(shown, _name="em")] == ["first"]
    query = query_of(case, "query 1")
    assert (query.information_need, query.reference_answer) == ("need", "The *first* film.")
    too_long = client.post(position, {"reference_answer": "x" * 10_001}, headers=HTMX)
    assert too_long.status_code == 422
    assert query_of(case, "query 1").reference_answer == "The *first* film."


def test_notes_too_long(sign_in, case):
    client = sign_in("editor")
    case_query = case_query_of(case, "query 1")
    sent = {"information_need": "x", "notes": "y" * 20_001}
    answer = client.post(at(case, "query_notes", case_query.pk), sent, headers=HTMX)
    assert answer.status_code == 422
    assert "20001" in answer.content.decode()
    assert query_of(case, "query 1").information_need == ""


def test_about_is_what_cancel_brings_back(sign_in, case):
    Query.objects.filter(text="query 1").update(notes="known", tags=["x"])
    case_query = case_query_of(case, "query 1")
    for who, forms in (("viewer", 0), ("editor", 2)):
        part = by_id(sign_in(who).get(at(case, "query_about", case_query.pk), headers=HTMX), f"about-{case_query.pk}")
        assert "known" in words(part)
        assert len(elements(part, _name="form")) == forms


@pytest.mark.parametrize(("who", "status"), [("rater", 403), ("viewer", 403), ("stranger", 404)])
def test_what_belongs_to_the_book_is_changed_by_its_editors(sign_in, case, who, status):
    client = sign_in(who)
    case_query = case_query_of(case, "query 1")
    assert tag(client, case, add="x").status_code == status
    assert client.post(at(case, "query_notes", case_query.pk), {"notes": "x"}).status_code == status
    assert client.get(at(case, "query_notes", case_query.pk)).status_code == status
    assert (tags_of(case), query_of(case, "query 1").notes) == ([], "")


def test_segments(sign_in, case, django_assert_max_num_queries):
    Query.objects.filter(text="query 1").update(tags=["first", "both & more"])
    Query.objects.filter(text="query 2").update(tags=["both & more"])
    answer = sign_in("viewer").get(at(case, "segments"), headers=HTMX)
    rows = [words(row) for row in elements(tree(answer), _name="tr")][1:]
    assert [row.split()[0] for row in rows] == ["both", "first"]
    links = [attributes(link)["href"] for link in elements(tree(answer), _name="a")]
    assert links[0] == at(case, "case", tag="both & more")
    assert sign_in("stranger").get(at(case, "segments")).status_code == 404


def test_segments_without_tags(sign_in, case):
    assert "No query has a tag yet" in sign_in("viewer").get(at(case, "segments"), headers=HTMX).content.decode()
