"""Web pages: main content, title, date and link."""

import re
from contextlib import suppress
from urllib.parse import urljoin

from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString

from adapters.documents.encodings import decode
from adapters.documents.format import Format
from adapters.documents.html_markdown import soup, to_markdown
from adapters.documents.titles import choose_title, iso_date, safe_link
from core.model.document_content import Block, ParsedDocument
from core.model.errors import DocumentRejected

_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w:.-]+)""", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"""^\s*<\?xml[^>]{0,100}?encoding\s*=\s*["']([\w.-]+)""")
_FURNITURE = re.compile(
    r"(^|[\s_-])(nav|navbar|navigation|breadcrumbs?|cookie\w*|consent|sidebar|side-?nav|toc|table-of-contents|site-?header"
    r"|site-?footer|footer|masthead|banner|menu|skip(-?(link|to)\w*)?|share|social|sharing|advert\w*|ads?|promo|newsletter"
    r"|pagination|pager|related(-?(posts|articles))?|comments|edit-?(link|page)|feedback|headerlink|search-?(box|form)?)"
    r"($|[\s_-])",
    re.IGNORECASE,
)
_ROLES = ("navigation", "banner", "contentinfo", "search", "complementary", "menu", "menubar", "dialog", "alertdialog")
MOST_ELEMENTS = 75_000  # per page: five seconds of a core if all of them are table cells
_OPENING_TAG = re.compile("<[a-zA-Z]")
_MAIN_SHARE = 0.35
"""Minimum share of the page's text for a `main` or `article` to count as the main content."""


def read(name: str, data: bytes) -> ParsedDocument:
    """Return the page's main content as Markdown. Raises DocumentRejected if it is too large or has no text."""
    text = page_text(data)
    if len(_OPENING_TAG.findall(text)) > MOST_ELEMENTS:
        raise DocumentRejected(f"This page has over {MOST_ELEMENTS:,} elements.", remedy="Add it in parts.")
    page = soup(text)
    stated_title = _title(page)
    modified = iso_date(
        _meta(page, "article:modified_time", "dcterms.modified", "last-modified", "og:updated_time", "date")
    )
    url = safe_link(_canonical(page))
    _resolve_links(page, url)
    markdown = main_markdown(page)
    if not markdown:
        raise DocumentRejected(
            "This page has no text. Perhaps a script loads its text.",
            remedy="Save or export the page as text or PDF and add that.",
        )
    heading = _only_heading(markdown)
    return ParsedDocument(
        title=choose_title(name, heading, stated_title, markdown=[markdown]),
        blocks=(Block(markdown),),
        media_type="text/html",
        modified=modified,
        url=url,
    )


def page_text(data: bytes, declared: str | None = None) -> str:
    """Decode a page with the encoding declared for it, or with the one in its own markup."""
    head = data[:4096]
    match = _CHARSET.search(head) or _XML_ENCODING.search(head)
    declared = declared or (match[1].decode("ascii", "ignore") if match else None)
    return re.sub(r"^\s*<\?xml[^>]*\?>", "", decode(data, declared))


def main_markdown(page: BeautifulSoup) -> str:
    """Return the Markdown of the page's main content, without navigation and other boilerplate."""
    body = page.body or page
    whole = len(body.get_text(" ", strip=True))
    _remove_furniture(body)
    mains = [tag for tag in body.find_all(("main", "article")) if tag.find_parent(("main", "article")) is None]
    mains += body.find_all(True, role="main")
    best = max(mains, key=lambda tag: len(tag.get_text(" ", strip=True)), default=None)
    if best is not None and len(best.get_text(" ", strip=True)) >= _MAIN_SHARE * whole:
        return to_markdown(best)
    return to_markdown(body)


def _remove_furniture(body: Tag) -> None:
    """Remove navigation, headers, footers and banners, but never most of the text."""
    lengths = _text_lengths(body)
    left = lengths.get(id(body), 0)
    removed: set[int] = set()  # ``decomposed`` of bs4 searches the whole element for a tag of that name
    for tag in body.find_all(True):
        if id(tag) in removed or not _is_furniture(tag):
            continue
        length = lengths.get(id(tag), 0)
        if length < 0.6 * left:
            left -= length
            removed.update(id(inner) for inner in tag.descendants)
            tag.extract()


def _text_lengths(body: Tag) -> dict[int, int]:
    """Return the number of text characters below each element, by element identity, in one pass."""
    lengths: dict[int, int] = {}
    for text in body.find_all(string=True):
        length = len(text.strip()) + 1 if type(text) is NavigableString and text.strip() else 0
        for above in text.parents if length else ():
            lengths[id(above)] = lengths.get(id(above), 0) + length
            if above is body:
                break
    return lengths


def _is_furniture(tag: Tag) -> bool:
    if tag.name in ("nav", "aside") or str(tag.get("role") or "") in _ROLES:
        return True
    if tag.name in ("header", "footer"):
        return tag.find_parent(("article", "main", "section")) is None and tag.find("h1") is None
    if tag.name not in ("div", "ul", "ol", "section", "p", "a", "span", "form"):
        return False
    names = " ".join([str(tag.get("id") or ""), *map(str, tag.get_attribute_list("class"))])
    return bool(_FURNITURE.search(names)) and tag.find("h1") is None


def _title(page: BeautifulSoup) -> str | None:
    stated = _meta(page, "og:title", "citation_title", "dc.title")
    if stated:
        return stated
    if page.title is None:
        return None
    text = re.sub(r"\s+", " ", page.title.get_text()).strip()
    return re.split(r"\s[|·»–—]\s", text)[0] if len(text) > 20 else text


def _only_heading(markdown: str) -> str | None:
    """Return the page's only top-level heading, which is usually a better title than the title element."""
    tops = re.findall(r"(?m)^# (.+)$", re.sub(r"(?ms)^```.*?^```", "", markdown))
    return str(tops[0]) if len(tops) == 1 else None


def _meta(page: BeautifulSoup, *names: str) -> str | None:
    tags = page.find_all("meta")
    for wanted in names:
        for key in ("property", "name", "http-equiv", "itemprop"):
            tag = next((one for one in tags if str(one.get(key) or "").casefold() == wanted.casefold()), None)
            if tag is not None and (content := str(tag.get("content") or "").strip()):
                return content
    return None


def _canonical(page: BeautifulSoup) -> str | None:
    link = page.find("link", rel="canonical")
    href = str(link.get("href") or "") if isinstance(link, Tag) else ""
    return href or _meta(page, "og:url")


def _resolve_links(page: BeautifulSoup, url: str | None) -> None:
    """Make links absolute if the page states its address or a base URL."""
    base = page.find("base", href=True)
    address = url or ""
    with suppress(ValueError):
        address = safe_link(urljoin(address, str(base["href"]) if isinstance(base, Tag) else "")) or ""
    for link in page.find_all("a", href=True) if address else ():
        if not str(link["href"]).startswith("#"):
            with suppress(ValueError):
                link["href"] = urljoin(address, str(link["href"]))


_BEGINNING = re.compile(
    r"\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*<(!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)


def _is_page(known: str | None, head: str) -> bool:
    """Return whether the text is a web page; Markdown and source code may begin like one."""
    return known not in ("text/markdown", "text/x-source") and bool(_BEGINNING.match(head))


FORMATS = (
    Format(
        media_type="text/html",
        read=read,
        label="HTML",
        suffixes=("html", "htm", "xhtml"),
        in_text=_is_page,
        not_a_title=r".*\.html?",
    ),
)
