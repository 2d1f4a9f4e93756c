"""What all answers of a day may cost together."""

from typing import Protocol


class DailyBudget(Protocol):
    """What all answers of a day may cost together, across processes."""

    async def reserve(self, amount: float) -> bool:
        """Set this much of today's budget aside, or say that it is not there. Of many callers none overspends."""

    async def spent_share(self) -> float:
        """How much of today's budget is spent or set aside: 0 for nothing, 1 for all."""

    async def settle(self, reserved: float, spent: float) -> None:
        """Give back what was set aside, and book what was spent."""
