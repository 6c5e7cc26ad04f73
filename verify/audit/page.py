"""A report as one page that needs no network, light or dark as its reader's system is."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Generic, NamedTuple, TypeVar

from theory.claim import Relation
from verify.audit.drawings import Drawings
from verify.audit.report import MapRow, NormalizationRow, Report, Spread, StatementRow
from verify.audit.terminal import MAIN, costs, counted, described, hessian, limits, number
from verify.audit.words import HEALTHY
from verify.site import chart
from verify.tolerance import ratio_in_words

FIGURES = chart.STYLE + chart.OF_MARKS + chart.OF_LINES
STYLE = """
:root{--ink:#1c1e21;--paper:#fff;--quiet:#5b5f66;--rule:#dfe2e6;--back:#f5f6f7;--bad:#a63a00;
--bad-back:#fdeadf;--good:#0b6e4f;--good-back:#e3f3ec;color-scheme:light dark}
@media(prefers-color-scheme:dark){:root{--ink:#dcdfe3;--paper:#131416;--quiet:#a7adb5;
--rule:#383c42;--back:#1d1f22;--bad:#ffa26b;--bad-back:#442312;--good:#6fd6b0;--good-back:#12352a}}
*{box-sizing:border-box}
body{margin:0 auto;padding:2rem 1.2rem 5rem;max-width:82rem;color:var(--ink);
background:var(--paper);font:1.08rem/1.5 "Libertinus Serif",Georgia,"Times New Roman",serif}
h1{font-size:2.1rem;font-weight:600;line-height:1.2;margin:0 0 .3rem}
h2{font-size:1.5rem;font-weight:600;margin:3rem 0 .6rem;padding-top:1rem;
border-top:1px solid var(--rule)}
p,ol,dl{max-width:46rem}
table,figcaption,summary,small,.where,dl{
font-family:system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif}
.where,small,figcaption{font-size:.8rem;color:var(--quiet)}
ol.worst{padding-left:1.3rem}ol.worst li{margin:.6rem 0}ol.worst b{font-weight:600}
.scroller{overflow-x:auto;margin:.8rem 0}
table{border-collapse:collapse;font-size:.8rem;line-height:1.35;width:100%}
th,td{padding:.4rem .9rem .4rem 0;border-bottom:1px solid var(--rule);text-align:right;
white-space:nowrap;font-variant-numeric:tabular-nums;vertical-align:baseline}
thead th{font-weight:500;color:var(--quiet);font-size:.75rem}
tbody th,td.words,th.words{text-align:left;font-weight:400}
td.words{white-space:normal}
td small{display:block;max-width:12rem;overflow:hidden;text-overflow:ellipsis}
.bad,.good{padding:.05em .5em .1em;border-radius:1em;font-weight:600}
.bad{color:var(--bad);background:var(--bad-back)}
.good{color:var(--good);background:var(--good-back)}
details{margin:.4rem 0}summary{cursor:pointer;font-size:.84rem}
details.statement{border-bottom:1px solid var(--rule);padding:.25rem 0}
details code{font-size:.8rem;overflow-wrap:anywhere}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(20rem,100%),1fr));
gap:1rem 1.6rem;margin:1rem 0}
figure{margin:0}figure svg{width:100%;height:auto;max-width:30rem;display:block}
dl{display:grid;grid-template-columns:9rem minmax(0,1fr);gap:.2rem 1rem;font-size:.82rem}
dt{color:var(--quiet)}dd{margin:0}
@media(max-width:40rem){body{font-size:1rem;padding:1.2rem .8rem}dl{grid-template-columns:1fr}}
"""
R = TypeVar("R")
DRAWN = 4
"""Instances of a statement of which there is more to see than its numbers."""


class Column(NamedTuple, Generic[R]):
    """A column of a table."""

    title: str
    meaning: str
    entry: Callable[[R], str]
    is_words: bool = False


def page(report: Report) -> str:
    """Return the report as an HTML document."""
    drawings = Drawings()
    body = [
        f"<h1>{escape(report.model)} under the theorems</h1>",
        f'<p class="where">{escape(described(report))}</p>',
        f"<p>{escape(counted(report))}.</p>",
        *_unexpected(report),
        "<h2>What stands out</h2>",
        _worst(report),
        *_normalizations(report, drawings),
        *_maps(report, drawings),
        *_statements(report, drawings),
        *_measured(report),
    ]
    return document(f"Audit of {report.model}", body)


def document(title: str, body: Sequence[str]) -> str:
    """Return a whole page, its style and that of its figures within."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>{escape(title)}</title><style>{STYLE}{FIGURES}</style></head>\n<body><main>\n"
        + "\n".join(body)
        + "\n</main></body></html>\n"
    )


def _unexpected(report: Report) -> Iterable[str]:
    for row in report.unexpected:
        yield (
            f'<p><span class="bad">violated</span> {escape(row.statement)}, which the ledger holds'
            f" for {escape(row.expected)}, fails at {row.violated} instances, the worst in"
            f" {escape(row.worst_layer)} ({escape(row.worst_unit)}).</p>"
        )


def _worst(report: Report) -> str:
    found = []
    for name, sentences in report.worst():
        found.append(f"<li><b>{escape(name)}</b>: {escape('; '.join(sentences))}.</li>")
    grave = [f for f in report.findings if f.is_grave]
    before = "" if grave else f"<p>{escape(HEALTHY)}</p>"
    others = "".join(f"<li>{escape(f.layer)}: {escape(f.sentence)}</li>" for f in grave)
    every = f"<summary>Findings, {len(grave)} in all</summary><ul>{others}</ul>"
    more = f"<details>{every}</details>" if grave else ""
    return f'{before}<ol class="worst">{"".join(found)}</ol>{more}'


def _entry(spread: Spread | None) -> str:
    if spread is None or spread.worst is None:
        return ""
    return f"{number(spread.worst)}<small>{number(spread.median)}</small>"


NORMALIZATIONS: tuple[Column[NormalizationRow], ...] = (
    Column("layer", "its name", lambda r: escape(r.layer), True),
    Column("kind", "its class", lambda r: escape(r.kind), True),
    Column("m", "entries that are normalised together", lambda r: f"{r.m:,}"),
    Column("γ/σ", "its Lipschitz factor, |γ|/σ", lambda r: _entry(r.lipschitz)),
    Column("along 1", "share of |g|² along the ones", lambda r: _entry(r.share_of_mean)),
    Column("along ŷ", "share of |g|² along ŷ", lambda r: _entry(r.share_of_yhat)),
    Column(
        "kept",
        "|∂L̂/∂y|² over (γ/σ)²|g|²: what the layer leaves of its gradient, the least first",
        lambda r: _entry(r.left_of_gradient),
    ),
    Column("Thm 4.1", "actual over claimed", lambda r: _entry(r.theorem_4_1)),
    Column(
        "Thm 4.2",
        "w'(Hessian)w at the unit with the largest gradient w; below, the loss's part and the"
        " layer's own bending",
        lambda r: (
            ""
            if r.curvature is None
            else f"{number(r.curvature.actual)}<small>{number(r.curvature.of_the_loss)},"
            f" {number(r.curvature.of_the_layer)}</small>"
        ),
    ),
    Column(
        "smoothness",
        "|Hessian w|/|w| there: the effective smoothness along the gradient",
        lambda r: "" if r.curvature is None else number(r.curvature.smoothness),
    ),
    Column(
        "v/ε", "the variance over epsilon, the least first", lambda r: _entry(r.variance_over_eps)
    ),
    Column(
        "mean/sd", "the size of the mean in deviations", lambda r: _entry(r.mean_over_deviation)
    ),
    Column(
        "digits lost",
        "decimal digits that a variance in one pass, E[y²] − E[y]², would lose",
        lambda r: _entry(r.digits_lost),
    ),
    Column(
        "float16",
        "units whose variance, 1/σ³ or entries float16 cannot hold",
        lambda r: f"{r.beyond_half}",
    ),
    Column("constant", "units that do not vary", lambda r: f"{r.constant}"),
    Column("dead", "units that no gradient reaches", lambda r: f"{r.dead}"),
    Column("γ = 0", "units with that scale", lambda r: f"{r.zero_gamma}"),
    Column(
        "drift of mean", "of the running mean, in units of σ", lambda r: _entry(r.drift_of_mean)
    ),
    Column(
        "drift of sd",
        "of the running standard deviation, in units of σ",
        lambda r: _entry(r.drift_of_deviation),
    ),
    Column(
        "m/(m−1)",
        "by which the running variance exceeds the one that is divided by",
        lambda r: "" if r.unbiased is None else f"{r.unbiased:.5g}",
    ),
    Column("calls", "in one pass; each updates running statistics", lambda r: f"{r.calls}"),
)
MAPS: tuple[Column[MapRow], ...] = (
    Column("layer", "its name", lambda r: escape(r.layer), True),
    Column("kind", "its class", lambda r: escape(r.kind), True),
    Column("rows", "of Ĥ: positions of the outputs", lambda r: f"{r.rows:,}"),
    Column("columns", "of Ĥ: weights of an output, and one", lambda r: f"{r.columns:,}"),
    Column("rank", "of Ĥ, to rounding", lambda r: "" if r.rank is None else f"{r.rank:,}"),
    Column("κ(Ĥ)", "condition number of the inputs", lambda r: number(r.kappa)),
    Column("κ(ĤU)", "centred", lambda r: number(r.kappa_centred)),
    Column("κ(Ĝ)", "centred and scaled", lambda r: number(r.kappa_normalized)),
    Column("κ(D)", "of the scaling", lambda r: number(r.kappa_scaling)),
    Column("gain", "(κ(Ĥ)/κ(Ĝ))²: what preconditioning gains", lambda r: number(r.gain)),
    Column("Theorem 4", "what it says here", lambda r: escape(r.theorem_4), True),
    Column("Proposition 10", "what it says here", lambda r: escape(r.proposition_10), True),
    Column(
        "unit's Hessian",
        "its condition number before and after preconditioning",
        lambda r: escape(r.hessian_said if r.hessian is None else hessian(r)),
        True,
    ),
    Column(
        "batch",
        "the number of that which condition numbers and Hessian are of",
        lambda r: "" if r.batch is None else f"{r.batch}",
    ),
    Column(
        "cos(W, ∂W)",
        "at most of the order ε/v below a Batch Normalization",
        lambda r: number(r.cosine),
    ),
    Column(
        "bias",
        "whether a normalisation takes it away",
        lambda r: "useless" if r.useless_bias else "",
        True,
    ),
)


def _table(columns: Sequence[Column[R]], rows: Sequence[R]) -> str:
    def cell(column: Column[R], row: R, *, is_first: bool) -> str:
        tag = "th" if is_first else "td"
        kind = ' class="words"' if column.is_words and not is_first else ""
        scope = ' scope="row"' if is_first else ""
        return f"<{tag}{kind}{scope}>{column.entry(row)}</{tag}>"

    head = "".join(
        f'<th scope="col"{" class=words" if c.is_words else ""}>{escape(c.title)}</th>'
        for c in columns
    )
    body = "".join(
        "<tr>" + "".join(cell(c, row, is_first=c is columns[0]) for c in columns) + "</tr>"
        for row in rows
    )
    meanings = "".join(
        f"<dt>{escape(c.title)}</dt><dd>{escape(c.meaning)}</dd>" for c in columns[1:]
    )
    return (
        f'<div class="scroller" tabindex="0"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
        f"<details><summary>What the columns are</summary><dl>{meanings}</dl></details>"
    )


def figure(picture: str, caption: str) -> str:
    """Return a picture with its caption; nothing for no picture."""
    if not picture:
        return ""
    return f"<figure>{picture}<figcaption>{escape(caption)}</figcaption></figure>"


def figures(*each: str) -> str:
    """Return pictures side by side."""
    return f'<div class="figures">{"".join(each)}</div>'


def _normalizations(report: Report, drawings: Drawings) -> Iterable[str]:
    found = report.normalizations
    if not found:
        return

    def of(spread: Callable[[NormalizationRow], Spread | None]) -> dict[str, list[float | None]]:
        values = [spread(row) for row in found]
        return {
            "worst unit": [None if v is None else v.worst for v in values],
            "median": [None if v is None else v.median for v in values],
        }

    yield "<h2>Normalisation layers</h2>"
    yield "<p>Each number is that of the worst unit; below it, small, the median unit's.</p>"
    yield _table(NORMALIZATIONS, found)
    yield figures(
        figure(
            drawings.by_layer("Lipschitz factor by layer", "γ/σ", of(lambda r: r.lipschitz)),
            "The factor by which a layer can multiply its gradient.",
        ),
        figure(
            drawings.by_layer("Gradient kept", "kept", of(lambda r: r.left_of_gradient)),
            "What a layer leaves of its gradient: the rest is along the ones and ŷ.",
        ),
        figure(
            drawings.by_layer(
                "Mean over deviation", "mean/sd", of(lambda r: r.mean_over_deviation)
            ),
            "The size of the mean in deviations; its square is what a one-pass variance loses.",
        ),
        figure(
            drawings.by_layer(
                "Smoothness along the gradient",
                "smoothness",
                {
                    "|Hessian w|/|w|": [
                        None if r.curvature is None else r.curvature.smoothness for r in found
                    ]
                },
            ),
            "Along the largest gradient of each layer.",
        ),
    )


def _maps(report: Report, drawings: Drawings) -> Iterable[str]:
    found = report.maps
    if not found:
        return
    yield "<h2>Linear and convolution layers</h2>"
    yield (
        "<p>Condition numbers of the inputs Ĥ = [e, H], centred (ĤU) and normalised (Ĝ), over"
        " the singular values that are not zero to rounding.</p>"
    )
    yield _table(MAPS, found)
    yield figures(
        figure(
            drawings.by_layer(
                "Condition numbers by layer",
                "κ",
                {
                    "κ(Ĥ)": [row.kappa for row in found],
                    "κ(ĤU)": [row.kappa_centred for row in found],
                    "κ(Ĝ)": [row.kappa_normalized for row in found],
                },
            ),
            "Before preconditioning, centred, and preconditioned.",
        ),
        figure(
            drawings.by_layer("Gain by layer", "gain", {"gain": [row.gain for row in found]}),
            "What preconditioning divides the bound on the Hessian's condition number by.",
        ),
    )


def _statements(report: Report, drawings: Drawings) -> Iterable[str]:
    if not report.statements:
        return
    yield "<h2>Statements</h2>"
    yield (
        "<p>Every statement of the ledger that applies: both sides are the values of its own"
        " expression at what the network's passes gave.</p>"
    )
    order = {name: i for i, name in enumerate(MAIN)}
    for row in sorted(report.statements, key=lambda r: order.get(r.statement, len(order))):
        yield _statement(row, drawings)


def _statement(row: StatementRow, drawings: Drawings) -> str:
    kind = "bad" if row.violated else "good"
    word = f"violated at {row.violated:,}" if row.violated else "holds"
    place = ", ".join(filter(None, (row.worst_layer, row.worst_unit)))
    of = ratio_in_words(Relation(row.relation))
    ratio = "" if row.worst_ratio is None else f" {of} {number(row.worst_ratio)}"
    at_worst = f"; worst{ratio} in {place}" if place else ""
    decided = row.instances - row.vacuous
    undecided = f", {row.undecided:,} undecided" if row.undecided else ""
    vacuous = f", {row.vacuous:,} where its hypotheses fail" if row.vacuous else ""
    pictures = (
        ""
        if decided < DRAWN
        else figures(
            figure(
                drawings.bound(row),
                "Actual against claimed; the dashed line is equality.",
            ),
            figure(
                drawings.slack(row),
                "By layer: the median unit's relative error, from least to largest."
                if row.relation == "="
                else "By layer: slack, the difference over the larger side; below zero it fails.",
            ),
        )
    )
    return (
        f'<details class="statement"{" open" if row.statement in MAIN[:1] else ""}>'
        f'<summary><b>{escape(row.statement)}</b> <span class="{kind}">{word}</span>'
        f" {escape(row.title)}"
        f" <small>({escape(row.expected)} in general, without Coq)</small></summary>"
        f"<p><code>{escape(row.says)}</code></p>"
        f'<p class="where">{decided:,} instances{undecided}{vacuous}{escape(at_worst)}</p>'
        f"{pictures}</details>"
    )


def _measured(report: Report) -> Iterable[str]:
    yield "<h2>How it was measured</h2>"
    if report.notes:
        yield "<p>Not measured:</p><ul>"
        yield from (f"<li>{escape(note)}</li>" for note in report.notes)
        yield "</ul>"
    yield f"<p>{escape(limits(report))}.</p>"
    for why, which in sorted(report.left_out.items(), key=lambda item: -len(item[1])):
        names = " ".join(f"<code>{escape(name)}</code>" for name in which)
        yield (
            f"<details><summary>{len(which)} statements, as {escape(why)}</summary>"
            f"<p>{names}</p></details>"
        )
    took = "".join(
        f"<dt>{escape(part)}</dt><dd>{spent}</dd>" for part, spent in costs(report).items()
    )
    yield f"<dl>{took}</dl>"
    versions = ", ".join(f"{name} {number}" for name, number in report.versions.items())
    yield f'<p class="where">{escape(versions)}; schema {report.schema}</p>'
