"""Conversion of Confluence's storage format to plain HTML for the HTML reader.

Macros are Confluence's own XML elements. Code blocks, panels and page links are converted to their visible form. Macros
that Confluence fills on display (a list of children, an included page) have no text and are left out.
"""

from html import escape

from bs4 import BeautifulSoup, Tag

_PARAMETERS = ("ac:parameter", "ac:placeholder", "ac:image", "ac:adf-attribute")
_CODE = frozenset({"code", "noformat"})
_UNFILLED = frozenset({"toc", "children", "include", "excerpt-include", "pagetree", "recently-updated", "attachments"})


def to_html(title: str, storage: str) -> bytes:
    """Return a page with this title as an HTML document."""
    soup = BeautifulSoup(storage, "html.parser")
    for macro in soup.find_all("ac:structured-macro"):
        _replace_macro(soup, macro)
    for link in soup.find_all("ac:link"):
        link.replace_with(_link_text(link))
    for task in soup.find_all("ac:task"):
        _replace_task(soup, task)
    for time in soup.find_all("time"):
        time.replace_with(str(time.get("datetime") or time.get_text()))
    for emoji in soup.find_all("ac:emoticon"):
        emoji.replace_with(str(emoji.get("ac:emoji-fallback") or ""))
    for name in _PARAMETERS:
        for tag in soup.find_all(name):
            tag.decompose()
    for tag in soup.find_all(lambda one: ":" in one.name):
        tag.unwrap()
    head = f'<html><head><meta charset="utf-8"><title>{escape(title)}</title></head>'
    return f"{head}<body><main>{soup}</main></body></html>".encode()


def _replace_macro(soup: BeautifulSoup, macro: Tag) -> None:
    name = str(macro.get("ac:name", ""))
    if name in _UNFILLED:
        macro.decompose()
        return
    if name in _CODE:
        code = soup.new_tag("pre")
        body = macro.find("ac:plain-text-body")
        code.string = "".join(str(part) for part in body.find_all(string=True)) if isinstance(body, Tag) else ""
        macro.replace_with(code)
        return
    title = _parameter(macro, "title")
    for parameter in macro.find_all("ac:parameter", recursive=False):
        parameter.decompose()
    if name == "status":
        macro.replace_with(title)
        return
    if title:
        heading = soup.new_tag("p")
        heading.append(soup.new_tag("strong"))
        heading.strong.string = title  # type: ignore[union-attr]  # it was appended a line above
        macro.insert(0, heading)
    macro.name = "div"
    macro.attrs = {}


def _parameter(macro: Tag, name: str) -> str:
    found = macro.find("ac:parameter", attrs={"ac:name": name}, recursive=False)
    return found.get_text() if isinstance(found, Tag) else ""


def _link_text(link: Tag) -> str:
    """Return the words of a link to a page, file or person: its own text, or else the target's title."""
    for name in ("ac:plain-text-link-body", "ac:link-body"):
        body = link.find(name)
        if isinstance(body, Tag) and (text := "".join(str(part) for part in body.find_all(string=True)).strip()):
            return text
    target = link.find(lambda one: one.name in {"ri:page", "ri:blog-post", "ri:attachment"})
    if not isinstance(target, Tag):
        return ""
    return str(target.get("ri:content-title") or target.get("ri:filename") or "")


def _replace_task(soup: BeautifulSoup, task: Tag) -> None:
    """Turn a task into a list item with a check mark if it is done."""
    status, body = task.find("ac:task-status"), task.find("ac:task-body")
    done = isinstance(status, Tag) and status.get_text().strip() == "complete"
    line = soup.new_tag("li")
    line.string = f"[{'x' if done else ' '}] {body.get_text(' ', strip=True) if isinstance(body, Tag) else ''}"
    task.replace_with(line)
