"""What an audit found: one value, which the terminal, the page and the JSON are views of.

Numbers of a layer stand for all its units: the median, and the worst with the unit that it is of.
What could not be measured is None, and ``notes`` say why.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from verify.grouping import grouped

SCHEMA = 2


class Spread(Struct, frozen=True):
    """A number of each unit."""

    median: float | None
    worst: float | None
    unit: str
    """Which unit the worst is of."""


class Curvature(Struct, frozen=True):
    """Theorem 4.2 at the unit with the largest gradient w."""

    unit: str
    actual: float
    """w'(Hessian of the network with the layer)w"""
    of_the_loss: float
    """(Jw)'H(Jw), what the loss's own Hessian gives."""
    of_the_layer: float
    """What the layer's bending takes from it."""
    smoothness: float
    """|Hessian w|/|w|, the effective smoothness along the gradient."""


class NormalizationRow(Struct, frozen=True):
    """A normalisation layer."""

    layer: str
    kind: str
    m: int
    """Entries that are normalised together."""
    units: int
    eps: float
    calls: int
    """In one forward and backward pass; each updates running statistics."""
    is_frozen: bool
    """Whether it divides by running statistics: then no statement is about it."""
    lipschitz: Spread
    """|gamma|/sigma"""
    share_of_mean: Spread
    """Share of |g|^2 along the ones."""
    share_of_yhat: Spread
    """Share of |g|^2 along yhat."""
    left_of_gradient: Spread
    """|w|^2 over (gamma/sigma)^2 |g|^2: what the layer leaves of the gradient."""
    theorem_4_1: Spread
    """Actual over claimed."""
    variance_over_eps: Spread
    mean_over_deviation: Spread
    digits_lost: Spread
    """By a variance in one pass, E[y^2] - E[y]^2."""
    beyond_half: int
    """Units whose variance, 1/sigma^3 or entries are beyond float16."""
    constant: int
    """Units that do not vary; where no mean is subtracted, that are zero."""
    dead: int
    """Units that no gradient reaches."""
    zero_gamma: int
    drift_of_mean: Spread | None
    """Of the running mean, in units of sigma."""
    drift_of_deviation: Spread | None
    """Of the root of the running variance, likewise."""
    unbiased: float | None
    """m/(m - 1), by which the running variance exceeds what the layer divides by."""
    curvature: Curvature | None = None
    is_centred: bool = True
    """Whether it subtracts a mean."""
    is_another: bool = False
    """Whether what it gives back is another than its class's, or its gradient is taken within the
    pass: then what is above is of its input alone."""
    is_own: bool = False
    """Whether its class has a forward pass of its own."""
    by_batch: bool = True
    """Whether a unit is a channel over the whole batch; else it is a part of an example."""
    off_gradient: Spread | None = None
    """How far w is from what the layer's output makes of g, over (gamma/sigma)|g|, zero where
    rounding explains it."""
    is_hooked: bool = False
    """Whether a hook of the user's may change the gradient that it gives back."""
    overflown: int = 0
    """Units whose sum of squares is beyond the numbers that the network computes it in."""

    @property
    def is_wrong(self) -> bool:
        """Whether its backward pass gives another gradient than its output's."""
        return self.off_gradient is not None and bool(self.off_gradient.worst)


class MapRow(Struct, frozen=True):
    """A linear or convolution layer."""

    layer: str
    kind: str
    rows: int
    columns: int
    cosine: float | None
    """Of the weights that it multiplies by and their gradient, at most of the order eps/v below
    a Batch Normalization, zero only without eps; None if no gradient reaches them."""
    useless_bias: bool
    """Whether a normalisation takes its bias away."""
    normalized_by: str
    """The normalisation layer that its output goes straight into."""
    rank: int | None = None
    constant: int | None = None
    """Features that do not vary."""
    is_full_rank: bool | None = None
    kappa: float | None = None
    """Of Hhat; infinite, like the next, where it is beyond what float64 resolves."""
    kappa_centred: float | None = None
    """Of Hhat U."""
    kappa_normalized: float | None = None
    """Of Ghat."""
    kappa_scaling: float | None = None
    """Of D."""
    gain: float | None = None
    """(kappa(Hhat)/kappa(Ghat))^2"""
    theorem_4: str = ""
    """What Theorem 4 says of it."""
    proposition_10: str = ""
    """What Proposition 10 says of it."""
    hessian: float | None = None
    """Condition number of a unit's Hessian."""
    hessian_preconditioned: float | None = None
    hessian_said: str = ""
    """How the Hessian was found, or why not."""
    hessian_columns: int | None = None
    """Of how many of the bias and weights it is, where there are too many for all."""
    unit: int | None = None
    batch: int | None = None
    """The number of the batch that condition numbers and Hessian are of."""


class Point(Struct, frozen=True):
    """A statement at one unit."""

    layer: int
    """Its number among the layers examined."""
    unit: str
    actual: float
    claimed: float
    violated: bool


class LayerOf(Struct, frozen=True):
    """A statement at one layer: its slack over the units."""

    layer: str
    instances: int
    violated: int
    undecided: int
    vacuous: int
    worst_ratio: float | None
    worst_unit: str
    slack: tuple[float, float, float] | None
    """Least, median and largest (claimed - actual)/larger, of a lower bound with the other sign; of
    an equation the relative error."""


class StatementRow(Struct, frozen=True):
    """A statement of the ledger on this network."""

    statement: str
    title: str
    says: str
    relation: str
    expected: str
    """What the ledger says of it in general, where Coq was not asked."""
    instances: int
    violated: int
    undecided: int
    vacuous: int
    worst_ratio: float | None
    """Of the sides, at the worst instance, one that is violated if there is such."""
    worst_layer: str
    worst_unit: str
    layers: list[LayerOf]
    points: list[Point]
    """Some of the instances, the worst among them."""


class Finding(Struct, frozen=True):
    """Something about a layer, in words."""

    layer: str
    severity: float
    """In decades beyond what does not matter, about; negative where it does not."""
    sentence: str

    @property
    def is_grave(self) -> bool:
        """Whether it is beyond its threshold."""
        return self.severity > 0


class Report(Struct, frozen=True):
    """What an audit found."""

    model: str
    parameters: int
    dtype: str
    """Of the parameters, empty where there are none; as the device."""
    device: str
    batches: int
    costly: list[int]
    """The numbers of those that condition numbers and second derivatives are from."""
    losses: list[float]
    normalizations: list[NormalizationRow]
    maps: list[MapRow]
    statements: list[StatementRow]
    left_out: dict[str, list[str]]
    """The identifiers of the statements that were not examined, by the reason."""
    findings: list[Finding]
    notes: list[str]
    """What was not measured, and why."""
    seconds: dict[str, float]
    """What each part took."""
    versions: dict[str, str]
    schema: int = SCHEMA

    @property
    def unexpected(self) -> list[StatementRow]:
        """The statements that the ledger holds for right and that fail here."""
        return [s for s in self.statements if s.violated and s.expected != "refuted"]

    @property
    def has_failed(self) -> bool:
        """Whether a statement that is right fails, or a layer's gradient is not its output's."""
        return bool(self.unexpected) or any(row.is_wrong for row in self.normalizations)

    def worst(self, count: int = 3) -> list[tuple[str, list[str]]]:
        """Return the layers nearest to trouble or deepest in it, with what is said of them.

        The worst is first, and so is the gravest sentence of each.
        """
        by_layer = grouped(self.findings, lambda finding: finding.layer)
        for found in by_layer.values():
            found.sort(key=lambda finding: -finding.severity)
        order = sorted(by_layer, key=lambda name: [-f.severity for f in by_layer[name]])
        return [(name, [f.sentence for f in by_layer[name]]) for name in order[:count]]

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain values; what is not finite is None."""
        found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return found

    def show(self) -> None:
        """Print the report."""
        from verify.audit.terminal import show

        show(self)

    def save(self, path: str | Path) -> Path:
        """Write the report to a file: a page for ``.html``, JSON for ``.json``.

        Raises:
            ValueError: neither.
        """
        from verify.audit.page import page

        return saved(Path(path), self, page)


def saved(path: Path, value: Struct, page: Callable[[Any], str]) -> Path:
    """Write a value to a file: its page for ``.html``, JSON for ``.json``.

    Raises:
        ValueError: neither.
    """
    match path.suffix:
        case ".html":
            path.write_text(page(value), encoding="utf-8")
        case ".json":
            path.write_bytes(msgspec.json.format(msgspec.json.encode(value), indent=1))
        case _:
            raise ValueError(f"{path} ends in neither .html nor .json; give one of these")
    return path


def read(text: str | bytes) -> Report:
    """Return the report that JSON holds.

    Raises:
        msgspec.ValidationError: it holds another thing.
    """
    return msgspec.json.decode(text, type=Report)
