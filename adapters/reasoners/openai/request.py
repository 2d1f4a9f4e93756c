"""What one call to a model asks, and what comes back, before any endpoint's dialect."""

import json
from dataclasses import dataclass
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]

CHARACTERS_PER_TOKEN = 4  # the usual estimate for English; a tokenizer of an unknown model is not to be had
TOKENS_PER_MESSAGE = 4


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What one call asks. ``tools_in_words`` takes the tools' place on an endpoint that has none."""

    system: str
    user: str
    max_tokens: int  # of what is to be read; what a model thinks unseen comes on top
    schema: Json | None = None  # the reply is one JSON object of this schema: {"name", "schema"}
    tools: tuple[Json, ...] = ()  # one of them is due
    tools_in_words: str = ""
    further: tuple[tuple[str, str], ...] = ()  # (role, text) after the user's message: a reply to be repaired

    @property
    def tokens(self) -> int:
        """About how many tokens this sends."""
        texts = [self.system, self.user, *(text for _, text in self.further)]
        texts.append(json.dumps(self.tools) if self.tools else self.tools_in_words)
        return estimated_tokens(*texts)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A function call as the model wrote it; ``arguments`` need not be JSON."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Completion:
    """A reply that is complete. Both parts may be empty."""

    text: str
    calls: tuple[ToolCall, ...] = ()


def estimated_tokens(*texts: str) -> int:
    """About how many tokens these messages are."""
    return sum(len(text) // CHARACTERS_PER_TOKEN + TOKENS_PER_MESSAGE for text in texts if text)
