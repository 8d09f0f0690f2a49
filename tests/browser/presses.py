"""Counts what a person presses on the way through pages: clicks, keys that submit, files, and fields that are filled in."""

from pathlib import Path

from playwright.sync_api import Locator, Page


class Presses:
    """Every click, choice of a file and key is one press; typing in a field is one."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.count = 0

    def click(self, control: Locator) -> None:
        self.count += 1
        control.click()

    def type(self, field: Locator, text: str) -> None:
        self.count += 1
        field.fill(text)

    def choose(self, field: Locator, label: str) -> None:
        self.count += 1
        field.select_option(label=label)

    def upload(self, field: Locator, path: Path) -> None:
        self.count += 1
        field.set_input_files(path)

    def key(self, name: str) -> None:
        self.count += 1
        self.page.keyboard.press(name)
