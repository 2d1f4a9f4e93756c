"""How to ask, in lines that every platform renders in its own markup."""

from core.service.answer_buttons import LABELS, AnswerAction
from core.service.kb.text_spans import Line, Style, code, plain, strong

_ASK = "Ask me anything that your team's documents may answer"
HELP: tuple[Line, ...] = (
    (plain(f"{_ASK}: mention me in a channel, or write to me directly."),),
    (plain("In a thread I am in, just go on asking. I keep quiet when people talk to each other."),),
    (
        plain("Every [n] is a source; "),
        strong(LABELS[AnswerAction.QUOTES]),
        plain(" shows the exact passages. Tell me when an answer helped, or did not."),
    ),
    (
        code("why"),
        plain(" tells how I came to the last answer, "),
        code("mute"),
        plain(" and "),
        code("unmute"),
        plain(" make me quiet here or not."),
    ),
    (
        code("forget"),
        plain(" removes what I keep of a thread, "),
        code("forget me"),
        plain(" everything you asked, "),
        code("settings"),
        plain(" is for admins."),
    ),
)
HELP_TEXT = "\n".join(
    "".join(f"`{span.text}`" if span.style is Style.CODE else span.text for span in line) for line in HELP
)
SETTINGS_BY_COMMAND = "The settings of a channel open with `/footnote settings`. They are for admins."
