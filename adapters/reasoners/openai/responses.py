"""The Responses API as a second dialect, for models that are to be had by no other: requests there, replies back.

What the rest of this folder speaks is chat completions; these functions only change the shape.
"""

from collections.abc import AsyncGenerator
from typing import Any

from adapters.reasoners.openai.reply import field_of
from adapters.reasoners.openai.request import Json


def as_responses(asked: Json) -> Json:
    """A request for chat completions as one for the Responses API."""
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
        # Left out, it would be true there, and every optional argument a required one.
        request["tools"] = [{"type": "function", "strict": False, **tool["function"]} for tool in tools]
    for name in ("temperature", "tool_choice", "stream"):
        if name in asked:
            request[name] = asked[name]
    return request


def as_completion(response: object) -> Json:
    """A whole response as a chat completion."""
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
    """A stream of the Responses API as chunks of a chat completion."""
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
