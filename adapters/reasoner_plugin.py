"""What a package gives Footnote to bring a reasoner: one `ReasonerPlugin` behind an entry point.

The entry point is in the group `footnote.reasoners` and names an instance. REASONER chooses it by its name. It then
takes the place of the model endpoint, with the reasoner without a model as its standby.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from pydantic import BaseModel

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from core.model.clock import Clock
    from core.ports.reasoner import Reasoner

S = TypeVar("S", bound=BaseModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonerDeps:
    """What a reasoner may use. ``standby`` quotes without a model; an answer may take ``answer_seconds``."""

    standby: "Reasoner"
    clock: "Clock"
    answer_seconds: float


class ReasonerPlugin(ABC, Generic[S]):
    """A reasoner. ``name`` is its value of REASONER and, in capitals, begins its settings."""

    name: str
    settings: type[S]

    @abstractmethod
    def open(self, settings: S, deps: ReasonerDeps) -> "AbstractAsyncContextManager[Reasoner]":
        """Return the reasoner, to be entered. Raises ConfigurationError if a setting is missing."""
