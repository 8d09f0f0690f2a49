"""Sends prompts to a judge model by the HTTP client of endpoints: the same address rules, limits and time-outs."""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from urllib3.exceptions import ProtocolError

from relevancy import engines

from .models import JudgeModel
from .prompts import Prompt
from .protocols import PROTOCOLS, Completion, error_message

REPEATED = engines.RetryPolicy(
    attempts=5, max_retry_after=60.0, statuses=frozenset({429, 500, 502, 503, 504, 529}), first_delay=1.0
)
_UNSUPPORTED_FORMAT = frozenset({400, 415, 422, 501})
_OVERHEAD_TOKENS = 600  # that a server adds to a prompt, at most: the markup of a chat, the description of a tool


class JudgeModelError(Exception):
    """A judge model did not answer. The message has the server's words.

    stops_job: no other document would be answered either. may_cost: the server may have worked, and may charge for it.
    """

    def __init__(self, message: str, *, stops_job: bool = False, may_cost: bool = False) -> None:
        self.stops_job = stops_job
        self.may_cost = may_cost
        super().__init__(message)


class JudgeClient:
    """Asks one judge model, from any number of threads. A context manager.

    The format of answers that the server accepted last is asked for first from then on.
    """

    def __init__(
        self, judge: JudgeModel, rules: engines.AddressRules, sleep: Callable[[float], None] | None = None
    ) -> None:
        self._judge = judge
        self._rules = rules
        self._protocol = PROTOCOLS[judge.protocol]
        key = judge.secrets.get("key", "")
        connection = engines.Connection(
            engine="judge model",
            url=judge.url,
            rules=rules,
            headers=self._protocol.headers(key),
            credentials={"key": key} if key else {},  # removed from messages, wherever it occurs
            parallel=judge.parallel,
            per_minute=judge.per_minute,
            read_timeout=float(judge.read_timeout),
        )
        try:
            self._http = engines.HttpClient(
                connection, rules.parse_url(judge.url), error_message, sleep, retries=REPEATED
            )
        except engines.EngineError as error:
            raise JudgeModelError(str(error), stops_job=True) from error
        self._format = 0
        self._lock = threading.Lock()

    def __enter__(self) -> "JudgeClient":
        return self

    def __exit__(self, *error: object) -> None:
        self._http.close()

    def wait(self, cancelled: threading.Event) -> None:
        """Blocks until the limit of requests per minute allows another one."""
        self._http.rate_limit.wait(cancelled)

    def ask(self, prompt: Prompt) -> Completion:
        """Sends one prompt. Raises `JudgeModelError`, also for a picture whose address the rules do not allow."""
        self._check_image(prompt)
        formats = self._protocol.formats
        started = time.monotonic()
        for position in range(self._format, len(formats)):
            response = self._post(prompt, formats[position])
            is_last = position == len(formats) - 1
            if response.status in _UNSUPPORTED_FORMAT and not is_last:
                continue
            completion = self._read(response)
            with self._lock:
                self._format = max(self._format, position)
            took_ms = round(1000 * (time.monotonic() - started))
            return replace(completion, answer_format=formats[position], took_ms=took_ms)
        raise AssertionError("the last format returns or raises")

    def most_tokens(self, prompt: Prompt) -> int:
        """Returns a number of input tokens that a prompt does not exceed: a token is at least one byte.

        A picture counts as what the owner of the judge model has entered.
        """
        text = len(self._encode(prompt, self._protocol.formats[0])) + _OVERHEAD_TOKENS
        return text + (self._judge.image_tokens if prompt.image_url else 0)

    def _check_image(self, prompt: Prompt) -> None:
        """Checks the address of a picture, which comes from a document: the server of the model may reach what its author cannot."""
        if not prompt.image_url:
            return
        try:
            self._rules.check(prompt.image_url)
        except engines.EndpointUnreachable as error:
            raise JudgeModelError(f"The address of the document's picture was not sent. {error.problem}") from error

    def _encode(self, prompt: Prompt, answer_format: str) -> bytes:
        judge = self._judge
        body = self._protocol.body(prompt, model=judge.model, parameters=judge.parameters, answer_format=answer_format)
        return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")

    def _post(self, prompt: Prompt, answer_format: str) -> engines.Response:
        path = self._protocol.path(self._http.address.path)
        headers = {**self._protocol.fixed_headers, "content-type": "application/json", "accept": "application/json"}
        try:
            return self._http.fetch("POST", path, body=self._encode(prompt, answer_format), headers=headers)
        except engines.TooSlow as error:
            hint = "Set a longer time for an answer, or choose a faster model."
            raise JudgeModelError(f"{error.problem} {hint}", may_cost=True) from error
        except engines.EndpointUnreachable as error:
            # A connection that broke off may have done so after the answer was written.
            may_cost = isinstance(error.__cause__, ProtocolError)
            hint = "Check the address of the judge model."
            raise JudgeModelError(f"{error.problem} {hint}", may_cost=may_cost) from error
        except engines.EngineError as error:
            raise JudgeModelError(error.problem, may_cost=True) from error

    def _read(self, response: engines.Response) -> Completion:
        if response.status != 200:
            raise self._error(response)
        try:
            data = engines.DECODER.decode(response.body.decode("utf-8", "replace"))
        except ValueError:
            data = None
        completion = self._protocol.read(data) if isinstance(data, dict) else None
        if completion is None:
            beginning = self._http.redact(engines.excerpt(response.body))
            raise JudgeModelError(
                f"The response is not one of the protocol {self._protocol.label}. It begins “{beginning}”. Check the address and "
                "the protocol.",
                may_cost=True,
            )
        return completion

    def _error(self, response: engines.Response) -> JudgeModelError:
        """Returns the error for a status other than 200, with the server's words."""
        status = response.status
        if 300 <= status < 400:
            target = self._http.redact(engines.excerpt(response.headers.get("location", "")))
            message = (
                f"The server redirects to {target} ({status}). Redirects are not followed: enter the final address."
            )
            return JudgeModelError(message, stops_job=True)
        try:
            words = error_message(engines.DECODER.decode(response.body.decode("utf-8", "replace")))
        except ValueError:
            words = ""
        words = self._http.redact(engines.excerpt(words or response.body, 500)).rstrip(".")
        reason = f": {words}" if words else ""
        if status in (401, 403):
            return JudgeModelError(f"The server refused access ({status}){reason}. Check the key.", stops_job=True)
        if status == 404:
            return JudgeModelError(
                f"The server does not have this address or model (404){reason}. Check both.", stops_job=True
            )
        return JudgeModelError(f"The server responded with status {status}{reason}.")
