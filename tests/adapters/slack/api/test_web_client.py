"""Rate limits by method, and Slack's Retry-After."""

from adapters.slack.api.web_client import RateLimiter


def test_limits_each_method_separately() -> None:
    limiter = RateLimiter({"chat.update": 2}, window=3_600.0)
    assert [limiter.try_acquire("chat.update") for _ in range(3)] == [True, True, False]
    assert all(limiter.try_acquire("views.open") for _ in range(100))


def test_a_call_leaves_the_window_when_its_time_is_over() -> None:
    limiter = RateLimiter({"chat.update": 1}, window=0.0)
    assert [limiter.try_acquire("chat.update") for _ in range(3)] == [True, True, True]


def test_a_method_that_slack_limits_waits_though_there_is_room_and_only_that_method() -> None:
    limiter = RateLimiter({"chat.update": 2, "chat.appendStream": 2}, window=3_600.0)
    limiter.block("chat.update", 3_600.0)
    assert not limiter.try_acquire("chat.update")
    assert limiter.try_acquire("chat.appendStream")
