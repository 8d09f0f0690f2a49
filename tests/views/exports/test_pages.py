"""The page of a large file, from the link to the download."""

import pytest
from django.urls import reverse

from relevancy import cases, tasks, teams
from relevancy.formats import exports, stored_exports
from relevancy.models import Role, StoredExport, Team
from tests.factories import make_attempt, make_case, make_user, run_now
from tests.views.workbench.example_cases import attributes, by_id

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script", "data_dir")]


@pytest.fixture
def sent(monkeypatch):
    """The ids of the files that were left to a worker."""
    ids = []
    monkeypatch.setattr(exports, "MAX_ROWS", 1)
    monkeypatch.setattr(
        tasks, "send", lambda task, pk, **options: ids.append(pk) if task is tasks.make_export else None
    )
    return ids


@pytest.fixture
def case(client):
    case = make_case(["query 1"], {"query 1": {"a": 3, "b": 1}})
    client.force_login(case.owner)
    return case


def links(case):
    """The addresses of a file of the case, of its run, and of its book."""
    run = run_now(make_attempt(case))
    return {
        "case": reverse("case_download", args=[case.pk, "ratings"]),
        "run": reverse("run_download", args=[case.pk, run.number, "csv"]),
        "book": f"{reverse('book_download', args=[case.book_id])}?for=book",
        "ratings": reverse("book_ratings_csv", args=[case.book_id]),
    }


def page_of(client, stored, **headers):
    return client.get(reverse("export", args=[stored.pk]), headers=headers)


def test_the_link_of_a_large_file_leads_to_its_page_and_then_to_the_file(client, case, sent, monkeypatch):
    urls = links(case)
    with monkeypatch.context() as unlimited:
        unlimited.setattr(exports, "MAX_ROWS", 10**6)
        contents = {name: b"".join(client.get(url).streaming_content) for name, url in urls.items()}
    monkeypatch.setattr(exports, "MAX_ROWS", 0)
    for name, url in urls.items():
        for _ in range(2):  # asking twice does not make two
            response = client.get(url)
            stored = StoredExport.objects.get(pk=sent[-1])
            assert response.headers["Location"] == reverse("export", args=[stored.pk])
        html = page_of(client, stored).content.decode()
        assert 'data-status="waiting"' in html
        assert 'hx-trigger="every 2s"' in html
        assert "export-file" not in html
        assert client.get(reverse("export_file", args=[stored.pk])).status_code == 302
        tasks.make_export.func(stored.pk)
        html = page_of(client, stored).content.decode()
        assert 'data-status="complete"' in html
        assert 'width="18"' in html.partition('class="brand"')[2].partition("</svg>")[0], (
            "The mark is not as wide as the file is long."
        )
        assert "hx-trigger" not in html.partition('id="export"')[2].partition("</section>")[0]
        response = client.get(reverse("export_file", args=[stored.pk]))
        assert b"".join(response.streaming_content) == contents[name]
        assert "attachment" in response.headers["Content-Disposition"]
    assert len(sent) == len(set(sent)) == len(urls)


def test_small_files_are_downloaded_at_once(client, case, sent, monkeypatch):
    response = client.get(reverse("case_download", args=[case.pk, "queries"]))
    assert b"".join(response.streaming_content).startswith(b"query,")
    monkeypatch.setattr(exports, "MAX_ROWS", 2)
    response = client.get(reverse("case_download", args=[case.pk, "ratings"]))
    assert b"".join(response.streaming_content).startswith(b"query,docid,rating")
    assert sent == []


def test_the_page_shows_how_far_the_file_is(client, case, sent):
    client.get(reverse("case_download", args=[case.pk, "ratings"]))
    stored = stored_exports._claim(sent[0])
    StoredExport.objects.update(done=1500, total=6000, started_at=stored.started_at - stored_exports.DEAD_AFTER)
    fragment = page_of(client, stored, **{"HX-Request": "true"}).content.decode()
    assert "<html" not in fragment
    assert 'data-status="running"' in fragment
    page = page_of(client, stored)
    assert attributes(by_id(page, "case-files-link"))["aria-current"] == "page", (
        "The page belongs to the files of the case."
    )
    text = " ".join(fragment.split())
    assert "1,500 of 6,000 queries" in text
    assert "left" in text
    assert 'value="1500"' in text and 'max="6000"' in text


def test_a_file_that_has_failed_says_why_and_is_made_again(client, case, sent):
    client.get(reverse("case_download", args=[case.pk, "ratings"]))
    stored = StoredExport.objects.get()
    blocked = stored_exports.folder()
    blocked.write_text("a file where the folder should be")
    tasks.make_export.func(stored.pk)
    html = page_of(client, stored).content.decode()
    assert 'data-status="failed"' in html
    assert "The file could not be written" in html
    blocked.unlink()
    client.get(reverse("case_download", args=[case.pk, "ratings"]))
    assert len(sent) == 1  # the link shows the error, and does not start it again
    response = client.post(reverse("export_again", args=[stored.pk]))
    assert response.headers["Location"] == reverse("export", args=[stored.pk])
    assert sent == [stored.pk] * 2
    tasks.make_export.func(stored.pk)
    assert "export-file" in page_of(client, stored).content.decode()


def test_a_file_that_is_gone_can_be_made_again(client, case, sent):
    client.get(reverse("case_download", args=[case.pk, "ratings"]))
    stored = StoredExport.objects.get()
    tasks.make_export.func(stored.pk)
    stored.refresh_from_db()
    stored_exports.path_of(stored).unlink()
    html = page_of(client, stored).content.decode()
    assert "export-gone" in html
    assert "export-file" not in html
    assert client.get(reverse("export_file", args=[stored.pk])).status_code == 302


def test_others_see_neither_the_page_nor_the_file(client, case, sent):
    """Not even those who may see the case: names of raters in it depend on the user."""
    team, other = Team.objects.create(name="Search"), make_user()
    team.memberships.create(user=case.owner, role=Role.OWNER)
    member = team.memberships.create(user=other, role=Role.VIEWER)
    cases.share(case=case, team=team)
    client.force_login(other)
    client.get(reverse("case_download", args=[case.pk, "case"]))
    stored = StoredExport.objects.get()
    tasks.make_export.func(stored.pk)
    addresses = [reverse(name, args=[stored.pk]) for name in ("export", "export_file")]
    responses = [client.get(url) for url in addresses]
    assert [response.status_code for response in responses] == [200, 200]
    assert b'"kind": "case"' in b"".join(responses[1].streaming_content)
    client.force_login(case.owner)
    assert [client.get(url).status_code for url in addresses] == [404, 404]
    assert client.post(reverse("export_again", args=[stored.pk])).status_code == 404
    client.force_login(other)
    teams.remove_member(member=member, by=case.owner)
    assert [client.get(url).status_code for url in addresses] == [404, 404]
    assert client.post(reverse("export_again", args=[stored.pk])).status_code == 404
