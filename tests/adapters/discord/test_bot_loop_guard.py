"""Limit on questions by other bots: a few in a row, until a person speaks or an hour has passed."""

from adapters.discord.inbound.message_parser import MOST_TURNS, BotLoopGuard
from tests.fakes.memory.clock import ManualClock

HERE, THERE = 1, 2


def test_a_bot_is_heard_a_few_times_in_a_row_and_no_more() -> None:
    turns = BotLoopGuard(ManualClock().monotonic)
    assert [turns.may_ask(HERE, message) for message in range(5)] == [True] * MOST_TURNS + [False, False]
    assert turns.may_ask(THERE, 9)


def test_an_edited_message_takes_no_further_turn() -> None:
    turns = BotLoopGuard(ManualClock().monotonic)
    for message in range(4):
        turns.may_ask(HERE, message)
    assert turns.may_ask(HERE, 0)
    assert not turns.may_ask(HERE, 3)


def test_a_person_gives_bots_their_turns_anew() -> None:
    turns = BotLoopGuard(ManualClock().monotonic)
    for message in range(4):
        turns.may_ask(HERE, message)
    turns.person_spoke(HERE)
    assert turns.may_ask(HERE, 5)


def test_an_hour_of_quiet_does_so_too() -> None:
    clock = ManualClock()
    turns = BotLoopGuard(clock.monotonic)
    for message in range(4):
        turns.may_ask(HERE, message)
    clock.advance(3_000)
    assert not turns.may_ask(HERE, 5)
    clock.advance(1_000)
    assert turns.may_ask(HERE, 6)
