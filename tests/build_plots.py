"""Draws docs/plots.svg from a report's page: every plot of it below the other, in the colours of light or dark.

python -m research.evaluation bot/samples/eval --legs bm25,dense,hybrid,agent --agent --report report.html
python -m tests.build_plots report.html
"""

import re
import sys
from html import escape, unescape
from pathlib import Path

PICTURE = Path(__file__).parents[1] / "docs" / "plots.svg"
WIDTH, MARGIN, LINE = 720, 24, 18
_PLOT = re.compile(
    r'(?:<div class="legend">(?P<above>.*?)</div>)?<div class="wide"><svg viewBox="0 0 720 (?P<height>[\d.]+)"[^>]*'
    r'aria-label="(?P<title>[^"]*)">(?P<inside>.*?)</svg></div>(?:<div class="legend">(?P<below>.*?)</div>)?',
    re.DOTALL,
)
_ENTRY = re.compile(r'<span><i style="background:(?P<colour>[^"]+)"></i>(?P<told>[^<]*)</span>')
_STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)


def drawn(page: str) -> str:
    """All plots of a page as one picture. Raises ValueError when there is none."""
    plots = list(_PLOT.finditer(page))
    style = _STYLE.search(page)
    if not plots or style is None:
        raise ValueError("There is no plot on that page.")
    parts, y = list[str](), MARGIN
    for plot in plots:
        parts.append(f'<text x="{MARGIN}" y="{y + 14}" font-weight="600">{plot["title"]}</text>')
        y += 2 * LINE
        for colour, told in _ENTRY.findall(plot["above"] or plot["below"] or ""):
            parts.append(
                f'<rect x="{MARGIN}" y="{y}" width="10" height="10" rx="2" fill="{colour}"/>'
                f'<text x="{MARGIN + 16}" y="{y + 9}">{escape(unescape(told))}</text>'
            )
            y += LINE
        height = float(plot["height"])
        parts.append(
            f'<svg x="{MARGIN}" y="{y + 6}" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
            f'overflow="visible">{plot["inside"]}</svg>'
        )
        y += int(height) + 3 * LINE
    variables = "".join(rule for rule in re.findall(r":root\{[^}]*\}|@media[^{]*\{:root\{[^}]*\}\}", style[1]))
    rules = (
        "text{font:12px system-ui,sans-serif;fill:var(--ink)}.soft{fill:var(--soft)}.bar{fill:var(--one)}"
        ".track{fill:var(--track)}.whisker{stroke:var(--ink);stroke-width:1.6;fill:none}.grid{stroke:var(--line)}"
        ".mark{stroke:var(--soft);stroke-dasharray:4 4}"
    )
    whole = WIDTH + 2 * MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {y}" width="{whole}" height="{y}">'
        f"<style>{variables}{rules}</style>"
        f'<rect width="{whole}" height="{y}" rx="12" style="fill:var(--card)"/>{"".join(parts)}</svg>\n'
    )


if __name__ == "__main__":
    PICTURE.write_text(drawn(Path(sys.argv[1]).read_text(encoding="utf-8")), encoding="utf-8")
