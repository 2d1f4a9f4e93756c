"""One self-contained page about a measurement: bars with their intervals, what abstaining would cost, worst cases."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from bot.evaluation.running import METRICS, Measured

_WIDTH = 640
_LABEL = 90
_BAR = 26

_STYLE = """
:root{color-scheme:light dark;--ink:#1d2430;--soft:#667085;--line:#d9dee7;--page:#f7f8fa;--card:#fff;
--one:#2f6fde;--two:#d9822b}
@media(prefers-color-scheme:dark){:root{--ink:#e7eaf0;--soft:#98a2b3;--line:#333b49;--page:#12161d;--card:#1b212b;
--one:#6ea0ff;--two:#f0a95b}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--page);max-width:980px;
margin:2rem auto;padding:0 1rem}
section{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:1rem 1.4rem;margin:1.2rem 0}
h1,h2,h3{line-height:1.2}h3{font-size:1rem;margin:1.4rem 0 .4rem}.soft{color:var(--soft)}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}td,th{padding:.25rem .5rem;text-align:right;
border-bottom:1px solid var(--line)}td:first-child,th:first-child{text-align:left}
svg{width:100%;height:auto;display:block}svg text{font:12px system-ui,sans-serif;fill:var(--ink)}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:1rem}.pair div{border:1px solid var(--line);border-radius:6px;
padding:.5rem .7rem;white-space:pre-wrap;font-size:13px;overflow-wrap:anywhere}
"""


def page(results: Sequence[Measured]) -> str:
    """The whole page as HTML; it loads nothing."""
    body = "".join(_section(one) for one in results)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>Footnote, measured</title><style>{_STYLE}</style><h1>Footnote, measured</h1>"
        f'<p class="soft">Bars are means over questions; whiskers are 95 % bootstrap intervals.</p>{body}</html>'
    )


def _section(one: Measured) -> str:
    parts = [
        f"<section><h2>{escape(one.name)}</h2>",
        f'<p class="soft">{one.questions} questions, {one.passages:,} passages</p>',
    ]
    if one.legs:
        parts += ["<h3>nDCG@10 of each leg</h3>", _bars(one.legs), _table(one.legs)]
    if one.curve:
        parts += ["<h3>Abstaining below a score of the best hit</h3>", _curve(one.curve, 0.0, 1.0)]
    if one.agent:
        parts += ["<h3>The agent</h3>", _agent(one.agent), "<h3>Abstaining below a grade</h3>"]
        parts.append(_curve(one.agent["by_grade"], 1.0, 10.0))
    if one.stages:
        parts += ["<h3>Median time of a search, by stage (ms)</h3>", _stages(one.stages)]
    if one.worst:
        parts += ["<h3>Worst cases</h3>", *(_case(case) for case in one.worst)]
    parts += [f'<p class="soft">{escape(note)}</p>' for note in one.notes]
    return "".join([*parts, "</section>"])


def _bars(legs: Mapping[str, Any]) -> str:
    rows = []
    span = _WIDTH - _LABEL - 60
    for n, (leg, kept) in enumerate(legs.items()):
        got = kept["metrics"]["nDCG@10"]
        y = n * _BAR + 4
        middle = y + 9
        low, high = (_LABEL + span * got[end] for end in ("low", "high"))
        rows.append(
            f'<text x="0" y="{middle + 4}">{escape(leg)}</text>'
            f'<rect x="{_LABEL}" y="{y}" width="{span * got["mean"]:.1f}" height="18" rx="3" fill="var(--one)"/>'
            f'<path d="M{low:.1f} {middle}H{high:.1f}M{low:.1f} {middle - 4}v8M{high:.1f} {middle - 4}v8" '
            f'stroke="var(--two)" stroke-width="2"/><text x="{_WIDTH - 50}" y="{middle + 4}">{got["mean"]:.3f}</text>'
        )
    return f'<svg viewBox="0 0 {_WIDTH} {len(legs) * _BAR + 8}" role="img">{"".join(rows)}</svg>'


def _table(legs: Mapping[str, Any]) -> str:
    names = list(next(iter(legs.values()))["metrics"]) or list(METRICS)
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    rows = "".join(
        f"<tr><td>{escape(leg)}</td>"
        + "".join(f"<td>{kept['metrics'][name]['mean']:.3f}</td>" for name in names)
        + "</tr>"
        for leg, kept in legs.items()
    )
    return f"<table><tr><th></th>{head}</tr>{rows}</table>"


def _curve(points: Sequence[Mapping[str, Any]], first: float, last: float) -> str:
    """Precision of what is answered, and the share refused, against the threshold."""

    def line(name: str, colour: str) -> str:
        known = [point for point in points if point[name] is not None]
        places = " ".join(
            f"{40 + (p['threshold'] - first) / (last - first) * 560:.1f},{150 - p[name] * 130:.1f}" for p in known
        )
        return f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="2.5"/>'

    return (
        f'<svg viewBox="0 0 {_WIDTH} 180" role="img"><path d="M40 20V150H600" fill="none" stroke="var(--line)"/>'
        '<text x="14" y="24">1</text><text x="14" y="154">0</text>'
        f'<text x="36" y="170">{first:g}</text><text x="592" y="170">{last:g}</text>'
        f"{line('precision', 'var(--one)')}{line('refused', 'var(--two)')}"
        '<text x="230" y="174" style="fill:var(--one)">precision</text>'
        '<text x="330" y="174" style="fill:var(--two)">refused</text></svg>'
    )


def _agent(agent: Mapping[str, Any]) -> str:
    rows = []
    for name, value in agent.items():
        if name in ("by_grade", "wrong"):
            continue
        shown = f"{value:.3f}" if isinstance(value, float) else value
        if isinstance(value, dict):
            shown = ", ".join(f"{outcome} {count}" for outcome, count in value.items())
        rows.append(f"<tr><td>{escape(name.replace('_', ' '))}</td><td>{escape(str(shown))}</td></tr>")
    wrong = "".join(
        f"<li>wrong {escape(one['wrong'])} ({escape(one['outcome'])}): {escape(one['query'])}</li>"
        for one in agent["wrong"]
    )
    return f"<table>{''.join(rows)}</table>" + (f"<ul>{wrong}</ul>" if wrong else "")


def _stages(stages: Mapping[str, float]) -> str:
    rows = "".join(f"<tr><td>{escape(name)}</td><td>{value:.2f}</td></tr>" for name, value in stages.items())
    return f"<table>{rows}</table>"


def _case(case: Mapping[str, Any]) -> str:
    where = f"first at {case['place']}" if case["place"] else "not found"

    def side(title: str, texts: Sequence[Mapping[str, str]]) -> str:
        inside = "\n\n".join(f"{text['id']}\n{text['text']}" for text in texts)
        return f"<div><b>{title}</b>\n{escape(inside)}</div>"

    return (
        f'<p><b>{escape(case["query"])}</b> <span class="soft">{where}</span></p>'
        f'<div class="pair">{side("Wanted", case["wanted"])}{side("Found", case["found"])}</div>'
    )
