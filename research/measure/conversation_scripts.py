"""Forty conversations as newcomers hold them: what they type and press, and the facts that a right answer holds.

Played and shown by ``research.measure.conversations``. What nobody can judge by a word has no facts: it is read.
"""

from dataclasses import dataclass

SAMPLES, HANDBOOK, PROMETHEUS = "samples", "docs_18f_handbook", "docs_prometheus"


@dataclass(frozen=True)
class Say:
    """Somebody writes. The first of a conversation names the bot, and so does what ``mentions`` it; others do not."""

    text: str
    facts: tuple[str, ...] = ()  # words of a right answer, whatever their case
    by: str = "alice"
    mentions: bool = False
    silence: bool = False  # right is that nobody answers
    files: tuple[tuple[str, bytes], ...] = ()


@dataclass(frozen=True)
class Press:
    """Somebody presses the newest button that begins so."""

    label: str
    facts: tuple[str, ...] = ()
    by: str = "alice"


@dataclass(frozen=True)
class Fill:
    """Somebody fills in the form before them."""

    text: str
    facts: tuple[str, ...] = ()
    by: str = "alice"


@dataclass(frozen=True)
class Command:
    """Somebody gives our command, for their eyes only."""

    words: str
    facts: tuple[str, ...] = ()
    by: str = "alice"


Turn = Say | Press | Fill | Command


@dataclass(frozen=True)
class Conversation:
    """Turns in one thread of a channel, or in a direct message, over one set of documents."""

    name: str
    turns: tuple[Turn, ...]
    documents: str = SAMPLES
    direct: bool = False


UNSAID = "couldn't find this"
LEASE = b"""# Lease of the Leeds depot

The rent is 4,300 euros a month. The notice period is six months to the end of a quarter.

Dogs are welcome in the yard.
"""
HOTEL = b"""Hotel Amselhof, Leipzig. Invoice 2207.

Two nights, room and breakfast, 148 euros per night: 296 euros. Minibar: 12 euros. Paid by card.
"""

CONVERSATIONS = (
    Conversation(
        "the suggested prompts",
        (
            Say("What documents do you know?", ("documents", "Expenses")),
            Say("What can you do?", ("documents",)),
            Say("How do you check your answers against the sources?", ("passage",)),
            Say("what can I expense?"),
            Command("help", ("mention me",)),
        ),
        direct=True,
    ),
    Conversation(
        "what there is to read",
        (
            Say("what do you know about?", ("documents",)),
            Say("list the documents about refunds", ("Refund policy (2026)", "Refund policy (2024)")),
            Say("which of them is in force?", ("2026",)),
            Say("what is in base default?", ("documents",)),
        ),
    ),
    Conversation(
        "plans and prices",
        (
            Say("which plan has telephone support?", ("Fleet", "Enterprise")),
            Say("is Fleet cheaper than Depot?", ("640", "189")),
            Say("and than Starter?", ("640", "49")),
            Say("how many vehicles does it include?", ("120",)),
            Say("thanks!", ("welcome",)),
        ),
    ),
    Conversation(
        "a correction",
        (
            Say("how long do customers have to ask for their money back?", ("45 days",)),
            Say("no, I meant the monthly plan", ("14 days",)),
            Say("and who approves it?", ("€250",)),
            Say("that is wrong", ("sorry",)),
            Say("what about a refund of 3,000 euros?", ("Finance lead",)),
        ),
    ),
    Conversation(
        "who owns what",
        (
            Say("who owns odometer?", ("Team Compass",)),
            Say("who leads that team?", ("Rosalind",)),
            Say("and Harbour?", ("Teodor",)),
            Say("is he in Leeds?", ("Porto",)),
            Say("why?", ("searched",)),
        ),
    ),
    Conversation(
        "the latest release",
        (
            Say("what is new in the latest release?", ("2026.1",)),
            Say("and the one before?", ("2025.3",)),
            Say("which Android version does it need?", ("Android 10",)),
            Say("show me more"),
        ),
    ),
    Conversation(
        "expenses",
        (
            Say("who approves expenses?", ("team lead",)),
            Say("and above 500 euros?", ("Finance lead",)),
            Say("how do I claim them?", ("Chit",)),
            Say("by when?", ("60 days",)),
            Say("can I expense a minibar?", ("minibar",)),
        ),
    ),
    Conversation(
        "in German",
        (
            Say("Wie viele Urlaubstage habe ich im Jahr?", ("27",)),
            Say("Und wer genehmigt den Urlaub?", ("team lead",)),
            Say("ok, in English: who approves my leave?", ("team lead",)),
            Say("danke!"),
        ),
    ),
    Conversation(
        "a new question at a checkpoint",
        (
            Say("how do I configure the timeout?", ("which do you mean",)),
            Say("who approves refunds above 2,000 euros?", ("Finance lead",)),
            Say("and below?", ("support agent",)),
        ),
    ),
    Conversation(
        "buttons at a checkpoint",
        (
            Say("how do I configure the timeout?", ("which do you mean",)),
            Press("job timeout", ("job_timeout_seconds",)),
            Say("what is its maximum?", ("45 minutes",)),
            Press("Show quotes", ("45 minutes",)),
            Press("Why", ("searched",)),
        ),
    ),
    Conversation(
        "something else at a checkpoint",
        (
            Say("what is the timeout?", ("which do you mean",)),
            Press("Something else"),
            Fill("how long a phone keeps photos without a signal", ("72 hours",)),
            Say("does it cost anything?"),
        ),
    ),
    Conversation(
        "two people in one thread",
        (
            Say("how long do you keep proof of delivery photos?"),
            Say("can you send me the customer's address?", by="bob", silence=True),
            Say("sure, one moment", silence=True),
            Say("thanks, got it. lunch at noon?", by="bob", silence=True),
            Say("and driver positions?"),
            Say("what is the notice for an announced maintenance?", by="bob", mentions=True),
        ),
    ),
    Conversation(
        "an attached file",
        (
            Say("what is the notice period in the attached lease?", ("six months",), files=(("lease.md", LEASE),)),
            Say("and how much is the rent?", ("4,300",)),
            Say("can you read this one?", ("scan.pdf",), files=(("scan.pdf", b"%PDF-1.4 nothing"),)),
            Say("who approves expenses?", ("team lead",)),
        ),
    ),
    Conversation(
        "misspelt",
        (
            Say("how mcuh is the hotle limit in Pairs?", ("€210",)),
            Say("and for a diner with the taem?", ("€55",)),
            Say("waht about trians?", ("second class",)),
            Say("wich tool do I use to book vaccation?", ("Rota",)),
        ),
    ),
    Conversation(
        "three parts",
        (
            Say(
                "how many days of leave do I get, who approves a claim of 800 euros, and is dental treatment paid for?",
                ("27 days", "Finance lead", "nothing in the documents"),
            ),
            Say("and how many of them can I carry over?", ("five",)),
            Say("what is the sick pay and how long is parental leave?", ("full pay", "20 weeks")),
        ),
    ),
    Conversation(
        "small talk",
        (
            Say("hi!", ("hello",)),
            Say("how are you?"),
            Say("what's the weather today?", (UNSAID,)),
            Say("tell me a joke"),
            Say("are you a robot?", ("Footnote",)),
            Say("thanks, bye"),
        ),
        direct=True,
    ),
    Conversation(
        "an incident",
        (
            Say("what happened on 14 January?", ("certificate",)),
            Say("how long did it last?", ("52 minutes",)),
            Say("how many drivers were affected?", ("640",)),
            Say("what did we do about it?", ("Renew",)),
            Say("which incident was the longest?"),
        ),
    ),
    Conversation(
        "parental leave in a handbook",
        (
            Say("how much paid parental leave do I get?", ("12 weeks",)),
            Say("do I have to take it all at once?", ("do not need", "intermittent")),
            Say("who do I ask for it?", ("HR Specialist",)),
            Say("and FMLA, is that paid?", ("unpaid",)),
            Say("does it cover dental care?", (UNSAID,)),
        ),
        HANDBOOK,
    ),
    Conversation(
        "travel in a handbook",
        (
            Say("how do I get a travel card?", ("apply",)),
            Say("how long does that take?", ("two weeks",)),
            Say("what is Tock?", ("Tock",)),
            Say("which code do I use for vacation in it?", ("670",)),
            Say("list the documents about travel", ("travel",)),
        ),
        HANDBOOK,
    ),
    Conversation(
        "Prometheus",
        (
            Say("can Prometheus be made highly available?", ("two or more separate machines",)),
            Say("and what is it written in?", ("Go",)),
            Say("what is the difference between a counter and a gauge?", ("increas", "go up and down")),
            Say("which LTS release is the newest?", ("3.13",)),
            Say("until when is it supported?", ("2027-07-31",)),
            Say("and the one before?", ("2026-07-31",)),
        ),
        PROMETHEUS,
    ),
    Conversation(
        "the first week",
        (
            Say("hi, i start on monday. when does my laptop come?", ("three working days",)),
            Say("and if not?", ("people@brindlepost.example",)),
            Say("who is my buddy", ("another team",)),
            Say("how long is probation", ("three months",)),
            Say("and the notice then?", ("two weeks",)),
        ),
    ),
    Conversation(
        "leave, short and sloppy",
        (
            Say("holidays?", ("27 days",)),
            Say("how many of them can i carry over", ("five days",)),
            Say("until when", ("31 March",)),
            Say("why?", ("searched",)),
            Say("ok cool thx", ("welcome",)),
        ),
    ),
    Conversation(
        "two plans compared",
        (
            Say("whats the difference between depot and fleet?", ("189", "640")),
            Say("which one has phone support?", ("Fleet",)),
            Say("and what do further vehicles cost there?", ("5.2",)),
            Say("can i go back to depot later?", ("end of the paid period",)),
        ),
    ),
    Conversation(
        "who signs that off",
        (
            Say("who has to approve a new tool?", ("Security", "lead")),
            Say("and a conference for 2,000 euros?", ("Head of Engineering",)),
            Say("no, I'm in sales", ("Head of People",)),
            Say("who is that?", ("Delphine Okarube",)),
            Say("how do I reach her?", ("@delphine",)),
        ),
    ),
    Conversation(
        "a newcomer from Leipzig",
        (
            Say("Wer ist für den Planner zuständig?", ("Team Compass",)),
            Say("und wer leitet das Team?", ("Rosalind",)),
            Say("Bis wann muss ich Spesen einreichen?", ("60 days",)),
            Say("danke dir"),
        ),
    ),
    Conversation(
        "a receipt of one's own",
        (
            Say("can I claim this?", ("hotel", "160"), files=(("hotel.txt", HOTEL),)),
            Say("what did it cost per night?", ("148",)),
            Say("is that below our limit?", ("€160",)),
            Say("and the minibar?", ("minibar",)),
        ),
    ),
    Conversation(
        "what nobody wrote down",
        (
            Say("what's the wifi password?", (UNSAID,)),
            Say("who could know that?"),
            Say("is there a canteen?", (UNSAID,)),
            Say("may I bring my dog to the office?", (UNSAID,)),
        ),
    ),
    Conversation(
        "a lost phone",
        (
            Say("i lost my phone!!", ("one hour",)),
            Say("will i get in trouble?", ("not be told off",)),
            Say("what about the hardware key, same?", ("one hour",)),
            Say("who is the security officer", ("Ines Quillfeather",)),
            Say("where does she work?", ("Ghent",)),
        ),
    ),
    Conversation(
        "on call at night",
        (
            Say("what do i get paid for being on call?", ("€420",)),
            Say("and as secondary?", ("€180",)),
            Say("how fast do I have to react to tier 2?", ("15 minutes",)),
            Say("is that also at night?", ("day or night",)),
            Say("sorry, tier 3 I meant", ("next working morning",)),
        ),
        direct=True,
    ),
    Conversation(
        "a customer asks about the API",
        (
            Say("how many requests can a Starter key send per minute?", ("60",)),
            Say("Depot?", ("180",)),
            Say("when will v1 be switched off?", ("30 September 2026",)),
            Say("are you sure?", ("30 September 2026",)),
            Say("what do i do on error 429", ("Retry-After",)),
        ),
    ),
    Conversation(
        "photos of a delivery",
        (
            Say("how long do we keep delivery photos", ("18 months",)),
            Say("and for thistledown?", ("36 months",)),
            Say("can a normal customer get longer than that", ("seven",)),
            Say("how much is it", ("35",)),
            Say("thx", ("welcome",)),
        ),
    ),
    Conversation(
        "a customer wants out",
        (
            Say("when does the thistledown contract end", ("24 months",)),
            Say("how much notice", ("90 days",)),
            Say("who signed for them", ("Philippa Ambergate",)),
            Say("which plan are they on", ("Fleet",)),
            Say("what do they get back if planning is only up 99.2% of a month", ("12 percent",)),
        ),
    ),
    Conversation(
        "that is wrong",
        (
            Say("whats our refund period", ("45 days", "14 days")),
            Say("thats wrong, the faq says 30 days", ("2026",)),
            Say("and for somebody who bought in december 2025?", ("30 days",)),
            Say("source?", ("2024",)),
        ),
    ),
    Conversation(
        "two of support",
        (
            Say("when is phone support open", ("04:00 to 22:00",)),
            Say("and on sundays?", ("every day of the year",), by="bob", mentions=True),
            Say("which plan has that", ("Enterprise",)),
            Say("ok i will tell them", by="bob", silence=True),
            Say("how fast do they get an answer if its sev 1", ("15 minutes",)),
        ),
    ),
    Conversation(
        "a new engineer",
        (
            Say("when do i meet my buddy", ("09:30",)),
            Say("what else is on day one", ("password manager",)),
            Say("when do i go on call first", ("probation",)),
            Say("as primary right away?", ("first as secondary",)),
            Say("what do i get for that", ("€180",)),
            Say("why does it change on tuesdays", ("never on a Monday",)),
        ),
    ),
    Conversation(
        "two weeks off in December",
        (
            Say("i want 2 weeks off in december, ok?", ("one third",)),
            Say("how early do i have to ask", ("two weeks",)),
            Say("what if my lead doesnt answer", ("silence for three working days",)),
            Say("im on call in one of these weeks", ("find a swap",)),
            Say("who approves that", ("no lead has to approve",)),
            Say("and if i get sick on holiday", ("given back",)),
        ),
    ),
    Conversation(
        "two incidents",
        (
            Say("what went wrong in march 2025", ("large job",)),
            Say("how many depots were hit", ("212",)),
            Say("who was in charge", ("Imke Vandersteel",)),
            Say("and in the webhook one?", ("Teodor Wexley",)),
            Say("which of the two took longer", ("4 hours 45 minutes",)),
            Say("are all the actions done", ("Done",)),
        ),
    ),
    Conversation(
        "a slow endpoint",
        (
            Say("my endpoint is slow, how long do you wait for it", ("8 seconds",)),
            Say("can i change that", ("cannot be changed",)),
            Say("how often do you retry", ("six more times",)),
            Say("no i mean how long in between", ("30 seconds, 2 minutes, 10 minutes",)),
            Say("and then its lost?", ("seven days",)),
            Say("which ips do they come from", ("203.0.113.16",)),
        ),
    ),
    Conversation(
        "prices for a food bank",
        (
            Say("price of depot if we pay yearly", ("164",)),
            Say("cheapest plan for 2 depots?", ("Fleet",)),
            Say("we are a food bank, do we get a discount", ("30 percent",)),
            Say("how much is training for 8 people", ("380",)),
            Say("also in german?", ("English, Portuguese or Dutch",)),
            Say("and text messages, what do they cost", ("0.06",)),
        ),
    ),
    Conversation(
        "access to production",
        (
            Say("i need to look at prod data of tally, who do i ask", ("lead of the team that owns it",)),
            Say("who is that", ("Caspian Rourke",)),
            Say("hes on vacation", ("Head of Engineering",)),
            Say("name?", ("Imke Vandersteel",)),
            Say("how long does it last", ("eight hours",)),
        ),
    ),
)
