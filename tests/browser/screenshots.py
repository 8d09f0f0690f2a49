"""Screenshots of a running demo, for people to look at: `python -m tests.browser.screenshots DIR --url http://127.0.0.1:8000`.

Every page in light and dark at 1280 and 1920 pixels: DIR/home-light-1280.png and so on. Changes nothing in the demo.
"""

import argparse
import shutil
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page, sync_playwright

from .flags import FLAGS

SIZES = {1280: 800, 1920: 1080}
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
Take = Callable[[str], None]


def _sign_in(page: Page, who: str, password: str) -> None:
    page.goto("/login/")
    page.get_by_label("E-mail").fill(who)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("/")


def _workbench(page: Page, take: Take) -> None:
    page.goto("/")
    page.locator("table.cases a.name-link").first.click()
    page.locator("tbody.query").first.wait_for()
    take("workbench")
    openers = page.locator("tbody.query [data-key-open]")
    openers.nth(min(2, openers.count() - 1)).click()
    page.locator("li.result").first.wait_for()
    take("query")
    page.locator("li.result a.title").first.click()
    page.get_by_role("dialog").wait_for()
    take("document")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    take("keys")


def _new_case(page: Page, take: Take) -> None:
    page.goto("/cases/new/")
    page.get_by_label("Name", exact=True).fill("Looks")
    take("new-1-scale")
    page.get_by_role("button", name="Next: endpoint").click()
    page.get_by_label("Name of the endpoint").fill("looks")
    page.get_by_label("Address").fill("films")
    page.get_by_label("Try it with the query").fill("star wars")
    page.get_by_role("button", name="Try it").click()
    take("new-2-endpoint")
    page.get_by_role("button", name="Next: fields").click()
    take("new-3-fields")
    page.get_by_role("button", name="Next: queries").click()
    page.get_by_label("Queries").fill("star wars\nstar trek\nstar wars\n" + "x" * 2049)
    page.get_by_role("button", name="Count").click()
    take("new-4-queries")
    page.get_by_role("button", name="Start over").click()


def _lists(page: Page, take: Take) -> None:
    for name, address in (("endpoints", "/endpoints/"), ("endpoint-new", "/endpoints/new/"), ("scorers", "/scorers/")):
        page.goto(address)
        take(name)
    page.goto("/teams/")
    take("teams")
    page.locator("main a[href^='/teams/']:not([href$='/new/'])").first.click()
    take("team")
    page.goto("/account/")
    take("account")
    page.goto("/account/tokens/")
    take("tokens")


def _scorers(page: Page, take: Take) -> None:
    page.goto("/scorers/")
    page.locator("main").get_by_role("link", name="nDCG@10", exact=True).click()
    take("scorer")
    page.goto("/scorers/new/")
    take("scorer-measure")
    page.goto("/scorers/new/?kind=script")
    page.get_by_role("radio", name="A real query").check()
    page.locator("select[name=case]").select_option(index=1)
    page.locator("#matches option").first.wait_for(state="attached")
    page.get_by_label("Compare with").select_option(label="nDCG@10")
    page.get_by_role("button", name="Run").click()
    page.get_by_role("region", name="Calculation of nDCG@10").wait_for()
    take("scorer-script")
    page.get_by_role("region", name="Calculation of nDCG@10").scroll_into_view_if_needed()
    take("scorer-working")


def take_all(browser: Browser, folder: Path, url: str, who: str, password: str) -> Iterator[Path]:
    """Takes all screenshots. Yields their paths."""
    taken: list[Path] = []
    for theme, (width, height) in product(THEMES, SIZES.items()):
        context = browser.new_context(
            base_url=url, color_scheme=theme, viewport={"width": width, "height": height}, reduced_motion="reduce"
        )
        page = context.new_page()

        def take(name: str, page: Page = page, mark: str = f"{theme}-{width}") -> None:
            page.wait_for_load_state("networkidle")
            taken.append(folder / f"{name}-{mark}.png")
            page.screenshot(path=taken[-1])

        page.goto("/login/")
        take("login")
        _sign_in(page, who, password)
        take("home")
        _workbench(page, take)
        _new_case(page, take)
        _lists(page, take)
        _scorers(page, take)
        context.close()
        yield from taken
        taken.clear()


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tests.browser.screenshots", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the pictures go")
    parser.add_argument("--url", default="http://127.0.0.1:8000", help="of the running demo")
    parser.add_argument("--user", default="demo@example.com")
    parser.add_argument("--password", default="relevancy")
    chosen = parser.parse_args(arguments)
    chromium = shutil.which("chromium")
    if chromium is None:
        print("chromium was not found on the PATH (package chromium).", file=sys.stderr)  # noqa: T201
        return 2
    chosen.folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        for path in take_all(browser, chosen.folder, chosen.url, chosen.user, chosen.password):
            print(path)  # noqa: T201
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
