"""Paragraphs of an office document as text: runs, links and references, and equations (OMML) as LaTeX.

Supported OMML (ECMA-376 part 1, 22.1) is what Word's equation editor writes: fractions, roots, scripts, sums and
integrals, brackets, matrices, accents, function names, aligned equations. Other elements become their text.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from adapters.documents.titles import with_address

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
ALTERNATE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
SKIPPED = frozenset(
    f"{W}{name}" for name in ("del", "moveFrom", "delText", "instrText", "rPr", "pPr", "sdtPr", "tblPr", "sectPr")
) | {f"{ALTERNATE}Fallback"}
Runs = list[tuple[str, bool]]
"""Runs of text, each with whether it is bold."""
_RELATIONS = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_LINK_FIELD = re.compile(r'\bHYPERLINK\s+"(https?://[^"\s]+)"')
_FIELD = "\x01"  # precedes the address of an open field; XML does not allow this character
ENDNOTE = "e"
"""Prefix of endnote numbers, which distinguishes them from footnotes."""
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
MAX_NESTED = 40
_SYMBOLS = {
    "α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "δ": r"\delta", "ε": r"\epsilon", "ζ": r"\zeta", "η": r"\eta",
    "θ": r"\theta", "ι": r"\iota", "κ": r"\kappa", "λ": r"\lambda", "μ": r"\mu", "ν": r"\nu", "ξ": r"\xi", "π": r"\pi",
    "ρ": r"\rho", "σ": r"\sigma", "τ": r"\tau", "υ": r"\upsilon", "φ": r"\varphi", "ϕ": r"\phi", "χ": r"\chi",
    "ψ": r"\psi", "ω": r"\omega", "Γ": r"\Gamma", "Δ": r"\Delta", "Θ": r"\Theta", "Λ": r"\Lambda", "Ξ": r"\Xi",
    "Π": r"\Pi", "Σ": r"\Sigma", "Φ": r"\Phi", "Ψ": r"\Psi", "Ω": r"\Omega", "×": r"\times", "÷": r"\div",
    "±": r"\pm", "∓": r"\mp", "⋅": r"\cdot", "·": r"\cdot", "≤": r"\leq", "≥": r"\geq", "≠": r"\neq",
    "≈": r"\approx", "≡": r"\equiv", "∼": r"\sim", "∝": r"\propto", "∞": r"\infty", "∂": r"\partial", "∇": r"\nabla",
    "∈": r"\in", "∉": r"\notin", "⊂": r"\subset", "⊆": r"\subseteq", "∪": r"\cup", "∩": r"\cap", "∅": r"\emptyset",
    "∀": r"\forall", "∃": r"\exists", "→": r"\rightarrow", "←": r"\leftarrow", "⇒": r"\Rightarrow",
    "⇔": r"\Leftrightarrow", "↔": r"\leftrightarrow", "∑": r"\sum", "∏": r"\prod", "∫": r"\int", "∬": r"\iint",
    "∭": r"\iiint", "∮": r"\oint", "⋃": r"\bigcup", "⋂": r"\bigcap", "√": r"\surd", "…": r"\ldots", "⋯": r"\cdots",
    "′": "'", "−": "-", "∗": "*", "%": r"\%", "#": r"\#", "&": r"\&", "{": r"\{", "}": r"\}", "_": r"\_",
}  # fmt: skip
_ACCENTS = {
    "\u0302": "hat", "^": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "overline", "¯": "bar", "\u0307": "dot",
    "\u0308": "ddot", "\u20d7": "vec", "→": "vec", "\u030c": "check", "\u0306": "breve",
}  # fmt: skip
_FUNCTIONS = re.compile(
    r"(arc(cos|sin|tan)|arg|(cos|cot|sin|tan)h?|csc|deg|det|dim|exp|gcd|hom|inf|ker|lg|lim(inf|sup)?|ln|log|max|min|Pr"
    r"|sec|sup)"
)
_SETTINGS = re.compile(r"(Pr|ctrlPr|rPr)$")


def inline(element: Any, links: Mapping[str, str]) -> tuple[str, bool]:
    """Return a paragraph's text with link addresses, and whether all of it is bold."""
    runs: Runs = []
    _collect(element, runs, links)
    shown = [(text, bold) for text, bold in runs if text]
    whole = bool(shown) and all(bold or not text.strip() for text, bold in shown)
    text = "".join(text for text, _ in shown)
    text = re.sub(r"[ \t\xa0]+", " ", text).replace(" \n", "\n").strip()
    return re.sub(r"^(#+\s)", r"\\\1", text), whole


def _collect(element: Any, runs: Runs, links: Mapping[str, str]) -> None:
    """Collect the text below a paragraph, except text boxes, which are separate blocks.

    A field's code precedes its text, both between field marks; a HYPERLINK field becomes a link.
    """
    for child in element:
        if child.tag == f"{W}instrText" and (match := _LINK_FIELD.search(child.text or "")):
            runs.append((_FIELD + match[1], False))
        elif child.tag == f"{W}fldChar" and child.get(f"{W}fldCharType") == "end":
            _close_field(runs)
        elif child.tag in SKIPPED or child.tag == f"{W}txbxContent" or not isinstance(child.tag, str):
            continue
        elif child.tag == f"{W}t":
            runs.append((child.text or "", _is_bold(child.getparent())))
        elif writer := _SIGNS.get(child.tag.rpartition("}")[2]):
            runs.append((writer(child), False))
        else:
            before = len(runs)
            _collect(child, runs, links)
            if address := _link_address(child, links):
                _link(runs, before, address)


def _link_address(element: Any, links: Mapping[str, str]) -> str:
    """Return the link target of an element: a hyperlink's relation, or a simple field's code."""
    if element.tag == f"{W}hyperlink":
        return links.get(element.get(f"{_RELATIONS}id") or "", "")
    field_code = _LINK_FIELD.search(element.get(f"{W}instr") or "") if element.tag == f"{W}fldSimple" else None
    return field_code[1] if field_code else ""


def _close_field(runs: Runs) -> None:
    """Turn the text since an open HYPERLINK field code into a link."""
    at = next((i for i in range(len(runs) - 1, -1, -1) if runs[i][0].startswith(_FIELD)), None)
    if at is not None:
        address = runs.pop(at)[0].removeprefix(_FIELD)
        _link(runs, at, address)


def _link(runs: Runs, start: int, address: str) -> None:
    """Merge the runs from `start` into one link."""
    words, bold = "".join(text for text, _ in runs[start:]), all(bold for _, bold in runs[start:])
    if words.strip():
        runs[start:] = [(with_address(words, address), bold)]


def _break(element: Any) -> str:
    return " " if element.get(f"{W}type") in ("page", "column") else "\n"


def _equation(element: Any) -> str:
    """Return an equation in dollar signs, inline or as a display equation."""
    apart = element.tag == f"{M}oMathPara"
    formulas = [latex(formula) for formula in (element.iterchildren(f"{M}oMath") if apart else (element,))]
    mark = "$$" if apart else "$"
    return "\n".join(f"{mark}{formula}{mark}" for formula in formulas if formula)


def alternative_text(element: Any) -> str:
    """Return the alternative text of an image; "" for a file name or a text generated by a program."""
    alt = re.sub(r"\s+", " ", element.get("descr") or "").strip()
    alt = alt.removesuffix("AI-generated content may be incorrect.").removesuffix("Description automatically generated")
    return f" [Image: {alt.strip()}] " if len(alt.strip()) > 2 and not re.fullmatch(r"[\w-]+\.\w{3,4}", alt) else ""


_SIGNS: dict[str, Callable[[Any], str]] = {
    "tab": lambda _: " ",
    "ptab": lambda _: " ",
    "br": _break,
    "cr": _break,
    "noBreakHyphen": lambda _: "-",
    "footnoteReference": lambda element: f"[^{element.get(f'{W}id')}]",
    "endnoteReference": lambda element: f"[^{ENDNOTE}{element.get(f'{W}id')}]",
    "oMath": _equation,
    "oMathPara": _equation,
    "docPr": alternative_text,
}


def _is_bold(run: Any) -> bool:
    mark = run.find(f"{W}rPr/{W}b")
    return mark is not None and mark.get(f"{W}val") not in ("0", "false", "off")


def latex(element: Any, depth: int = 0) -> str:
    """Return an `m:oMath` element or a part of one as LaTeX without dollar signs."""
    if depth > MAX_NESTED:
        return "".join(element.itertext())
    return _tidy("".join(_parts(element, depth)))


def _parts(element: Any, depth: int) -> Iterator[str]:
    for child in element:
        if not isinstance(child.tag, str):
            continue
        name = child.tag.rpartition("}")[2]
        if child.tag == f"{M}r":
            yield "".join(_run(piece.text or "") for piece in child.iter(f"{M}t"))
        elif child.tag.startswith(M) and name in _FORMULAS:
            yield _FORMULAS[name](child, depth + 1)
        elif not _SETTINGS.search(name):
            yield latex(child, depth + 1)


def _run(text: str) -> str:
    written = (_SYMBOLS.get(sign, sign) for sign in text)
    return "".join(f"{one} " if one.startswith("\\") else one for one in written)


def _tidy(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip()
    return re.sub(r" (?=[\^_{}(),;.)\]])", "", text)


def _of(element: Any, name: str, depth: int) -> str:
    found = element.find(f"{M}{name}")
    return "" if found is None else latex(found, depth)


def _property(element: Any, name: str, default: str = "") -> str:
    """Return a property such as `m:naryPr/m:chr`; an existing empty value overrides the default."""
    found = element.find(f"{M}{element.tag.rpartition('}')[2]}Pr/{M}{name}")
    return default if found is None else str(found.get(f"{M}val", "1" if name.endswith("Hide") else ""))


def _fraction(element: Any, depth: int) -> str:
    top, bottom = _of(element, "num", depth), _of(element, "den", depth)
    if _property(element, "type") == "lin":
        return f"{top}/{bottom}"
    return rf"\binom{{{top}}}{{{bottom}}}" if _property(element, "type") == "noBar" else rf"\frac{{{top}}}{{{bottom}}}"


def _root(element: Any, depth: int) -> str:
    degree = _of(element, "deg", depth)
    return rf"\sqrt{f'[{degree}]' if degree else ''}{{{_of(element, 'e', depth)}}}"


def _scripts(element: Any, depth: int) -> str:
    low, high = _of(element, "sub", depth), _of(element, "sup", depth)
    return _brace(_of(element, "e", depth)) + _low_high(low, high)


def _pre_scripts(element: Any, depth: int) -> str:
    return "{}" + _low_high(_of(element, "sub", depth), _of(element, "sup", depth)) + _of(element, "e", depth)


def _low_high(low: str, high: str) -> str:
    return (f"_{{{low}}}" if low else "") + (f"^{{{high}}}" if high else "")


def _brace(base: str) -> str:
    return base if len(base) <= 1 or re.fullmatch(r"\\\w+|\(.*\)", base) else f"{{{base}}}"


def _sum(element: Any, depth: int) -> str:
    sign = _run(_property(element, "chr", "∫")).strip() or r"\int"
    limits = _low_high(_of(element, "sub", depth), _of(element, "sup", depth))
    return f"{sign}{limits} {_of(element, 'e', depth)} "


def _brackets(element: Any, depth: int) -> str:
    first, last = _property(element, "begChr", "("), _property(element, "endChr", ")")
    between = _property(element, "sepChr", "|")
    inner = between.join(latex(part, depth) for part in element.findall(f"{M}e"))
    return f"{_run(first).strip()}{inner}{_run(last).strip()}"


def _matrix(element: Any, depth: int) -> str:
    rows = (" & ".join(latex(cell, depth) for cell in row.findall(f"{M}e")) for row in element.findall(f"{M}mr"))
    return r"\begin{matrix} " + r" \\ ".join(rows) + r" \end{matrix}"


def _lines(element: Any, depth: int) -> str:
    rows = (latex(row, depth).replace(r"\&", "&") for row in element.findall(f"{M}e"))
    return r"\begin{aligned} " + r" \\ ".join(rows) + r" \end{aligned}"


def _function(element: Any, depth: int) -> str:
    name = _of(element, "fName", depth)
    plain = re.match(r"[A-Za-z]+", name)
    if plain and _FUNCTIONS.fullmatch(plain[0]):
        name = "\\" + name
    return f"{name} {_of(element, 'e', depth)}"


def _accent(element: Any, depth: int) -> str:
    return rf"\{_ACCENTS.get(_property(element, 'chr', chr(0x302)), 'hat')}{{{_of(element, 'e', depth)}}}"


def _bar(element: Any, depth: int) -> str:
    return rf"\{'overline' if _property(element, 'pos') == 'top' else 'underline'}{{{_of(element, 'e', depth)}}}"


def _limit(mark: str) -> Callable[[Any, int], str]:
    return lambda element, depth: f"{_of(element, 'e', depth)}{mark}{{{_of(element, 'lim', depth)}}}"


_FORMULAS: dict[str, Callable[[Any, int], str]] = {
    "f": _fraction,
    "rad": _root,
    "sSup": _scripts,
    "sSub": _scripts,
    "sSubSup": _scripts,
    "sPre": _pre_scripts,
    "nary": _sum,
    "d": _brackets,
    "m": _matrix,
    "eqArr": _lines,
    "func": _function,
    "acc": _accent,
    "bar": _bar,
    "limLow": _limit("_"),
    "limUpp": _limit("^"),
}
