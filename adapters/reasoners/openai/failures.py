"""Translation of the client's errors to one line that says what is wrong at the endpoint and what to do.

It never repeats the endpoint's error text, because some endpoints include the API key.
"""

import errno
import re
import socket
import ssl
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

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
            return self.endless()
        if any(isinstance(one, httpx2.TooManyRedirects) for one in chain):
            return self.in_circles()
        if connected and isinstance(error, openai.APIError) and error.body is not None:
            return self.reported_error(error.body)
        if connected and isinstance(error, ValueError | TypeError | AttributeError | LookupError | openai.OpenAIError):
            return self.no_completion()
        return self._connection(chain)

    def late(self, waiting_for: str = "") -> ModelUnavailable:
        """Return the error for a reply that did not come within its deadline."""
        where = f" {waiting_for}" if waiting_for else ""
        return ModelUnavailable(
            f"{self._at} did not answer in time{where}.",
            remedy="If this happens often, use a faster model, or raise LLM_TIMEOUT and ANSWER_DEADLINE.",
            kind=ModelFailure.TIMEOUT,
        )

    def no_completion(self) -> ModelMisbehaved:
        """Return the error for a body that is not a chat completion."""
        return ModelMisbehaved(
            f"{self._at} sent something that is no chat completion.",
            remedy="Check that LLM_BASE_URL ends where /chat/completions begins, usually in /v1.",
            kind=ModelFailure.MALFORMED,
        )

    def endless(self) -> ModelMisbehaved:
        """Return the error for a reply that is too long."""
        return ModelMisbehaved(
            f"{self._at} sent a reply without an end.",
            remedy="Check what answers at LLM_BASE_URL.",
            kind=ModelFailure.MALFORMED,
        )

    def in_circles(self) -> ModelUnavailable:
        """Return the error for a redirect loop."""
        return ModelUnavailable(
            f"{self._at} sends us in circles.",
            remedy="Set LLM_BASE_URL to the address where chat completions are answered.",
            kind=ModelFailure.MALFORMED,
        )

    def broke_off(self) -> ModelUnavailable:
        """Return the error for a stream that ended before the model was done."""
        return ModelUnavailable(
            f"{self._at} broke the answer off in the middle.", remedy="Try again.", kind=ModelFailure.CONNECTION
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
        if cause := cause_of(200, words):
            return self._because(cause, "")
        return ModelUnavailable(
            f"{self._at} reported an error of its own.", remedy="Try again in a moment.", kind=ModelFailure.SERVER
        )

    def for_status(self, error: "APIStatusError") -> ModelUnavailable:
        """Return our error for an HTTP status."""
        status, said = error.status_code, f"{error.message} {error.body} {error.code}"
        if is_too_long(error):
            return self.too_long()
        if cause := cause_of(status, said):
            return self._because(cause, f" ({status})")
        if status >= 500:
            words, remedy, kind = "has an internal error", "Try again in a moment.", ModelFailure.SERVER
        elif 300 <= status < 400:
            words, remedy, kind = (
                "sends us elsewhere",
                "Set LLM_BASE_URL to the address it names.",
                ModelFailure.MALFORMED,
            )
        else:
            words, remedy, kind = (
                "refused the request",
                "Its own log says what it has against it; LLM_MODEL may also be a model that does not chat.",
                ModelFailure.REFUSED,
            )
        return ModelUnavailable(f"{self._at} {words} ({status}).", remedy=remedy, kind=kind)

    def too_long(self) -> PromptTooLong:
        """Return the error for a prompt that is longer than the model's context."""
        return PromptTooLong(
            f"The question with its evidence is too long for {self._model}.",
            remedy="Use a model with a larger context window, or set LLM_CONTEXT to its real size.",
            kind=ModelFailure.CONTEXT,
        )

    def _because(self, cause: Cause, status: str) -> ModelUnavailable:
        if cause.kind is ModelFailure.CONTENT_FILTER:
            return self.filter_error()
        if cause.kind is ModelFailure.LENGTH:
            return self.only_thoughts()
        return ModelUnavailable(f"{self._at} {cause.words}{status}.", remedy=cause.remedy, kind=cause.kind)

    def _connection(self, chain: tuple[BaseException, ...]) -> ModelUnavailable:
        import httpx2

        named = {type(one).__name__ for one in chain}
        if any(isinstance(one, socket.gaierror) for one in chain) or "ClientConnectorDNSError" in named:
            return self._unreachable_error(
                "its name is not known (DNS)", "Check the host in LLM_BASE_URL.", ModelFailure.DNS
            )
        if any(isinstance(one, ssl.SSLError) for one in chain) or any("Certificate" in name for name in named):
            remedy = "Check http or https in LLM_BASE_URL, and whether its certificate is trusted here."
            return self._unreachable_error("no secure connection (TLS)", remedy, ModelFailure.TLS)
        if any(isinstance(one, OSError) and one.errno == errno.ECONNREFUSED for one in chain):
            remedy = "Check the port in LLM_BASE_URL and that the server runs."
            return self._unreachable_error("the connection is refused", remedy, ModelFailure.CONNECTION)
        if any(isinstance(one, httpx2.UnsupportedProtocol) or "InvalidURL" in type(one).__name__ for one in chain):
            return self._unreachable_error(
                "it is no address", "LLM_BASE_URL begins with http:// or https://.", ModelFailure.DNS
            )
        if any(isinstance(one, TimeoutError) for one in chain):
            return self.late()
        return ModelUnavailable(
            f"{self._at} broke the connection off.",
            remedy="Check LLM_BASE_URL and that the server runs.",
            kind=ModelFailure.CONNECTION,
        )

    def _unreachable_error(self, why: str, remedy: str, kind: ModelFailure) -> ModelUnavailable:
        return ModelUnavailable(f"{self._at} cannot be reached: {why}.", remedy=remedy, kind=kind)


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
