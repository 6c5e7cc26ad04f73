"""A report in the terminal: the worst layers in words, then a row for each layer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf

from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from verify.audit.report import MapRow, NormalizationRow, Report, Spread, StatementRow
from verify.audit.words import lines
from verify.terminal import columns

WIDTH = 180
"""Of a report that goes to a file."""
WIDE = 120
"""Where a terminal is narrower, the table of statements has no place for all its columns."""
BETWEEN = 2
"""Spaces from a column to the next."""
IN_WORDS = ("layer", "kind", "Hessian")
"""Columns that begin at the left."""
MAIN = (
    "S-thm-4.1/eps",
    "S-eq-9/eps/corrected",
    "S-thm-4.2a/eps/corrected",
    "S-eq-41-42/eps",
    "S-thm-4.4/eps/corrected",
    "L-thm-4a",
    "L-thm-4c",
    "L-thm-4c/sqrt-n",
    "L-thm-4c/improves/corrected",
    "L-prop-10/corrected",
    "L-prop-10/sharpened",
)
"""Theorems 4.1, 4.2 and 4.4, Theorem 4 and Proposition 10, as they are right."""


def show(report: Report, console: Console | None = None, *, every: bool = False) -> None:
    """Print a report.

    Args:
        report: what is printed.
        console: where; None for standard output.
        every: every statement, not the main ones alone.
    """
    console = console or Console(width=columns(WIDTH))
    console.print(Group(*_parts(report, every, console.width)), highlight=False)


def _parts(report: Report, every: bool, width: int) -> Iterable[RenderableType]:
    yield Text(f"{report.model}: {described(report)}")
    yield ""
    for line in lines(report):
        name, _, rest = line.partition(":")
        yield Text.assemble((name, "bold"), (f":{rest}", ""))
    yield ""
    if report.normalizations:
        title = "normalisation layers: the worst unit of each"
        yield _layers(title, NORMALIZATION, map(_normalization, report.normalizations), width)
    if report.maps:
        title = "linear and convolution layers: condition numbers of their inputs"
        yield _layers(title, MAP, map(_map, report.maps), width)
    yield _statements(report.statements, every, width)
    yield Text(counted(report))
    for row in report.unexpected:
        yield Text(accused(report, row), "bold red")
    for note in report.notes:
        yield Text(f"not measured: {note}", "dim")
    yield Text(f"{limits(report)}:", "dim")
    for line in reasons(report):
        yield Padding(Text(line, "dim"), (0, 0, 0, 2), expand=False)
    took = "; ".join(f"{part} {spent}" for part, spent in costs(report).items())
    yield Text(f"took: {took}", "dim")


def described(report: Report) -> str:
    """Return what was examined, on what."""
    place = f", {report.dtype} on {report.device}" if report.dtype else ""
    batches = "one batch" if report.batches == 1 else f"{report.batches} batches"
    loss = ", ".join(f"{value:.4g}" for value in report.losses)
    return f"{report.parameters:,} parameters{place}; {batches}, loss {loss}"


def counted(report: Report) -> str:
    """Return how many statements apply and what became of them."""
    right = [s for s in report.statements if s.expected != "refuted"]
    wrong = [s for s in report.statements if s.expected == "refuted"]
    instances = sum(s.instances - s.vacuous for s in report.statements)
    hold, fail = sum(not s.violated for s in right), sum(s.violated > 0 for s in wrong)
    return (
        f"{len(report.statements)} statements apply, at {instances:,} instances: of {len(right)}"
        f" that are right {hold} hold, of {len(wrong)} that are refuted in general {fail} fail here"
    )


def accused(report: Report, row: StatementRow) -> str:
    """Return what is said of a statement that is right and fails, and of whom to tell."""
    own = {norm.layer: norm for norm in report.normalizations if norm.is_own}
    wrong = [layer.layer for layer in row.layers if layer.violated]
    told = "please report it"
    if own.keys() >= {*wrong}:
        worst = own[row.worst_layer]
        why = "changed by a hook of yours" if worst.is_hooked else "python -m verify conform"
        told = f"{worst.kind} gives back another gradient than its output's ({why})"
    return (
        f"{row.statement} is right and fails here at {row.violated} instances; the worst in"
        f" {row.worst_layer}, {row.worst_unit}: {told}"
    )


def limits(report: Report) -> str:
    """Return what the report says nothing of, and which batches its costly columns are from."""
    count = sum(map(len, report.left_out.values()))
    said = f"Statements that are not evaluated here: {count}"
    if report.batches == 1 or not report.costly:
        return said
    which = ", ".join(map(str, report.costly))
    return (
        f"Second derivatives, condition numbers and statements on entries: from batch {which} of"
        f" 0 to {report.batches - 1}, the worst of these. {said}"
    )


def reasons(report: Report) -> list[str]:
    """Return why statements are not evaluated, the most first, a sentence each."""
    order = sorted(report.left_out.items(), key=lambda item: -len(item[1]))
    return [f"{len(which)}, as {why}" for why, which in order]


def costs(report: Report) -> dict[str, str]:
    """Return what each part took, in seconds and in times of the first."""
    (part, first), *rest = report.seconds.items()
    each = first / report.batches
    return {
        part: f"{first:.1f} s",
        **{
            part: f"{seconds:.1f} s ({seconds / each:.1f} times that of a batch)"
            for part, seconds in rest
        },
    }


NORMALIZATION = (
    *("layer", "kind", "m", "γ/σ", "|g|² along 1", "along ŷ", "|∂y|² kept", "Thm 4.1"),
    *("smoothness", "v/ε", "mean/sd", "const, dead, γ=0", "fp16", "drift", "calls"),
)


def _normalization(row: NormalizationRow) -> list[str]:
    return [
        row.layer,
        row.kind,
        f"{row.m}",
        worst(row.lipschitz),
        worst(row.share_of_mean),
        worst(row.share_of_yhat),
        worst(row.left_of_gradient),
        worst(row.theorem_4_1),
        "" if row.curvature is None else number(row.curvature.smoothness),
        worst(row.variance_over_eps),
        worst(row.mean_over_deviation),
        f"{row.constant}, {row.dead}, {row.zero_gamma}",
        f"{row.beyond_half}",
        worst(row.drift_of_mean),
        f"{row.calls}",
    ]


MAP = (
    *("layer", "kind", "rows", "columns", "rank", "κ(Ĥ)", "κ(ĤU)", "κ(Ĝ)", "κ(D)", "gain"),
    *("Hessian", "cos(W, ∂W)", "bias"),
)


def _map(row: MapRow) -> list[str]:
    return [
        row.layer,
        row.kind,
        f"{row.rows}",
        f"{row.columns}",
        "" if row.rank is None else f"{row.rank}",
        *map(number, (row.kappa, row.kappa_centred, row.kappa_normalized)),
        *map(number, (row.kappa_scaling, row.gain)),
        hessian(row),
        number(row.cosine),
        "useless" if row.useless_bias else "",
    ]


def _layers(
    title: str, names: Sequence[str], rows: Iterable[Sequence[str]], width: int = WIDTH
) -> Table:
    """Return a line for each layer; where a terminal is too narrow, each number with its name.

    Args:
        title: of the table.
        names: of the columns, the layer's and its kind's first.
        rows: the cells.
        width: of the terminal.
    """
    cells = list(rows)
    if _width([names, *cells]) > width:
        return _named(title, names, cells, width)
    table = _table(title)
    for name in names:
        table.add_column(name, justify="left" if name in IN_WORDS else "right", no_wrap=True)
    for row in cells:
        table.add_row(*map(escape, row))
    return table


def _named(title: str, names: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Table:
    table = _table(title)
    who = ", ".join(names[:2])
    longest = max(map(cell_len, (who, *(cell for row in rows for cell in row[:2]))))
    table.add_column(who, overflow="fold", width=min(longest, width // 2))
    table.add_column("found", overflow="fold")
    for layer, kind, *numbers in rows:
        found = zip(names[2:], numbers, strict=True)
        said = "; ".join(f"{name}: {number}" for name, number in found if number)
        table.add_row(escape(f"{layer}\n{kind}"), escape(said))
    return table


def _width(rows: Iterable[Sequence[str]]) -> int:
    """Return how wide a table of these rows is, the names of its columns among them.

    >>> _width([("layer", "m"), ("0", "1440")])
    11
    """
    columns = list(zip(*rows, strict=True))
    return sum(max(map(cell_len, cells)) for cells in columns) + BETWEEN * (len(columns) - 1)


def hessian(row: MapRow) -> str:
    """Return what is said of the condition of a unit's Hessian."""
    if row.hessian is None:
        return row.hessian_said.partition(":")[0]
    which = f"unit {row.unit}"
    if row.hessian_columns is not None:
        which += f", {row.hessian_columns} of {row.columns} columns"
    return f"{number(row.hessian)} → {number(row.hessian_preconditioned)} ({which})"


def _statements(rows: Iterable[StatementRow], every: bool, width: int) -> Table:
    table = _table("statements" if every else "the main statements")
    shown = [row for row in rows if every or row.statement in MAIN]
    longest = max((len(row.statement) for row in shown), default=0)
    if width < WIDE:
        longest = min(longest, width // 2)
    table.add_column("statement", overflow="fold", width=longest)
    if width < WIDE:
        table.add_column("found", overflow="fold")
        for row in shown:
            table.add_row(row.statement, escape("\n".join(_found(row))))
        return table
    for name in ("", "without Coq", "instances", "violated", "worst", "where"):
        is_number = name in ("instances", "violated", "worst")
        table.add_column(name, justify="right" if is_number else "left", overflow="fold")
    for row in shown:
        table.add_row(
            row.statement,
            escape(row.title),
            row.expected,
            f"{row.instances - row.vacuous:,}",
            f"{row.violated:,}",
            number(row.worst_ratio),
            escape(_where(row)),
        )
    return table


def _found(row: StatementRow) -> Iterable[str]:
    """Yield what was found of a statement, with the names of the columns that have no place."""
    yield row.title
    counts = f"instances: {row.instances - row.vacuous:,}; violated: {row.violated:,}"
    yield f"in general, without Coq: {row.expected}; {counts}"
    if row.worst_ratio is not None:
        yield f"worst: {number(row.worst_ratio)}, at {_where(row)}"


def _where(row: StatementRow) -> str:
    return ", ".join(filter(None, (row.worst_layer, row.worst_unit)))


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)


def worst(spread: Spread | None) -> str:
    """Return the worst of a number."""
    return "" if spread is None else number(spread.worst)


def number(value: float | None) -> str:
    """Return a number in few characters.

    >>> number(0.99999997), number(123456.0), number(-3e-9), number(None)
    ('1.000', '1.23e+05', '-3e-09', '')
    >>> number(inf)
    '∞'
    """
    if value is None:
        return ""
    if value == inf:
        return "∞"
    if value == 0 or 0.001 <= abs(value) < 9999.5:
        return f"{value:.4g}" if abs(value) >= 10 or value == 0 else f"{value:.3f}"
    return f"{value:.3g}"
