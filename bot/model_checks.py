"""Checks of the models for ``doctor``, run in a child process.

Importing the model libraries takes most of the doctor's time and cannot be interrupted. A child process uses another
core, and can be killed at the deadline.
"""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator

from adapters.encoders.answer_reader import LowRankAnswerReader
from adapters.encoders.endpoint_encoder import EndpointEncoder
from adapters.encoders.reranker import CrossEncoderReranker
from adapters.encoders.text_encoder import SentenceTransformerEncoder
from adapters.observability import logs
from bot.garbage_collection import collector_paused
from bot.settings import Settings
from core.model.errors import FootnoteError, ModelUnavailable
from core.model.health import Check, Health
from core.model.json_codec import from_json

ELSEWHERE = "-"  # in place of a model's name: load nothing
EMBEDDING, ANSWER_READER, RERANKER = "embedding model", "answer reader", "reranker"
_SHOW_WHY = "To see why, run LOG_LEVEL=debug footnote search anything."
_PACKAGED_FILES = "It is part of Footnote. Install Footnote and its dependencies again."
_DOWNLOADED = "It is downloaded on first use. Until then, results are not reranked."


async def model_checks(settings: Settings) -> AsyncGenerator[Check]:
    """Load the models in a child process and yield the results. The child is killed if this is cancelled."""
    missing = [EMBEDDING, ANSWER_READER, RERANKER]
    if settings.embedding_base_url:
        yield await endpoint_check(settings)
        missing.remove(EMBEDDING)
    embedding = ELSEWHERE if settings.embedding_base_url else settings.embedding_model or ""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot.model_checks", embedding, settings.reranker_model,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert child.stdout is not None
        async for line in child.stdout:
            check: Check = from_json(Check, line)
            missing.remove(check.name)
            yield check
            if not missing:
                return
        yield Check(missing[0], Health.FAILED, f"the process that loads it ended with {await child.wait()}", _SHOW_WHY)
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()


def late_check(last: str, remedy: str) -> Check:
    """Return the check to report at the deadline, if ``last``, possibly empty, was the last one found."""
    if last == EMBEDDING:
        return Check(ANSWER_READER, Health.NOTE, "it is still loading", remedy)
    if last == ANSWER_READER:
        return Check(RERANKER, Health.NOTE, "it is still loading", _DOWNLOADED)
    return Check(EMBEDDING, Health.NOTE, "it is still loading", remedy)


async def _report(embedding: str, reranker: str) -> None:
    """Print one line of JSON for each model, as soon as it is known."""
    embeddings = () if embedding == ELSEWHERE else (_embedding(embedding),)
    with collector_paused():
        for check in (*embeddings, answer_reader_check(LowRankAnswerReader()), _reranker(reranker)):
            sys.stdout.write(f"{json.dumps(_fields(await check))}\n")
            sys.stdout.flush()


def _fields(check: Check) -> dict[str, str]:
    return {"name": check.name, "health": check.health, "detail": check.detail, "remedy": check.remedy}


async def endpoint_check(settings: Settings) -> Check:
    """Check whether the embedding endpoint answers with vectors of the same length as before."""
    from bot.container import encoder_of

    encoder = encoder_of(settings)
    assert isinstance(encoder, EndpointEncoder)
    try:
        await encoder.probe()
    except ModelUnavailable as error:
        return Check(EMBEDDING, Health.FAILED, error.args[0], error.remedy or "")
    finally:
        await encoder.close()
    return Check(EMBEDDING, Health.OK, f"{encoder.name}, {encoder.dimension} dimensions")


async def _embedding(name: str) -> Check:
    try:
        encoder = SentenceTransformerEncoder(name)
        await encoder.open()
    except FootnoteError as error:
        return Check(EMBEDDING, Health.FAILED, error.args[0], error.remedy or "")
    return Check(EMBEDDING, Health.OK, f"{encoder.name}, {encoder.dimension} dimensions")


async def answer_reader_check(reader: LowRankAnswerReader) -> Check:
    """Check whether the answer reader loads. A failure is only a note, because answers work without it."""
    try:
        await reader.open()
    except ModelUnavailable as error:
        return Check(ANSWER_READER, Health.NOTE, f"not available, answers do without: {error.args[0]}", _PACKAGED_FILES)
    finally:
        await reader.close()
    return Check(ANSWER_READER, Health.OK, "loaded")


async def _reranker(name: str) -> Check:
    reranker = CrossEncoderReranker(name)
    await reranker.open()
    if reranker.available:
        return Check(RERANKER, Health.OK, name)
    remedy = "Set RERANKER_MODEL to a local path, or run once with internet access to download it."
    return Check(RERANKER, Health.NOTE, f"{name} is not available; ranking without it", remedy)


if __name__ == "__main__":
    logs.configure("critical", "text")
    asyncio.run(_report(sys.argv[1], sys.argv[2]))
