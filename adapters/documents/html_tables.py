"""HTML's tables within Markdown or RST as pipe tables, so that a row is read with its header and not as lone cells."""

import re

_OPENING = re.compile(r"^([ \t]*)<table\b", re.MULTILINE | re.IGNORECASE)
_CLOSING = re.compile(r"</table>[ \t]*(?:$|(?=\n))", re.IGNORECASE)


def with_pipe_tables(text: str) -> str:
    """The text, each table of HTML that has enough lines for it as a pipe table among blank lines."""
    done, at = "", 0
    while (begun := _OPENING.search(text, at)) and (ended := _CLOSING.search(text, begun.end())):
        done += text[at : begun.start()] + _as_lines(text[begun.start() : ended.end()], begun[1])
        at = ended.end()
    return done + text[at:]


def _as_lines(markup: str, indent: str) -> str:
    """A pipe table with a blank line on both sides, and as many lines as before; else the table as it was."""
    if markup.lower().count("<table") > 1:
        return markup
    from adapters.documents.html_markdown import soup, to_markdown

    table = to_markdown(soup(markup)).split("\n")
    spare = markup.count("\n") + 1 - len(table)
    if spare < 2 or not any(line.startswith("|") for line in table):
        return markup
    return "\n".join(["", *(f"{indent}{line}" for line in table), *[""] * (spare - 1)])
