"""A server on loopback that speaks both protocols of judge models, for tests and for trying them without a key.

It is no language model. It finds the true grade of a document by a function, and answers with a grade drawn from the row of that grade
in a known confusion matrix; the same document always gets the same answer. Variants answer as rudely as real servers do.

    with fake_judge(truth=…, confusion=…) as server: … server.url
"""

import hashlib
import json
import random
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .prompts import CANNOT_JUDGE

Truth = Callable[[str, Mapping[str, str]], str]
"""Returns the grade of a document, as it stands in the prompt: from the query and the fields of the document."""

VARIANTS = {
    "": "answers at once",
    "biased": "answers one grade too high",
    "429": "refuses every second request with status 429 and Retry-After: 0",
    "500": "fails every second request with status 500",
    "401": "refuses the key",
    "slow": "answers after `seconds`",
    "cut": "closes the connection in the middle of each response",
    "prose": "answers with prose, without a grade",
    "wrapped": "answers with the right JSON in the middle of prose",
    "off_scale": "answers with a grade that is not on the scale",
    "huge": "sends responses of 30 MB",
    "redirecting": "redirects to another address",
    "no_schema": "refuses json_schema and tools with status 400",
    "text_only": "refuses every structured answer with status 400",
    "html": "answers with a page",
    "no_images": "refuses pictures with status 400",
}
REFUSED_FORMATS = {"no_schema": ("tool", "json_schema"), "text_only": ("tool", "json_schema", "json_object")}
INPUT_TOKENS, OUTPUT_TOKENS = 400, 20  # that every response claims
IMAGE_TOKENS = 1000  # that it claims besides for a picture


def matching_words(query: str, document: Mapping[str, str], grades: Sequence[str]) -> str:
    """Returns a grade by the share of the query's words that the document contains. An invention for demonstrations."""
    words = query.casefold().split()
    text = " ".join(document.values()).casefold()
    share = sum(word in text for word in words) / len(words) if words else 0.0
    return grades[round(share * (len(grades) - 1))]


@dataclass
class FakeJudge:
    """A running server.

    confusion: by true grade, the probabilities of the answers, which add up to 1; a grade that is missing is answered truly.
    variant: one of `VARIANTS`; may be changed while the server runs. key: the only key it accepts; empty: any.
    requests: the JSON of every request; paths: their paths; busiest: the most requests it worked on at once.
    images: the addresses of the pictures in them, of which it fetches none.
    """

    truth: Truth | None = None
    confusion: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    variant: str = ""
    key: str = ""
    seconds: float = 0.0
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    busiest: int = 0
    stopped: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)
    working: int = 0

    def grade(self, body: Mapping[str, Any], is_anthropic: bool) -> str:
        """Returns the answer to a request."""
        messages = body["messages"]
        data = json.loads(read_content(messages[-1]["content"])[0])
        instructions = body["system"] if is_anthropic else messages[0]["content"]
        grades = read_grades(instructions)
        query, document = data["query"], data["document"]
        truth = self.truth(query, document) if self.truth else matching_words(query, document, grades)
        if self.variant == "off_scale":
            return "99"
        row = self.confusion.get(truth, {truth: 1.0})
        seed = hashlib.sha256(json.dumps([query, document], sort_keys=True).encode()).digest()
        answer = random.Random(seed).choices([*row], [*row.values()])[0]
        if self.variant == "biased" and answer in grades:
            answer = grades[min(len(grades) - 1, grades.index(answer) + 1)]
        return answer


def read_grades(instructions: str) -> list[str]:
    """Returns the grades of a prompt: the items of a list that are followed by “cannot judge”. Guidelines may have lists, too."""
    items: list[str] = []
    for line in instructions.splitlines():
        item = line[2:].split(":")[0]
        if line.startswith("- ") and item == CANNOT_JUDGE:
            break
        items = [*items, item] if line.startswith("- ") else []
    return items


def read_content(content: str | Sequence[Mapping[str, Any]]) -> tuple[str, list[str]]:
    """Returns the text of a message of either protocol, and the addresses of its pictures."""
    if isinstance(content, str):
        return content, []
    text = "".join(part["text"] for part in content if part["type"] == "text")
    openai_urls = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    anthropic_urls = [part["source"]["url"] for part in content if part["type"] == "image"]
    return text, openai_urls + anthropic_urls


@contextmanager
def fake_judge(*, port: int = 0, **settings: Any) -> Iterator[FakeJudge]:
    """Runs a server on 127.0.0.1 for the duration of a `with` block. port: 0 is any free one. settings: those of `FakeJudge`."""
    judge = FakeJudge(**settings)
    server = ThreadingHTTPServer(("127.0.0.1", port), type("Handler", (_Handler,), {"judge": judge}))
    server.daemon_threads = True
    judge.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield judge
    finally:
        judge.stopped.set()
        server.shutdown()
        server.server_close()
        thread.join(5)


class _Handler(BaseHTTPRequestHandler):
    judge: FakeJudge
    protocol_version = "HTTP/1.1"
    timeout = 30
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
        with self.judge.lock:
            self.judge.working += 1
            self.judge.busiest = max(self.judge.busiest, self.judge.working)
            self.judge.requests.append(body)
            self.judge.images += read_content(body["messages"][-1]["content"])[1]
            self.judge.paths.append(self.path)
            number = len(self.judge.requests)
        try:
            self.answer(body, number)
        finally:
            with self.judge.lock:
                self.judge.working -= 1

    def answer(self, body: dict[str, Any], number: int) -> None:
        """Sends the response to the request of this number."""
        is_anthropic = self.path.endswith("/messages")
        answer_format = "tool" if "tools" in body else body.get("response_format", {}).get("type", "")
        given = self.headers.get("x-api-key") or self.headers.get("authorization", "").removeprefix("Bearer ")
        if self.judge.variant == "401" or (self.judge.key and given != self.judge.key):
            self.send_json(401, {"error": {"message": f"Incorrect API key provided: {given}"}})
        elif self.judge.variant in ("429", "500") and number % 2:
            self.send_json(int(self.judge.variant), {"error": {"message": "Try again."}}, {"retry-after": "0"})
        elif self.judge.variant == "no_images" and read_content(body["messages"][-1]["content"])[1]:
            self.send_json(400, {"error": {"message": "This model does not read images."}})
        elif self.judge.variant == "redirecting":
            self.send_json(302, {}, {"location": "http://169.254.169.254/latest/meta-data/"})
        elif self.judge.variant == "html":
            self.send_body(200, b"<html><h1>Sign in</h1></html>")
        elif self.judge.variant == "huge":
            self.send_body(200, b" " * 30 * 1024 * 1024)
        elif answer_format in REFUSED_FORMATS.get(self.judge.variant, ()):
            self.send_json(400, {"error": {"message": "Unsupported response_format."}})
        else:
            self.judge.stopped.wait(self.judge.seconds)
            self.complete(body, is_anthropic)

    def complete(self, body: dict[str, Any], is_anthropic: bool) -> None:
        """Sends a completion."""
        grade = {"reason": "Invented by fake_judge.", "grade": self.judge.grade(body, is_anthropic)}
        text = json.dumps(grade)
        if self.judge.variant == "prose":
            text = "This document is quite relevant. I would give it a 2, or perhaps a 3."
        elif self.judge.variant == "wrapped":
            text = f"Let me see.\n```json\n{text}\n```\nI hope that helps {{you}}."
        content = json.dumps(_completion(body, text, grade, is_anthropic)).encode()
        self.send_body(200, content, cut=self.judge.variant == "cut")

    def send_json(self, status: int, body: dict[str, Any], headers: Mapping[str, str] | None = None) -> None:
        self.send_body(status, json.dumps(body).encode(), headers)

    def send_body(self, status: int, body: bytes, headers: Mapping[str, str] | None = None, cut: bool = False) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(body[: len(body) // 2] if cut else body)
        except OSError:
            cut = True  # the client has left
        self.close_connection = cut or self.close_connection

    def log_message(self, format: str, *args: Any) -> None:
        """Logs nothing."""


def _completion(body: Mapping[str, Any], text: str, grade: dict[str, str], is_anthropic: bool) -> dict[str, Any]:
    model = f"{body['model']}-fake"
    input_tokens = INPUT_TOKENS + IMAGE_TOKENS * len(read_content(body["messages"][-1]["content"])[1])
    if not is_anthropic:
        return {
            "model": model,
            "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": input_tokens, "completion_tokens": OUTPUT_TOKENS},
        }
    block: dict[str, Any] = {"type": "text", "text": text}
    if "tools" in body and text.startswith("{"):
        block = {"type": "tool_use", "id": "1", "name": "judgment", "input": grade}
    usage = {"input_tokens": input_tokens, "output_tokens": OUTPUT_TOKENS}
    return {"type": "message", "model": model, "content": [block], "stop_reason": "end_turn", "usage": usage}
