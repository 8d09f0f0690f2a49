"""A judge model from the form to the corrected score, against a server whose errors are known."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from relevancy import cases, judging
from relevancy.models import Team, User
from relevancy.optional.judge_models import calibration
from relevancy.optional.judge_models.fake_judge import fake_judge
from relevancy.optional.judge_models.models import CalibrationSample
from relevancy.optional.judge_models.tests.test_calibration import CONFUSION, QUERIES, SAMPLED, truth
from tests.factories import make_attempt, make_case, rate_all, run_now, script_of

from .conftest import Opens
from .presses import Presses
from .workbench_page import press

MOST_PRESSES = 13  # from the page of the book to what the judge model has read of a document
DOCUMENTS = [str(number) for number in range(1, 6)]


@pytest.mark.usefixtures("script")
def test_the_corrected_score_of_a_calibrated_judge_model_covers_the_truth(
    look: Opens, people: dict[str, User], monkeypatch: pytest.MonkeyPatch
) -> None:
    case = make_case(QUERIES, measures=["P@5"], owner=people["editor"])
    cases.share(case=case, team=Team.objects.get(name="Search"), by=people["editor"])
    attempt = make_attempt(case)
    script_of(attempt).default = DOCUMENTS
    run_now(attempt)
    judging.build_judging_queue(book=case.book)
    draw_sample = calibration.draw_sample

    def draw(**options: Any) -> CalibrationSample:
        """Draws the same sample each time."""
        return draw_sample(**{**options, "seed": 3})

    monkeypatch.setattr(calibration, "draw_sample", draw)
    page = look("editor")
    with fake_judge(truth=lambda query, document: str(truth(query, document["title"])), confusion=CONFUSION) as server:
        page.goto(f"/books/{case.book_id}/judge-models/new/")
        page.get_by_label("Name", exact=True).fill("Generous")
        page.get_by_label("Address").fill(server.url)
        page.get_by_label("Model", exact=True).fill("m")
        page.get_by_role("button", name="Add").click()
        expect(page.locator("#job-estimate")).to_have_attribute("data-documents", str(QUERIES * len(DOCUMENTS)))
        page.locator("#job-form").get_by_role("button", name="Start").click()
        expect(page.locator("#judge-job")).to_have_attribute("data-job", "complete")
    page.locator("#calibration-link").click()
    page.locator("#sample-form").get_by_label("Queries").fill(str(SAMPLED))
    page.locator("#sample-form").get_by_role("button", name="Draw").click()
    expect(page.locator("#reliability")).to_contain_text("It is not known whether Generous can be relied on")
    expect(page.locator("#open-by-people a")).to_have_count(SAMPLED)
    expect(page.locator("#corrected")).to_have_attribute("data-corrected", "")  # people have not rated yet
    grades = {
        query.text: {doc_id: truth(query.text, doc_id) for doc_id in DOCUMENTS} for query in case.book.queries.all()
    }
    sampled = set(CalibrationSample.objects.get().query_ids)
    texts = [query.text for query in case.book.queries.all() if query.pk in sampled]
    rate_all(case, {text: grades[text] for text in texts}, people["owner"])
    page.reload()
    expect(page.locator("#reliability")).to_contain_text("Generous can")
    expect(page.locator("#sampled-scores tbody tr")).to_have_count(SAMPLED)
    says = re.search(r"says ([\d.]+)\. .*: ([\d.]+) \(([\d.]+) to ([\d.]+)\)", page.locator("#corrected").inner_text())
    assert says is not None
    by_judge, corrected, low, high = map(float, says.groups())
    relevant = [sum(grade >= 1 for grade in of_query.values()) / len(of_query) for of_query in grades.values()]
    expected = 100 * sum(relevant) / len(relevant)
    assert low <= expected <= high
    assert by_judge > expected + 5
    assert abs(corrected - expected) < abs(by_judge - expected)


@pytest.mark.usefixtures("script")
def test_a_lead_tries_a_judge_model_and_reads_its_answers_without_documentation(
    look: Opens, people: dict[str, User]
) -> None:
    case = make_case(4, {"query 1": {"1": 0}}, measures=["P@5"], owner=people["editor"])
    cases.share(case=case, team=Team.objects.get(name="Search"), by=people["editor"])
    attempt = make_attempt(case)
    script_of(attempt).default = DOCUMENTS
    run_now(attempt)
    judging.build_judging_queue(book=case.book)
    page = look("editor")
    presses = Presses(page)
    with fake_judge(truth=lambda query, document: "2") as server:
        page.goto(f"/books/{case.book_id}/")
        presses.click(page.get_by_role("link", name="Sources"))
        if not page.locator("#judge-models-link[aria-current]").count():
            presses.click(page.locator("#judge-models-link"))
        presses.click(page.locator("#add-judge-model"))
        presses.type(page.get_by_label("Name", exact=True), "Mini")
        presses.type(page.get_by_label("Address"), server.url)
        presses.type(page.get_by_label("Model", exact=True), "m")
        presses.click(page.get_by_role("button", name="Add"))
        presses.click(page.locator("#try-five"))
        expect(page.locator("#judge-job")).to_have_attribute("data-job", "complete")
        expect(page.locator(".answers [data-state=rated]")).to_have_count(5)
        assert len(server.requests) == 5
        first = page.locator(".answers > li").first  # rated by people, who disagree
        expect(first).to_have_attribute("data-difference", "2")
        expect(first).to_contain_text("Invented by fake_judge.")
        presses.click(page.get_by_role("button", name="Start"))
        expect(page.locator("#judge-job")).to_contain_text("15 of 15 · 15 rated")
        presses.click(page.locator("#judge-sections").get_by_role("link", name="Answers"))
        expect(page.locator(".answers > li")).to_have_count(20)
        press(page, "j")
        expect(page.locator(".answers > li").first).to_be_focused()
        presses.click(page.locator("[data-state-filter=differs]"))
        expect(page.locator(".answers > li")).to_have_count(1)
        presses.click(page.locator(".answers > li .name-link"))
        expect(page.locator("#prompt-data")).to_contain_text('"document": {"title": "1"}')
        assert presses.count <= MOST_PRESSES
        page.watch.expect(422)  # type: ignore[attr-defined]
        page.locator("#id_instructions").fill("Be strict. {scala}")
        page.get_by_role("button", name="Save").click()
        expect(page.locator("#instructions-form")).to_contain_text("There is no placeholder {scala}")
        page.locator("#id_instructions").fill("Be strict.\n{scale}")
        page.get_by_role("button", name="Save").click()
        expect(page.locator("#prompt-instructions")).to_contain_text("Be strict.")
        expect(page.locator("#former-answers")).to_contain_text("20 documents were judged with other instructions")
