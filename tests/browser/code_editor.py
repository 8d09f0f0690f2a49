"""The code editor in a browser: Ace in place of a text field."""

from playwright.sync_api import Locator, Page


def editor(page: Page, name: str = "Template") -> Locator:
    """The element to type into, by the name of its field."""
    return page.get_by_role("textbox", name=name)


def text_of(page: Page, field: str = "template") -> str:
    """The text that the form would send."""
    return page.locator(f"textarea[name={field}]").input_value()


def write(page: Page, text: str) -> None:
    """Replaces the whole text, once the editor is there."""
    page.locator(".code-editor .ace_text-input").wait_for(state="attached")
    page.locator(".code-editor .ace_content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(text)
