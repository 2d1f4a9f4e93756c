"""Equations of office documents (OMML, ECMA-376 part 1, 22.1) as LaTeX.

Covers what Word's equation editor writes: fractions, roots, scripts, sums and integrals, brackets, matrices, accents,
function names and aligned equations. Anything else becomes the text inside it.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
MAX_DEPTH = 40
_SIGNS = {
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


def latex(element: Any, depth: int = 0) -> str:
    """An `m:oMath` or a part of one as LaTeX without dollar signs."""
    if depth > MAX_DEPTH:
        return "".join(element.itertext())
    return _tidy("".join(_parts(element, depth)))


def _parts(element: Any, depth: int) -> Iterator[str]:
    for child in element:
        if not isinstance(child.tag, str):
            continue
        name = child.tag.rpartition("}")[2]
        if child.tag == f"{M}r":
            yield "".join(_run(piece.text or "") for piece in child.iter(f"{M}t"))
        elif child.tag.startswith(M) and name in _WRITERS:
            yield _WRITERS[name](child, depth + 1)
        elif not _SETTINGS.search(name):
            yield latex(child, depth + 1)


def _run(text: str) -> str:
    return "".join(map(_sign, text))


def _sign(sign: str) -> str:
    written = _SIGNS.get(sign, sign)
    return f"{written} " if written.startswith("\\") else written


def _tidy(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip()
    return re.sub(r" (?=[\^_{}(),;.)\]])", "", text)


def _of(element: Any, name: str, depth: int) -> str:
    found = element.find(f"{M}{name}")
    return "" if found is None else latex(found, depth)


def _property(element: Any, name: str, default: str = "") -> str:
    """A property such as `m:naryPr/m:chr`; an empty value counts."""
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


_WRITERS: dict[str, Callable[[Any, int], str]] = {
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
