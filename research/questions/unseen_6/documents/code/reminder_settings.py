"""Settings of the reminder job, which writes to customers about late and ending hires.

The job runs every morning at 06:40 on the machine "fiddler". Change a value here, have Leo Vanterpool or Sana Qureshi look
at it, and deploy with ``make remind``. Times are local.
"""

# Days before the end of a hire on which we write.
BEFORE_END = (30, 7, 1)

# Days after the end on which we write about an instrument that has not come back. The ring-round by telephone is separate.
AFTER_END = (3, 10, 14)

# A hire that is this late is handed to Greta Osei, who decides about a letter.
HAND_OVER_AFTER_DAYS = 28

# The fee for a late return in pence for each week begun. Schools on Tutti pay none.
LATE_FEE_PENCE = 600

# Never write more than this many messages in one run: something is wrong if there are more.
MOST_MESSAGES = 450

# Text messages only between these hours; emails at any time.
SMS_FROM = 9
SMS_UNTIL = 19

# In these weeks no reminder goes out at all (Christmas).
QUIET = ("12-23", "01-04")

# Languages with a template of their own. Everybody else gets English.
LANGUAGES = ("en", "cy", "pl")

# How often we try when the mail server refuses, and the seconds between two tries.
RETRIES = 4
RETRY_WAIT = 90

# The sender. Answers go to the desk of the site where the hire was signed.
SENDER = "reminders@orrinvale.example"


def is_due(days_left: int) -> bool:
    """Whether a hire that ends in so many days is written to today. Negative: it ended so many days ago."""
    return days_left in BEFORE_END or -days_left in AFTER_END
