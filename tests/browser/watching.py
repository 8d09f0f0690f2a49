"""Errors that no page may have during a test: exceptions, messages on its console, responses with status 5xx."""

import re

from playwright.sync_api import BrowserContext, ConsoleMessage, Response

# What Chromium and htmx log about a response that is not a success.
_REFUSED = re.compile(r"(?:Failed to load resource: .* status of|Response Status Error Code) (\d{3})")
# htmx logs the abort of a request whose element is gone, for which requests.js asks. Failures are logged under other names as well.
_ABORTED = re.compile(r"htmx:(?:sendAbort|afterRequest), ")


class Watch:
    """Collects the errors of a browser context. Violations of the content security policy are logged on the console."""

    def __init__(self, context: BrowserContext) -> None:
        self.problems: list[str] = []
        self._expected: set[int] = set()
        context.on("weberror", lambda error: self.problems.append(f"page error: {error.error}"))
        context.on("console", self._console)
        context.on("response", self._response)

    def expect(self, *statuses: int) -> None:
        """Allows statuses below 500 that a test provokes; each of them is logged on the console."""
        assert all(400 <= status < 500 for status in statuses), statuses
        self._expected.update(statuses)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type != "error" or _ABORTED.match(message.text):
            return
        refused = _REFUSED.match(message.text)
        if refused and int(refused[1]) in self._expected:
            return
        self.problems.append(f"console: {message.text} ({message.location.get('url', '')})")

    def _response(self, response: Response) -> None:
        if response.status >= 500:
            self.problems.append(f"HTTP {response.status}: {response.request.method} {response.url}")
