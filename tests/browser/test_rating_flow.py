"""Rating one document after the other: nothing moves, the score is in sight, and what was wrong is taken back."""

from playwright.sync_api import Page, expect

from relevancy.models import Case, Rating, User

from . import stage
from .bench_page import BenchPage, press
from .conftest import Opens

BOXES = """() => [...document.querySelectorAll(
    "#case-score, tbody.query > tr:first-child, li.result, .query-bar, .query-scores")].map((node) => {
  const box = node.getBoundingClientRect();
  return [node.id || node.className, box.x, box.y, box.width, box.height];
})"""


def _case(people: dict[str, User]) -> Case:
    return stage.film_case(people["editor"], ["star wars", "alien", "solaris"])


def _values(case: Case) -> dict[str, float]:
    return dict(Rating.objects.filter(query__book=case.book_id).values_list("doc_id", "value"))


def _rate(page: Page, bench: BenchPage, text: str, place: int, grade: int) -> None:
    bench.grade(bench.results(text).nth(place), grade).click()
    expect(bench.grade(bench.results(text).nth(place), grade)).to_have_attribute("aria-checked", "true")


def test_z_takes_back_the_last_rating_then_the_ones_before(look: Opens, people: dict[str, User], films: str) -> None:
    case = _case(people)
    page = look("rater")
    bench = BenchPage(page, case)
    bench.open("alien")
    _rate(page, bench, "alien", 0, 7)
    expect(bench.score("alien")).to_be_visible()
    press(page, "j")
    bench.row("alien").get_by_role("group", name="Rate all shown").get_by_role("button", name="3", exact=True).click()
    toast = bench.toast("documents rated 3")
    expect(toast.get_by_role("button", name="Undo")).to_be_visible()
    expect(bench.results("alien").locator(".rate.rated")).to_have_count(bench.results("alien").count())
    press(page, "z")
    expect(bench.toast("taken back")).to_be_visible()
    expect(bench.results("alien").locator(".rate.rated")).to_have_count(1)
    assert list(_values(case).values()) == [7]
    page.reload()
    press(page, "z")
    expect(bench.toast("Rating 7 of “alien” taken back")).to_be_visible()
    bench.expect_no_score("alien")
    assert _values(case) == {}
    page.watch.expect(409)  # type: ignore[attr-defined]
    press(page, "z")
    expect(bench.toast("no rating in this case")).to_be_visible()
