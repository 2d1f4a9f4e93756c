"""One self-contained page about a measurement: bars with intervals, what abstaining would cost, times, worst cases."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from bot.container import CONFIDENT
from core.model.inquiry import CUTOFFS
from core.model.profile import Behaviour
from research.evaluation.baseline import agent_rows, interval
from research.evaluation.plots import bars, curves, stages
from research.evaluation.runner import DatasetFigures

_STYLE = """
:root{color-scheme:light dark;--ink:#1d2430;--soft:#5b6575;--line:#d9dee7;--page:#f5f6f9;--card:#fff;--track:#eef1f6;
--one:#2f6fde;--two:#c2610c;--three:#0e8a6b;--four:#8b4fc6;--five:#b8374f;--six:#6b7280}
@media(prefers-color-scheme:dark){:root{--ink:#e7eaf0;--soft:#a3adbd;--line:#333b49;--page:#12161d;--card:#1b212b;
--track:#252c38;--one:#6ea0ff;--two:#f0a95b;--three:#4cc9a4;--four:#c19af0;--five:#f2849a;--six:#98a2b3}}
*{box-sizing:border-box}
body{font:15px/1.55 system-ui,sans-serif;color:var(--ink);background:var(--page);max-width:1040px;
margin:2rem auto;padding:0 1rem}
section{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:1.2rem 1.5rem;margin:1.2rem 0}
h1{font-size:1.7rem;margin-bottom:.3rem}h2{margin:.1rem 0;overflow-wrap:anywhere}h1,h2,h3{line-height:1.25}
h3{font-size:1rem;margin:1.8rem 0 .5rem}.soft{color:var(--soft)}nav a{color:var(--one);margin-right:1rem}
.wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:14px}
td,th{padding:.3rem .6rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th{font-weight:600;color:var(--soft)}td:first-child,th:first-child{text-align:left;white-space:normal}
.facts td{white-space:normal}.facts td:first-child{width:14rem;color:var(--soft)}.facts td+td{text-align:left}
svg{width:100%;min-width:34rem;height:auto;display:block}svg text{font:12px system-ui,sans-serif;fill:var(--ink)}
svg .soft{fill:var(--soft)}.bar{fill:var(--one)}.track{fill:var(--track)}
.whisker{stroke:var(--ink);stroke-width:1.6;fill:none}.grid{stroke:var(--line)}
.mark{stroke:var(--soft);stroke-dasharray:4 4}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;font-size:13px;margin:.4rem 0}
.legend i{display:inline-block;width:.8em;height:.8em;border-radius:3px;margin-right:.4em}
details{border-top:1px solid var(--line);padding:.5rem 0}summary{cursor:pointer;overflow-wrap:anywhere}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(260px,1fr));gap:.8rem;margin:.6rem 0}
.pair>div{border:1px solid var(--line);border-radius:8px;padding:.6rem .8rem;font-size:13px}
.pair p{margin:.3rem 0 .8rem;white-space:pre-wrap;overflow-wrap:anywhere}.pair b{display:block;overflow-wrap:anywhere}
@media print{details{break-inside:avoid}}
"""
_OPEN = 3  # of the worst cases


def write_page(path: Path, results: Sequence[DatasetFigures]) -> None:
    """Write the page, and the folder for it where there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(results), encoding="utf-8")


def page(results: Sequence[DatasetFigures]) -> str:
    """Return the whole page as HTML; it loads nothing."""
    links = "".join(f'<a href="#set-{n}">{escape(one.name)}</a>' for n, one in enumerate(results))
    body = "".join(_section(n, one) for n, one in enumerate(results))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>Footnote, measured</title><style>{_STYLE}</style></head><body><h1>Footnote, measured</h1>"
        '<p class="soft">Bars are means over questions; whiskers are 95 % bootstrap intervals. '
        "Differences are of the same questions, paired.</p>"
        f"<nav>{links if len(results) > 1 else ''}</nav>{body}</body></html>"
    )


def _section(number: int, one: DatasetFigures) -> str:
    told = [f"{one.questions} questions" if one.questions else "", f"{one.passages:,} passages" if one.passages else ""]
    return "".join(
        [
            f'<section id="set-{number}"><h2>{escape(one.name)}</h2>',
            f'<p class="soft">{", ".join(part for part in told if part)}</p>',
            *_legs(one),
            *_abstention_section(one),
            *(_agent(one.agent) if one.agent else ()),
            *_times(one),
            *_cases("Worst found", "Wanted", "Found", one.worst),
            *(f'<p class="soft">{escape(note)}</p>' for note in one.notes),
            "</section>",
        ]
    )


def _legs(one: DatasetFigures) -> Iterator[str]:
    if not one.legs:
        return
    yield "<h3>nDCG@10 of each leg</h3>"
    yield bars([(leg, kept["metrics"]["nDCG@10"]) for leg, kept in one.legs.items()], "nDCG@10 of each leg")
    names = list(next(iter(one.legs.values()))["metrics"])
    yield _table(
        names, [(leg, [_three(kept["metrics"][name]["mean"]) for name in names]) for leg, kept in one.legs.items()]
    )
    gaps = [
        (f"{leg} over {kept['against']}, nDCG@10", [interval(gap)])
        for leg, kept in one.legs.items()
        if (gap := kept.get("difference"))
    ]
    gaps += [
        (f"{leg} over one search, {name}", [interval(gap)])
        for leg, kept in one.legs.items()
        for name, gap in kept.get("over_one_search", {}).items()
    ]
    if gaps:
        yield "<h3>Differences, question by question</h3>" + _table(["mean, 95 %"], gaps)


def _abstention_section(one: DatasetFigures) -> Iterator[str]:
    if one.curve:
        yield "<h3>If one search abstained below this score of its best hit</h3>"
        lines = _lines("a right document among the first five", one.foreign)
        yield curves(one.curve, lines, (0.0, 1.0), "Abstaining by score", mark=(CONFIDENT, "a model tries at once"))
    if one.agent and one.agent["by_grade"]:
        yield "<h3>If the agent abstained below this grade of its best evidence</h3>"
        lines = _lines("cites a right source", one.agent["nowhere_answered"])
        cutoff = float(CUTOFFS[Behaviour.BALANCED])
        yield curves(one.agent["by_grade"], lines, (1.0, 10.0), "Abstaining by grade", mark=(cutoff, "in use"))


def _lines(right: str, nowhere: int) -> list[tuple[str, str, str]]:
    """Return the curves; ``nowhere`` is how many questions there are that nothing answers."""
    return [
        ("precision", f"of those answered: {right}", "--one"),
        ("refused", "refused, though the answer is there", "--two"),
        *([("foreign", f"answered, of {nowhere} that nothing here answers", "--five")] if nowhere else []),
    ]


def _agent(agent: Mapping[str, Any]) -> Iterator[str]:
    yield "<h3>The agent</h3>"
    rows = "".join(f"<tr><td>{escape(name)}</td><td>{escape(shown)}</td></tr>" for name, shown in agent_rows(agent))
    yield f'<table class="facts">{rows}</table>'
    yield from _cases("Wrong refusals and wrong answers", "Wanted", "Answered", agent["worst"])


def _times(one: DatasetFigures) -> Iterator[str]:
    if one.stages:
        yield "<h3>Where the time of a search goes (medians)</h3>" + stages(one.stages, "Time of a search by stage")
    if one.agent and one.agent["stages"]:
        yield "<h3>Where the time of an answer goes (medians)</h3>"
        yield stages(one.agent["stages"], "Time of an answer by stage")


def _table(names: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join(
        f"<tr><td>{escape(name)}</td>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
        for name, cells in rows
    )
    return f'<div class="wide"><table><tr><th></th>{head}</tr>{body}</table></div>'


def _cases(title: str, wanted: str, found: str, cases: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if cases:
        yield f"<h3>{escape(title)}</h3>"
    for number, case in enumerate(cases):
        after = "".join(f"{earlier} → " for earlier in case["after"])
        yield (
            f"<details{' open' if number < _OPEN else ''}><summary>"
            f'<span class="soft">{escape(after)}</span><b>{escape(case["query"])}</b> '
            f'<span class="soft">{escape(case["what"])}</span></summary>'
            f'<div class="pair">{_side(wanted, case["wanted"])}{_side(found, case["found"])}</div></details>'
        )


def _side(title: str, texts: Sequence[Mapping[str, str]]) -> str:
    inside = "".join(f"<b>{escape(text['id'])}</b><p>{escape(text['text']) or '—'}</p>" for text in texts)
    return f'<div><span class="soft">{escape(title)}</span>{inside or "<p>—</p>"}</div>'


def _three(value: float) -> str:
    return f"{value:.3f}"
