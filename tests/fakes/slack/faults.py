"""Injected faults: refusals, server errors, slowness, lost replies, rate limits."""

from __future__ import annotations

import math
import time
from collections import defaultdict, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.fakes.slack.delivery import Courier, Delivery
    from tests.fakes.slack.specs import MethodSpec
    from tests.fakes.slack.world import Message

FaultKind = Literal["rate_limit", "error", "server_error", "lost_answer", "not_json", "dropped"]

# Calls a minute, from the rate limit page: Tier 1 to 4. Tier 5 ("special") has no general number.
TIERS: Mapping[str, int] = {"t1": 1, "t2": 20, "t3": 50, "t4": 100}
_POST_BURST = 4  # chat.postMessage: one a second in a channel, "short bursts" tolerated


@dataclass
class Fault:
    """One planned fault of a method, for so many calls; `times` None means until cleared."""

    kind: FaultKind
    method: str
    times: int | None
    error: str = ""
    status: int = 200
    retry_after: int = 1
    channel: str = ""  # only calls that name this channel, or person, where there is one

    def concerns(self, method: str, args: Mapping[str, Any]) -> bool:
        """Whether this is the call it was planned for."""
        if self.method not in {method, "*"} or self.times == 0:
            return False
        named = {args.get("channel"), args.get("channel_id"), args.get("user"), args.get("users"), args.get("file")}
        return not self.channel or self.channel in named


class Faults:
    """Plans faults. A method is a Web API method's name, or `*` for all of them.

    `times` None means until cleared. With a `channel` only its calls are meant: many tests can share one workspace.
    """

    def __init__(self, courier: Courier) -> None:
        self._courier = courier
        self._planned: list[Fault] = []
        self._slow: dict[str, float] = {}
        self.streaming_refused: str | None = None
        self.responses_refused = ""
        self.expire_after_appends: int | None = None
        self.expire_after_seconds = 300.0

    def rate_limit(self, method: str, times: int | None = 1, retry_after: int = 1, *, channel: str = "") -> None:
        """Answer 429 with this Retry-After, in seconds."""
        self._planned.append(Fault("rate_limit", method, times, "ratelimited", 429, retry_after, channel))

    def fail(self, method: str, error: str, times: int | None = 1, *, status: int = 200, channel: str = "") -> None:
        """Answer `ok: false` with this error, under this HTTP status."""
        self._planned.append(Fault("error", method, times, error, status, channel=channel))

    def not_json(self, method: str, times: int | None = 1, *, channel: str = "") -> None:
        """Answer 200 with a page, as a proxy in between does; nothing happens in the world."""
        self._planned.append(Fault("not_json", method, times, channel=channel))

    def drop(self, method: str, times: int | None = 1, *, channel: str = "") -> None:
        """Cut the connection instead of an answer; nothing happens in the world."""
        self._planned.append(Fault("dropped", method, times, channel=channel))

    def server_error(self, method: str, times: int | None = 1, status: int = 503, *, channel: str = "") -> None:
        """Answer with an HTTP error and an HTML page, as Slack's edge does; nothing happens in the world."""
        self._planned.append(Fault("server_error", method, times, "", status, channel=channel))

    def lose_answer(self, method: str, times: int | None = 1, *, channel: str = "") -> None:
        """Do what was asked, then cut the connection before the answer."""
        self._planned.append(Fault("lost_answer", method, times, channel=channel))

    def slow(self, method: str, seconds: float) -> None:
        """Answer this many seconds later; 0 makes it quick again."""
        self._slow[method] = seconds

    def refuse_streaming(self, error: str | None = "channel_type_not_supported") -> None:
        """Answer every chat.startStream with this error; None takes streaming back up."""
        self.streaming_refused = error

    def refuse_responses(self, error: str = "used_url") -> None:
        """Answer every post to a response_url with this error, as Slack does to one that is too old."""
        self.responses_refused = error

    def expire_streams(self, after_appends: int | None = None, after_seconds: float = 300.0) -> None:
        """Let a stream take this many appends, or this many seconds, then refuse the rest."""
        self.expire_after_appends = after_appends
        self.expire_after_seconds = after_seconds

    def redeliver(
        self, event: Message | Delivery | None = None, times: int = 4, *, at_once: bool = True
    ) -> list[Delivery]:
        """Deliver the events of a message, or one delivery, `times` times more under the same event ids.

        Without an event, what people do next is delivered `times` times from the start. `at_once` False waits for
        each acknowledgement before the next.
        """
        return self._courier.redeliver(event, times, at_once=at_once)

    def clear(self, channel: str = "") -> None:
        """Forget every planned fault, or those of one channel; what is already expired stays so."""
        if channel:
            self._planned = [one for one in self._planned if one.channel != channel]
            return
        self._planned.clear()
        self._slow.clear()
        self.refuse_streaming(None)
        self.refuse_responses("")
        self.expire_streams()
        self._courier.copies = 1

    def take(self, method: str, args: Mapping[str, Any]) -> Fault | None:
        """The fault of this very call, counted down."""
        for fault in self._planned:
            if fault.concerns(method, args):
                if fault.times is not None:
                    fault.times -= 1
                return fault
        return None

    def delay_of(self, method: str) -> float:
        """How many seconds this method takes longer."""
        return self._slow.get(method, self._slow.get("*", 0.0))


class Limits:
    """Slack's own rate limits; off until `enforce(True)`.

    Tiers count calls of one method in a sliding window; chat.postMessage is one a second in each channel. These
    windows do not know which of several processes called, as Slack's do not.
    """

    def __init__(self) -> None:
        self.on = False
        self.window = 60.0
        self.tiers: dict[str, int] = dict(TIERS)
        self._calls: dict[str, deque[float]] = defaultdict(deque)
        self.refusals = 0

    def enforce(self, on: bool = True, *, window: float = 60.0, tiers: Mapping[str, int] | None = None) -> None:
        """Switch them on or off. A shorter window (seconds) makes a test shorter at the same number of calls."""
        self.on = on
        self.window = window
        self.tiers = dict(TIERS) | dict(tiers or {})
        self._calls.clear()

    def wait_for(self, spec: MethodSpec, args: Mapping[str, Any]) -> int:
        """Seconds to wait before this call, 0 if it may go ahead; a call that may is counted."""
        if not self.on:
            return 0
        if spec.name == "chat.postMessage":
            return self._count(f"{spec.name} {args.get('channel')}", _POST_BURST, float(_POST_BURST))
        allowed = self.tiers.get(spec.tier or "")
        return self._count(spec.name, allowed, self.window) if allowed else 0

    def _count(self, key: str, allowed: int, window: float) -> int:
        now = time.monotonic()
        calls = self._calls[key]
        while calls and calls[0] <= now - window:
            calls.popleft()
        if len(calls) < allowed:
            calls.append(now)
            return 0
        self.refusals += 1
        return max(1, math.ceil(calls[0] + window - now))
