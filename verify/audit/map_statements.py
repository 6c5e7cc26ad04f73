r"""The ledger's statements on a layer's inputs, at the linear and convolution layers of a network.

As in :mod:`verify.audit.statements` what is measured stands for what a statement mentions; here
condition numbers, from Gram matrices, and the means and variances of the columns of an unfolded
map.  A statement is about one layer on one batch, with :math:`D_0 = I`.

Theorem 4 and its kin hold of each group's matrix as it is, and say nothing where no feature varies.
Proposition 10 is about a kernel with a middle, that moves by one over a map with zeros around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from torch import Tensor, nn

from theory import layer, maps
from theory.lange2022 import proposition_5, theorem_4
from theory.language.arrays import kappa2, smallest_square
from theory.language.expression import Expression, Says
from theory.language.values import Values
from theory.matrix_claim import Kind, MatrixClaim
from theory.statement import NoLetterError, Relation, Statement
from verify import tolerance
from verify.audit import gramian
from verify.audit.conditioning import Conditioning
from verify.audit.spanned import Array, Measured, NotMeasuredError
from verify.audit.statements import Instances, judged, mentioned
from verify.tolerance import Outcome

OF_MAPS = (
    "L-prop-10",
    "L-prop-10/corrected",
    "L-prop-10/sharpened",
    "L-prop-10/variance/from-above",
    "L-prop-10/variance/bound",
)
Known = Mapping[Expression, Any]


class _Shape:
    """Inputs of which nothing but the shape is kept."""

    def __init__(self, *shape: int) -> None:
        self.shape = shape

    def _refuse(self, *_: Any) -> NoReturn:
        raise NotMeasuredError("the inputs themselves")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __matmul__ = _refuse
    __truediv__ = __neg__ = __rmatmul__ = __getitem__ = _refuse

    def __getattr__(self, name: str) -> NoReturn:
        raise NotMeasuredError(name)


def examine(
    claims: Sequence[Statement], module: nn.Module, inputs: Tensor, found: Conditioning
) -> Iterator[Instances]:
    """Yield the statements that apply to a layer's inputs, with both sides.

    Args:
        claims: of the ledger.
        module: linear, or a convolution.
        inputs: what it is given.
        found: their condition.
    """
    if found.columns - 1 > found.constant:
        yield from _examined(claims, Kind.LAYER, *_of_layer(found))
    if (columns := _of_maps(module, inputs)) is not None:
        chosen = [claim for claim in claims if claim.id in OF_MAPS]
        yield from _examined(chosen, Kind.MAPS, *columns)


def unlike_maps(module: nn.Module) -> str:
    """Return why Proposition 10 is not about a layer; nothing where it is.

    >>> unlike_maps(nn.Conv2d(1, 1, 3, stride=2, padding=1)), unlike_maps(nn.Conv2d(1, 1, 3))
    ('it moves by 2 and 2', 'not as many zeros around as keep the size of the maps')
    """
    if isinstance(module, nn.Linear):
        return "it is no convolution"
    assert isinstance(module, nn.Conv1d | nn.Conv2d | nn.Conv3d)
    sizes, steps, dilation = module.kernel_size, module.stride, module.dilation
    if len(sizes) != 2:
        return f"it is over {len(sizes)} axes" if len(sizes) > 1 else "it is over one axis"
    kernel = " by ".join(map(str, sizes))
    kept = [d * (k - 1) for d, k in zip(dilation, sizes, strict=True) for _ in range(2)]
    given = [2 * margin for margin in reversed(module._reversed_padding_repeated_twice)]
    reasons = {
        "a kernel of one entry": sizes == (1, 1),
        f"a kernel of {kernel} without a middle": not all(k % 2 for k in sizes),
        f"a kernel of {kernel}": sizes[0] != sizes[1],
        f"it moves by {' and '.join(map(str, steps))}": {*steps} != {1},
        f"a dilation of {' and '.join(map(str, dilation))}": {*dilation} != {1},
        f"{module.groups} groups of channels": module.groups > 1,
        f"its padding is {module.padding_mode}": module.padding_mode != "zeros",
        "not as many zeros around as keep the size of the maps": given != kept,
    }
    return ", ".join(reason for reason, is_met in reasons.items() if is_met)


def _examined(
    claims: Sequence[Statement], kind: Kind, subject: Any, known: Known, moved: Known
) -> Iterator[Instances]:
    own = _values(subject, known)
    others = {one: _values(subject, {**known, one: number}) for one, number in moved.items()}
    telling = known.keys() - {layer.means, layer.variances}
    for claim in claims:
        if not isinstance(claim, MatrixClaim) or claim.subject is not kind or claim.says is None:
            continue
        if (met := mentioned(claim.says)).isdisjoint(telling):
            continue
        try:
            with np.errstate(all="ignore"):
                own_errors = [values for one, values in others.items() if one in met]
                yield _instances(claim, claim.says, own, own_errors)
        except NoLetterError:
            continue


def _values(subject: Any, known: Known) -> Values:
    """Return the values of expressions, which the statements share."""
    values = Values(subject)
    values.known.update(known)
    return values


def _sides(says: Says, values: Values) -> list[Array]:
    """Return both sides as rows of one length."""
    sides = [np.asarray(side, dtype=np.float64) for side in values.sides(says)]
    return [side.ravel() for side in np.broadcast_arrays(*sides)]


def _instances(
    claim: MatrixClaim, says: Says, values: Values, moved: Sequence[Values]
) -> Instances:
    actual, claimed = _sides(says, values)
    conditions = [values[h.slack] for h in claim.hypotheses]
    allowed = np.zeros_like(actual)
    for others in moved:
        for other, side in zip(_sides(says, others), (actual, claimed), strict=True):
            allowed += np.nan_to_num(np.abs(other - side), nan=np.inf, posinf=np.inf)
    outcomes = judged(actual, claimed, allowed, claim.relation)
    if not all(_is_met(h.sign, c) for h, c in zip(claim.hypotheses, conditions, strict=True)):
        outcomes = [Outcome.VACUOUS] * len(outcomes)
    ratios = tolerance.ratio(actual[:, None], claimed[:, None], claim.relation, allowed)
    is_vacuous = np.array([o is Outcome.VACUOUS for o in outcomes])
    return Instances(claim, actual, claimed, np.where(is_vacuous, np.nan, ratios), outcomes)


def _is_met(sign: Relation, quantity: Any) -> bool:
    return bool(np.all(sign.compare(np.asarray(quantity, dtype=np.float64), 0)))


def _of_layer(found: Conditioning) -> tuple[Any, Known, Known]:
    """Return a layer as its statements see it, what is known of it, and what errors make of it."""
    features = found.columns - 1 - found.constant
    subject = Measured(
        H=_Shape(found.rows, features), scaling=np.ones(found.columns), q=np.float64(1)
    )
    least = found.plain.least if found.is_full_rank else 0.0
    mean, variance = found.mean.cpu().numpy(), found.deviation.square().cpu().numpy()
    spectra = {
        layer.KAPPA_BEFORE: found.plain,
        layer.KAPPA_CENTRED: found.centred,
        kappa2(layer.Hhat @ layer.U): found.centred,
        layer.KAPPA_NORMALIZED: found.normalized,
        layer.KAPPA_SCALED: found.centred,
    }
    numbers: dict[Expression, Any] = {e: np.float64(s.kappa**2) for e, s in spectra.items()}
    rest = {
        smallest_square(layer.Hhat): np.float64(least),
        layer.means: mean,
        layer.variances: variance,
        theorem_4.KAPPA_D: np.float64(found.scaling**2),
        theorem_4.CORRELATION: np.float64(_largest_correlation(found)),
        proposition_5.NORM_GHAT: np.float64(found.normalized.largest),
        proposition_5.NORM_G: np.float64(_largest_correlation(found) * found.rows),
    }
    known = {**rest, **numbers}
    moved = {e: numbers[e] * (1 + 2 * s.relative_error) for e, s in spectra.items()}
    moved[smallest_square(layer.Hhat)] = np.float64(least * (1 + 2 * found.plain.relative_error))
    left_out = {
        theorem_4.CORRELATION: found.left_out,
        proposition_5.NORM_GHAT: found.left_out * found.rows,
        proposition_5.NORM_G: found.left_out * found.rows,
    }
    moved |= {e: known[e] * (1 + found.floor) + more for e, more in left_out.items()}
    return subject, known, moved


def _largest_correlation(found: Conditioning) -> float:
    """Return the largest eigenvalue of the features' correlations, at least one."""
    return max(found.normalized.largest / found.rows, 1.0)


def _of_maps(module: nn.Module, inputs: Tensor) -> tuple[Any, Known, Known] | None:
    if (fits := gramian.structure(module)) is None or unlike_maps(module):
        return None
    h = gramian.batched(module, inputs).double()
    shape, k = tuple(h.shape), fits.kernel
    mean, variance = (m.reshape(-1, k, k).cpu().numpy() for m in gramian.moments(module, inputs))
    axes = (0, 2, 3)
    whole_mean = h.mean(axes)
    whole_variance = (h - whole_mean[:, None, None]).square().mean(axes)
    largest = h.abs().amax(axes)
    subject = Measured(
        h=np.broadcast_to(np.float64(0), shape), w=np.broadcast_to(np.float64(0), (1, 1, k, k))
    )

    def by_channel(values: Tensor) -> Array:
        found: Array = values.cpu().numpy()[:, None, None]
        return found

    known: dict[Expression, Any] = {
        maps.mean_at(maps.h): mean,
        maps.variance_at(maps.h): variance,
        maps.mean_of(maps.h): by_channel(whole_mean),
        maps.variance_of(maps.h): by_channel(whole_variance),
        maps.largest_entry(maps.h): by_channel(largest),
    }
    count = shape[0] * shape[2] * shape[3]
    error = tolerance.SAFETY * (1 + np.log2(count)) * tolerance.UNIT_ROUNDOFF * by_channel(largest)
    moved: Known = {
        maps.mean_at(maps.h): mean + error,
        maps.variance_at(maps.h): variance + error * by_channel(largest),
    }
    return subject, known, moved
