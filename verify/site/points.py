"""The instances that the evidence keeps for plots, and how far each is from violation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from theory.statement import Relation
from verify.ledger import Entry
from verify.record import Record
from verify.settings import STAGES

TRAINED = "trained"
ROUNDING = 1e-13
CLEAR = 1e-3
"""A relative difference beyond this is no violation only where both sides are rounding errors."""
_STRATUM = re.compile(rf"(?P<network>.+) (?P<stage>{'|'.join(STAGES)}) layer (?P<layer>\d+)")


class Point(NamedTuple):
    """One instance with both sides (their norms where they are vectors)."""

    witness: str
    stratum: str
    m: int
    actual: float
    claimed: float
    violated: bool


class Place(NamedTuple):
    """Where in which trained network an instance comes from."""

    network: str
    stage: str
    layer: int


def random_points(entry: Entry) -> list[Point]:
    """Return the instances of every witness but the trained networks'."""
    return _points(r for r in entry.records if r.witness != TRAINED)


def trained_points(entry: Entry) -> list[Point]:
    """Return the instances at units of trained networks."""
    found = _points(r for r in entry.records if r.witness == TRAINED)
    return [p for p in found if place_of(p.stratum) is not None]


def examined(entry: Entry) -> int:
    """Return how many instances the witnesses decided whose points are :func:`random_points`."""
    return sum(r.decided for r in entry.records if r.points and r.witness != TRAINED)


def place_of(stratum: str) -> Place | None:
    """Return which layer of which network a stratum's name means.

    >>> place_of("dense midway layer 1")
    Place(network='dense', stage='midway', layer=1)
    """
    found = _STRATUM.fullmatch(stratum)
    return Place(found["network"], found["stage"], int(found["layer"])) if found else None


def slack(point: Point, relation: Relation) -> float:
    """Return how far an instance is from violation, relative to the larger side.

    For a bound that is 1 - actual/claimed where both are positive, and negative where it fails;
    for an equality it is the relative difference.
    """
    size = max(abs(point.actual), abs(point.claimed))
    difference: float = relation.slack(point.actual, point.claimed) / size if size else 0.0
    return abs(difference) if relation is Relation.EQUAL else difference


def is_noise(point: Point, relation: Relation) -> bool:
    """Whether both sides are zero to rounding, so that their ratio means nothing."""
    if max(abs(point.actual), abs(point.claimed)) <= ROUNDING:
        return True
    distance = slack(point, relation)
    far = distance if relation is Relation.EQUAL else -distance
    return not point.violated and far > CLEAR


def without_noise(value: float) -> float:
    """Return zero for what may be a rounding error, else the value."""
    return value if abs(value) > ROUNDING else 0.0


def rows(points: Sequence[Point], relation: Relation) -> list[tuple[object, ...]]:
    """Return a header and one row for each point, for a table of the figure's numbers.

    Numbers have six digits; the evidence has all.  What is violated is 1, what is not 0.
    """
    header = (*Point._fields, "error" if relation is Relation.EQUAL else "slack")
    return [header, *(_row(point, slack(point, relation)) for point in points)]


def _row(point: Point, distance: float) -> tuple[object, ...]:
    actual, claimed, far = (f"{x:.6g}" for x in (point.actual, point.claimed, distance))
    return (point.witness, point.stratum, point.m, actual, claimed, int(point.violated), far)


def _points(records: Iterable[Record]) -> list[Point]:
    return [
        Point(
            record.witness,
            str(p["stratum"]),
            int(p["m"]),
            float(p["actual"]),
            float(p["claimed"]),
            bool(p["violated"]),
        )
        for record in records
        for p in record.points
    ]
