"""axe-core finds nothing on the main pages, in both themes, on a desktop and on a phone."""

from io import BytesIO

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from relevancy import books, cases, queries, ratings, runs, scorers
from relevancy.models import Case, Endpoint, Scorer, Team, User
from relevancy.optional.clicks.click_logs import import_clicks
from relevancy.optional.clicks.log_formats import read_log
from relevancy.optional.judge_models import judges
from relevancy.optional.judge_models.models import JudgeModel
from relevancy.optional.outcomes.models import OnlineOutcome
from relevancy.optional.preferences import preferences
from relevancy.optional.preferences.models import PreferenceTest
from relevancy.optional.public_links import public_links
from tests import factories

from . import stage
from .conftest import Opens
from .workbench_page import WorkbenchPage, press

CLICKS = "query,count,docid,position,clicks\n" + "".join(
    f"star wars,500,star-wars-{year},{position},{clicks}\n"
    for year, position, clicks in ((1977, 1, 200), (1977, 2, 100), (1980, 1, 60), (1980, 2, 30))
)
# The page is loaded, and so are the parts that it requests at once.
SETTLED = """
() => document.readyState === "complete" && !document.querySelector(".htmx-request, .htmx-swapping, .htmx-settling, .htmx-added")
"""


@pytest.fixture
def case(people: dict[str, User], films: str) -> Case:
    """A case with two runs, two scorers, a tag, notes, an annotation, and ratings by two people."""
    owner = people["owner"]
    texts = ["star wars", "x" * 300, "a film about dreams", "zzzzz"]
    case = stage.film_case(owner, texts, ratings={"star wars": {"star-wars-1977": 10}})
    query = case.book.queries.get(text="star wars")
    ratings.rate(query=query, doc_id="star-wars-1977", value=3, by=people["rater"])
    queries.describe(query=query, information_need="The *first* film.", notes="See `title`.")
    queries.tags.set_tags(query=query, tags="franchise")
    scorers.add_scorer(case=case, scorer=Scorer.objects.get(name="nDCG@10"))
    cases.annotations.add(case=case, run=stage.newest_run(case), text="New synonyms", by=owner)
    judges.create(name="Mini", protocol="openai", url="http://127.0.0.1:9/v1", model="m", by=owner, unrestricted=True)
    with read_log(BytesIO(CLICKS.encode())) as log:
        import_clicks(book=case.book, log=log, method="position", by=owner)
    attempt = runs.attempts.save(
        case=case,
        endpoint=Endpoint.objects.get(name="films"),
        template='{"query": "#$query##", "fields": ["title"]}',
        fields=stage.FIELDS,
        knobs={},
        by=owner,
    )
    baseline = stage.newest_run(case)
    run = factories.run_now(attempt)
    test = preferences.start_preference_test(a=baseline, b=run, queries=2, by=owner)
    lists = preferences.next_lists(test=test, by=owner)
    assert lists is not None
    preferences.prefer(test=test, query_id=lists.query.pk, side="left", key=lists.key, by=owner)
    return case


def _violations(page: Page) -> list[str]:
    """Returns what axe-core finds on the page, a line for each element."""
    violations = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        f"{rule['id']} ({rule['impact']}): {node['target'][0]} {node['html'][:150]} {node['failureSummary'][:300]}"
        for rule in violations
        for node in rule["nodes"]
    ]


def _addresses(case: Case) -> list[str]:
    judge, test = JudgeModel.objects.get(name="Mini"), PreferenceTest.objects.get()
    team, endpoint = Team.objects.get(name="Search"), Endpoint.objects.get(name="films")
    second = books.raters_of(case.book).exclude(pk=case.owner_id).get()
    query = case.case_queries.get(query__text="star wars")
    in_query = f"/cases/{case.pk}/queries/{query.pk}"
    sessions = {"wins_a": 6, "wins_b": 18, "ties": 4, "method": "interleaving"}
    OnlineOutcome.objects.get_or_create(
        case=case, run_a=test.run_a, run_b=test.run_b, name="May", created_by=case.owner, **sessions
    )
    _, link_token = public_links.create(case=case, by=case.owner, days=1)
    return [
        "/",
        "/jump/?q=s",
        f"/cases/{case.pk}/share/",
        f"/public/{link_token}/",
        f"/public/{link_token}/queries/{query.pk}/",
        f"/cases/{case.pk}/files/",
        f"/cases/{case.pk}/files/query-log/",
        f"/cases/{case.pk}/notebook/",
        f"/cases/{case.pk}/compare/",
        f"/cases/{case.pk}/compare/?best=1",
        f"/cases/{case.pk}/online/",
        f"/cases/{case.pk}/history/",
        f"/cases/{case.pk}/activity/",
        f"/cases/{case.pk}/report/",
        f"/cases/{case.pk}/attempts/all/",
        f"/cases/{case.pk}/attempts/all/1/production/",
        "/books/",
        "/books/import/",
        f"/books/{case.book_id}/",
        f"/books/{case.book_id}/agreement/",
        f"/books/{case.book_id}/agreement/queries/",
        f"/books/{case.book_id}/agreement/pair/?first={case.owner_id}&second={second.pk}&grade_a=10&grade_b=3",
        f"/books/{case.book_id}/agreement/raters/{case.owner_id}/",
        f"/books/{case.book_id}/raters/{case.owner_id}/?action=remove",
        f"/books/{case.book_id}/conflicts/",
        f"/books/{case.book_id}/queries/",
        f"/books/{case.book_id}/judging/",
        f"/books/{case.book_id}/raters/",
        f"/books/{case.book_id}/raters/{case.owner_id}/",
        f"/books/{case.book_id}/decided/",
        f"/books/{case.book_id}/files/",
        "/books/new/",
        f"/books/{case.book_id}/judge/",
        f"/books/{case.book_id}/judge/pause/",
        f"/books/{case.book_id}/judge/list/",
        f"/books/{case.book_id}/qualification/",
        f"/books/{case.book_id}/preferences/",
        f"/books/{case.book_id}/preferences/{test.pk}/",
        f"/books/{case.book_id}/preferences/{test.pk}/result/",
        f"/books/{case.book_id}/clicks/",
        f"/books/{case.book_id}/judge-models/",
        f"/books/{case.book_id}/judge-models/new/",
        f"/books/{case.book_id}/judge-models/{judge.pk}/",
        f"/books/{case.book_id}/judge-models/{judge.pk}/calibration/",
        f"/books/{case.book_id}/judge-models/{judge.pk}/answers/",
        f"/books/{case.book_id}/judge-models/{judge.pk}/prompt/",
        f"/books/{case.book_id}/judge-models/{judge.pk}/settings/",
        f"/cases/{case.pk}/annotations/?run=1",
        f"/cases/{case.pk}/attempts/1/",
        f"/cases/{case.pk}/tags/",
        f"{in_query}/edit/",
        f"{in_query}/notes/",
        f"{in_query}/request/",
        f"{in_query}/working/",
        f"{in_query}/unretrieved/",
        f"{in_query}/explain/?doc_id=star-wars-1977",
        f"{in_query}/explain/?doc_id=alien-1979",
        f"{in_query}/find/?text=alien",
        f"{in_query}/interpretation/",
        "/cases/import/",
        "/cases/new/",
        "/endpoints/",
        "/endpoints/new/",
        "/endpoints/mapping/",
        f"/endpoints/{endpoint.pk}/",
        "/scorers/",
        f"/scorers/{scorers.default_scorer().pk}/",
        "/scorers/new/",
        "/scorers/new/?kind=script",
        "/teams/",
        f"/teams/{team.pk}/",
        f"/teams/{team.pk}/activity/",
        "/account/",
        "/account/tokens/",
        "/account/sessions/",
        "/account/second-factor/",
        "/account/password/forgotten/",
        "/no/such/page/",
    ]


@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_nothing(look: Opens, case: Case, theme: str, width: int) -> None:
    options = {"viewport": {"width": width, "height": 800}, "color_scheme": theme, "reduced_motion": "reduce"}
    result: dict[str, list[str]] = {}

    def check(name: str, page: Page) -> None:
        page.wait_for_function(SETTLED)
        if violations := _violations(page):
            result[name] = violations

    page = look(**options)
    page.goto("/login/")
    check("sign in", page)
    page = look("owner", **options)
    page.watch.expect(404)  # type: ignore[attr-defined]
    for address in _addresses(case):
        response = page.goto(address)
        assert response is not None and (response.ok or address == "/no/such/page/"), address
        check(address, page)
    workbench = WorkbenchPage(page, case)
    check("workbench", page)
    workbench.open("star wars")
    check("opened query", page)
    if width == 390:
        page.get_by_role("link", name="Tune").click()
        check("tune", page)
        page.get_by_role("complementary", name="Tune").get_by_role("link", name="Close").click()
    for key, name in (("?", "keys"), ("a", "add queries")):
        press(page, key)
        page.get_by_role("dialog").wait_for()
        check(name, page)
        press(page, "Escape")
    workbench.results("star wars").first.locator("a.title").click()
    page.get_by_role("dialog").wait_for()
    check("document", page)
    assert not result, "\n".join(f"{name}: {line}" for name, lines in result.items() for line in lines)
