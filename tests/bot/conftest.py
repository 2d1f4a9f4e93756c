"""Commands configure the process's logs: afterwards those are as they were, for whichever test comes next."""

from collections.abc import Iterator

import pytest
import structlog


@pytest.fixture(autouse=True)
def logs_as_they_were() -> Iterator[None]:
    yield
    structlog.reset_defaults()
