"""Random Markdown that wants to lead somewhere: every form of a link, in every kind of block, in one another."""

import random
from collections.abc import Callable, Sequence

from tests.e2e.hostile_texts import ALLOWED, HOSTILE

EVIL = "https://evil.example/SECRET"
NAMED = "https://named.example/page"  # in a passage, so that it may be read
FORMS: dict[str, str] = {
    "title in single quotes": f"[x]({NAMED} 'title')",
    "title in brackets": f"[x]({NAMED} (title))",
    "title with an escaped quote": rf'[x]({NAMED} "a \" b")',
    "title over two lines": f'[x]({NAMED} "a\nb")',
    "space in angles": "[x](<https://evil.com/ x>)",
    "nested label": f"[x [nested] y]({NAMED})",
    "escaped bracket in the label": rf"[x \] y]({NAMED})",
    "long label": f"[{'x' * 400}]({NAMED})",
    "line after the bracket": f"[x](\n{NAMED})",
    "linked image": f"[![x]({NAMED})]({NAMED})",
    "image in an image": f"![![x]({NAMED})]({NAMED})",
    "irc": "<irc:evil>",
    "slack": "<slack:evil>",
    "mail": "<mailto:evil@evil.example>",
    "channel": "<!channel>",
    "cell of a table": f"| a | b |\n|---|---|\n| [x]({NAMED} 't') | [y\\|z]({NAMED} 't') |",
    "label with a bar": f"| a | b |\n|---|---|\n[x|y]({NAMED} 't')\n",
    "definition in a quote": f"> [x][1]\n>\n> [1]: {NAMED}\n> 'title'",
    "definition over lines": f"[x]\n\n[x]:\n{NAMED}\n'title'",
    "tag with an event": "<b onmouseover=\"fetch('//evil.example')\">x</b>",
    "tag that loads": "<video src=//evil.example/x></video>",
    "block of HTML": f"<details open=x>\n<a href='{NAMED}'>x</a>\n\n[x]({NAMED} 't')\n</details>",
}

_TITLES = ("", ' "t"', " 't'", " (t)", r' "a \" b"', ' "a\nb"', "\n't'", ' "')
_OPENINGS = ("(", "( ", "(\n", "(<", "(\t")
_LABELS = ("x", "x [y] z", r"x \] y", "x\ny", "`x` y", "*x* _y", "x" * 320, "", "x|y", "@everyone", "[x", "x]")
_JUNK = (
    *(
        "`",
        "``",
        "*",
        "_",
        "~~",
        "\\",
        "[",
        "]",
        "(",
        ")",
        "<",
        ">",
        "!",
        "&lt;",
        "&#40;",
        "|",
        "\n",
        "\n\n",
        " ",
        "[1]",
    ),
    *("<x", "</x>", "<b>", "```", "[x]", "[x]:", '"', "'", "a", "é", "\t", "    ", "- ", "> ", "# "),
)
_SCHEMES = ("irc:", "slack:", "mailto:", "x-y+z:", "HTTPS:", "javascript:", "tel:")


def hostile_answers() -> list[str]:
    """Answers that a model may copy: each form, each hostile text, and some at random. None has a link of a source."""
    chance = random.Random(7)
    made = [hostile_markdown(chance, (EVIL, NAMED)) for _ in range(60)]
    return [*FORMS.values(), *(text for text in HOSTILE.values() if ALLOWED not in text), *made]


def hostile_markdown(chance: random.Random, addresses: Sequence[str]) -> str:
    """One text of a few blocks."""
    blocks = [_block(chance, addresses) for _ in range(chance.randint(1, 4))]
    return chance.choice(("\n", "\n\n")).join(blocks)


def _block(chance: random.Random, addresses: Sequence[str]) -> str:
    inline = _inline(chance, addresses, 3)
    kinds: tuple[Callable[[str], str], ...] = (
        str,
        lambda text: "> " + text.replace("\n", chance.choice(("\n> ", "\n", "\n>"))),
        lambda text: "- " + text.replace("\n", chance.choice(("\n  ", "\n"))),
        lambda text: f"1. a\n   > {text}",
        lambda text: f"## {text} ##",
        lambda text: f"{text}\n---",
        lambda text: f"| a | b |\n|---|---|\n| {text} | {_inline(chance, addresses, 1)} |",
        lambda text: f"```\n{text}\n```",
        lambda text: f"    {text}",
        lambda text: f"<div>\n{text}\n</div>",
        lambda text: f"[x]: {chance.choice(addresses)}{chance.choice(_TITLES)}\n\n{text}",
        lambda text: f"> [x\n> y]:\n> {chance.choice(addresses)}\n{text} [x y]",
    )
    return chance.choice(kinds)(inline)


def _inline(chance: random.Random, addresses: Sequence[str], depth: int) -> str:
    parts = [_part(chance, addresses, depth) for _ in range(chance.randint(1, 3))]
    return "".join(parts)


def _part(chance: random.Random, addresses: Sequence[str], depth: int) -> str:
    address, title = chance.choice(addresses), chance.choice(_TITLES)
    label = _inline(chance, addresses, depth - 1) if depth and chance.random() < 0.3 else chance.choice(_LABELS)
    opening = chance.choice(_OPENINGS)
    closing = ">" if opening.endswith("<") else ""
    tag = chance.choice(("a href", "img src", "b onclick", "x title"))
    forms = (
        f"[{label}]{opening}{address}{closing}{title})",
        f"[{label}]{opening}{address}{closing}{title})",
        f"![{label}]{opening}{address}{closing}{title})",
        f"[{label}][x] [x][] [{label}]",
        f"<{chance.choice((address, chance.choice(_SCHEMES) + 'evil'))}>",
        f'<{tag}="{address}">{label}</a>',
        f"{address}{chance.choice(_JUNK)}{label}",
        "".join(chance.choice(_JUNK) for _ in range(chance.randint(1, 6))),
        f"`{label}` <!channel> @here ",
    )
    return chance.choice(forms)
