"""Transcripts, exports of chats, mail with invitations, mailboxes, calendars and logs."""

import json
import zipfile
from email.message import EmailMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from io import BytesIO

import pytest

from adapters.documents.reader import read
from core.model.document_content import ParsedDocument
from core.model.errors import DocumentRejected


def text_of(parsed: ParsedDocument) -> str:
    return "\n\n".join(block.text for block in parsed.blocks)


# --- transcripts


def cues(*spoken: tuple[str, str], style: str = "vtt") -> bytes:
    point = "." if style == "vtt" else ","
    lines = ["WEBVTT", ""] if style == "vtt" else []
    for number, (at, words) in enumerate(spoken, 1):
        lines += [str(number), f"00:{at}{point}000 --> 00:{at}{point}900", words, ""]
    return "\n".join(lines).encode()


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        (
            "a.vtt",
            cues(
                ("00:01", "<v Ada Brook>The gate is"),
                ("00:02", "<v Ada Brook>locked at <i>nine</i>."),
                ("00:04", "<v Ben>Good."),
            ),
            "Ada Brook: The gate is locked at nine.\n\nBen: Good.",
        ),
        (
            "b.srt",
            cues(
                ("00:01", "Ada: The ramp is"),
                ("00:02", "salted at minus two."),
                ("00:05", "Ben: By whom?"),
                style="srt",
            ),
            "Ada: The ramp is salted at minus two.\n\nBen: By whom?",
        ),
        (
            "c.txt",
            cues(("01:01", "If the alarm"), ("01:02", "rings twice,"), ("01:04", "leave by door 6."), style="srt"),
            "If the alarm rings twice, leave by door 6.",
        ),
        (
            "d.srt",
            cues(("00:01", "- Who has the key?\n- The night porter."), style="srt"),
            "Who has the key?\n\nThe night porter.",
        ),
    ],
)
def test_cues_are_joined_to_what_each_person_said(name: str, data: bytes, said: str) -> None:
    assert text_of(read(name, data)) == said


def test_a_stretch_of_speech_is_cited_by_its_time_and_lines() -> None:
    spoken = [
        (f"{minute:02}:00", f"<v Ada>Point {minute} is about the depot and its gate, which is open.")
        for minute in range(40)
    ]
    blocks = read("long.vtt", cues(*spoken)).blocks
    assert len(blocks) > 1
    assert blocks[0].label == "0:00:00–0:13:00"
    assert blocks[1].source_line(0) == 4 + 4 * 14


def test_a_sentence_goes_on_over_a_pause_and_a_whole_one_does_not() -> None:
    spoken = (("00:01", "The crane arrives"), ("01:01", "on the twelfth."), ("01:10", "Then we rest."))
    assert text_of(read("a.srt", cues(*spoken, style="srt"))) == "The crane arrives on the twelfth.\n\nThen we rest."


def test_a_cue_without_a_voice_is_not_given_to_the_voice_before() -> None:
    text = text_of(read("a.vtt", cues(("00:01", "<v Ada>Locked."), ("00:02", "Open."), ("00:03", "<v Ben>Which?"))))
    assert text == "Ada: Locked.\n\nOpen.\n\nBen: Which?"


# --- chats

USERS = [
    {"id": "U1", "name": "gwen", "profile": {"display_name": "gw", "real_name": "Gwen Taro"}},
    {"id": "U2", "name": "rafi", "profile": {"real_name": "Rafi Kohl"}},
]


def slack_export(**days: list[dict[str, object]]) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as package:
        package.writestr("users.json", json.dumps(USERS))
        package.writestr("channels.json", json.dumps([{"id": "C1", "name": "yard"}]))
        for day, messages in days.items():
            package.writestr(f"yard/{day.strip('_').replace('_', '-')}.json", json.dumps(messages))
    return out.getvalue()


def said(at: float, user: str, text: str, thread: float | None = None, **more: object) -> dict[str, object]:
    threaded = {"thread_ts": f"{thread:.6f}"} if thread else {}
    return {"type": "message", "ts": f"{at:.6f}", "user": user, "text": text, **threaded, **more}


def test_a_slack_export_has_names_threads_links_and_no_joins() -> None:
    data = slack_export(
        _2026_02_02=[
            said(1770000000, "U1", "Where is the <https://wiki.x.example/gate|gate plan>?", 1770000000),
            said(1770000020, "U2", "Lunch at one &amp; two"),
            said(1770000030, "U2", "<@U2> has joined", subtype="channel_join"),
        ],
        _2026_02_03=[said(1770086400, "U2", "<@U1> in room 12, <#C1|yard>", 1770000000)],
    )
    parsed = read("export.zip", data)
    assert [block.label for block in parsed.blocks] == ["#yard, 2026-02-02 02:40", "#yard, 2026-02-02 02:40"]
    thread, alone = (block.text for block in parsed.blocks)
    assert "Gwen Taro, 02:40: Where is the [gate plan](https://wiki.x.example/gate)?" in thread
    assert "Rafi Kohl, 02:40: @Gwen Taro in room 12, #yard" in thread
    assert "Rafi Kohl, 02:40: Lunch at one & two" in alone
    assert "joined" not in text_of(parsed)
    assert parsed.notes == ()


def test_a_day_of_a_slack_export_that_is_damaged_is_counted() -> None:
    data = BytesIO(slack_export(_2026_02_02=[said(1770000000, "U1", "Where is the plan?")]))
    with zipfile.ZipFile(data, "a") as package:
        package.writestr("yard/2026-02-03.json", "[{")
    assert read("export.zip", data.getvalue()).notes == ("days that could not be read: 1",)


def test_alerts_of_other_apps_and_files_in_a_slack_export_are_kept() -> None:
    alert = {"title": "Disk full", "fields": [{"title": "Host", "value": "db-3"}], "fallback": "x"}
    data = slack_export(
        _2026_02_02=[
            said(1770000000, "", "", bot_profile={"name": "Grafana"}, attachments=[alert], files=[{"name": "plan.pdf"}])
        ]
    )
    parsed = read("export.zip", data)
    assert "Grafana, 02:40: Disk full\nHost: db-3\n[File: plan.pdf]" in text_of(parsed)
    assert parsed.notes == ("files that were shared in these messages are named, not read",)


def test_a_single_file_of_slack_messages_has_the_names_that_it_states() -> None:
    messages = [said(1770000000, "U9", "The belt is fixed.", user_profile={"real_name": "Ida Berg"})]
    assert "Ida Berg, 02:40: The belt is fixed." in text_of(read("yard.json", json.dumps(messages).encode()))


def test_an_export_of_discord_has_names_answers_embeds_and_files() -> None:
    def message(number: str, minute: int, author: str, **more: object) -> dict[str, object]:
        moment = f"2026-03-01T09:{minute:02}:00+00:00"
        return {
            "id": number,
            "type": "Default",
            "timestamp": moment,
            "author": {"name": author.lower(), "nickname": author},
            **more,
        }

    export = {
        "guild": {"id": "1", "name": "Marlow"},
        "channel": {"id": "2", "type": "GuildTextChat", "name": "ops"},
        "dateRange": {"after": None, "before": None},
        "messages": [
            message("10", 0, "Ada", content="Who holds the key?"),
            message("11", 1, "Ben", content="Lunch?"),
            message(
                "12",
                2,
                "Eve",
                content="The porter.",
                reference={"messageId": "10"},
                attachments=[{"fileName": "key.png"}],
            ),
            message(
                "13",
                3,
                "Bot",
                content="",
                embeds=[{"title": "Deploy", "description": "done", "fields": [{"name": "env", "value": "prod"}]}],
            ),
        ],
    }
    parsed = read("ops.json", json.dumps(export, indent=2).encode())
    assert parsed.title == "Marlow #ops"
    assert "Ada, 09:00: Who holds the key?\n\nEve, 09:02: The porter.\n[File: key.png]" in parsed.blocks[0].text
    assert "Bot, 09:03: Deploy\ndone\nenv: prod" in text_of(parsed)


def test_json_of_other_things_is_no_chat() -> None:
    assert read("a.json", b'[{"type": "message", "text": "hello", "ts": 3}]').media_type == "application/json"


# --- calendars and mail

EVENT = """BEGIN:VCALENDAR
VERSION:2.0
METHOD:{method}
BEGIN:VEVENT
UID:{uid}
DTSTART{start}
DTEND{end}
SUMMARY:Fleet review
LOCATION:Room Heron
ORGANIZER;CN=Ada Brook:mailto:ada@x.example
ATTENDEE;CN=Ben Ohm;PARTSTAT=ACCEPTED:mailto:ben@x.example
{more}END:VEVENT
END:VCALENDAR
"""


@pytest.mark.parametrize(
    ("start", "end", "when"),
    [
        (":20260608T130000Z", ":20260608T140000Z", "Monday, 2026-06-08 13:00–14:00 UTC"),
        (
            ";TZID=Europe/Zurich:20260608T130000",
            ";TZID=Europe/Zurich:20260608T143000",
            "Monday, 2026-06-08 13:00–14:30 Europe/Zurich",
        ),
        (";VALUE=DATE:20261224", ";VALUE=DATE:20261227", "Thursday, 2026-12-24 to Saturday, 2026-12-26"),
        (";VALUE=DATE:20261224", ";VALUE=DATE:20261225", "Thursday, 2026-12-24"),
    ],
)
def test_an_event_says_when_where_and_who(start: str, end: str, when: str) -> None:
    parsed = read("fleet.ics", EVENT.format(method="REQUEST", uid=1, start=start, end=end, more="").encode())
    assert text_of(parsed) == (
        f"## Fleet review\n\n- When: {when}\n- Where: Room Heron\n- Organizer: Ada Brook <ada@x.example>\n"
        "- Invited: Ben Ohm <ben@x.example> (accepted)"
    )


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("FREQ=WEEKLY;BYDAY=MO,TH", "every week on Monday, Thursday"),
        ("FREQ=MONTHLY;INTERVAL=2;BYDAY=-1FR;COUNT=6", "every 2 months on the last Friday, 6 times"),
        ("FREQ=DAILY;UNTIL=20261231T000000Z", "every day until 2026-12-31"),
    ],
)
def test_what_comes_again_says_how_often(rule: str, words: str) -> None:
    event = EVENT.format(
        method="PUBLISH", uid=1, start=":20260608T130000Z", end=":20260608T140000Z", more=f"RRULE:{rule}\n"
    )
    assert f"- Repeats: {words}\n" in text_of(read("fleet.ics", event.encode()))


@pytest.mark.parametrize("method", ["REQUEST", "CANCEL", "REPLY"])
def test_an_invitation_inside_of_mail_is_read(method: str) -> None:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "ada@x.example", "ops@x.example", "Invitation"
    mail.set_content("You are invited.")
    event = EVENT.format(method=method, uid=1, start=":20260608T130000Z", end=":20260608T140000Z", more="")
    mail.add_alternative(event, subtype="calendar")
    text = text_of(read("invite.eml", mail.as_bytes()))
    assert "You are invited.\n\n## Fleet review" in text
    assert "- Where: Room Heron" in text
    assert ("- Status: cancelled" in text) == (method == "CANCEL")
    assert ("- Answered: Ben Ohm" in text) == (method == "REPLY")


def test_a_calendar_attached_as_a_file_is_read_and_a_damaged_one_does_no_harm() -> None:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "ada@x.example", "ops@x.example", "Dates"
    mail.set_content("See the dates.")
    event = EVENT.format(method="PUBLISH", uid=1, start=":20260608T130000Z", end=":20260608T140000Z", more="")
    mail.add_attachment(event.encode(), maintype="text", subtype="calendar", filename="dates.ics")
    mail.add_attachment(b"BEGIN:VCALENDAR\nnonsense", maintype="application", subtype="ics", filename="bad.ics")
    assert "- Where: Room Heron" in text_of(read("dates.eml", mail.as_bytes()))


def test_a_damaged_calendar_is_refused_by_name() -> None:
    with pytest.raises(DocumentRejected, match="calendar is damaged"):
        read("bad.ics", b"BEGIN:VCALENDAR\nno line of a calendar\nEND:VCALENDAR")


@pytest.mark.parametrize("name", ["box.mbox", "box", "box.txt"])
def test_a_mailbox_is_read_mail_by_mail(name: str) -> None:
    mails = [
        f"From {who}@x.example Sat Jan  3 0{i}:05:34 2026\nFrom: {who}@x.example\nTo: ops@x.example\n"
        f"Subject: {subject}\n"
        f"Date: Sat, 3 Jan 2026 0{i}:05:34 +0000\n\n{body}\n\n"
        for i, (who, subject, body) in enumerate(
            [
                ("ada", "Key", "Who has it?\n>From the board it is gone."),
                ("ben", "Re: Key", "> Who has it?\nThe porter."),
            ]
        )
    ]
    parsed = read(name, "".join(mails).encode())
    assert [block.label for block in parsed.blocks] == ["Key, 2026-01-03", "Re: Key, 2026-01-03"]
    assert parsed.blocks[0].text.endswith("Who has it?\nFrom the board it is gone.")
    assert "## Re: Key\n\nFrom: ben@x.example" in parsed.blocks[1].text


# --- logs


@pytest.mark.parametrize(
    "lines",
    [
        [
            f"2026-05-0{i}T01:11:09Z {'ERROR code=GW-5501 pool' if i == 7 else 'INFO ok'} request={i}"
            for i in range(1, 9)
        ],
        [f"[2026-05-0{i} 01:11:09,123] {'ERROR GW-5501 pool' if i == 7 else 'INFO ok'} {i}" for i in range(1, 9)],
        [f"May  {i} 01:11:09 host app[3]: {'GW-5501 pool' if i == 7 else 'ok'} {i}" for i in range(1, 9)],
        [
            f'10.0.0.{i} - - [0{i}/May/2026:01:11:09 +0000] "GET /{"GW-5501" if i == 7 else i} HTTP/1.1" 200'
            for i in range(1, 9)
        ],
    ],
)
def test_entries_of_a_log_are_apart_with_their_lines(lines: list[str]) -> None:
    parsed = read("gateway.log", "\n".join(lines).encode())
    assert parsed.media_type == "text/x-log"
    (block,) = parsed.blocks
    assert [line for line in block.text.split("\n") if "GW-5501" in line] == [
        f"- {lines[6]}".replace("May  7", "May 7")
    ]
    assert block.source_line(6) == 7


def test_a_trace_stays_with_its_entry() -> None:
    entry = "2026-05-01T01:11:0{i}Z ERROR failed\nTraceback (most recent call last):\n  File x\nValueError: E-77{i}"
    (block,) = read("app.log", "\n".join(entry.format(i=i) for i in range(6)).encode()).blocks
    assert block.text.split("\n")[1].endswith(
        "ERROR failed Traceback (most recent call last): File x ValueError: E-771"
    )
    assert block.source_line(1) == 5


def test_a_long_trace_is_kept_to_its_end() -> None:
    trace = "\n".join(f"    at com.example.depot.Gate{n}.open(Gate{n}.java:{n})" for n in range(55))
    entry = f"2026-05-01T01:11:00Z ERROR failed\n{trace}\nCaused by: GateStuck E-7755\n"
    (block,) = read("app.log", (entry * 4).encode()).blocks
    assert block.text.count("Caused by: GateStuck E-7755") == 4
    assert block.text.count("Gate54.java:54") == 4


def test_text_with_a_few_dates_is_no_log() -> None:
    text = "2026-05-01 10:00 Ada took the keys.\n\nThen she left.\nNobody saw her.\nBen came later.\nHe had keys too."
    assert read("notes.txt", text.encode()).media_type == "text/plain"


@pytest.mark.parametrize(
    ("cue", "said"),
    [
        ("Put it into the sand bin.\n\nLeave by door 6.", "Put it into the sand bin. Leave by door 6."),
        ("His number is\n\n4711.", "His number is 4711."),
        ("One.\n\n\nTwo.\n\nThree.", "One. Two. Three."),
    ],
)
def test_a_blank_line_inside_a_cue_of_srt_does_not_end_it(cue: str, said: str) -> None:
    source = f"1\n00:00:01,000 --> 00:00:04,000\n{cue}\n\n2\n00:00:05,000 --> 00:00:06,000\nCall the porter.\n"

    assert text_of(read("a.srt", source.encode())) == f"{said} Call the porter."


@pytest.mark.parametrize("kind", ["mixed", "related", "digest"])
def test_text_and_html_that_are_no_alternatives_are_both_read(kind: str) -> None:
    mail = MIMEMultipart(kind)
    mail["Subject"], mail["From"], mail["To"] = "Keys", "a@tarn.example", "b@tarn.example"
    mail.attach(MIMEText("The code of the depot is 4711.", "plain"))
    mail.attach(MIMEText("<p>The garage opens at seven.</p>", "html"))
    mail.attach(MIMEText("Sent by the list.", "plain"))

    text = text_of(read("a.eml", mail.as_bytes()))

    assert text.endswith("The code of the depot is 4711.\n\nThe garage opens at seven.\n\nSent by the list.")


@pytest.mark.parametrize("kind", ["mixed", "related", "alternative"])
def test_html_that_says_the_same_as_the_text_is_read_once(kind: str) -> None:
    mail = MIMEMultipart(kind)
    mail["Subject"], mail["From"], mail["To"] = "Keys", "a@tarn.example", "b@tarn.example"
    mail.attach(MIMEText("The code of the depot is 4711.", "plain"))
    mail.attach(MIMEText("<p>The code of the depot is <b>4711</b>.</p>", "html"))

    assert text_of(read("a.eml", mail.as_bytes())).endswith("To: b@tarn.example\n\nThe code of the depot is **4711**.")
