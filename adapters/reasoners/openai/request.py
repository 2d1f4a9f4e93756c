"""Request and reply of one model call, independent of an endpoint's dialect."""

import json
from dataclasses import dataclass
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]

CHARACTERS_PER_TOKEN = 4  # the usual estimate for English; there is no tokenizer for an unknown model
TOKENS_PER_MESSAGE = 4


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Request of one call. ``tools_in_words`` replaces the tools on an endpoint without tool support."""

    system: str
    user: str
    max_tokens: int  # of the visible reply, without hidden reasoning
    schema: Json | None = None  # the reply is one JSON object of this schema: {"name", "schema"}
    tools: tuple[Json, ...] = ()  # the model must call one of them
    tools_in_words: str = ""
    further: tuple[tuple[str, str], ...] = ()  # (role, text) after the user's message: a reply to be repaired

    @property
    def tokens(self) -> int:
        """Estimated number of tokens of the request."""
        texts = [self.system, self.user, *(text for _, text in self.further)]
        texts.append(json.dumps(self.tools) if self.tools else self.tools_in_words)
        return estimated_tokens(*texts)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """Function call as the model wrote it. ``arguments`` may be invalid JSON."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Completion:
    """Complete reply. Both parts may be empty."""

    text: str
    calls: tuple[ToolCall, ...] = ()


def estimated_tokens(*texts: str) -> int:
    """Return the estimated number of tokens of these messages."""
    return sum(len(text) // CHARACTERS_PER_TOKEN + TOKENS_PER_MESSAGE for text in texts if text)
