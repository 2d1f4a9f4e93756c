from collections.abc import AsyncIterator

import pytest

from adapters.reasoners.openai.reasoner import OpenAIReasoner
from tests.adapters.reasoners.harness import opened
from tests.fakes.model.endpoint import ScriptedEndpoint


@pytest.fixture
async def endpoint() -> AsyncIterator[ScriptedEndpoint]:
    async with ScriptedEndpoint() as running:
        yield running


@pytest.fixture
async def reasoner(endpoint: ScriptedEndpoint) -> AsyncIterator[OpenAIReasoner]:
    async with opened(endpoint) as patient:
        yield patient


@pytest.fixture
async def hasty(endpoint: ScriptedEndpoint) -> AsyncIterator[OpenAIReasoner]:
    """One that does not wait long."""
    async with opened(endpoint, seconds=0.3) as impatient:
        yield impatient
