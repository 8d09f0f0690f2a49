"""A page object for the workbench."""

from playwright.sync_api import Locator, Page, expect

from relevancy.models import Case


def press(page: Page, key: str) -> None:
    """Presses a key once the scripts of the page run: the page is displayed before that."""
    page.wait_for_load_state("load")
    page.keyboard.press(key)


class WorkbenchPage:
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
        """The row of a query, including its results if it is open."""
        opener = self.page.locator("[data-key-open]", has=self.page.get_by_text(text, exact=True))
        return self.page.locator("tbody.query").filter(has=opener)

    def score(self, text: str) -> Locator:
        """The number alone; missing for a query without a score."""
        return self.row(text).locator("tr").first.locator(".score > b")

    def expect_no_score(self, text: str) -> None:
        expect(self.row(text).locator("tr").first.locator(".score > .none")).to_be_visible()
        expect(self.score(text)).to_have_count(0)

    def opener(self, text: str) -> Locator:
        return self.row(text).locator("[data-key-open]")

    def open(self, text: str) -> Locator:
        """Opens a query with the mouse unless the address has opened it; returns its results."""
        if self.opener(text).get_attribute("aria-expanded") == "false":
            self.opener(text).click()
        results = self.results(text)
        expect(results.first).to_be_visible()
        return results

    def tab(self, text: str, name: str) -> None:
        """Go to a tab of an opened query."""
        tab = self.row(text).get_by_role("tab", name=name)
        tab.click()
        expect(tab).to_have_attribute("aria-selected", "true")

    def menu(self, text: str) -> Locator:
        """Open the menu of an opened query."""
        menu = self.row(text).locator(".query-bar details.menu-button")
        menu.locator("summary").click()
        return menu

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
        """Marks the document, so that a reload can be detected."""
        self.page.wait_for_load_state("load")  # before the scripts run, the browser would follow a link
        self.page.evaluate("document.documentElement.dataset.before = 'yes'")

    def expect_no_reload(self) -> None:
        assert self.page.evaluate("document.documentElement.dataset.before") == "yes", "The page was loaded again."
