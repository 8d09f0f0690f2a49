"""The two protocols of judge models: requests and responses as plain data.

A server that refuses a structured answer is asked for a simpler one: see `Protocol.formats`.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from .prompts import Prompt

ANTHROPIC_VERSION = "2023-06-01"
TOOL = "judgment"
# What an owner may set; everything else is set by the protocol, or would change what is paid for.
PARAMETERS = frozenset(
    {"temperature", "top_p", "top_k", "seed", "max_tokens", "max_completion_tokens", "reasoning_effort"}
)
TOKEN_LIMITS = ("max_tokens", "max_completion_tokens")


@dataclass(frozen=True)
class Completion:
    """A response.

    text: with the answer. model: the name that the server gives. refusal: why the model declined; empty if it did not.
    input_tokens, output_tokens: None if the server does not say.
    is_cut: the answer reached the limit of tokens. answer_format, took_ms: how it was asked for, and the time it took.
    """

    text: str
    model: str
    input_tokens: int | None
    output_tokens: int | None
    is_cut: bool = False
    refusal: str = ""
    answer_format: str = ""
    took_ms: int = 0


class Protocol(ABC):
    """One protocol.

    formats: how an answer can be asked for, the strictest first.
    fixed_headers: of every request, besides the key.
    """

    key: ClassVar[str]
    label: ClassVar[str]
    formats: ClassVar[Sequence[str]]
    fixed_headers: ClassVar[Mapping[str, str]] = {}

    @abstractmethod
    def headers(self, key: str) -> dict[str, str]:
        """Returns the headers that contain the key; none without one."""

    @abstractmethod
    def path(self, base: str) -> str:
        """Returns the path of requests. base: the path of the address, without a slash at its end."""

    @abstractmethod
    def body(self, prompt: Prompt, *, model: str, parameters: Mapping[str, Any], answer_format: str) -> dict[str, Any]:
        """Returns the JSON of a request. A picture is sent as its address, which the server of the model fetches."""

    @abstractmethod
    def read(self, response: Mapping[str, Any]) -> Completion | None:
        """Returns what a response with status 200 says; None if it is not one of this protocol."""


class OpenAI(Protocol):
    """Chat completions: OpenAI, vLLM, llama.cpp, Ollama, LiteLLM and many more."""

    key = "openai"
    label = "OpenAI-compatible"
    formats = ("json_schema", "json_object", "text")

    def headers(self, key: str) -> dict[str, str]:
        return {"authorization": f"Bearer {key}"} if key else {}

    def path(self, base: str) -> str:
        return f"{base}/chat/completions"

    def body(self, prompt: Prompt, *, model: str, parameters: Mapping[str, Any], answer_format: str) -> dict[str, Any]:
        content: str | list[dict[str, Any]] = prompt.data
        if prompt.image_url:
            image = {"type": "image_url", "image_url": {"url": prompt.image_url}}
            content = [image, {"type": "text", "text": prompt.data}]
        messages = [{"role": "system", "content": prompt.instructions}, {"role": "user", "content": content}]
        body: dict[str, Any] = {"model": model, "messages": messages, **parameters}
        if answer_format == "json_schema":
            schema = {"name": TOOL, "strict": True, "schema": prompt.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif answer_format == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    def read(self, response: Mapping[str, Any]) -> Completion | None:
        choices = response.get("choices")
        choice = _mapping(choices[0]) if isinstance(choices, list) and choices else {}
        message = choice.get("message")
        if not isinstance(message, dict):
            return None
        usage = _mapping(response.get("usage"))
        reason = choice.get("finish_reason")
        refusal = str(message.get("refusal") or "")
        if reason == "content_filter" and not refusal:
            refusal = "The server's content filter stopped the answer."
        return Completion(
            _text(message.get("content")),
            str(response.get("model") or ""),
            _count(usage.get("prompt_tokens")),
            _count(usage.get("completion_tokens")),
            reason == "length",
            refusal,
        )


class Anthropic(Protocol):
    """Messages of Anthropic. A structured answer is the call of a tool that the model must call."""

    key = "anthropic"
    label = "Anthropic"
    formats = ("tool", "text")
    fixed_headers: ClassVar[Mapping[str, str]] = {"anthropic-version": ANTHROPIC_VERSION}

    def headers(self, key: str) -> dict[str, str]:
        return {"x-api-key": key} if key else {}

    def path(self, base: str) -> str:
        return f"{base}/messages" if base.endswith("/v1") else f"{base}/v1/messages"

    def body(self, prompt: Prompt, *, model: str, parameters: Mapping[str, Any], answer_format: str) -> dict[str, Any]:
        content: str | list[dict[str, Any]] = prompt.data
        if prompt.image_url:
            image = {"type": "image", "source": {"type": "url", "url": prompt.image_url}}
            content = [image, {"type": "text", "text": prompt.data}]
        messages = [{"role": "user", "content": content}]
        body: dict[str, Any] = {"model": model, "system": prompt.instructions, "messages": messages, **parameters}
        if answer_format == "tool":
            tool = {"name": TOOL, "description": "Stores the judgment.", "input_schema": prompt.schema}
            body |= {"tools": [tool], "tool_choice": {"type": "tool", "name": TOOL}}
        return body

    def read(self, response: Mapping[str, Any]) -> Completion | None:
        content = response.get("content")
        if not isinstance(content, list):
            return None
        blocks = [block for block in content if isinstance(block, dict)]
        calls = [json.dumps(block.get("input")) for block in blocks if block.get("type") == "tool_use"]
        texts = [_text(block.get("text")) for block in blocks if block.get("type") == "text"]
        usage = _mapping(response.get("usage"))
        reason = response.get("stop_reason")
        return Completion(
            "\n".join(calls or texts),
            str(response.get("model") or ""),
            _count(usage.get("input_tokens")),
            _count(usage.get("output_tokens")),
            reason == "max_tokens",
            ("\n".join(texts) or "The model declined to answer.") if reason == "refusal" else "",
        )


PROTOCOLS: Mapping[str, Protocol] = {protocol.key: protocol for protocol in (OpenAI(), Anthropic())}


def error_message(body: Any) -> str:
    """Returns the server's own words from the JSON of an error response; empty if there are none."""
    error = _mapping(body).get("error", body)
    if isinstance(error, str):
        return error
    message = _mapping(error).get("message") or _mapping(body).get("message") or _mapping(body).get("detail")
    return message if isinstance(message, str) else ""


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    """Returns the text of a message, which some servers send in parts."""
    if isinstance(value, list):
        return "".join(str(_mapping(part).get("text") or "") for part in value)
    return value if isinstance(value, str) else ""


def _count(value: Any) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9
    return value if is_count else None
