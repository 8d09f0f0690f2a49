"""The pages of studies."""

import json
import re
from typing import Any

import pytest
from django.urls import reverse

from relevancy import cases
from relevancy.models import Attempt, Case
from relevancy.optional.studies import findings, studies
from relevancy.optional.studies.models import Study
from relevancy.optional.studies.space import parse_knob
from tests.factories import make_attempt, rate_all, script_of
from tests.views.workbench.example_cases import attributes, by_id, elements, words

from .conftest import QUERIES, TEXTS, finish, make_study, make_text_attempt

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
HTMX = {"HX-Request": "true"}


@pytest.fixture
def shared(attempt: Attempt, team: Any) -> Case:
    """The case, shared with the people who sign in."""
    cases.share(case=attempt.case, team=team)
    return attempt.case


def address(case: Case, name: str, *args: int) -> str:
    return reverse(name, args=[case.pk, *args])


def entered(attempt: Attempt, **changes: Any) -> dict[str, Any]:
    """The form of a new study as a browser sends it: it varies `boost`."""
    fields = {
        "attempt": attempt.number,
        "scorer": attempt.case.case_scorers.first().scorer_id,
        "trials": 30,
        "seed": 7,
        "knob.boost-varied": "on",
        "knob.boost-kind": "log",
        "knob.boost-low": "0.1",
        "knob.boost-high": "10",
        "knob.tie-kind": "linear",
        "knob.tie-low": "0",
        "knob.tie-high": "1",
    }
    return {**fields, **changes}


@pytest.fixture
def done(shared: Case, attempt: Attempt) -> Study:
    """A study that shows an improvement."""
    study = finish(make_study(attempt))
    findings.update_findings(study)
    assert study.findings["is_improvement"]
    return study


@pytest.fixture
def chosen(case: Case, team: Any) -> Study:
    """A study of a boost and a text, of which “100%” is better than the others for every query."""
    cases.share(case=case, team=team)
    study = finish(make_study(make_text_attempt(case), knobs=[parse_knob("boost=0.1:10:log"), parse_knob(TEXTS)]))
    findings.update_findings(study)
    assert study.findings["is_improvement"]
    return study


def test_list_without_studies_says_what_they_are_good_for(sign_in: Any, shared: Case) -> None:
    page = sign_in("viewer").get(address(shared, "studies")).content.decode()
    assert "on queries that did not choose them" in page
    assert 'id="new-study"' not in page
    page = sign_in("editor").get(address(shared, "studies")).content.decode()
    assert address(shared, "study_new") in page


def test_an_editor_starts_a_study(sign_in: Any, shared: Case, attempt: Attempt) -> None:
    client = sign_in("editor")
    page = client.get(address(shared, "study_new"))
    assert page.context["plan"].queries == QUERIES
    assert [knob.name for knob in page.context["form"].knobs] == ["boost", "tie"]
    response = client.post(address(shared, "study_new"), entered(attempt, **{"guard.0-max_fall": "2", "max_ms": "500"}))
    study = Study.objects.get()
    assert response.url == address(shared, "study", study.number)
    assert [str(knob) for knob in study.knobs.knobs] == ["boost=0.1:10:log"]
    assert (study.trials_wanted, study.seed, study.max_ms) == (30, 7, 500)
    assert study.guards == [{"tag": "", "max_fall": 2.0}]
    assert script_of(attempt).requests  # tasks run at once in tests


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"knob.boost-varied": ""}, "Choose at least one knob"),
        ({"knob.boost-low": "0"}, "its lowest value, 0, must be above 0"),
        ({"knob.boost-high": ""}, "Enter the highest value of boost"),
        ({"knob.boost-kind": "choices", "knob.boost-choices": "1, two"}, "boost=0.5,1,two"),
        ({"knob.boost-kind": "choices", "knob.boost-choices": "1"}, "needs 2 to 50 different values"),
        ({"trials": "1"}, "greater than or equal to 2"),
        ({"guard.0-max_fall": "101"}, "less than or equal to 100"),
    ],
)
def test_what_cannot_be_studied_is_said_before_the_start(
    sign_in: Any, shared: Case, attempt: Attempt, changes: dict[str, Any], words: str
) -> None:
    client = sign_in("editor")
    plan = client.post(address(shared, "study_plan"), entered(attempt, **changes), headers=HTMX).content.decode()
    assert words in plan and re.search(r'id="start-study"\s+disabled', plan)
    response = client.post(address(shared, "study_new"), entered(attempt, **changes))
    assert response.status_code == 422
    assert words in (page := response.content.decode())
    assert not re.search(r'id="start-study"\s+disabled', page)  # it can be sent again without JavaScript
    assert not Study.objects.exists()


def test_plan_follows_what_is_entered_and_sends_nothing(sign_in: Any, shared: Case, attempt: Attempt) -> None:
    values = {"knob.boost-kind": "choices", "knob.boost-choices": "1, 2; 5"}
    page = sign_in("editor").post(address(shared, "study_plan"), entered(attempt, **values), headers=HTMX)
    assert page.context["plan"].trials == 4
    assert f'data-requests="{4 * QUERIES}"' in page.content.decode()
    assert script_of(attempt).requests == []


def test_knob_that_changes_nothing_is_named(
    sign_in: Any, shared: Case, attempt: Attempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studies, "_find_unchanging", lambda *args: ["boost"])
    page = sign_in("editor").post(address(shared, "study_plan"), entered(attempt), headers=HTMX).content.decode()
    assert 'data-knobs="boost"' in page


def test_attempt_without_knobs_leads_to_the_editor(sign_in: Any, shared: Case, attempt: Attempt) -> None:
    shared.attempts.all().delete()
    make_attempt(shared)
    client = sign_in("editor")
    page = client.get(address(shared, "study_new")).content.decode()
    assert 'id="no-knobs"' in page and f"{address(shared, 'case')}#tune" in page
    assert "No attempt has knobs yet" in client.get(address(shared, "studies")).content.decode()


def test_page_of_a_study_with_an_improvement(sign_in: Any, done: Study, shared: Case) -> None:
    client = sign_in("editor")
    response = client.get(address(shared, "study", done.number))
    page, found = response.content.decode(), response.context["page"]
    assert 'data-improvement="yes"' in page and "study-sentence up" in page
    assert [chart.key for chart in found.responses] == [f"knob-{name}" for name, *_ in found.importance]
    assert found.findings["proposed"] == found.proposed > 0
    assert re.search(r'class="button button-primary"\s+type="submit"\s+id="adopt-proposed"', page)
    assert len(found.heat_map.rows) == len(found.heat_map.columns) == 6
    counted = sum(cell.trials for _, cells in found.heat_map.rows for cell in cells)
    assert counted == len([gain for gain in done.findings["gains"] if gain is not None])
    assert "hx-trigger" not in page.split('id="study-state"')[1].split(">")[0]
    carriers = page.split('id="study-carriers"')[1].split("</p>")[0]
    texts = [row["query"] for row, _ in found.carriers]
    assert texts == [row["query"] for row in done.findings["carriers"]] != []
    for text in texts:
        case_query = shared.case_queries.get(query__text=text)
        assert re.search(rf'href="{address(shared, "query", case_query.pk)}"\s*>{text}<', carriers)
    swapped = client.get(address(shared, "study", done.number), {"across": "boost", "down": "tie"}).context["page"]
    assert (swapped.heat_map.across, swapped.heat_map.down) == ("boost", "tie")


def test_page_of_a_study_that_chooses_between_texts(sign_in: Any, chosen: Study) -> None:
    client, url = sign_in("editor"), address(chosen.case, "study", chosen.number)
    response = client.get(url)
    charts = {chart.key: chart for chart in response.context["page"].responses}
    figure = json.loads(charts["knob-mm"].data)
    bars, dots = figure["data"]
    assert (bars["type"], figure["layout"]["xaxis"]["categoryarray"]) == ("bar", ["2<75%", "100%", "3"])
    assert set(bars["x"]) == {"2<75%", "100%", "3"} == set(dots["x"])
    assert figure["layout"]["shapes"][0]["x0"] == 0  # of the attempt
    assert "the mean is highest with 100%" in charts["knob-mm"].text
    heat_map = response.context["page"].heat_map
    assert (heat_map.columns if heat_map.across == "mm" else [label for label, _ in heat_map.rows[::-1]]) == [
        "2<75%",
        "100%",
        "3",
    ]
    assert '<td class="num">100%</td>' in response.content.decode()
    row = words(elements(by_id(response, "study-settings"), **{"data-setting": "mm"})[0])
    assert row.startswith("mm 2<75% 100% ")
    client.post(address(chosen.case, "study_adopt", chosen.number), {"trial": chosen.findings["proposed"]})
    assert chosen.made_attempts.get().attempt.knobs["mm"] == "100%"


def test_form_offers_the_texts_that_are_usual(sign_in: Any, chosen: Study) -> None:
    client = sign_in("editor")
    page = client.get(address(chosen.case, "study_new"))
    forms = {form.name: form for form in page.context["form"].knobs}
    assert forms["mm"]["choices"].value() == "1, 2<75%, 75%, 100%"
    fields = {"knob.mm-varied": "on", "knob.mm-kind": "choices", "knob.mm-choices": "2<75%, 90%"}
    client.post(address(chosen.case, "study_new"), entered(chosen.parent, **fields))
    study = chosen.case.studies.get(number=2)
    assert [str(knob) for knob in study.knobs.knobs] == ["boost=0.1:10:log", "mm=2<75%,90%"]


def test_tags_are_shown_with_their_correction(sign_in: Any, done: Study, shared: Case) -> None:
    shared.book.queries.update(tags=["all"])
    shared.book.queries.filter(text="query 1").update(tags=["all", "one"])
    found = findings.update_findings(done)
    page = sign_in("viewer").get(address(shared, "study", done.number))
    rows = [words(row) for row in elements(by_id(page, "study-tags"), _name="tr")][1:]
    assert rows[0].startswith(f"all {QUERIES} ") and "too few queries to tell" not in rows[0]
    assert rows[1].startswith("one 1 ") and "too few queries to tell" in rows[1]
    assert words(by_id(page, "study-tag-sentence")) == found["tag_sentence"]
    assert page.context["page"].tag_correction in page.content.decode().replace("&#x27;", "'")


def test_improvement_becomes_an_attempt_once(sign_in: Any, done: Study, shared: Case) -> None:
    client = sign_in("editor")
    trial = done.findings["proposed"]
    for _ in range(2):
        response = client.post(address(shared, "study_adopt", done.number), {"trial": trial})
        made = done.made_attempts.get()
        assert response.url == f"{address(shared, 'case')}?attempt={made.attempt.number}#tune"
    page = client.get(address(shared, "study", done.number)).content.decode()
    assert f"?attempt={made.attempt.number}#tune" in page
    assert 'id="adopt-proposed"' not in page
    assert client.post(address(shared, "study_adopt", done.number), {"trial": 9999}).status_code == 404


def test_without_an_improvement_nothing_is_green(sign_in: Any, done: Study, shared: Case) -> None:
    Study.objects.filter(pk=done.pk).update(
        findings={**done.findings, "is_improvement": False, "proposed": 0, "sentence": "No improvement shown: 0.1."}
    )
    page = sign_in("editor").get(address(shared, "study", done.number)).content.decode()
    main = page.split('<main class="page study-page"')[1].split("</main>")[0]
    assert "button-primary" not in main
    assert 'data-improvement="no"' in main and "study-sentence up" not in main
    assert 'id="adopt-chosen"' in main


def test_viewer_sees_a_study_and_no_buttons(sign_in: Any, done: Study, shared: Case) -> None:
    client = sign_in("viewer")
    page = client.get(address(shared, "study", done.number)).content.decode()
    assert 'id="study-trials"' in page
    for name in ("study_continue", "study_delete", "study_adopt"):
        assert address(shared, name, done.number) not in page
        assert client.post(address(shared, name, done.number)).status_code == 403


def test_study_is_stopped_continued_and_deleted(sign_in: Any, shared: Case, attempt: Attempt) -> None:
    client, study = sign_in("editor"), make_study(attempt)
    page = client.get(address(shared, "study", study.number)).content.decode()
    assert 'id="stop-study"' in page and "part=state" in page and "part=charts" in page
    assert client.post(address(shared, "study_delete", study.number)).status_code == 302
    assert Study.objects.filter(pk=study.pk).exists()  # it is active
    client.post(address(shared, "study_stop", study.number))
    study = finish(study)
    assert study.status == Study.Status.STOPPED
    client.post(address(shared, "study_continue", study.number), {"more": "5"})
    study.refresh_from_db()
    assert (study.trials_wanted, study.status, study.trials.count()) == (35, Study.Status.COMPLETE, 35)
    assert "cannot be undone" in client.get(address(shared, "study_delete", study.number)).content.decode()
    client.post(address(shared, "study_delete", study.number))
    assert not Study.objects.exists()


def test_part_of_a_study_that_has_ended_loads_the_page_again(sign_in: Any, done: Study, shared: Case) -> None:
    url = address(shared, "study", done.number)
    response = sign_in("viewer").get(url, {"part": "state"}, headers=HTMX)
    assert response["HX-Refresh"] == "true"


def test_failed_study_says_why(sign_in: Any, shared: Case, attempt: Attempt) -> None:
    study = make_study(attempt)
    Study.objects.filter(pk=study.pk).update(status=Study.Status.FAILED, reason="The engine <b>refused</b>.")
    page = sign_in("editor").get(address(shared, "study", study.number)).content.decode()
    assert "The engine &lt;b&gt;refused&lt;/b&gt;." in page
    assert 'id="continue-study"' in page


def test_a_used_budget_offers_more_trials_instead_of_going_on(sign_in: Any, shared: Case, attempt: Attempt) -> None:
    study = finish(make_study(attempt, max_requests=200))
    made, client, url = study.trials.count(), sign_in("editor"), address(shared, "study", study.number)
    response = client.get(url)
    assert attributes(by_id(response, "more-trials"))["value"] == str(30 - made)
    assert by_id(response, "budget-used") and b'id="continue-study"' not in response.content
    client.post(address(shared, "study_continue", study.number), {"more": str(30 - made)})
    study.refresh_from_db()
    assert (study.status, study.trials.count(), study.max_requests) == (Study.Status.COMPLETE, 30, None)


def test_given_up_trials_that_could_win_are_searched_again_by_a_button(sign_in: Any, done: Study, shared: Case) -> None:
    client, url = sign_in("editor"), address(shared, "study", done.number)
    assert 'id="continue-study"' not in client.get(url).content.decode()
    Study.objects.filter(pk=done.pk).update(findings={**done.findings, "could_return": 3})
    page = client.get(url).content.decode()
    assert "3 trials that were given up could win" in page and 'id="continue-study"' in page
    client.post(address(shared, "study_continue", done.number))
    page = client.get(url).content.decode()
    assert 'id="could-return"' not in page and 'id="continue-study"' not in page


def test_new_ratings_are_computed_and_announced(sign_in: Any, done: Study, shared: Case, monkeypatch: Any) -> None:
    sent: list[int] = []
    monkeypatch.setattr("relevancy.tasks.send", lambda task, study_id: sent.append(study_id))
    rate_all(shared, {"query 1": {"other-3": 2}}, shared.owner)
    page = sign_in("viewer").get(address(shared, "study", done.number)).content.decode()
    assert 'data-notice="outdated"' in page and "part=state" in page
    assert sent == [done.pk]


def test_what_came_of_estimates_is_shown(sign_in: Any, done: Study, shared: Case) -> None:
    url = address(shared, "study", done.number)
    assert 'id="study-estimated"' not in sign_in("viewer").get(url).content.decode()
    done.trials.filter(number=29).update(origin="estimated")
    proposals = [{"settings": done.trials.get(number=29).settings, "gain": 12.34}]
    estimated = {
        "first": 29,
        "proposals": proposals,
        "settings": 12_345,
        "repeated": 0.987,
        "rankings": 840,
        "refusal": "",
    }
    Study.objects.filter(pk=done.pk).update(estimates=True, estimated=estimated)
    page = sign_in("viewer").get(url, {"sort": "number"}).content.decode()
    assert re.search(r'id="study-estimated">12,345 [^<]* 1 [^<]* 98\.7% [^<]* 840', page)
    assert re.search(r'data-estimate="29">\(\s*\+12\.3\s*\)', page)
    assert 'id="study-estimates"' not in page
    others = [
        {"settings": {"boost": 3.5, "tie": 0.5}, "gain": 20.04},
        {"settings": {"boost": 2.5, "tie": 0.25}, "gain": 1},
    ]
    Study.objects.filter(pk=done.pk).update(estimated={**estimated, "best": [others[0], *proposals, others[1]]})
    response = sign_in("viewer").get(url)
    rows = elements(by_id(response, "study-estimates"), _name="tr")[1:]
    assert [words(rows[0]), words(rows[2])] == ["+20.0 3.5 0.5 estimated", "+1.0 2.5 0.25 estimated"]
    assert words(rows[1]).endswith("searched as trial 29")
    figure = json.loads(response.context["page"].responses[0].data)
    diamonds = (
        [trace for trace in figure["data"] if trace.get("marker", {}).get("symbol") == "diamond-open"] if figure else []
    )
    assert [trace["y"] for trace in diamonds] == [[20.04, 1]]
    estimated = {**estimated, "proposals": [None], "refusal": "Only 40% are sums."}
    Study.objects.filter(pk=done.pk).update(estimated=estimated)
    page = sign_in("viewer").get(url, {"sort": "number"}).content.decode()
    assert "Only 40% are sums." in page
    assert "data-estimate" not in page


def test_an_editor_asks_for_estimates(sign_in: Any, shared: Case, attempt: Attempt) -> None:
    client = sign_in("editor")
    response = client.post(address(shared, "study_new"), entered(attempt, estimates="on"))
    assert response.status_code == 422
    assert response.context["form"].has_more_errors()
    assert "does not explain scores" in response.content.decode()
    assert not Study.objects.exists()


def test_trials_are_listed_best_first_or_by_number(sign_in: Any, done: Study, shared: Case) -> None:
    client, url = sign_in("viewer"), address(shared, "study", done.number)
    best = [row["gain"] for row in client.get(url).context["page"].trials if not row["state"]]
    assert best == sorted(best, reverse=True)
    numbers = [row["trial"].number for row in client.get(url, {"sort": "number"}).context["page"].trials]
    assert numbers == list(range(30))


def test_list_names_each_study_with_its_sentence(sign_in: Any, done: Study, shared: Case, attempt: Attempt) -> None:
    make_study(attempt)
    page = sign_in("viewer").get(address(shared, "studies")).content.decode()
    assert re.findall(r'data-study="(\d+)" data-status="(\w+)"', page) == [("2", "waiting"), ("1", "complete")]
    assert done.findings["sentence"].replace("’", "&#x27;") in page
    assert 'hx-trigger="load delay:3s"' in page
