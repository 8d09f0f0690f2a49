"""The workbench as a person sees it: its parts by what they are called."""

from playwright.sync_api import Locator, Page, expect

from relevancy.models import Case


def press(page: Page, key: str) -> None:
    """Press a key once the page listens: what the server drew is there before its scripts are."""
    page.wait_for_load_state("load")
    page.keyboard.press(key)


class BenchPage:
    """A case's workbench in a browser."""

    def __init__(self, page: Page, case: Case | None = None, address: str = "") -> None:
        self.page = page
        if case is not None:
            page.goto(f"/cases/{case.pk}/{address}")

    @property
    def case_score(self) -> Locator:
        """The number alone, without range and bar."""
        return self.page.locator("#case-score .big-score > b")

    def row(self, text: str) -> Locator:
        """A query of the list, with what is inside it where it is open."""
        opener = self.page.locator("[data-key-open]", has=self.page.get_by_text(text, exact=True))
        return self.page.locator("tbody.query").filter(has=opener)

    def score(self, text: str) -> Locator:
        """The number alone; not there for a query without a score."""
        return self.row(text).locator("tr").first.locator(".score > b")

    def expect_no_score(self, text: str) -> None:
        expect(self.row(text).locator("tr").first.locator(".score > .none")).to_be_visible()
        expect(self.score(text)).to_have_count(0)

    def opener(self, text: str) -> Locator:
        return self.row(text).locator("[data-key-open]")

    def open(self, text: str) -> Locator:
        """Open a query by the mouse; its results."""
        self.opener(text).click()
        results = self.results(text)
        expect(results.first).to_be_visible()
        return results

    def results(self, text: str) -> Locator:
        return self.row(text).locator("li.result")

    def grade(self, result: Locator, grade: int) -> Locator:
        """The button of a result that gives a grade."""
        return result.get_by_role("radio", name=str(grade), exact=True)

    def texts(self) -> list[str]:
        """The queries of the list, in their order."""
        return self.page.locator("tbody.query [data-key-open] .truncate").all_inner_texts()

    def toast(self, text: str) -> Locator:
        return self.page.locator("#toasts .toast").filter(has_text=text)

    def mark_document(self) -> None:
        """Leave a mark that a reload would wipe off."""
        self.page.wait_for_load_state("load")  # before its scripts ran, a link would be followed
        self.page.evaluate("document.documentElement.dataset.before = 'yes'")

    def expect_no_reload(self) -> None:
        assert self.page.evaluate("document.documentElement.dataset.before") == "yes", "The page was loaded again."
