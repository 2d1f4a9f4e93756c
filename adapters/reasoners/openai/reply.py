"""What a reply of any compatible server says, whatever of it is missing or of another type than the client's.

The client makes its types of what comes without checking it. So every field is read as if it might be anything.
"""

import json
import re
from typing import Any

from adapters.reasoners.openai.request import Completion, ToolCall
from adapters.reasoners.openai.structured_output import as_number

_SURROGATES = re.compile("[\ud800-\udfff]")


def field_of(value: object, name: str) -> Any:
    """A field of an object or of a mapping; None where there is none."""
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def first_choice(reply: object) -> object:
    """The first choice that is one; None where there is none."""
    choices = field_of(reply, "choices")
    found = choices if isinstance(choices, list) else ()
    return next((choice for choice in found if choice is not None and not isinstance(choice, str | int | float)), None)


def is_completion(reply: object) -> bool:
    """Whether this is a chat completion at all."""
    return isinstance(field_of(reply, "choices"), list)


def text_of(content: object) -> str:
    """Text, or parts of text, without lone surrogates: nothing that writes UTF-8 can take those."""
    if isinstance(content, list):
        content = "".join(_part(part) for part in content)
    return _SURROGATES.sub("\ufffd", content) if isinstance(content, str) else ""


def _part(part: object) -> str:
    text = part if isinstance(part, str) else field_of(part, "text")
    kind = field_of(part, "type")
    return text if isinstance(text, str) and kind not in {"thinking", "reasoning"} else ""


def reasoning_of(message: object) -> str:
    """What the model thought, where the server keeps it apart."""
    return text_of(field_of(message, "reasoning_content")) or text_of(field_of(message, "reasoning"))


def refusal_of(message: object) -> str:
    """The model's refusal, where the server keeps it apart."""
    return text_of(field_of(message, "refusal"))


def completion_of(reply: object) -> Completion:
    """A whole reply, of an endpoint that does not stream."""
    message = field_of(first_choice(reply), "message")
    calls = field_of(message, "tool_calls")
    found = calls if isinstance(calls, list) else []
    functions = [function for call in found if (function := field_of(call, "function")) is not None]
    if not functions and (old := field_of(message, "function_call")) is not None:
        functions = [old]
    return Completion(text_of(field_of(message, "content")), tuple(_call(function) for function in functions))


def _call(function: object) -> ToolCall:
    arguments = field_of(function, "arguments")
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCall(str(field_of(function, "name") or ""), text_of(written))


def finish_of(choice: object) -> str:
    """Why the reply ended; empty while it goes on."""
    return str(field_of(choice, "finish_reason") or "")


def is_filtered(finish: str) -> bool:
    """Whether a reply ended because of a content filter, as each vendor says it."""
    return finish.casefold().startswith(("content_filter", "safety", "prohibited_content", "blocklist"))


def usage_of(reply: object) -> tuple[int, int, int, int]:
    """Tokens read, of them cached, written, and of them thought unseen; 0 where the endpoint does not say."""
    usage = field_of(reply, "usage")

    def count(value: object, name: str) -> int:
        return max(0, int(as_number(field_of(value, name)) or 0))

    read = count(usage, "prompt_tokens") or count(usage, "input_tokens")
    details = field_of(usage, "prompt_tokens_details") or field_of(usage, "input_tokens_details")
    cached = count(details, "cached_tokens") or count(usage, "prompt_cache_hit_tokens")
    written = count(usage, "completion_tokens") or count(usage, "output_tokens")
    out = field_of(usage, "completion_tokens_details") or field_of(usage, "output_tokens_details")
    return read, min(read, cached), written, count(out, "reasoning_tokens")


def error_in(reply: object) -> object:
    """The error that a reply with status 200 carries, or is, as of vLLM and Mistral; None where there is none."""
    if str(field_of(reply, "object")).casefold() == "error":
        return {name: field_of(reply, name) for name in ("message", "type", "code")}
    return field_of(reply, "error") or None
