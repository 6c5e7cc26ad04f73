r"""The ledger's statements on matrices, at some rows and columns of a layer's own inputs.

Some examples (or positions), some weights and some outputs of a layer are a layer again: the rest
of the network is its loss, all else held.  So a statement about entries of H and W is examined at
32 rows of a network's :math:`\hat H` and a quarter as many of its columns, one at least, by the
witnesses that examine every layer (:mod:`verify.witnesses.matrices.floats`); one about maps at two
examples, channels and outputs.  What a network does not have, such as other statistics, is drawn.

The loss is known by the network's own first derivatives, and by its second ones in the first
output: along the ones, which is all of S where examples do not interact, and along
:math:`\hat H v` for the statements' vector v.  A statement whose sides change with what else the
loss may be is left out, unless it is an equation that holds for both.  The maps have a loss that is
drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

from theory.convolution.windows import Geometry
from theory.language.expression import Says
from theory.matrix_claim import MatrixClaim
from theory.statement import Relation, Statement
from verify.audit import gramian
from verify.audit.left_out import OF_MORE, OF_NUMBERS
from verify.audit.statements import Examined, Instances
from verify.audit.unit_hessian import DIAGONAL
from verify.subjects.matrices import Numbers, Watched
from verify.tolerance import Outcome
from verify.witnesses.instances import Instances as Found
from verify.witnesses.matrices import floats, trained

ROWS, WEIGHTS, OUTPUTS = 32, 8, 4
EXAMPLES, CHANNELS = 2, 2
LARGEST_MAP = 32**2
"""Of pixels: a statement on maps looks at every window of each."""
LOOKED_AT = {"H", "W", "h", "w", "loss"}
"""A statement that looks at none of these is about numbers alone."""
NOTHING, RESOLVED = 2.0**-50, 2.0**-34
"""A singular value over the largest that is zero, and one that is not."""
ALIKE = 2.0**-20
Product = Callable[[Tensor], Tensor]
SEEN: dict[Says | None, set[str]] = {}
"""What statements look at, which is the same at every part."""


@dataclass(frozen=True)
class Part:
    """A part of a layer that is a layer, as a statement may see it."""

    subject: Numbers
    other: Numbers | None
    """The same with another loss where nothing is known of it; None for a loss that is drawn."""
    place: str
    """Which part it is, in words."""


def examine(claims: Sequence[Statement], part: Part) -> Examined:
    """Return what the statements on a layer, or on maps, say of a part.

    Args:
        claims: of the ledger.
        part: of a layer, or of maps.
    """
    chosen = [
        claim
        for claim in claims
        if isinstance(claim, MatrixClaim)
        and claim.subject is part.subject.kind
        and claim.says is not None
    ]
    own = floats.Copies([part.subject], seed=0)
    seen = {claim.id: _seen(claim, own.subjects[0]) for claim in chosen}
    refused = {name: OF_NUMBERS for name, names in seen.items() if names.isdisjoint(LOOKED_AT)}
    looking = [claim for claim in chosen if claim.id not in refused]
    one, again = _examined(looking, own), {}
    if part.other is not None:
        of_the_loss = [claim for claim in looking if "loss" in seen[claim.id]]
        again = _examined(of_the_loss, floats.Copies([part.other], seed=0))
    found = []
    for claim in looking:
        told = one[claim.id]
        if _is_told(claim, told, again.get(claim.id, told)):
            found.append(Instances(claim, told.actual, told.claimed, told.ratios, told.outcomes))
        else:
            refused[claim.id] = OF_MORE
    return Examined(found, refused)


def _examined(claims: Sequence[MatrixClaim], copies: floats.Copies) -> dict[str, Found]:
    """Return what claims are at a part as it is, with no hypothesis imposed."""
    together = floats.examined_in_one_call(claims, copies)
    left = [claim for claim in claims if claim.id not in together]
    return together | {claim.id: floats.examined_alone(claim, copies) for claim in left}


def of_layer(
    module: nn.Module,
    inputs: Tensor,
    group: int,
    gradient: Tensor | None,
    product: Callable[[int, Tensor], Tensor] | None,
) -> Part | None:
    """Return a part of a linear or convolution layer, None where there is none that tells.

    Fewer than two weights may vary, or it may not be seen which singular values are zero.

    Args:
        module: the layer.
        inputs: what it is given.
        group: of its channels.
        gradient: in what it gives back; None for a loss that is drawn.
        product: from an output's number and a vector of rows to S times it, likewise.
    """
    weight, offset = module.weight, module.bias
    assert isinstance(weight, Tensor)
    each = len(weight) // gramian.groups(module)
    total = gramian.positions(module, inputs)
    rows = gramian.spaced(total, ROWS)
    H = gramian.some_rows(module, inputs, rows)[group]
    varying = torch.nonzero(H.amax(0) > H.amin(0))[:, 0]
    if len(varying) < 2:
        return None
    most = min(WEIGHTS, max(len(rows) // 4, 1))
    columns = varying[gramian.spaced(len(varying), most)]
    values = torch.linalg.svdvals(torch.cat([torch.ones_like(H[:, :1]), H[:, columns]], dim=1))
    if bool(((values > NOTHING * values[0]) & (values < RESOLVED * values[0])).any()):
        return None
    outputs = group * each + gramian.spaced(min(OUTPUTS, each), OUTPUTS)
    H, W = H[:, columns].cpu(), weight.detach()[outputs].flatten(1)[:, columns].double().cpu()
    bias = offset.detach()[outputs].double().cpu() if isinstance(offset, Tensor) else None
    place = (
        f"{len(rows)} of {total:,} rows, {len(columns)} of {weight[0].numel():,} weights,"
        f" {len(outputs)} of {len(weight):,} outputs"
    )
    made = trained.subject(H, W, bias, _nothing, 0.0, place, seed=0)
    A = H @ W.T + torch.from_numpy(made.b)
    draw = torch.Generator().manual_seed(0)
    g = (
        torch.randn(A.shape, generator=draw, dtype=A.dtype, device=A.device)
        if gradient is None
        else (_rows_of(module, gradient)[rows][:, outputs].double().cpu())
    )
    if product is None:
        drawn = torch.rand(len(rows), generator=draw, dtype=A.dtype, device=A.device)
        curve = _Curve(drawn, None)
    else:
        along = torch.cat([torch.ones_like(H[:, :1]), H], dim=1) @ torch.from_numpy(made.direction)
        curve = _curve(lambda v: _at(rows, total, product, int(outputs[0]), v), along)
    couples = 0.0 if curve.image is None else 1.0
    own, other = (
        replace(made, rest=_loss(A, g, curve, more), couples=couples) for more in (0.0, 1.0)
    )
    return Part(own, other, place)


def is_fit(module: nn.Module, inputs: Tensor) -> bool:
    """Whether a layer is a convolution as in the paper's sect. 4, of maps that are small enough."""
    fits = gramian.structure(module)
    is_one = fits is not None and fits == Geometry(fits.kernel)
    return is_one and inputs.shape[-1] * inputs.shape[-2] <= LARGEST_MAP


def of_maps(module: nn.Module, inputs: Tensor) -> Part:
    """Return some maps of a convolution that is fit."""
    maps = gramian.batched(module, inputs)
    weight = module.weight
    assert isinstance(weight, Tensor)
    count, channels = maps.shape[:2]
    examples, chosen = gramian.spaced(count, EXAMPLES), gramian.spaced(channels, CHANNELS)
    h = maps[examples][:, chosen].double().cpu().numpy()
    w = weight.detach()[:CHANNELS, chosen].double().cpu().numpy()
    place = (
        f"{len(h)} of {count:,} examples, {h.shape[1]} of {channels:,} channels,"
        f" {len(w)} of {len(weight):,} outputs"
    )
    return Part(trained.maps(h, w, seed=0), None, place)


@dataclass(frozen=True)
class _Curve:
    """Second derivatives in the first output: a diagonal, or the image of one vector."""

    along: Tensor
    image: Tensor | None

    def __call__(self, d: Tensor) -> Tensor:
        """Return d'S d for a symmetric S that is what was measured."""
        if self.image is None:
            return (self.along * d * d).sum()
        p = self.along / (self.along @ self.along)
        inner = p @ d
        return 2 * inner * (self.image @ d) - inner * inner * (self.along @ self.image)


def _curve(product: Product, along: Tensor) -> _Curve:
    """Return the second derivatives by two products: along the ones, and along a vector."""
    diagonal, image = product(torch.ones_like(along)), product(along)
    if (image - diagonal * along).norm() <= DIAGONAL * image.norm():
        return _Curve(diagonal, None)
    return _Curve(along, image)


def _loss(A: Tensor, g: Tensor, curve: _Curve, more: float) -> Callable[[Tensor], Tensor]:
    """Return the loss around A; ``more`` is the size of what nothing is known of."""

    def loss(at: Tensor) -> Tensor:
        d = at - A
        first, others = d[:, 0], d[:, 1:]
        unknown = (others * others).sum() + (d * d * d).sum() + (first[:, None] * others).sum()
        if curve.image is not None:
            inner = curve.along @ first
            unknown = unknown + first @ first - inner * inner / (curve.along @ curve.along)
        return (g * d).sum() + curve(first) / 2 + more * unknown

    return loss


def _nothing(A: Tensor) -> Tensor:
    return 0 * A.sum()


def _at(
    rows: Tensor, total: int, product: Callable[[int, Tensor], Tensor], output: int, vector: Tensor
) -> Tensor:
    """Return S restricted to some rows, times a vector of them."""
    whole = torch.zeros(total, dtype=torch.float64, device=vector.device)
    whole[rows] = vector
    return product(output, whole)[rows].cpu()


def _rows_of(module: nn.Module, outputs: Tensor) -> Tensor:
    """Return outputs as rows, ``(row, output)``."""
    if isinstance(module, nn.Linear):
        return outputs.reshape(-1, outputs.shape[-1])
    maps = gramian.batched(module, outputs)
    return maps.movedim(1, -1).reshape(-1, maps.shape[1])


def _seen(claim: MatrixClaim, subject: Numbers) -> set[str]:
    """Return the names of what a statement looks at."""
    if claim.says in SEEN:
        return SEEN[claim.says]
    watched = Watched(subject)
    with suppress(ZeroDivisionError):  # which hides what else it looks at
        claim.sides(watched)
        SEEN[claim.says] = watched.seen
    return watched.seen


def _is_told(claim: MatrixClaim, found: Found, again: Found) -> bool:
    """Whether another loss, where nothing is known of it, gives the same."""
    if found.outcomes != again.outcomes:
        return False
    is_right = claim.relation is Relation.EQUAL and found.outcomes[0] is Outcome.HOLDS
    if is_right or found.outcomes[0] is Outcome.VACUOUS:
        return True
    sides = np.array([[*one.actual, *one.claimed] for one in (found, again)])
    return bool((np.abs(sides[0] - sides[1]) <= ALIKE * np.abs(sides).max()).all())
