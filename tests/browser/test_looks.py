"""Every page: its controls have names, the focus is visible, and nothing sticks out of the window."""

import pytest
from playwright.sync_api import Page, expect

from relevancy import cases
from relevancy.models import Case, Endpoint, Run, Team, User
from relevancy.optional.groups import groups

from . import stage
from .conftest import Opens
from .workbench_page import WorkbenchPage, press

# Links, buttons and fields that are shown and have no accessible name, as the first characters of their HTML.
_NAMELESS = """() => {
  const text = (node) => (node?.textContent || "").trim();
  const named = (node) => [
    node.getAttribute("aria-label"),
    ...(node.getAttribute("aria-labelledby") || "").split(" ").map((id) => text(document.getElementById(id))),
    ...[...(node.labels || [])].map(text),
    ["INPUT", "SELECT", "TEXTAREA"].includes(node.localName.toUpperCase()) ? "" : text(node),
    ...[...node.querySelectorAll("img[alt], svg[aria-label]")].map((image) => image.alt || image.ariaLabel),
    ["submit", "button"].includes(node.type) && node.localName === "input" ? node.value : "",
  ].some((name) => name && name.trim());
  const controls = document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary");
  return [...controls].filter((node) => node.checkVisibility() && !named(node)).map((node) => node.outerHTML.slice(0, 160));
}"""
_TWICE = """() => {
  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  return [...new Set(ids.filter((id, place) => ids.indexOf(id) !== place))];
}"""
# What sticks out of the window to the right, unless an element around it scrolls.
_TOO_WIDE = """() => document.documentElement.scrollWidth <= innerWidth ? [] :
  [...document.body.querySelectorAll("*")].filter((node) => node.getBoundingClientRect().right > innerWidth + 1)
    .map((node) => node.outerHTML.slice(0, 120)).slice(0, 5)"""
# Text that stands a few letters to a line.
_SQUEEZED = """() => [...document.querySelectorAll("#content *")].filter((node) => {
  const text = [...node.childNodes].filter((child) => child.nodeType === 3).map((child) => child.data.trim()).join("");
  if (text.length < 12 || !node.checkVisibility() || node.closest(".visually-hidden, svg")) return false;
  const box = node.getBoundingClientRect();
  return box.width < 45 && box.height > 60;
}).concat([...document.querySelectorAll("#content .panel")].filter((panel) => panel.checkVisibility() && panel.clientWidth < 200))
  .map((node) => node.outerHTML.slice(0, 120)).slice(0, 5)"""
# Whether the focus is visible: the focused element or the one around it has an outline or a shadow.
_RING = """() => {
  const parts = ["outlineStyle", "outlineWidth", "boxShadow", "borderColor"];
  const look = (node) => parts.map((part) => getComputedStyle(node)[part]).join(" ");
  const node = document.activeElement;
  const around = [node, node.parentElement, node.closest("label, tr, tbody, .code-editor, .option")].filter(Boolean);
  const focused = around.map(look).join("|");
  node.blur();
  const plain = around.map(look).join("|");
  node.focus();
  return focused !== plain;
}"""
_TABS = 12
LONG_NAME = (
    "Intranet policies and procedures for the whole organisation, with everything that somebody might search for in it"
)


@pytest.fixture
def case(people: dict[str, User], films: str) -> Case:
    ratings = {"star wars": {"star-wars-1977": 10}}
    case = stage.film_case(people["owner"], ["star wars", "x" * 300, "a film about dreams"], ratings=ratings)
    case.attempts.update(name=LONG_NAME)
    return case


def _addresses(case: Case) -> list[str]:
    team = Team.objects.get(name="Search")
    case_query, endpoint = case.case_queries.first(), Endpoint.objects.get()
    group = groups.create(name=LONG_NAME, by=case.owner)
    groups.add_case(group=group, case=case)
    assert case_query is not None
    return [
        "/",
        "/cases/new/",
        f"/cases/{case.pk}/?open={case_query.pk}",
        f"/cases/{case.pk}/compare/?open={case_query.pk}",
        f"/cases/{case.pk}/share/",
        f"/cases/{case.pk}/rename/",
        f"/cases/{case.pk}/duplicate/",
        f"/cases/{case.pk}/delete/",
        f"/cases/{case.pk}/attempts/all/",
        f"/cases/{case.pk}/attempts/all/1/production/",
        f"/cases/{case.pk}/files/",
        f"/cases/{case.pk}/online/",
        f"/cases/{case.pk}/history/",
        f"/cases/{case.pk}/links/",
        f"/cases/{case.pk}/report/",
        f"/cases/{case.pk}/schedule/",
        f"/groups/{group.pk}/",
        f"/groups/{group.pk}/schedule/",
        f"/cases/{case.pk}/queries/{case_query.pk}/edit/",
        f"/cases/{case.pk}/queries/{case_query.pk}/document/?doc_id=star-wars-1977",
        "/books/",
        f"/books/{case.book_id}/",
        f"/books/{case.book_id}/queries/",
        f"/books/{case.book_id}/judging/",
        f"/books/{case.book_id}/raters/{case.owner_id}/",
        f"/books/{case.book_id}/files/",
        "/books/new/",
        f"/books/{case.book_id}/conflicts/",
        f"/books/{case.book_id}/judge/",
        f"/books/{case.book_id}/merge/",
        "/endpoints/",
        "/endpoints/new/",
        "/endpoints/mapping/",
        f"/endpoints/{endpoint.pk}/",
        "/scorers/",
        "/teams/",
        f"/teams/{team.pk}/",
        "/account/",
        "/account/password/",
        "/account/sessions/",
    ]


def test_pages_name_their_controls_and_fit(look: Opens, case: Case) -> None:
    page = look("owner", viewport={"width": 1280, "height": 900})
    wrong = {}
    for address in _addresses(case):
        answer = page.goto(address)
        assert answer is not None and answer.ok, address
        faults = {
            "nameless": page.evaluate(_NAMELESS),
            "ids twice": page.evaluate(_TWICE),
            "headings": [] if page.locator("h1").count() == 1 else page.locator("h1").all_inner_texts(),
        }
        for width in (1280, 768, 390):
            page.set_viewport_size({"width": width, "height": 900})
            faults[f"too wide for {width}"] = page.evaluate(_TOO_WIDE)
            faults[f"squeezed at {width}"] = page.evaluate(_SQUEEZED)
        if faults := {fault: found for fault, found in faults.items() if found}:
            wrong[address] = faults
    assert not wrong


# Width of the names of cases, and how many lines a short one takes.
_NAMES = """() => [...document.querySelectorAll(".cases .name-link")].map((node) => node.getBoundingClientRect())
  .map((box) => ({width: box.width, height: box.height}))"""


def _name(page: Page, name: str) -> dict[str, float]:
    """Where the name of the first case of this name is."""
    box = page.locator(".cases .name-link").filter(has_text=name).first.bounding_box()
    assert box is not None
    return {**box}


def test_the_head_of_home_has_room_for_failed_runs(look: Opens, case: Case, people: dict[str, User]) -> None:
    stage.film_case(people["owner"], ["alien"]).runs.update(status=Run.Status.FAILED)
    page = look("owner", viewport={"width": 1280, "height": 900})
    page.goto("/")
    header = page.locator(".cases-panel > header")
    assert header.locator("[data-list] .count").count() == 3, "All, failed and unrated."
    width, room, height = header.evaluate("header => [header.scrollWidth, header.clientWidth, header.clientHeight]")
    assert width <= room
    assert height < 50, "One line."


@pytest.mark.parametrize("width", [390, 640])  # a phone; 1280 pixels at 200 %
def test_home_fits_a_phone_and_twice_the_size(look: Opens, case: Case, people: dict[str, User], width: int) -> None:
    long = "Intranet policies and procedures for the whole organisation"
    for name in ("Movies", long, "x" * 60):
        cases.create(name=name, owner=people["owner"])
    page = look("owner", viewport={"width": width, "height": 844})
    page.goto("/?sort=name")
    assert page.evaluate(_TOO_WIDE) == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert min(box["width"] for box in page.evaluate(_NAMES)) > 40  # 20 when they were cut to “M…”
    assert _name(page, "Movies")["height"] < 24  # one line, not one letter to a line
    assert _name(page, long)["width"] > 200
    page.locator(".cases summary").first.click()
    assert page.evaluate(_TOO_WIDE) == []


def test_wide_tables_scroll_within_their_panel_on_a_phone(look: Opens, case: Case) -> None:
    group = groups.create(name=LONG_NAME, by=case.owner)
    groups.add_case(group=group, case=case)
    page = look("owner", viewport={"width": 390, "height": 800})
    for address in (f"/cases/{case.pk}/attempts/all/", f"/groups/{group.pk}/", f"/cases/{case.pk}/links/"):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth") == 390, address


def test_head_of_the_template_fits_with_the_longest_syntax(look: Opens, case: Case) -> None:
    Endpoint.objects.update(engine="solr", url="http://127.0.0.1:9/solr/films")
    case.attempts.update(template="q=#$query##&defType=edismax")
    page = look("owner", viewport={"width": 1280, "height": 800})
    page.goto(f"/cases/{case.pk}/")
    head = page.locator("#tune section > header", has_text="Parameters")
    assert head.evaluate("node => node.scrollWidth - node.clientWidth") == 0


def test_login_names_its_controls_and_fits(look: Opens) -> None:
    for width in (1280, 768, 390):
        page = look(viewport={"width": width, "height": 800})
        page.goto("/login/")
        assert not page.evaluate(_NAMELESS)
        assert not page.evaluate(_TOO_WIDE)


def _walk(page: Page) -> list[str]:
    """Tabs through the first controls of a page; returns those that do not show the focus."""
    silent = []
    for _ in range(_TABS):
        press(page, "Tab")
        if page.evaluate("document.activeElement === document.body"):
            break
        if not page.evaluate(_RING):
            silent.append(page.evaluate("document.activeElement.outerHTML.slice(0, 160)"))
    return silent


def test_focus_can_be_seen(look: Opens, case: Case) -> None:
    page = look("owner")
    for address in ("/", f"/cases/{case.pk}/", "/endpoints/new/", "/cases/new/"):
        page.goto(address)
        assert _walk(page) == [], address


def test_skip_link_comes_first(look: Opens, case: Case) -> None:
    page = look("owner")
    WorkbenchPage(page, case)
    press(page, "Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    expect(page.get_by_role("link", name="Skip to the content")).to_be_in_viewport()


def test_workbench_keeps_its_head_while_the_list_scrolls(look: Opens, people: dict[str, User], films: str) -> None:
    case = stage.film_case(people["owner"], [f"alien {number}" for number in range(40)])
    last = case.case_queries.order_by("-position")[0]
    page = look("owner")
    WorkbenchPage(page, case, f"queries/{last.pk}/")
    expect(page).to_have_url(f"/cases/{case.pk}/?open={last.pk}#query-{last.pk}")
    expect(page.locator(f"#query-row-{last.pk}")).to_be_in_viewport()
    expect(page.locator(".topbar")).to_be_in_viewport()
    expect(page.locator("#case-score")).to_be_in_viewport()
    name, tab = page.locator(".noun-bar .crumbs").bounding_box(), page.locator("#queries-tab").bounding_box()
    assert name is not None and tab is not None
    assert tab["x"] - name["x"] - name["width"] < 20, "A long name uses the whole width."
    assert page.evaluate("document.documentElement.scrollHeight - innerHeight") == 0


def test_tune_is_a_drawer_on_a_small_window(look: Opens, case: Case) -> None:
    page = look("owner", viewport={"width": 900, "height": 800})
    WorkbenchPage(page, case)
    expect(page.get_by_role("textbox", name="Template")).not_to_be_in_viewport()
    page.get_by_role("link", name="Tune").click()
    expect(page.get_by_role("textbox", name="Template")).to_be_in_viewport()
    page.get_by_role("complementary", name="Tune").get_by_role("link", name="Close").click()
    expect(page.get_by_role("textbox", name="Template")).not_to_be_in_viewport()
