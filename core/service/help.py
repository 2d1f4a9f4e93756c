"""The help, in lines that every platform renders in its own markup."""

from core.service.actions.presses import ROWS, AnswerAction
from core.service.kb.text_spans import Line, Style, code, plain, strong

_ASK = "Ask a question about your team's documents"
_ASK_ON = (
    "After an answer, ask follow-up questions in its thread without a mention. "
    "I stay silent while people talk to each other."
)
HELP: tuple[Line, ...] = (
    (plain(f"{_ASK}: mention me in a channel, or send me a direct message."),),
    (plain(_ASK_ON),),
    (
        plain("Each [n] in an answer is a source. "),
        strong(ROWS[AnswerAction.QUOTES].label),
        plain(" shows the exact passages. Please rate answers: your admins see what is missing."),
    ),
    (
        plain("Commands, with a mention in a thread or after "),
        code("/footnote"),
        plain(":"),
    ),
    (
        code("why"),
        plain(" explains my last answer, "),
        code("mute"),
        plain(" and "),
        code("unmute"),
        plain(" stop and resume my answers in the thread."),
    ),
    (
        code("forget"),
        plain(" deletes what I stored about the thread, "),
        code("forget me"),
        plain(" deletes everything you asked, "),
        code("settings"),
        plain(" opens the channel's settings for admins."),
    ),
)
HELP_TEXT = "\n".join(
    "".join(f"`{span.text}`" if span.style is Style.CODE else span.text for span in line) for line in HELP
)
SETTINGS_BY_COMMAND = "Admins open the settings of a channel with `/footnote settings`."
