"""The figures of a claim: actual against claimed, slack against size, through training.

A figure is a picture, a caption that says its claim, n, seed and versions, a text alternative,
and the numbers that it shows.  Where nothing was measured there is no figure.
"""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from theory.expectation_claim import ExpectationClaim
from theory.language.definitions import domains
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import Form, Reading, Relation, Statement
from verify.counterexamples import in_letters_of
from verify.evidence import Run
from verify.grouping import grouped
from verify.ledger import Entry
from verify.settings import STAGES
from verify.site.axes import Axis, category_axis, linear_axis, magnitude_axis, size_axis
from verify.site.chart import Chart, Line, Mark, svg
from verify.site.points import (
    CLEAR,
    Point,
    examined,
    is_noise,
    place_of,
    random_points,
    rows,
    slack,
    trained_points,
    without_noise,
)

SHOWN_VERSIONS = ("numpy", "torch")


class Size(NamedTuple):
    """What tells how large an instance is."""

    letter: str
    name: str


SIZES = {
    Kind.LAYER: Size("N", "batch size"),
    Kind.MAPS: Size("N", "batch size"),
    Kind.DESCENT: Size("d", "dimension"),
}


@dataclass(frozen=True)
class Figure:
    """A picture as a file's content, and what stands around it."""

    name: str
    """The picture's file."""
    content: str
    alternative: str
    caption: str
    table: str
    """The numbers as CSV; nothing where another figure of the claim has them."""

    @property
    def table_name(self) -> str:
        """The file of the numbers."""
        return f"{self.name.removesuffix('.svg')}.csv"


def is_drawn(claim: Statement) -> bool:
    """Whether a claim has figures: it is a bound, and neither a line of a proof nor an aside."""
    return (
        not claim.unreadable
        and claim.relation is not Relation.EQUAL
        and claim.reading is not Reading.UNIT_VARIANCE
        and claim.form in (Form.PRINTED, Form.READING, Form.CORRECTED)
    )


def figures(entry: Entry, run: Run | None) -> dict[str, list[Figure]]:
    """Return the claim's figures by kind; a kind without measurements has none."""
    if not is_drawn(entry.claim):
        return {}
    measured, trained = random_points(entry), trained_points(entry)

    def tells(point: Point) -> bool:
        return not is_noise(point, entry.claim.relation)

    source = _source(run)
    by_network = grouped(filter(tells, trained), _network)
    kept = Counter(map(_network, trained))
    return {
        "actual": [_actual(entry, measured, source)] if measured else [],
        "slack": (
            [_slack(entry, measured, source)]
            if any(map(tells, measured)) and not _has_one_size(entry.claim)
            else []
        ),
        "training": [
            _training(entry, network, points, kept[network], source)
            for network, points in by_network.items()
        ],
    }


def _network(point: Point) -> str:
    place = place_of(point.stratum)
    return place.network if place else ""


def size_of(claim: Statement) -> Size:
    """Return what a statement's instances differ in size by.

    >>> from theory.santurkar2018.theorem_4_1 import PRINTED
    >>> size_of(PRINTED)
    Size(letter='m', name='batch size')
    """
    if isinstance(claim, ExpectationClaim):
        return Size("N", "height")
    return SIZES[claim.subject] if isinstance(claim, MatrixClaim) else Size("m", "batch size")


def _has_one_size(claim: Statement) -> bool:
    """Whether a statement is about one size, whatever the size of the instances."""
    letter = size_of(claim).letter
    if not in_letters_of(claim, {letter: None}):
        return True
    return any(domain.startswith(f"{letter} = ") for domain in domains(claim.said).values())


def _actual(entry: Entry, points: Sequence[Point], source: str) -> Figure:
    values = [without_noise(v) for p in points for v in (p.actual, p.claimed)]
    relation = entry.claim.relation
    wrong = "" if relation is Relation.EQUAL else "above" if relation.bounds_above else "below"
    chart = Chart(
        title=f"{entry.claim.id}: actual against claimed",
        description=_description(entry, points),
        x=magnitude_axis(values, "claimed"),
        y=magnitude_axis(values, "actual"),
        marks=[Mark(without_noise(p.claimed), without_noise(p.actual), p.violated) for p in points],
        diagonal=True,
        wrong=wrong,
    )
    counted = _counted(points, len(points), examined(entry))
    caption = f"Actual against claimed; the dashed line is equality. {counted}"
    return _figure(entry, "actual", chart, caption, points, source)


def _slack(entry: Entry, points: Sequence[Point], source: str) -> Figure:
    claim = entry.claim
    telling = [p for p in points if not is_noise(p, claim.relation)]
    values = [slack(p, claim.relation) for p in telling]
    is_equality = claim.relation is Relation.EQUAL
    size = size_of(claim)
    chart = Chart(
        title=f"{claim.id}: {_quantity(claim)} against {size.name}",
        description=_spread(telling, claim),
        x=size_axis([p.m for p in telling], f"{size.name} {size.letter}"),
        y=magnitude_axis([*values, 1.0], "relative error") if is_equality else _slack_axis(values),
        marks=[
            Mark(p.m, value, p.violated, shift=(i * 7) % 19 - 9.0)
            for i, (p, value) in enumerate(zip(telling, values, strict=True))
        ],
        level=None if is_equality else 0.0,
    )
    difference = "claimed − actual" if claim.relation.bounds_above else "actual − claimed"
    meaning = (
        f"Relative difference of the two sides' sizes against the {size.name}."
        if is_equality
        else f"Slack, ({difference}) over the larger of the two, against the {size.name};"
        " below zero the statement fails."
    )
    caption = f"{meaning} {_counted(telling, len(points), examined(entry))}"
    return _figure(entry, "slack", chart, caption, telling, source)


def _slack_axis(values: Sequence[float]) -> Axis:
    low = -1.0 if min(values) < -CLEAR else -0.1
    return linear_axis(
        low, 1, "slack", (-1, -0.5, 0, 0.5, 1) if low == -1 else (0, 0.25, 0.5, 0.75, 1)
    )


def _training(
    entry: Entry, network: str, points: Sequence[Point], kept: int, source: str
) -> Figure:
    claim = entry.claim
    table: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for point in points:
        place = place_of(point.stratum)
        if place is not None:
            table[place.layer][place.stage].append(slack(point, claim.relation))
    stages = [s for s in STAGES if any(s in layer for layer in table.values())]
    lines = [
        Line(
            f"layer {layer}",
            tuple(
                (i, median(found[s]), min(found[s]), max(found[s]))
                for i, s in enumerate(stages)
                if s in found
            ),
        )
        for layer, found in sorted(table.items())
    ]
    values = [v for line in lines for place in line.places for v in place[1:]]
    is_equality = claim.relation is Relation.EQUAL
    chart = Chart(
        title=f"{claim.id}: {_quantity(claim)} over the training of the {network} network",
        description=_spread(points, claim),
        x=category_axis(stages, "stage of training"),
        y=magnitude_axis(values, "relative error") if is_equality else _slack_axis(values),
        lines=lines,
        level=None if is_equality else 0.0,
    )
    shown = (
        f"the {_quantity(claim)} at each layer"
        if isinstance(claim, MatrixClaim)
        else f"the median {_quantity(claim)} of a layer's units, from least to largest"
    )
    caption = (
        f"Through the training of the {network} network on digits, layer by layer: {shown}."
        f" {_counted(points, kept, kept)}"
    )
    return _figure(entry, f"training-{network}", chart, caption, points, source)


def _figure(
    entry: Entry, kind: str, chart: Chart, caption: str, points: Sequence[Point], source: str
) -> Figure:
    stem = f"{entry.claim.id.replace('/', '--')}.{kind}".replace(" ", "-")
    return Figure(
        name=f"{stem}.svg",
        content=svg(chart),
        alternative=f"{chart.title}. {chart.description}",
        caption=f"**{entry.claim.id}.** {caption} {source}",
        table="" if kind == "slack" else _csv(rows(points, entry.claim.relation)),
    )


def _quantity(claim: Statement) -> str:
    return "relative error" if claim.relation is Relation.EQUAL else "slack"


def _description(entry: Entry, points: Sequence[Point]) -> str:
    violated = sum(p.violated for p in points)
    side = {True: "on the line of equality", False: "on the permitted side of the line"}
    held = side[entry.claim.relation is Relation.EQUAL]
    if not violated:
        return f"{len(points)} instances, all {held} within rounding."
    return f"{len(points)} instances: {len(points) - violated} {held}, {violated} violating."


def _spread(points: Sequence[Point], claim: Statement) -> str:
    values = [slack(p, claim.relation) for p in points]
    sizes = ", ".join(map(str, sorted({p.m for p in points})))
    at = "" if _has_one_size(claim) else f" at {size_of(claim).name}s {sizes}"
    return (
        f"{len(points)} instances{at}; {_quantity(claim)}"
        f" from {min(values):.3g} to {max(values):.3g}, median {median(values):.3g}."
    )


def _counted(points: Sequence[Point], kept: int, decided: int) -> str:
    """Return how many points are shown of how many instances, and what the others are.

    >>> _counted([Point("w", "s", 8, 1.0, 2.0, violated=False)], 2, 9)
    'n = 1 of 9 instances: 7 are not kept for figures, 1 is zero to rounding; none violating.'
    """
    others = {"not kept for figures": decided - kept, "zero to rounding": kept - len(points)}
    listed = ", ".join(
        f"{count:,} {'is' if count == 1 else 'are'} {what}"
        for what, count in others.items()
        if count > 0
    )
    violated = sum(p.violated for p in points)
    told = f"n = {len(points):,}" + (f" of {decided:,} instances: {listed}" if listed else "")
    return f"{told}; {f'{violated:,}' if violated else 'none'} violating."


def _source(run: Run | None) -> str:
    if run is None:
        return ""
    versions = ", ".join(f"{n} {run.versions[n]}" for n in SHOWN_VERSIONS if n in run.versions)
    return f"Seed {run.seed}, profile {run.profile}, {versions}, commit {run.commit}."


def _csv(table: list[tuple[object, ...]]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerows(table)
    return stream.getvalue()
