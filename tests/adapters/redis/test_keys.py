"""Keys of the store: two names never share one."""

from adapters.redis.keys import tagged_key


def test_a_brace_and_the_same_brace_encoded_are_two_names() -> None:
    names = ["a{b", "a%7Bb", "a%257Bb", "a}b", "a%7Db", "%%a%7Bb", "plain", "slack/T/C/1.2", "person:slack:T/U"]
    assert len({tagged_key(name) for name in names}) == len(names)


def test_a_name_without_braces_keeps_the_key_it_always_had() -> None:
    assert tagged_key("slack/T/C/a%7Bb", "turns") == "footnote:{slack/T/C/a%7Bb}:turns"
