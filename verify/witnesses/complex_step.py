r"""The complex-step witness: first derivatives to roundoff, in any array library.

For a function that is analytic near the real axis and real on it,

.. math:: \partial_u f(x) = \operatorname{Im} f(x + i h u)/h + O(h^2),

where nothing cancels, so that h may be so small that the error term is below roundoff.  A step
inside a step would need a second imaginary unit: claims of the second order are outside.

The closed forms and the primitives run in the chosen library, one case at a time.  How much
rounding moves the sides is measured once, in PyTorch's random arithmetic (:mod:`verify.tolerance`);
it is a property of the formulas, and every library rounds in the same unit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from array_api_compat import array_namespace

from theory.claim import Claim, Reading, Relation
from verify import tolerance
from verify.backends import Backend
from verify.cases.case import Case, adapted
from verify.cases.losses import Loss
from verify.network import Calculus, PrimitiveNetwork
from verify.tolerance import Array, Outcome
from verify.witnesses.autograd import evaluate_randomly, evaluate_stacked, grouped
from verify.witnesses.instances import Instances

STEP = 2.0**-500
"""A power of two, so that nothing is lost in dividing by it; its square is still a normal number."""

LARGEST_ERROR = 1e-3
"""Derivatives with a larger relative error decide nothing."""


def derivative(f: Callable[[Any], Any], x: Any, u: Any) -> Any:
    """Return the derivative of f at x along u, an array of the shape of f's value.

    Args:
        f: a function of an array, made of analytic operations without conjugation.
        x: a real array.
        u: the direction, of the shape of x.

    Raises:
        ValueError: x is complex, as it is inside another complex step.

    >>> x, u = np.array([3.0, 4.0]), np.array([0.0, 1.0])
    >>> float(derivative(lambda x: (x @ x) ** 0.5, x, u))
    0.8
    """
    xp = array_namespace(x)
    if xp.isdtype(x.dtype, "complex floating"):
        raise ValueError(
            "complex steps do not nest; use finite differences for a derivative of a derivative"
        )
    point = xp.astype(x, xp.complex128) + xp.astype(u, xp.complex128) * (STEP * 1j)
    return xp.imag(f(point)) / STEP


def gradient(f: Callable[[Any], Any], x: Any) -> Any:
    """Return the gradient of a scalar function at a one-dimensional x, of the shape of x.

    Raises:
        ValueError: x is complex, as it is inside another complex step.

    >>> gradient(lambda x: x @ x, np.array([1.0, 2.0]))
    array([2., 4.])
    """
    xp = array_namespace(x)
    basis = xp.eye(x.shape[0], dtype=x.dtype, device=x.device)
    slopes = [derivative(f, x, basis[k, :]) for k in range(x.shape[0])]
    return xp.stack([xp.reshape(slope, ()) for slope in slopes])


def applies(claim: Claim) -> bool:
    """Return whether a claim's derivatives are not nested."""
    return claim.order == 1


def examine_cases(
    claim: Claim, cases: Sequence[Case], backend: Backend, seed: int = 0
) -> list[Instances]:
    """Examine cases of any length and loss, one group for each.

    Raises:
        ValueError: the claim is of the second order, see :func:`applies`.
    """
    if not applies(claim):
        raise ValueError(f"{claim.id} is of order {claim.order}; complex steps do not nest")
    calculus = Calculus(backend.sqrt, gradient, derivative)
    return one_by_one(
        claim, cases, lambda case: evaluate(claim, ArrayNetwork(case, backend, calculus)), seed
    )


class _Summable:
    """A batch as the primitives want it: it can sum itself, which a standard array cannot."""

    def __init__(self, array: Any):
        self.array = array

    def sum(self) -> Any:
        return array_namespace(self.array).sum(self.array)

    def __sub__(self, other: Any) -> Any:
        return self.array - other


class ArrayNetwork(PrimitiveNetwork):
    """The network of one case, in an array library.

    Args:
        case: NumPy arrays; hypotheses imposed.
        backend: the library and the device.
        calculus: how to differentiate there.
    """

    def __init__(self, case: Case, backend: Backend, calculus: Calculus):
        self.backend = backend
        super().__init__(
            backend.asarray(case.y),
            len(case.y),
            *(backend.asarray(np.squeeze(v)) for v in (case.gamma, case.beta, case.eps)),
            backend.asarray(case.direction),
            loss_in(backend, case.loss),
            calculus,
        )

    def standard_deviation(self, y: Any) -> Any:
        """Return the primitive standard deviation."""
        return super().standard_deviation(_Summable(y))

    def normalize(self, y: Any) -> Any:
        """Return the primitive normalised batch."""
        return super().normalize(_Summable(y))

    def forward(self, y: Any) -> Any:
        """Return the primitive layer's output."""
        return super().forward(_Summable(y))


def loss_in(backend: Backend, loss: Loss) -> Callable[[Any], Any]:
    """Return a loss as a function of arrays of a library, real or complex."""
    # Not every library multiplies a real array by a complex one.
    real, in_complex = (
        Loss(loss.function, tuple(backend.asarray(p, kind) for p in loss.parameters))
        for kind in (False, True)
    )

    def evaluated(z: Any) -> Any:
        return (in_complex if backend.is_complex(z) else real)(z, backend.softplus)

    return evaluated


class Evaluation(NamedTuple):
    """What a claim is for one case: both sides and the hypotheses' quantities, each flat."""

    actual: Array
    claimed: Array
    quantities: Array
    relative_error: Any = 0.0
    """The derivatives' own."""


def evaluate(claim: Claim, network: ArrayNetwork) -> Evaluation:
    """Evaluate a claim in the network's library."""
    with network.backend.current():
        letters = claim.reading.letters(network)
        values = [*claim.sides(network, letters)]
        values += [h.quantity(network, letters) for h in claim.hypotheses]
    actual, claimed, *quantities = [network.backend.to_numpy(value) for value in values]
    actual, claimed = np.broadcast_arrays(actual, claimed)
    return Evaluation(actual.ravel(), claimed.ravel(), np.array([q.item() for q in quantities]))


class Conditions(NamedTuple):
    """How much errors of one unit move the two sides together, and each hypothesis's quantity."""

    sides: Array
    quantities: Array


def one_by_one(
    claim: Claim, cases: Sequence[Case], evaluate_case: Callable[[Case], Evaluation], seed: int
) -> list[Instances]:
    """Evaluate and judge cases one after the other, in groups of one length and form of loss."""
    groups = [[adapted(case, claim) for case in group] for group in grouped(cases)]
    return [_examine_group(claim, group, evaluate_case, seed) for group in groups]


def _examine_group(
    claim: Claim, cases: list[Case], evaluate_case: Callable[[Case], Evaluation], seed: int
) -> Instances:
    nothing = np.full((3, len(cases)), np.nan)
    found = Instances(
        [Outcome.VACUOUS] * len(cases),
        *nothing,
        tokens=[case.token for case in cases],
        strata=[case.stratum for case in cases],
    )
    defined = [index for index, case in enumerate(cases) if is_defined(claim, case)]
    if defined:
        chosen = [cases[index] for index in defined]
        with np.errstate(all="ignore"):  # what is not finite is undecided
            evaluations = [evaluate_case(case) for case in chosen]
        values = Evaluation(*(np.array(field) for field in zip(*evaluations, strict=True)))
        _judge(claim, values, conditions(claim, chosen, seed), len(chosen[0].y), defined, found)
    return found


def _judge(
    claim: Claim,
    values: Evaluation,
    moved: Conditions,
    m: int,
    defined: list[int],
    found: Instances,
) -> None:
    error = values.relative_error
    allowed = tolerance.tolerance(moved.sides, m, error, moved.sides)
    outcomes = tolerance.judge(values.actual, values.claimed, claim.relation, allowed)
    met = hypotheses_met(
        claim,
        values.quantities,
        tolerance.tolerance(moved.quantities, m, error[:, None], moved.quantities),
    )
    ratios = tolerance.ratio(values.actual, values.claimed, claim.relation, allowed)
    for position, index in enumerate(defined):
        if not error[position] <= LARGEST_ERROR:
            found.outcomes[index] = Outcome.UNDECIDED
        elif met[position]:
            found.outcomes[index] = outcomes[position]
            found.ratios[index] = ratios[position]
    found.actual[defined] = _scalar(values.actual)
    found.claimed[defined] = _scalar(values.claimed)


def _scalar(side: Array) -> Array:
    return side[:, 0] if side.shape[1] == 1 else tolerance.norm(side)


def conditions(claim: Claim, cases: Sequence[Case], seed: int) -> Conditions:
    """Measure them in PyTorch's random arithmetic, for cases of one length and form of loss."""
    fields = [
        [
            case.y,
            *(np.squeeze(v) for v in (case.gamma, case.beta, case.eps)),
            case.direction,
            *case.loss.parameters,
        ]
        for case in cases
    ]
    tensors = tuple(
        torch.tensor(np.array(column), dtype=torch.float64) for column in zip(*fields, strict=True)
    )

    def loss(z: torch.Tensor, *parameters: torch.Tensor) -> torch.Tensor:
        return Loss(cases[0].loss.function, parameters)(z, torch.nn.functional.softplus)

    base = evaluate_stacked(claim, tensors, loss)
    samples = evaluate_randomly(claim, tensors, loss, seed)
    actual, claimed = (
        tolerance.condition_times_size(base[i], [s[i] for s in samples]) for i in (0, 1)
    )
    columns = [
        tolerance.condition_times_size(base[2][:, [j]], [s[2][:, [j]] for s in samples])
        for j in range(len(claim.hypotheses))
    ]
    return Conditions(actual + claimed, np.array(columns).reshape(-1, len(cases)).T)


def is_defined(claim: Claim, case: Case) -> bool:
    """Return whether sigma is positive, and in the unit-variance reading the variance too."""
    varies = np.ptp(case.y) > 0
    return bool(varies or (claim.reading is Reading.SHARED_EPSILON and np.all(case.eps > 0)))


def hypotheses_met(claim: Claim, quantities: Array, allowed: Array) -> Array:
    """Return whether each instance satisfies every hypothesis, up to what is allowed."""
    met = np.ones(len(quantities), dtype=bool)
    for hypothesis, value, slack in zip(claim.hypotheses, quantities.T, allowed.T, strict=True):
        match hypothesis.sign:
            case Relation.EQUAL:
                met &= np.abs(value) <= slack
            case Relation.MORE_THAN:
                met &= value > slack
            case Relation.AT_LEAST:
                met &= value >= -slack
            case _:
                raise ValueError(f"{claim.id}: no hypothesis of sign {hypothesis.sign} is known")
    return met
