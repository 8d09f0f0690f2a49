"""The page of online outcomes of a case, and the outcomes on the comparison page."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from relevancy import cases
from relevancy.optional.outcomes.models import OnlineOutcome
from tests.comparison.conftest import run_with
from tests.factories import make_case
from tests.views.workbench.example_cases import attributes, by_id, elements, tree, words

HTMX = {"HX-Request": "true"}
SESSIONS = "winner,count\na,6\nb,18\ntie,4\n"


@pytest.fixture
def case(people, team, script):
    texts = [f"query {number}" for number in range(1, 13)]
    case = make_case(12, {text: {"a": 3} for text in texts}, owner=people["admin"], measures=("P@1",))
    cases.share(case=case, team=team)
    run_with(case, dict.fromkeys(texts, "xa"))
    run_with(case, dict.fromkeys(texts, "ab"))
    return case


def send(client, case, *, do, text=SESSIONS, headers=None, **fields):
    file = SimpleUploadedFile("may.csv", text.encode())
    data = {"a": "1", "b": "2", "do": do, "file": file, **fields}
    return client.post(reverse("online_outcome_import", args=[case.pk]), data, headers=headers)


def test_preview_stores_nothing_and_import_sets_it_beside_the_verdict(sign_in, case):
    client = sign_in("editor")
    url = reverse("online_outcomes", args=[case.pk])
    assert "No outcomes yet" in words(tree(client.get(url)))
    preview = tree(send(client, case, do="preview", headers=HTMX))
    sentence = by_id(preview, "outcome-sentence")
    assert attributes(sentence)["data-wins-b"] == "18"
    assert "Run 2 won online" in words(sentence)
    assert not OnlineOutcome.objects.exists()

    assert send(client, case, do="import").status_code == 302
    client.get(url)  # the tests' worker computes the comparison at once
    page = tree(client.get(url))
    result = attributes(by_id(page, "online-list"))
    assert (result["data-won"], result["data-lost"], result["data-undecided"]) == ("1", "0", "0")
    assert "hx-get" not in result
    assert "Of 1 offline winner 1 won online" in words(by_id(page, "online-winners"))
    assert "may.csv" in words(by_id(page, "online-list"))
    again = tree(send(client, case, do="preview", headers=HTMX))
    assert "may.csv" in words(by_id(again, "outcome-replaced"))


def test_the_comparison_page_has_the_outcome_in_its_own_direction(sign_in, case):
    client = sign_in("editor")
    send(client, case, do="import", name="May")
    address = reverse("compare", args=[case.pk], query={"run": ["2", "1"]})
    client.get(address)
    verdict = by_id(client.get(address), "verdict")
    assert "The offline winner also won online." in words(verdict)
    page = tree(client.get(f"{address}&tab=outcomes"))
    (line,) = elements(page, **{"_name": "p", "data-online": str(OnlineOutcome.objects.get().pk)})
    assert "Run 2 won online" in words(line)
    assert "The offline winner also won online." in words(line)
    link = attributes(by_id(page, "online-link"))["href"]
    form = tree(client.get(link))
    chosen = [
        attributes(option)["value"] for option in elements(form, _name="option") if "selected" in attributes(option)
    ]
    assert chosen == ["2", "1"]


def test_mistakes_are_said_with_line_column_and_value(sign_in, case):
    client = sign_in("editor")
    bad = send(client, case, do="import", text="session,winner\ns1,c\n")
    assert bad.status_code == 422
    assert "column winner: 'c' is not a, b or tie" in words(tree(bad))
    assert send(client, case, do="import", b="1").status_code == 422
    assert send(client, case, do="import", b="77").status_code == 422
    assert not OnlineOutcome.objects.exists()


def test_deleting_asks_first(sign_in, case):
    client = sign_in("editor")
    send(client, case, do="import")
    url = reverse("online_outcome_delete", args=[case.pk, OnlineOutcome.objects.get().pk])
    assert "cannot be undone" in words(tree(client.get(url)))
    assert OnlineOutcome.objects.exists()
    client.post(url)
    assert not OnlineOutcome.objects.exists()


def test_viewers_see_outcomes_and_no_form(sign_in, case):
    send(sign_in("editor"), case, do="import")
    page = tree(sign_in("viewer").get(reverse("online_outcomes", args=[case.pk])))
    assert not elements(page, id="outcome-form")
    assert "Delete" not in words(by_id(page, "online-list"))
