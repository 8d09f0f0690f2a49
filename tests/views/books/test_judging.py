"""The page on which a book's judging is set: one form, with a preview of what changes grades."""

import pytest
from django.urls import reverse

from relevancy import books, scores
from relevancy.models import Book, Case, JudgingQueue, Rating, ScorerVersion
from tests.factories import make_attempt, make_case, rate_all, run_now, stored_case_scores
from tests.views.workbench.example_cases import SCRIPT, make_workbench_case

pytestmark = pytest.mark.django_db
RATINGS = {"query 1": {"a": 3, "b": 1, "c": 2}, "query 2": {"b": 2, "x": 0}}
SETTINGS = {
    "depth": "10",
    "ratings_per_pair": "1",
    "order": "query",
    "repeat_share": "0",
    "guidelines": "",
    "rule": "latest",
    "scale": "0:3",
    "relevant_from": "1",
    "ratings": "keep",
}


@pytest.fixture
def case(people, team, script):
    return make_workbench_case(people, team, 2, RATINGS)


def at(case, name="book_judging"):
    return reverse(name, args=[case.book_id])


def previewed(response):
    """What the form of a preview sends besides its fields."""
    grades = response.context["grades"]
    rows = {row.name: f"{row.new_value:.17g}" for row in grades.rows}
    return {"previewed": grades.token, "seen": grades.seen_text, "mapped_for": grades.cleaned_data["scale"], **rows}


def test_page_is_for_editors_and_old_addresses_lead_to_it(sign_in, case):
    response = sign_in("editor").get(at(case))
    assert (response.status_code, response.context["preview"]) == (200, None)
    assert response.context["grades"]["scale"].value() == "0:3"
    assert at(case) in sign_in("editor").get(at(case, "book")).content.decode()
    assert at(case) not in sign_in("rater").get(at(case, "book")).content.decode()
    for old in ("change", "settings"):
        response = sign_in("editor").get(f"/books/{case.book_id}/{old}/")
        assert (response.status_code, response.url) == (302, at(case))


def test_settings_are_changed_and_choose_the_documents_again(sign_in, case):
    changes = {"depth": "2", "ratings_per_pair": "2", "order": "rank", "guidelines": "**3** is perfect", "rule": "mean"}
    response = sign_in("editor").post(at(case), {**SETTINGS, **changes})
    assert (response.status_code, response.url) == (302, at(case))
    queue, book = JudgingQueue.objects.get(), Book.objects.get(pk=case.book_id)
    assert (queue.depth, queue.ratings_per_pair, queue.order, queue.pair_count, book.rule) == (2, 2, "rank", 4, "mean")
    page = sign_in("viewer").get(at(case, "book")).content.decode()
    assert "<strong>3</strong> is perfect" in page
    assert "2 raters rate each document; the mean of all ratings counts." in page


def test_guidelines_alone_do_not_choose_the_documents_again(sign_in, case):
    client = sign_in("editor")
    client.get(at(case, "book"))
    before = JudgingQueue.objects.get().built_at
    assert client.post(at(case), {**SETTINGS, "guidelines": "New"}).status_code == 302
    assert (JudgingQueue.objects.get().built_at, Book.objects.get(pk=case.book_id).guidelines) == (before, "New")


def test_several_ratings_ask_for_a_rule_that_uses_them(sign_in, case):
    client = sign_in("editor")
    several = {**SETTINGS, "ratings_per_pair": "3"}
    part = client.post(at(case), {**several, "do": "rule"}, headers={"HX-Request": "true"})
    assert part.context["grades"]["rule"].value() == "median"
    assert 'id="rule-asked"' in part.content.decode()
    response = client.post(at(case), several)
    assert (response.status_code, response.context["grades"]["rule"].value()) == (422, "median")
    assert not JudgingQueue.objects.filter(ratings_per_pair=3).exists()
    assert client.post(at(case), {**several, "rule": "median", "rule_asked": "1"}).status_code == 302
    assert (Book.objects.get(pk=case.book_id).rule, JudgingQueue.objects.get().ratings_per_pair) == ("median", 3)
    assert (
        client.post(at(case), {**several, "ratings_per_pair": "2", "seen": ""}).status_code == 302
    )  # it was asked before


def test_the_latest_rating_can_be_chosen_after_it_was_asked_for(sign_in, case):
    chosen = {**SETTINGS, "ratings_per_pair": "3", "rule_asked": "1"}
    assert sign_in("editor").post(at(case), chosen).status_code == 302
    assert Book.objects.get(pk=case.book_id).rule == "latest"


def test_a_scale_of_two_grades_takes_the_majority(sign_in, case):
    Book.objects.filter(pk=case.book_id).update(scale=[[0, ""], [3, ""]])
    part = sign_in("editor").post(at(case), {**SETTINGS, "ratings_per_pair": "3", "do": "rule"})
    assert part.context["grades"]["rule"].value() == "majority"


def test_phrases_become_labels_of_the_scale(sign_in, case):
    phrases = {"phrase_0": "no, really", "phrase_1": "", "phrase_2": "", "phrase_3": "yes"}
    client = sign_in("editor")
    assert client.post(at(case), {**SETTINGS, **phrases}).status_code == 302
    scale = [[0, "no, really"], [1, ""], [2, ""], [3, "yes"]]
    assert Book.objects.get(pk=case.book_id).scale == scale
    assert client.post(at(case), {**SETTINGS, "rule": "mean"}).status_code == 302
    assert Book.objects.get(pk=case.book_id).scale == scale


def test_a_starter_adds_guidelines_and_the_phrases_that_are_missing(sign_in, case):
    sent = {**SETTINGS, "guidelines": "Mine.", "phrase_3": "Great", "do": "starter", "starter": "0–3"}
    part = sign_in("editor").post(at(case), sent, headers={"HX-Request": "true"})
    starter = next(starter for starter in books.STARTERS if starter.name == "0–3")
    assert part.context["form"]["guidelines"].value() == f"Mine.\n\n{starter.guidelines}"
    assert [field.value() for _, field in part.context["grades"].phrases] == [
        "Not relevant",
        "Hardly relevant",
        "Relevant",
        "Great",
    ]
    assert part.content.decode().count("data-js") == 1  # only the one that fits
    assert Book.objects.get(pk=case.book_id).guidelines == ""


@pytest.mark.parametrize("starter", books.STARTERS, ids=lambda starter: starter.name)
def test_starters_fit_the_scale_that_they_are_named_after(starter):
    lowest, top = (int(grade) for grade in starter.name.split("–"))
    grades = [float(grade) for grade in range(lowest, top + 1)]
    assert starter.fits(grades) and not starter.fits([*grades, top + 1.0])
    assert {grade for grade, _ in starter.phrases} <= set(grades)


def test_editors_let_raters_judge_what_changes_a_comparison_most(sign_in, case):
    first = case.runs.get()
    second = run_now(case.attempts.get())
    version = ScorerVersion.objects.used_by(case)[0]
    chosen = {"order": "difference", "run_a": first.pk, "run_b": second.pk, "version": version.pk}
    client = sign_in("editor")
    offered = client.get(at(case), chosen).context["form"]
    assert offered.is_by_difference
    assert [int(field.value()) for field in offered.compared_fields] == [first.pk, second.pk, version.pk]
    assert client.get(at(case, "book"), chosen).url.startswith(f"{at(case)}?order=difference")
    refused = client.post(at(case), {**SETTINGS, **chosen, "run_b": ""})
    assert (refused.status_code, list(refused.context["form"].errors)) == (422, ["run_a"])
    assert client.post(at(case), {**SETTINGS, **chosen}).status_code == 302
    queue = JudgingQueue.objects.get()
    assert (queue.run_a, queue.run_b, queue.version, queue.order) == (first, second, version, "difference")
    assert "can change the comparison" in client.get(at(case)).content.decode()
    assert client.post(at(case), SETTINGS).status_code == 302
    assert JudgingQueue.objects.get().order == "query"


def test_runs_of_cases_that_one_cannot_edit_are_not_offered(sign_in, case):
    other = make_case(1, book_of=case)
    foreign = run_now(make_attempt(other))
    chosen = {
        "order": "difference",
        "run_a": case.runs.get().pk,
        "run_b": foreign.pk,
        "version": "99999999999999999999",
    }
    response = sign_in("editor").post(at(case), {**SETTINGS, **chosen})
    assert (response.status_code, set(response.context["form"].errors)) == (422, {"run_b", "version"})


@pytest.mark.parametrize(
    "wrong", [{"depth": "0"}, {"ratings_per_pair": "99"}, {"order": "x"}, {"guidelines": "x" * 20_001}]
)
def test_wrong_settings_change_nothing_and_are_kept_in_the_form(sign_in, case, wrong):
    response = sign_in("editor").post(at(case), {**SETTINGS, "rule": "mean", **wrong})
    assert response.status_code == 422
    assert list(response.context["form"].errors) == list(wrong)
    book = Book.objects.get(pk=case.book_id)
    assert (book.guidelines, book.rule) == ("", "latest")


def test_hostile_guidelines_are_shown_and_not_obeyed(sign_in, case):
    books.change_book(book=case.book, guidelines=f"{SCRIPT}\n\n<img src=x onerror=alert(1)>\n\n[a](javascript:b)")
    page = sign_in("viewer").get(at(case, "book")).content.decode()
    assert "&lt;img src=x onerror=alert(1)&gt;" in page
    assert SCRIPT not in page
    assert 'href="javascript' not in page


# --- what changes grades ---


def test_preview_shows_scores_and_changes_nothing(sign_in, people, case):
    scores.rescore_case(Case.objects.get(pk=case.pk), seconds=60)
    now = {name: row[0] for name, row in stored_case_scores(case.runs.get()).items()}
    changes = {"scale": "0 no, 1 yes", "relevant_from": "", "ratings": "map", "guidelines": "Later"}
    response = sign_in("editor").post(at(case), {**SETTINGS, **changes})
    assert response.status_code == 200
    preview = response.context["preview"]
    assert {row.version.scorer.name: row.before for row in preview.case_scores} == now
    assert [(row.value, row.new_value) for row in response.context["grades"].rows] == [(0, 0), (1, 0), (2, 1), (3, 1)]
    assert "0, 1 all become 0; 2, 3 all become 1" in preview.merged_text
    page = response.content.decode()
    assert 'id="merged"' in page
    assert f'data-changed="{preview.changed}"' in page
    assert preview.changed == 4
    book = Book.objects.get(pk=case.book_id)
    assert (book.top, book.guidelines) == (3, "")


def test_a_rule_that_changes_a_grade_is_previewed(sign_in, people, case):
    rate_all(case, {"query 1": {"a": 0}}, people["rater"])
    client = sign_in("editor")
    shown = client.post(at(case), {**SETTINGS, "rule": "mean"})
    assert (shown.status_code, shown.context["preview"].changed) == (200, 1)
    assert Book.objects.get(pk=case.book_id).rule == "latest"
    assert client.post(at(case), {**SETTINGS, "rule": "mean", **previewed(shown)}).status_code == 302
    assert Book.objects.get(pk=case.book_id).rule == "mean"


def test_chosen_grades_are_kept_until_the_scale_is_another(sign_in, case):
    chosen = {"scale": "0:4", "relevant_from": "", "ratings": "map", "to_3": "2", "to_2": "4", "to_1": "1", "to_0": "0"}
    client = sign_in("editor")
    response = client.post(at(case), {**SETTINGS, **chosen, "mapped_for": "0:4"})
    assert [row.new_value for row in response.context["grades"].rows] == [0, 1, 4, 2]
    response = client.post(at(case), {**SETTINGS, **chosen, "mapped_for": "0:2"})
    assert [row.new_value for row in response.context["grades"].rows] == [0, 1, 3, 4]


def test_what_was_previewed_is_applied_and_rescored(sign_in, case):
    client = sign_in("editor")
    changes = {**SETTINGS, "scale": "0 no, 1 yes", "relevant_from": "", "ratings": "map"}
    shown = client.post(at(case), changes)
    values = {**changes, **previewed(shown)}
    refused = client.post(at(case), values)
    assert (refused.status_code, list(refused.context["grades"].errors)) == (422, ["can_merge_grades"])
    assert refused.context["preview"] is not None
    assert Book.objects.get(pk=case.book_id).top == 3
    other = client.post(at(case), {**values, "can_merge_grades": "on", "to_1": "1"})
    assert (other.status_code, other.context["preview"] is not None) == (422, True)  # not what was shown
    response = client.post(at(case), {**values, "can_merge_grades": "on"})
    assert (response.status_code, response.url) == (302, at(case))
    book = Book.objects.get(pk=case.book_id)
    assert (book.scale, book.relevant_from) == ([[0, "no"], [1, "yes"]], 1)
    assert sorted(Rating.objects.values_list("value", flat=True)) == [0, 0, 1, 1, 1]
    then = {row.version.scorer.name: row.after for row in shown.context["preview"].case_scores}
    assert {name: row[0] for name, row in stored_case_scores(case.runs.get()).items()} == then  # by the task


def test_a_form_of_former_settings_is_refused(sign_in, case):
    client = sign_in("editor")
    seen = client.get(at(case)).context["grades"].seen_text
    Book.objects.filter(pk=case.book_id).update(rule="median")
    response = client.post(at(case), {**SETTINGS, "guidelines": "New", "seen": seen})
    assert response.status_code == 422
    assert "meanwhile" in response.content.decode()
    book = Book.objects.get(pk=case.book_id)
    assert (book.rule, book.guidelines) == ("median", "")


def test_a_copy_is_created_beside_the_book(sign_in, people, case):
    client = sign_in("editor")
    changes = {**SETTINGS, "scale": "0:6", "relevant_from": "", "ratings": "map"}
    values = {**changes, **previewed(client.post(at(case), changes))}
    assert client.post(at(case), {**values, "do": "copy"}).status_code == 422
    response = client.post(at(case), {**values, "do": "copy", "name": "Finer"})
    copy = Book.objects.get(name="Finer")
    assert response.url == reverse("book", args=[copy.pk])
    assert (copy.owner, copy.top, Book.objects.get(pk=case.book_id).top) == (people["editor"], 6, 3)
    assert client.get(response.url).status_code == 200


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"scale": "3"}, "scale"),
        ({"scale": "0:1"}, "scale"),
        ({"scale": ""}, "scale"),
        ({"rule": "best"}, "rule"),
        ({"relevant_from": "7"}, "relevant_from"),
        ({"relevant_from": "nan"}, "relevant_from"),
        ({"scale": "0:2", "relevant_from": "", "ratings": "map", "mapped_for": "0:2", "to_3": "9"}, "scale"),
    ],
)
def test_wrong_scales_and_rules_have_no_preview(sign_in, case, wrong, field):
    response = sign_in("editor").post(at(case), {**SETTINGS, **wrong})
    assert (response.status_code, list(response.context["grades"].errors)) == (422, [field])
    assert 'id="preview"' not in response.content.decode()


def test_quepids_rule_warns(sign_in, case):
    case.book.rule = "quepid"
    case.book.save()
    client = sign_in("editor")
    assert 'id="rule-warning"' in client.get(at(case)).content.decode()
    part = client.post(at(case), {**SETTINGS, "rule": "mean", "do": "rule"})
    assert 'id="rule-warning"' not in part.content.decode()
