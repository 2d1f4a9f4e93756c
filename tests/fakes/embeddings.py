"""A server on a real socket that speaks OpenAI's embeddings API, and misbehaves on request."""

import asyncio
import hashlib
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass
class FakeEmbeddings:
    """What the server does: ``faults`` are replies for the next requests; the rest is answered as it should be."""

    dimension: int = 8
    most: int = 1_000  # texts of a request
    most_answered: int = 1_000
    faults: deque[web.Response] = field(default_factory=deque)
    silent: asyncio.Event | None = None  # requests wait for it
    refused: str = "\0"  # a request with this in one of its texts gets 403
    asked: list[list[str]] = field(default_factory=list)
    address: str = ""

    async def embed(self, request: web.Request) -> web.Response:
        """Answer one request."""
        asked: dict[str, Any] = await request.json()
        texts: list[str] = asked["input"]
        self.asked.append(texts)
        if self.silent is not None:
            await self.silent.wait()
        if self.faults:
            return self.faults.popleft()
        if any(self.refused in text for text in texts):
            return web.json_response({"error": {"message": "not for you"}}, status=403)
        if len(texts) > self.most:
            return web.json_response({"error": {"message": f"at most {self.most} inputs"}}, status=413)
        found = [
            {"object": "embedding", "index": place, "embedding": self.vector_of(text)}
            for place, text in enumerate(texts[: self.most_answered])
        ]
        found.reverse()  # the order is the index's
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return web.json_response({"object": "list", "model": asked["model"], "data": found, "usage": usage})

    def vector_of(self, text: str) -> list[float]:
        """Return numbers that are this text's alone, not of unit length."""
        digest = hashlib.sha256(text.encode()).digest()
        return [byte + 1.0 for byte in digest[: self.dimension]]


@asynccontextmanager
async def serve_embeddings() -> AsyncIterator[FakeEmbeddings]:
    """Run one until the block ends."""
    fake = FakeEmbeddings()
    app = web.Application()
    app.router.add_post("/v1/embeddings", fake.embed)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    fake.address = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    try:
        yield fake
    finally:
        if fake.silent is not None:
            fake.silent.set()
        await runner.cleanup()
