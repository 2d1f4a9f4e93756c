"""What /v1/chat/completions and /v1/models take and give: OpenAI's shape, and the rest in ``footnote``.

https://platform.openai.com/docs/api-reference/chat
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from adapters.web.api.schemas import ApiResponse, CitationReply


class _Lenient(BaseModel):
    """What other programs' clients send: fields that mean nothing here are passed over."""

    model_config = ConfigDict(extra="ignore")


class ContentPart(_Lenient):
    """A part of a message; those that are not text are passed over."""

    type: str
    text: str = Field("", max_length=200_000)


class ChatMessage(_Lenient):
    """A message of the conversation."""

    role: str = Field(max_length=20)
    content: str | list[ContentPart] | None = None

    @property
    def text(self) -> str:
        """Its words."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.type in ("text", "input_text"))
        return self.content or ""


class StreamOptions(_Lenient):
    """Of a stream."""

    include_usage: bool = False


class ChatRequest(_Lenient):
    """A conversation of which the last ``user`` message is the question.

    Earlier ``user`` messages say what it follows on. ``system`` and ``assistant`` messages are not used: an answer
    comes from the documents alone.
    """

    model: str = Field(max_length=200, description="footnote, or footnote/NAME for one knowledge base.")
    messages: list[ChatMessage] = Field(min_length=1, max_length=1_000)
    stream: bool = False
    stream_options: StreamOptions | None = None
    user: str | None = Field(
        None, max_length=500, description="Whose question it is, where you ask for several people."
    )


class UrlCitation(ApiResponse):
    """A source where the text cites it. ``url`` is empty where the source has no address."""

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
    """The only choice there is."""

    index: Literal[0] = 0
    message: AssistantMessage
    finish_reason: Literal["stop"] = "stop"
    logprobs: None = None


class Usage(ApiResponse):
    """Tokens of the language model behind the answer; 0 where none is configured."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class FootnoteFields(ApiResponse):
    """What OpenAI's shape has no field for. ``outcome`` is as in /v1/ask, or ``task`` for a client's own prompt."""

    outcome: str
    citations: list[CitationReply]
    notices: list[str]
    grounding: float | None
    choices: list[str] = Field(description="What the next message may choose, where the answer asks back.")


class ChatCompletion(ApiResponse):
    """The answer in OpenAI's shape."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[ChatChoice]
    usage: Usage
    footnote: FootnoteFields


class Model(ApiResponse):
    """A model that may be named in a request."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: Literal["footnote"] = "footnote"


class ModelList(ApiResponse):
    """The models: footnote, and one for each knowledge base that the token reads."""

    object: Literal["list"] = "list"
    data: list[Model]


class ChatError(ApiResponse):
    """What went wrong."""

    message: str
    type: str
    param: str | None = None
    code: str | None = None
    trace_id: str = ""


class ChatErrorReply(ApiResponse):
    """An error in OpenAI's shape."""

    error: ChatError
