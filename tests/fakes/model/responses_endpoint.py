"""A scripted server whose model is to be had by the Responses API alone, on a real socket.

It answers chat completions as the first vendor does for such models, and takes of a request only what that API has:
https://platform.openai.com/docs/api-reference/responses. The script sees each request as one of chat completions.
"""

import json
from collections.abc import Iterator
from typing import Any

from aiohttp import web

from tests.fakes.model.endpoint import Fails, RecordedRequest, Says, ScriptedEndpoint

Json = dict[str, Any]
ELSEWHERE = "This model is only supported in v1/responses and not in v1/chat/completions."
_KNOWN = frozenset(
    {
        "model", "input", "instructions", "max_output_tokens", "temperature", "store", "stream", "text", "tools",
        "tool_choice", "reasoning",
    }
)  # fmt: skip


class ResponsesEndpoint(ScriptedEndpoint):
    """``answers_with`` a function of ``Says`` or ``Fails``; ``asked_elsewhere`` counts chat completions."""

    asked_elsewhere = 0

    def routes(self, app: web.Application) -> None:
        """The Responses API, and a refusal where chat completions are."""
        app.router.add_post("/v1/chat/completions", self._refuse)
        app.router.add_post("/v1/responses", self._respond)

    async def _refuse(self, _: web.Request) -> web.Response:
        self.asked_elsewhere += 1
        return _error(404, ELSEWHERE, None)

    async def _respond(self, incoming: web.Request) -> web.StreamResponse:
        body: Json = await incoming.json()
        if unknown := next(iter(sorted(body.keys() - _KNOWN)), None):
            return _error(400, f"Unknown parameter: '{unknown}'.", unknown)
        if any("function" in tool for tool in body.get("tools", ())):
            return _error(400, "Missing required parameter: 'tools[0].name'.", "tools[0].name")
        request = RecordedRequest(_as_chat(body), dict(incoming.headers))
        self.requests.append(request)
        reply = await self.reply_to(request)
        if isinstance(reply, Fails):
            return _error(reply.status, reply.message, None)
        assert isinstance(reply, Says), "only these two are made for this API"
        if not request.stream:
            return web.json_response(_response(reply, body))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(incoming)
        for number, event in enumerate(_events(reply, body)):
            data = json.dumps({**event, "sequence_number": number})
            await response.write(f"event: {event['type']}\ndata: {data}\n\n".encode())
        await response.write_eof()
        return response


def _as_chat(body: Json) -> Json:
    """The request in the form in which scripts read it."""
    system = [{"role": "system", "content": body["instructions"]}] if body.get("instructions") else []
    chat: Json = {"model": body["model"], "messages": [*system, *body["input"]], "stream": body.get("stream", False)}
    if body.get("tools"):
        chat["tools"] = [{"type": "function", "function": _as_enforced(tool)} for tool in body["tools"]]
    if kind := (body.get("text") or {}).get("format"):
        chat["response_format"] = kind
    return chat


def _as_enforced(tool: Json) -> Json:
    """A tool as the model has it: ``strict`` is true where it is left out, and then every property is required."""
    if tool.get("strict", True) is False:
        return tool
    parameters = tool["parameters"]
    return {**tool, "parameters": {**parameters, "required": [*parameters["properties"]]}}


def _response(reply: Says, body: Json, status: str = "") -> Json:
    """A whole response."""
    cut = reply.finish == "length"
    return {
        "id": "resp_scripted",
        "object": "response",
        "created_at": 0,
        "model": body["model"],
        "status": status or ("incomplete" if cut else "completed"),
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "error": None,
        "output": [] if status == "in_progress" else [*_output(reply)],
        "parallel_tool_calls": True,
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools", []),
        "usage": None if status == "in_progress" else _usage(reply),
    }


def _output(reply: Says) -> Iterator[Json]:
    yield {"type": "reasoning", "id": "rs_0", "summary": []}
    if reply.text:
        part = {"type": "output_text", "text": reply.text, "annotations": []}
        yield {"type": "message", "id": "msg_0", "role": "assistant", "status": "completed", "content": [part]}
    for number, (name, arguments) in enumerate(reply.calls):
        ids = {"id": f"fc_{number}", "call_id": f"call_{number}"}
        yield {"type": "function_call", **ids, "name": name, "arguments": arguments, "status": "completed"}


def _usage(reply: Says) -> Json:
    read, written = reply.usage or (0, 0)
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": read // 2},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": read + written,
    }


def _events(reply: Says, body: Json) -> Iterator[Json]:
    """A streamed response, a word at a time; ``finish`` "error" fails in the middle."""
    yield {"type": "response.created", "response": _response(reply, body, "in_progress")}
    place = {"item_id": "msg_0", "output_index": 1, "content_index": 0}
    words = reply.text.split(" ")
    for number, word in enumerate(words):
        text = word if number == len(words) - 1 else f"{word} "
        yield {"type": "response.output_text.delta", **place, "delta": text, "logprobs": []}
        if reply.finish == "error":
            failed = _response(reply, body, "failed") | {"error": {"code": "server_error", "message": "It failed."}}
            yield {"type": "response.failed", "response": failed}
            return
    yield {"type": "response.output_text.done", **place, "text": reply.text, "logprobs": []}
    whole = _response(reply, body)
    yield {"type": f"response.{whole['status']}", "response": whole}


def _error(status: int, message: str, param: str | None) -> web.Response:
    body = {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": None}}
    return web.json_response(body, status=status)
