"""Sealed queries: no study searches them, and they are opened once for each study."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from relevancy import books, cases, engines, queries
from relevancy.formats import BadFile, parse_case
from relevancy.models import Activity, Attempt, Case, CaseQuery, Query
from relevancy.optional.studies import findings, sealed_queries, studies
from relevancy.optional.studies import tasks as study_tasks
from relevancy.optional.studies.models import SealedOpening, Study, StudyAnswer
from tests.factories import make_case, make_user, query_of, rate_all, script_of
from tests.formats.relevancy_files import CASE, as_file
from tests.formats.test_relevancy_file import exported, imported

from .conftest import KNOBS, QUERIES, finish, make_study, rank_of_good, search

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
SEALED = 24
TEXTS = [f"query {number}" for number in range(QUERIES + 1, QUERIES + SEALED + 1)]


@pytest.fixture
def case() -> Case:
    """A case whose last queries are sealed."""
    ratings = {f"query {number}": {"good": 3, "other-0": 0} for number in range(1, QUERIES + SEALED + 1)}
    case = make_case(QUERIES + SEALED, ratings, measures=("RR@10",))
    seal(case, TEXTS)
    return case


def seal(case: Case, texts: list[str], tag: str = "final") -> None:
    Query.objects.filter(book=case.book, text__in=texts).update(tags=[tag])
    sealed_queries.set_tag(case=case, tag=tag, by=case.owner)


def complete(attempt: Attempt, **changes: Any) -> Study:
    study = finish(make_study(attempt, **changes))
    findings.update_findings(study)
    return study


def open_sealed(study: Study) -> SealedOpening:
    """Opens the sealed queries, and searches them."""
    study = Study.objects.select_related("case", "parent__endpoint", "version__scorer").get(pk=study.pk)
    studies.open_sealed(study=study, by=study.case.owner)
    finish(study)
    return SealedOpening.objects.get(study=study)


def gain_of(texts: list[str], study: Study, trial: int) -> float:
    """The mean difference in points, from the ranks that the engine gives."""
    settings = study.trials.get(number=trial).settings
    gains = [1 / rank_of_good(text, settings) - 1 / rank_of_good(text, study.parent_settings) for text in texts]
    return 100 * sum(gains) / len(texts)


def test_no_study_searches_sealed_queries(attempt: Attempt) -> None:
    study = complete(attempt)
    assert {request.query for request in script_of(attempt).requests}.isdisjoint(TEXTS)
    assert (len(study.query_ids), len(study.sealed_query_ids), study.sealed_tag) == (QUERIES, SEALED, "final")
    assert study.findings["queries"] == QUERIES
    assert "final" not in [row["tag"] for row in study.findings["tags"]]
    with pytest.raises(ValidationError, match="tag “final”"):
        make_study(attempt, guards=[{"tag": "final", "max_fall": 1}])
    assert Activity.objects.filter(case=attempt.case, verb=sealed_queries.SEALED).count() == 1


def test_variants_of_a_sealed_query_are_sealed_too(case: Case, attempt: Attempt) -> None:
    queries.link(queries=[query_of(case, "query 1"), query_of(case, TEXTS[0])])
    study = make_study(attempt)
    assert query_of(case, "query 1").pk in study.sealed_query_ids
    assert len(study.query_ids) == QUERIES - 1
    assert study.units is None
    assert study.sealed_units[0] == study.sealed_units[1] == 0
    assert len(set(study.sealed_units)) == SEALED
    opening = open_sealed(complete(attempt))
    assert (opening.result["queries"], opening.result["units"]) == (SEALED + 1, SEALED)


def test_too_few_queries_besides_the_sealed_ones(case: Case, attempt: Attempt) -> None:
    seal(case, [f"query {number}" for number in range(20, QUERIES + SEALED + 1)])
    with pytest.raises(ValidationError, match=r"19 queries .* besides 35 sealed ones; a study needs 20"):
        make_study(attempt)


def test_only_tags_of_the_case_are_sealed(case: Case) -> None:
    with pytest.raises(ValidationError, match="No query of the case has the tag “gone”"):
        sealed_queries.set_tag(case=case, tag="gone", by=case.owner)
    sealed_queries.set_tag(case=case, tag="", by=case.owner)
    assert sealed_queries.find_sealed(case) == set()


def test_opening_shows_what_the_chosen_setting_gains_on_queries_that_nothing_has_seen(attempt: Attempt) -> None:
    study = complete(attempt)
    script = script_of(attempt)
    script.requests.clear()
    opening = open_sealed(study)
    result = opening.result
    assert opening.trial == study.findings["proposed"]
    assert result["difference"] == pytest.approx(gain_of(TEXTS, study, opening.trial))
    assert 0 < result["low"] < result["difference"] < result["high"]
    assert (result["queries"], result["left_out"], result["verdict"]) == (SEALED, 0, "better")
    assert result["sentence"].startswith(
        f"Trial {opening.trial} is better than attempt {attempt.number} on {SEALED} sealed"
    )
    assert sorted(request.query for request in script.requests) == sorted(TEXTS * 2)
    study.refresh_from_db()
    assert study.status == Study.Status.COMPLETE
    assert (opening.opened_by, opening.searched_by, opening.unsealed) == (attempt.case.owner, [], 0)
    assert Activity.objects.filter(case=attempt.case, verb=studies.OPENED).count() == 1


def test_opening_again_searches_nothing(attempt: Attempt) -> None:
    study = complete(attempt)
    opening = open_sealed(study)
    sent = len(script_of(attempt).requests)
    assert studies.open_sealed(study=study, by=attempt.case.owner, trial=3) == opening
    finish(study)
    assert len(script_of(attempt).requests) == sent
    assert SealedOpening.objects.count() == 1


def test_ratings_made_later_change_the_result_of_an_opening_without_the_engine(attempt: Attempt) -> None:
    study = complete(attempt)
    before = open_sealed(study).result
    sent = len(script_of(attempt).requests)
    rate_all(attempt.case, {text: {"good": 0, "other-0": 3} for text in TEXTS}, attempt.case.owner)
    study = finish(study)
    assert study_tasks.enqueue_if_outdated(study)
    after = SealedOpening.objects.get(study=study).result
    assert after["difference"] < before["difference"]
    assert after["parent_score"] == pytest.approx(100)
    assert len(script_of(attempt).requests) == sent


def test_what_cannot_be_opened(case: Case, attempt: Attempt) -> None:
    study = complete(attempt)
    other = next(
        number for number in range(1, 30) if number not in (study.findings["winner"], study.findings["choice"])
    )
    with pytest.raises(ValidationError, match=f"not for trial {other}"):
        studies.open_sealed(study=study, by=case.owner, trial=other)
    study.findings |= {"winner": 0, "choice": 0}
    with pytest.raises(ValidationError, match="No setting is better"):
        studies.open_sealed(study=study, by=case.owner)
    waiting = make_study(attempt)
    with pytest.raises(ValidationError, match="Study 2 is waiting"):
        studies.open_sealed(study=waiting, by=case.owner)
    sealed_queries.set_tag(case=case, tag="", by=case.owner)
    unsealed = complete(attempt)
    with pytest.raises(ValidationError, match="No queries were sealed when Study 3 started"):
        studies.open_sealed(study=unsealed, by=case.owner)
    assert not SealedOpening.objects.exists()


def test_an_engine_that_fails_at_the_opening_is_asked_only_for_the_rest(attempt: Attempt) -> None:
    study = complete(attempt)
    script = script_of(attempt)
    script.requests.clear()

    def answer(request: engines.Request) -> Any:
        if len(script.requests) > 30:
            return engines.EndpointUnreachable("The engine is down.")
        return search(request)

    script.default = answer
    opening = open_sealed(study)
    study.refresh_from_db()
    assert (study.status, opening.finished_at, opening.result) == (Study.Status.FAILED, None, {})
    assert "The engine is down." in study.reason
    first = len(study.query_ids)
    answered = StudyAnswer.objects.filter(study=study, position__gte=first).count()
    assert answered >= 20
    script.default = search
    script.requests.clear()
    studies.go_on(study=study, by=attempt.case.owner)
    assert finish(study).status == Study.Status.COMPLETE
    opening.refresh_from_db()
    assert len(script.requests) == 2 * SEALED - answered
    assert opening.result["difference"] == pytest.approx(gain_of(TEXTS, study, opening.trial))


def test_queries_that_are_gone_refused_or_unsealed(case: Case, attempt: Attempt) -> None:
    study = complete(attempt)
    CaseQuery.objects.filter(case=case, query__text=TEXTS[0]).update(removed_at=timezone.now())
    script_of(attempt).answers[TEXTS[1]] = engines.BadQuery("It does not like this.")
    Query.objects.filter(book=case.book, text=TEXTS[2]).update(tags=[])
    later = complete(attempt)
    assert query_of(case, TEXTS[2]).pk in later.query_ids
    opening = open_sealed(study)
    assert (opening.result["queries"], opening.result["left_out"]) == (SEALED - 2, 2)
    assert (opening.unsealed, opening.searched_by) == (2, [later.number])
    assert opening.result["difference"] == pytest.approx(gain_of(TEXTS[2:], study, opening.trial))
    said = " ".join(sealed_queries.describe_changes(opening))
    assert f"Study {later.number} searched some of these queries" in said
    assert "2 queries that were sealed" in said
    assert "2 queries are left out" in said


def test_openings_are_counted_by_tag_and_stay_when_studies_are_deleted(case: Case, attempt: Attempt) -> None:
    first = complete(attempt)
    open_sealed(first)
    open_sealed(complete(attempt, seed=5))
    seal(case, ["query 1", "query 2"], "other")
    open_sealed(complete(attempt))
    studies.delete(study=first, by=case.owner)
    assert sealed_queries.count_openings(case) == {"final": 2, "other": 1}
    kept = case.sealed_openings.get(study=None)
    assert (kept.study_number, kept.result["queries"]) == (first.number, SEALED)
    said = sealed_queries.describe_openings(case)
    assert "tagged “final” were opened 2 times" in said[0]
    assert "tagged “other” were opened once" in said[1]


def test_few_sealed_queries_decide_nothing(case: Case, attempt: Attempt) -> None:
    seal(case, TEXTS[:1], "one")
    result = open_sealed(complete(attempt)).result
    assert (result["queries"], result["low"], result["verdict"]) == (1, None, "too few queries to tell")
    assert result["sentence"].startswith("Too few sealed queries to tell")


def test_books_that_are_merged_take_the_sealed_queries_along(attempt: Attempt) -> None:
    study = complete(attempt)
    other = make_case(QUERIES + 3, owner=attempt.case.owner)
    books.merge_books(book=other.book, other=attempt.case.book, by=attempt.case.owner)
    assert open_sealed(study).result["queries"] == SEALED


# --- interfaces ---


@pytest.fixture
def shared(case: Case, team: Any) -> Case:
    """The case, shared with the people who sign in."""
    cases.share(case=case, team=team)
    return case


def test_editor_seals_queries_on_a_page_that_viewers_read(sign_in: Any, shared: Case) -> None:
    url = reverse("sealed_queries", args=[shared.pk])
    page = sign_in("viewer").get(url).content.decode()
    assert f'data-count="{SEALED}"' in page and "<select" not in page
    editor = sign_in("editor")
    assert editor.post(url, {"tag": "gone"}).status_code == 422
    Query.objects.filter(book=shared.book, text="query 1").update(tags=["rest"])
    assert editor.post(url, {"tag": "rest"}).status_code == 302
    assert 'data-count="1"' in editor.get(url).content.decode()
    editor.post(url, {"tag": ""})
    assert sealed_queries.read_tag(shared) == ""


def test_page_of_a_study_opens_them_once_and_counts_for_ever(sign_in: Any, shared: Case, attempt: Attempt) -> None:
    study, other = complete(attempt), complete(attempt, seed=5)
    url = reverse("study", args=[shared.pk, study.number])
    client = sign_in("editor")
    page = client.get(url).content.decode()
    assert 'id="open-sealed"' in page and "data-openings" not in page
    assert sign_in("viewer").post(reverse("study_open_sealed", args=[shared.pk, study.number])).status_code == 403
    assert 'id="open-sealed"' not in sign_in("viewer").get(url).content.decode()
    for _ in range(2):
        client = sign_in("editor")
        assert client.post(reverse("study_open_sealed", args=[shared.pk, study.number])).status_code == 302
        page = client.get(url).content.decode()
        assert 'data-verdict="better"' in page and f'data-queries="{SEALED}"' in page
        assert 'id="open-sealed"' not in page
    assert SealedOpening.objects.count() == 1
    beside = sign_in("viewer").get(reverse("study", args=[shared.pk, other.number])).content.decode()
    assert "were opened once" in beside
    listed = sign_in("viewer").get(reverse("sealed_queries", args=[shared.pk])).content.decode()
    assert f'data-opening="{study.number}"' in listed


def test_opening_that_has_failed_is_continued(sign_in: Any, shared: Case, attempt: Attempt) -> None:
    study = complete(attempt)
    script_of(attempt).default = engines.EndpointUnreachable("The engine is down.")
    open_sealed(study)
    client, url = sign_in("editor"), reverse("study", args=[shared.pk, study.number])
    page = client.get(url).content.decode()
    assert 'id="continue-study"' in page and "Not all of them have been searched yet" in page
    script_of(attempt).default = search
    client.post(reverse("study_continue", args=[shared.pk, study.number]))
    assert 'data-verdict="better"' in client.get(url).content.decode()


def test_api(api: Any, case: Case, attempt: Attempt) -> None:
    client = api(case.owner)
    path = f"/cases/{case.pk}/sealed-queries"
    assert client.get(path) == {"tag": "final", "queries": SEALED, "openings": []}
    new = {"attempt": attempt.number, "knobs": KNOBS, "trials": 30}
    plan = client.send("POST", f"/cases/{case.pk}/studies/plan", new).json()
    assert (plan["queries"], plan["sealed"]) == (QUERIES, SEALED)
    assert f"{SEALED} queries are sealed and left out" in " ".join(plan["sentences"])
    study = client.send("POST", f"/cases/{case.pk}/studies", new).json()
    assert (study["sealed"], study["opening"]) == (SEALED, None)
    assert client.send("POST", f"/studies/{study['id']}/open-sealed", {"trial": 1}).status_code == 422
    client.send("POST", f"/studies/{study['id']}/open-sealed", {})
    opening = client.get(f"/studies/{study['id']}")["opening"]
    assert (opening["is_finished"], opening["verdict"], opening["queries"]) == (True, "better", SEALED)
    assert client.get(path)["openings"] == [opening]
    assert client.send("PUT", path, {"tag": ""}).json()["queries"] == 0


def test_command_opens_them(case: Case, attempt: Attempt) -> None:
    knobs = [word for knob in KNOBS for word in ("--knob", knob)]
    arguments = (str(case.pk), *knobs, "--trials", "30", "--open-sealed")
    out = StringIO()
    call_command("tune", *arguments, stdout=out, stderr=StringIO())
    printed = out.getvalue()
    assert f"on {SEALED} sealed queries: +" in printed
    assert "were opened once" in printed
    out = StringIO()
    call_command("tune", *arguments, "--json", "-", stdout=out, stderr=StringIO())
    assert json.loads(out.getvalue())["opening"]["verdict"] == "better"
    sealed_queries.set_tag(case=case, tag="", by=case.owner)
    with pytest.raises(CommandError, match="No queries of the case are sealed"):
        call_command("tune", *arguments, stdout=StringIO(), stderr=StringIO())


def test_the_sealed_tag_travels_with_files_and_copies(case: Case) -> None:
    owner = make_user("Root", superuser=True)
    file = exported(case, owner)
    assert json.loads(file)["apps"] == {"studies": {"sealed_tag": "final"}}
    copies = [
        imported(file, owner),
        cases.duplicate(case=case, name="Copy", ratings="copy", with_attempts=False, by=owner).case,
    ]
    for copy in copies:
        assert sealed_queries.find_sealed(copy) == {query_of(copy, text).pk for text in TEXTS}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("final", r"^apps\.studies: this must be an object, not 'final'"),
        ({"sealed_tag": "a, b"}, r"^apps\.studies\.sealed_tag: this must be one tag"),
        ({"sealed_tag": "x" * 60}, r"^apps\.studies\.sealed_tag: "),
        ({"tag": "final"}, r"^apps\.studies\.sealed_tag: this is missing|'tag' is not a member"),
    ],
)
def test_a_malformed_sealed_tag_is_refused_with_its_location(value: Any, message: str) -> None:
    with pytest.raises(BadFile, match=message):
        parse_case(as_file({**CASE, "apps": {"studies": value}}))
