"""Translation of the client's errors to one line that says what is wrong at the endpoint and what to do.

It never repeats the endpoint's error text, because some endpoints include the API key.
"""

import re
import socket
import ssl
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from adapters.reasoners.openai import causes
from adapters.reasoners.openai.causes import Cause, cause_of
from adapters.reasoners.openai.client import BodyTooLong
from adapters.reasoners.openai.dialect import is_about_length, is_too_long
from core.model.errors import ModelFailure, ModelMisbehaved, ModelUnavailable

if TYPE_CHECKING:
    from openai import APIStatusError


class PromptTooLong(ModelUnavailable):
    """Error for a prompt that is longer than the model's context."""


class OnlyThoughts(ModelMisbehaved):
    """Error for a reply whose tokens all went into hidden reasoning."""


class Failures:
    """Factory of errors for one endpoint and model."""

    def __init__(self, host: str, model: str) -> None:
        """Use these names in messages."""
        self._at = f"The model endpoint at {host}"
        self._model = model

    def translate(self, error: BaseException) -> ModelUnavailable:
        """Return our error for an error of the client, its transport, or the parsing of its reply."""
        import httpx2
        import openai

        if isinstance(error, openai.APIStatusError):
            return self.for_status(error)
        chain = tuple(_chain(error))
        connected = not isinstance(error, openai.APIConnectionError | OSError)
        if any(isinstance(one, BodyTooLong) for one in chain):
            return self.because(causes.ENDLESS)
        if any(isinstance(one, httpx2.TooManyRedirects) for one in chain):
            return self.because(causes.IN_CIRCLES)
        if connected and isinstance(error, openai.APIError) and error.body is not None:
            return self.reported_error(error.body)
        if connected and isinstance(error, ValueError | TypeError | AttributeError | LookupError | openai.OpenAIError):
            return self.because(causes.NO_COMPLETION)
        return self._connection(chain)

    def late(self, waiting_for: str = "") -> ModelUnavailable:
        """Return the error for a reply that did not come within its deadline."""
        where = f" {waiting_for}" if waiting_for else ""
        return ModelUnavailable(
            f"{self._at} did not answer in time{where}.",
            remedy="If this happens often, use a faster model, or raise LLM_TIMEOUT and ANSWER_DEADLINE.",
            kind=ModelFailure.TIMEOUT,
        )

    def filter_error(self) -> ModelMisbehaved:
        """Return the error for an answer that a content filter stopped."""
        return ModelMisbehaved(
            f"{self._at}: the content filter stopped the answer.",
            remedy="Check the filter's settings with the provider of the model.",
            kind=ModelFailure.CONTENT_FILTER,
        )

    def refusal_error(self) -> ModelMisbehaved:
        """Return the error for a model that refused to answer."""
        return ModelMisbehaved(
            f"{self._model} refused to answer.",
            remedy="If this happens often, use a model that refuses less.",
            kind=ModelFailure.REFUSED_TEXT,
        )

    def only_thoughts(self) -> OnlyThoughts:
        """Return the error for a reply whose tokens all went into hidden reasoning."""
        return OnlyThoughts(
            f"{self._model} used up its length with thinking and wrote nothing.",
            remedy="Lower LLM_REASONING_EFFORT, or use a model that thinks less.",
            kind=ModelFailure.LENGTH,
        )

    def reported_error(self, said: object) -> ModelUnavailable:
        """Return the error for an error object in a reply or a stream."""
        words = str(said)
        if is_about_length(words):
            return self.too_long()
        return self.because(cause_of(200, words) or causes.REPORTED)

    def for_status(self, error: "APIStatusError") -> ModelUnavailable:
        """Return our error for an HTTP status."""
        status, said = error.status_code, f"{error.message} {error.body} {error.code}"
        if is_too_long(error):
            return self.too_long()
        other = causes.INTERNAL if status >= 500 else causes.ELSEWHERE if 300 <= status < 400 else causes.REFUSED
        return self.because(cause_of(status, said) or other, f" ({status})")

    def too_long(self) -> PromptTooLong:
        """Return the error for a prompt that is longer than the model's context."""
        return PromptTooLong(
            f"The question with its evidence is too long for {self._model}.",
            remedy="Use a model with a larger context window, or set LLM_CONTEXT to its real size.",
            kind=ModelFailure.CONTEXT,
        )

    def because(self, cause: Cause, status: str = "") -> ModelUnavailable:
        """Return the error for a cause."""
        if cause.kind is ModelFailure.CONTENT_FILTER:
            return self.filter_error()
        if cause.kind is ModelFailure.LENGTH:
            return self.only_thoughts()
        return cause.error(f"{self._at} {cause.words}{status}.", remedy=cause.remedy, kind=cause.kind)

    def _connection(self, chain: tuple[BaseException, ...]) -> ModelUnavailable:
        import httpx2

        named = {type(one).__name__ for one in chain}
        if any(isinstance(one, socket.gaierror) for one in chain) or "ClientConnectorDNSError" in named:
            return self.because(causes.NO_NAME)
        if any(isinstance(one, ssl.SSLError) for one in chain) or any("Certificate" in name for name in named):
            return self.because(causes.NO_TLS)
        if any(isinstance(one, ConnectionRefusedError) or getattr(one, "errno", 0) == 111 for one in chain):
            return self.because(causes.CLOSED_PORT)
        if any(isinstance(one, httpx2.UnsupportedProtocol) or "InvalidURL" in type(one).__name__ for one in chain):
            return self.because(causes.NO_ADDRESS)
        if any(isinstance(one, TimeoutError) for one in chain):
            return self.late()
        return self.because(causes.DISCONNECTED)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and its causes, the socket's own error last."""
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        yield one
        inner = getattr(one, "os_error", None)
        if isinstance(inner, BaseException):
            yield inner
        one = one.__cause__ or one.__context__


def retry_after(error: "APIStatusError") -> float | None:
    """Return the seconds to wait from ``retry-after-ms``, or from ``retry-after`` (RFC 9110, 10.2.3), or None."""
    headers = error.response.headers
    milliseconds = headers.get("retry-after-ms", "").strip()
    if re.fullmatch(r"\d+(?:\.\d+)?", milliseconds):
        return float(milliseconds) / 1000
    value = headers.get("retry-after", "")
    if re.fullmatch(r"\d+(?:\.\d+)?", value.strip()):
        return float(value)
    try:
        date = parsedate_to_datetime(value)
        served = parsedate_to_datetime(headers.get("date", ""))
        return max(0.0, (date - served).total_seconds())
    except (ValueError, TypeError):
        return None


def client_failures() -> tuple[type[Exception], ...]:
    """Return the errors that the client may raise: its own, its transport's, and those from parsing odd replies."""
    import httpx2
    import openai

    return (
        openai.OpenAIError,
        httpx2.HTTPError,
        httpx2.InvalidURL,
        ValueError,
        TypeError,
        AttributeError,
        LookupError,
        OSError,
    )
