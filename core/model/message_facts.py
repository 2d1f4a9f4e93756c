"""What the policy for when to speak knows of a message, its thread and its place."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MessageFacts:
    """A message as a platform hears it. ``text`` is without the mention of us, ``wording`` with ``OUR_MENTION``."""

    text: str
    wording: str = ""
    mentions_us: bool = False  # or replies to us
    has_files: bool = False
    direct: bool = False  # a direct message, or a place made for asking
    mentions_others: bool = False  # or replies to somebody else
    in_our_thread: bool = False  # we have answered here before
    by_last_asker: bool = False  # of the person whom we answered last here
    follows_answer: bool = False  # nobody has written since
    in_company: bool = False  # somebody else has written since
    muted: bool = False
    answered: str = ""  # our last answer here, and its question
    asked_back: bool = False  # our last words here were a question to this person
    chooses: bool = False  # it makes a choice of the card that waits for this person
    in_channel: bool = False  # in no thread
    opens_post: bool = False  # a forum's post begins with it
    by_moderator: bool = False  # asked only of who opens a post
    answers_unasked: bool = False  # the place's settings, as the next
    answers_posts: bool = False
