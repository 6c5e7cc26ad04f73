"""What a statement adds up to over the layers of a network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from statistics import median

import numpy as np
from numpy.typing import NDArray

from theory.language.plain import plain
from theory.statement import Relation, Statement
from verify.audit.report import LayerOf, Point, StatementRow
from verify.audit.spanned import Array
from verify.audit.statements import Examined, Instances, Measurements, examine, joined
from verify.tolerance import Outcome
from verify.witnesses.records import counted

SHOWN = 160
"""Points of a statement that are kept for its figure."""


@dataclass
class Everywhere:
    """A statement's instances, with their layers and units."""

    statement: Statement
    layers: list[str] = field(default_factory=list)
    units: list[str] = field(default_factory=list)
    actual: list[float] = field(default_factory=list)
    claimed: list[float] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)

    def add(self, found: Instances, layers: Sequence[str], units: Sequence[str]) -> None:
        """Take in instances."""
        self.layers += layers
        self.units += units
        self.actual += found.actual.tolist()
        self.claimed += found.claimed.tolist()
        self.ratios += found.ratios.tolist()
        self.outcomes += found.outcomes


@dataclass
class Tally:
    """All that was examined, by the statements' identifiers."""

    everywhere: dict[str, Everywhere] = field(default_factory=dict)

    def add_units(
        self, claims: Sequence[Statement], parts: Sequence[tuple[str, Measurements]]
    ) -> None:
        """Examine statements at units of layers, those that were not examined before."""
        if not parts:
            return
        before, whole = {*self.everywhere}, joined([measured for _, measured in parts])
        layers = [name for name, measured in parts for _ in measured.places]
        for found in examine(claims, whole):
            if found.statement.id not in before:
                self._add(found, layers, whole.places)

    def add_columns(self, layer: str, prefix: str, instances: Sequence[Instances]) -> None:
        """Take in what was examined of a layer's inputs, as one or for each column."""
        for found in instances:
            count = len(found.outcomes)
            places = [""] if count == 1 else [f"column {i}" for i in range(count)]
            named = [(prefix + place).removesuffix(", ") for place in places]
            self._add(found, [layer] * count, named)

    def add_entries(self, parts: Sequence[tuple[str, str, Examined]]) -> None:
        """Take in what was examined of parts of layers and not before; layer, place, and it."""
        before = {*self.everywhere}
        for layer, place, examined in parts:
            for found in examined.found:
                if found.statement.id not in before:
                    self._add(found, [layer], [place])

    def rows(self, order: Sequence[str]) -> list[StatementRow]:
        """Return the rows of those that apply somewhere; ``order`` is of the layers."""
        made = (row(found, order) for found in self.everywhere.values())
        return [one for one in made if one is not None]

    def _add(self, found: Instances, layers: Sequence[str], units: Sequence[str]) -> None:
        own = self.everywhere.setdefault(found.statement.id, Everywhere(found.statement))
        own.add(found, layers, units)


def row(found: Everywhere, order: Sequence[str]) -> StatementRow | None:
    """Return the row of a statement, None where no instance meets what it assumes.

    Args:
        found: its instances.
        order: of the layers.
    """
    relation = found.statement.relation
    outcomes = np.array(found.outcomes)
    examined = outcomes != Outcome.VACUOUS
    if not examined.any():
        return None
    ratios = np.array(found.ratios)
    sides = np.array([found.actual, found.claimed])
    slacks, is_violated = _slacks(sides[0], sides[1], relation), outcomes == Outcome.VIOLATED
    severities = _severities(slacks, relation)
    # What is violated may have no ratio, where rounding explains the claimed side.
    ranks = np.where(is_violated, 2, ~np.isnan(ratios))
    layers, places = [], _places(found.layers)
    for name in (name for name in order if name in places):
        chosen = places[name]
        told = slacks[chosen][examined[chosen] & np.isfinite(slacks[chosen])].tolist()
        worst = _worst(ranks, severities, chosen)
        layers.append(
            LayerOf(
                layer=name,
                **counted(Counter(outcomes[chosen].tolist())),
                worst_ratio=_number(ratios, worst),
                worst_unit="" if worst is None else found.units[worst],
                slack=(min(told), median(told), max(told)) if told else None,
            )
        )
    worst = _worst(ranks, severities, np.arange(len(ranks)))
    return StatementRow(
        statement=found.statement.id,
        title=found.statement.title,
        says=_written(found.statement.spoken),
        relation=str(relation),
        expected=str(found.statement.expected),
        **counted(Counter(found.outcomes)),
        worst_ratio=_number(ratios, worst),
        worst_layer="" if worst is None else found.layers[worst],
        worst_unit="" if worst is None else found.units[worst],
        layers=layers,
        points=_points(
            found,
            examined & np.isfinite(sides).all(0),
            is_violated,
            np.lexsort((-severities, -ranks)),
            order,
        ),
    )


_written = cache(plain)
"""Returns what a statement says as text, which many reports show."""


def _places(layers: Sequence[str]) -> dict[str, NDArray[np.intp]]:
    """Return the numbers of each layer's instances, in order.

    >>> _places(["a", "b", "a"])["a"].tolist()
    [0, 2]
    """
    found: dict[str, list[NDArray[np.intp]]] = {}
    start = 0
    for name, run in groupby(layers):
        stop = start + len(list(run))
        found.setdefault(name, []).append(np.arange(start, stop))
        start = stop
    return {name: np.concatenate(runs) for name, runs in found.items()}


def _slacks(actual: Array, claimed: Array, relation: Relation) -> Array:
    """Return the slack over the larger side; of an equation, its absolute value."""
    with np.errstate(all="ignore"):
        found = relation.slack(actual, claimed) / np.maximum(np.abs(actual), np.abs(claimed))
    return np.abs(found) if relation is Relation.EQUAL else np.asarray(found)


def _severities(slacks: Array, relation: Relation) -> Array:
    """Return how far each instance is to the wrong side; of an equation, off either side."""
    return np.nan_to_num(slacks if relation is Relation.EQUAL else -slacks)


def _worst(ranks: Array, severities: Array, chosen: NDArray[np.intp]) -> int | None:
    """Return the severest of the chosen instances of the highest rank, None if that is zero.

    >>> _worst(np.array([1, 2, 2]), np.array([9.0, 3.0, 4.0]), np.array([0, 1, 2]))
    2
    """
    highest = ranks[chosen].max()
    told = chosen[ranks[chosen] == highest]
    return int(told[np.argmax(severities[told])]) if highest else None


def _number(ratios: Array, place: int | None) -> float | None:
    """Return a ratio, None where there is none."""
    return None if place is None or np.isnan(ratios[place]) else float(ratios[place])


def _points(
    found: Everywhere,
    is_shown: NDArray[np.bool_],
    is_violated: NDArray[np.bool_],
    worst_first: NDArray[np.intp],
    order: Sequence[str],
) -> list[Point]:
    """Return instances for a figure: the worst, and some of all."""
    every, worst = np.flatnonzero(is_shown), worst_first[is_shown[worst_first]][: SHOWN // 4]
    violated = np.flatnonzero(is_shown & is_violated)[: SHOWN // 4].tolist()
    spaced = every[:: max(len(every) // (SHOWN // 2), 1)]
    numbers = {name: i for i, name in enumerate(order)}
    return [
        Point(
            numbers[found.layers[i]],
            found.units[i],
            found.actual[i],
            found.claimed[i],
            bool(is_violated[i]),
        )
        for i in sorted({*worst.tolist(), *violated, *spaced.tolist()})
    ]
