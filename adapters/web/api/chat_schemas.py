"""Request and reply types of /v1/chat/completions and /v1/models, in OpenAI's format plus the field ``footnote``.

https://platform.openai.com/docs/api-reference/chat
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from adapters.web.api.schemas import ApiResponse, CitationReply


class _Lenient(BaseModel):
    """A request body from any OpenAI client. Unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore")


class ContentPart(_Lenient):
    """A part of a message. Only text is used."""

    type: str
    text: str = Field("", max_length=200_000)


class ChatMessage(_Lenient):
    """A message of the conversation."""

    role: str = Field(max_length=20)
    content: str | list[ContentPart] | None = None

    @property
    def text(self) -> str:
        """The text of all its parts."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type in ("text", "input_text"))
        return self.content or ""


class StreamOptions(_Lenient):
    """The options of a stream."""

    include_usage: bool = False


class ChatRequest(_Lenient):
    """A conversation of which the last ``user`` message is the question.

    Earlier ``user`` messages are its context. ``system`` and ``assistant`` messages are ignored, because answers come
    only from the documents.
    """

    model: str = Field(max_length=200, description="footnote, or footnote/NAME for one knowledge base.")
    messages: list[ChatMessage] = Field(min_length=1, max_length=1_000)
    stream: bool = False
    stream_options: StreamOptions | None = None
    user: str | None = Field(None, max_length=500, description="The person who asks, if you serve several people.")


class UrlCitation(ApiResponse):
    """A source and the place in the text that cites it. ``url`` is empty if the source has no address."""

    url: str
    title: str
    start_index: int
    end_index: int


class Annotation(ApiResponse):
    """A citation in the text."""

    type: Literal["url_citation"] = "url_citation"
    url_citation: UrlCitation


class AssistantMessage(ApiResponse):
    """The answer."""

    role: Literal["assistant"] = "assistant"
    content: str
    refusal: None = None
    annotations: list[Annotation]


class ChatChoice(ApiResponse):
    """The answer as OpenAI's only choice."""

    index: Literal[0] = 0
    message: AssistantMessage
    finish_reason: Literal["stop"] = "stop"
    logprobs: None = None


class Usage(ApiResponse):
    """Tokens that the language model used; 0 if none is configured."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class FootnoteFields(ApiResponse):
    """Fields that OpenAI's format lacks. ``outcome`` is as in /v1/ask, or ``task`` for a client's own prompt."""

    outcome: str
    citations: list[CitationReply]
    notices: list[str]
    grounding: float | None
    choices: list[str] = Field(description="The choices for the next message, if the answer is a question.")


class ChatCompletion(ApiResponse):
    """An answer in OpenAI's format."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[ChatChoice]
    usage: Usage
    footnote: FootnoteFields


class Model(ApiResponse):
    """A model that a request can name."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: Literal["footnote"] = "footnote"


class ModelList(ApiResponse):
    """The models: footnote, and one for each knowledge base that the token can read."""

    object: Literal["list"] = "list"
    data: list[Model]


class ChatError(ApiResponse):
    """The details of an error."""

    message: str
    type: str
    param: str | None = None
    code: str | None = None
    trace_id: str = ""


class ChatErrorReply(ApiResponse):
    """An error in OpenAI's format."""

    error: ChatError
