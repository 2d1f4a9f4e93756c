"""Parsing of replies of any compatible server, and conversion from and to the Responses API.

The client builds its types without validation, so every field may have any type. The rest of this folder uses chat
completions. The functions for the Responses API only convert the shape.
"""

import json
import re
from collections.abc import AsyncGenerator
from typing import Any

from adapters.reasoners.openai.request import Completion, Json, ToolCall
from adapters.reasoners.openai.structured_output import as_number

_SURROGATES = re.compile("[\ud800-\udfff]")


def field_of(value: object, name: str) -> Any:
    """Return a field of an object or of a mapping, or None."""
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def first_choice(reply: object) -> object:
    """Return the first valid choice, or None."""
    choices = field_of(reply, "choices")
    found = choices if isinstance(choices, list) else ()
    return next((choice for choice in found if choice is not None and not isinstance(choice, str | int | float)), None)


def is_completion(reply: object) -> bool:
    """Return whether this is a chat completion."""
    return isinstance(field_of(reply, "choices"), list)


def text_of(content: object) -> str:
    """Return the text of a content field. Replace lone surrogates, which cannot be encoded as UTF-8."""
    if isinstance(content, list):
        content = "".join(_part(part) for part in content)
    return _SURROGATES.sub("\ufffd", content) if isinstance(content, str) else ""


def _part(part: object) -> str:
    text = part if isinstance(part, str) else field_of(part, "text")
    kind = field_of(part, "type")
    return text if isinstance(text, str) and kind not in {"thinking", "reasoning"} else ""


def reasoning_of(message: object) -> str:
    """Return the model's reasoning, if the server sends it separately."""
    return text_of(field_of(message, "reasoning_content")) or text_of(field_of(message, "reasoning"))


def refusal_of(message: object) -> str:
    """Return the model's refusal, if the server sends it separately."""
    return text_of(field_of(message, "refusal"))


def completion_of(reply: object) -> Completion:
    """Return the text and calls of a whole reply."""
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
    """Return the finish reason. Empty while the reply continues."""
    return str(field_of(choice, "finish_reason") or "")


def is_filtered(finish: str) -> bool:
    """Return whether a content filter ended the reply, in any vendor's wording."""
    return finish.casefold().startswith(("content_filter", "safety", "prohibited_content", "blocklist"))


def usage_of(reply: object) -> tuple[int, int, int, int]:
    """Return the tokens read, the cached part, the tokens written, and the reasoning part. 0 if unknown."""
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
    """Return the error that a reply with status 200 contains or is (vLLM, Mistral), or None."""
    if str(field_of(reply, "object")).casefold() == "error":
        return {name: field_of(reply, name) for name in ("message", "type", "code")}
    return field_of(reply, "error") or None


def as_responses(asked: Json) -> Json:
    """Convert a chat completions request to the Responses API."""
    messages = asked["messages"]
    request: Json = {
        "model": asked["model"],
        "input": [m for m in messages if m["role"] != "system"],
        "max_output_tokens": asked.get("max_tokens") or asked.get("max_completion_tokens"),
        "store": False,
    }
    if instructions := "\n\n".join(m["content"] for m in messages if m["role"] == "system"):
        request["instructions"] = instructions
    if effort := asked.get("reasoning_effort"):
        request["reasoning"] = {"effort": effort}
    match asked.get("response_format"):
        case {"type": "json_schema", "json_schema": schema}:
            request["text"] = {"format": {"type": "json_schema", **schema}}
        case {"type": kind}:
            request["text"] = {"format": {"type": kind}}
    if tools := asked.get("tools"):
        # The default there is true, which makes every optional argument required.
        request["tools"] = [{"type": "function", "strict": False, **tool["function"]} for tool in tools]
    for name in ("temperature", "tool_choice", "stream"):
        if name in asked:
            request[name] = asked[name]
    return request


def as_completion(response: object) -> Json:
    """Convert a whole response to a chat completion."""
    texts: list[str] = []
    calls: list[Json] = []
    refusal = ""
    for item in field_of(response, "output") or ():
        if field_of(item, "type") == "function_call":
            calls.append({"function": {"name": field_of(item, "name"), "arguments": field_of(item, "arguments")}})
        for part in field_of(item, "content") or ():
            texts.append(field_of(part, "text") or "")
            refusal += field_of(part, "refusal") or ""
    message = {"content": "".join(texts), "tool_calls": calls, "refusal": refusal}
    return {
        "choices": [{"message": message, "finish_reason": _finish(response)}],
        "usage": field_of(response, "usage"),
        "error": field_of(response, "error"),
    }


async def as_chunks(events: Any) -> AsyncGenerator[Json, None]:
    """Convert a stream of the Responses API to chat completion chunks."""
    async for event in events:
        kind = str(field_of(event, "type") or "")
        if kind == "response.output_text.delta":
            yield _chunk({"content": field_of(event, "delta")})
        elif kind == "response.refusal.delta":
            yield _chunk({"refusal": field_of(event, "delta")})
        elif "reasoning" in kind and kind.endswith(".delta"):
            yield _chunk({"reasoning_content": field_of(event, "delta")})
        elif kind in {"response.failed", "error"}:
            response = field_of(event, "response")
            yield {"error": field_of(response, "error") or field_of(event, "message") or "failed"}
        elif kind in {"response.completed", "response.incomplete"}:
            response = field_of(event, "response")
            yield {**_chunk({}, _finish(response)), "usage": field_of(response, "usage")}


def _finish(response: object) -> str:
    if field_of(response, "status") != "incomplete":
        return "stop"
    reason = field_of(field_of(response, "incomplete_details"), "reason")
    return "content_filter" if reason == "content_filter" else "length"


def _chunk(delta: Json, finish: str | None = None) -> Json:
    return {"choices": [{"delta": delta, "finish_reason": finish}]}


def parse_completion(body: bytes) -> Json:
    """Parse the body of a chat completion. Raises TypeError if it is not one."""
    value = json.loads(body)
    if not isinstance(value, dict) or (not is_completion(value) and error_in(value) is None):
        raise TypeError("not a chat completion")
    return value


def as_chunk(body: object) -> object:
    """Convert a whole completion to one streamed chunk. Raises TypeError if it is not one."""
    if error_in(body) is not None:
        return body
    if not is_completion(body):
        raise TypeError("not a chat completion")
    choice = first_choice(body)
    message = field_of(choice, "message")
    delta = {"content": completion_of(body).text, "refusal": refusal_of(message)}
    return {
        "choices": [{"delta": delta, "finish_reason": finish_of(choice) or "stop"}],
        "usage": field_of(body, "usage"),
    }
