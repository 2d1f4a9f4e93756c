"""What of a streamed reply goes on, and as how many pieces."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from adapters.reasoners.openai.client import BoundedBody, ReportedError, StreamReader, open_client
from tests.fakes.model.endpoint import ScriptedEndpoint

THOUGHT = {"choices": [{"delta": {"reasoning_content": "Hm."}}]}
KEEP_ALIVE: dict[str, Any] = {"choices": []}


def word(text: str, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"delta": {"content": text}, "finish_reason": finish}]}


async def chunks(*waves: list[object]) -> AsyncGenerator[object, None]:
    """Chunks that come together, wave after wave."""
    for wave in waves:
        for chunk in wave:
            yield chunk
        for _ in range(5):  # turns of the loop: whoever waits for the wave has taken it
            await asyncio.sleep(0)


async def pieces_of(reader: StreamReader) -> list[str]:
    found: list[str] = []
    async with reader:
        while (piece := await reader.take()) is not None:
            found.append(piece)
    return found


async def test_words_that_come_together_go_on_as_one_piece() -> None:
    reader = StreamReader(chunks([word("Refunds "), word("take ")], [word("ten "), word("days.", "stop")]), 1_000)
    assert await pieces_of(reader) == ["Refunds take ", "ten days."]
    assert (reader.finish, reader.written) == ("stop", 22)


async def test_a_thought_is_a_sign_of_life_without_text_and_a_keep_alive_is_none() -> None:
    reader = StreamReader(chunks([THOUGHT], [KEEP_ALIVE], [word("Yes.", "stop")]), 1_000)
    assert await pieces_of(reader) == ["", "Yes."]


async def test_what_came_before_an_error_goes_on_first() -> None:
    reader = StreamReader(chunks([word("Refunds "), {"error": {"message": "overloaded"}}]), 1_000)
    async with reader:
        assert await reader.take() == "Refunds "
        with pytest.raises(ReportedError) as reported:
            await reader.take()
    assert reported.value.error == {"message": "overloaded"}


async def test_a_reply_that_goes_on_for_ever_is_cut_at_its_length() -> None:
    async def endless() -> AsyncGenerator[object, None]:
        while True:
            yield word("on and ")
            await asyncio.sleep(0)

    reader = StreamReader(endless(), 20)
    assert sum(map(len, await pieces_of(reader))) < 40
    assert reader.finish == "length"


async def test_nothing_of_a_reader_is_left_when_its_block_ends_in_the_middle() -> None:
    closed = asyncio.Event()

    async def waiting() -> AsyncGenerator[object, None]:
        try:
            yield word("Refunds ")
            await asyncio.Event().wait()
        finally:
            closed.set()

    async with StreamReader(waiting(), 1_000) as reader:
        assert await reader.take() == "Refunds "
    assert closed.is_set()


async def test_the_body_of_a_stream_is_ours_and_knows_that_it_was_done() -> None:
    """By the client's documented event hook: without it no body has a bound, and a lost [DONE] is not noticed."""
    async with ScriptedEndpoint() as endpoint:
        client = open_client(endpoint.base_url, "key", 5.0)
        endpoint.streams("Refunds ", "take ten days.")
        stream = await client.chat.completions.create(
            model="scripted", messages=[{"role": "user", "content": "How long?"}], stream=True
        )
        body = stream.response.stream
        assert isinstance(body, BoundedBody)
        before = body.has_ended
        text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
        assert text == "Refunds take ten days."
        assert (before, body.has_ended) == (False, True)
        await client.close()
