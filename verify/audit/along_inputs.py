r"""The ledger's statements on a unit that need its batch itself, or the inputs that it is made of.

A channel below a linear or convolution layer is :math:`y = Xw`; an input is a column of X, and a
derivative along it is that in a real weight.  Of some such channels the whole batch is kept, with g
and with H on the span of :math:`1, \hat y, g` and two inputs, by the network's own second
derivatives; the layer between y and the loss is differentiated as primitives say it is
(:mod:`verify.witnesses.autograd`).  Every direction that the layer makes of these is in that span.

**What was not measured.**  Each unit is examined twice: with the loss

.. math:: \langle g, d\rangle + \tfrac12 d^\top H' d, \qquad
          H' = AQ^\top + QA^\top - QQ^\top AQ^\top

for :math:`A = HQ` and an orthonormal basis Q of the span, which is H there; and with a loss that
differs from this in second derivatives outside of the span and in third ones.  A statement whose
sides differ asks for more than the passes gave, and is left out, unless it is an equation that
holds for both.

Index convention: a unit's batch has one axis, of m entries; a span is ``(m, vector)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np
import torch
from torch import Tensor

from theory.claim import Claim
from theory.statement import Relation, Statement
from verify.audit.left_out import OF_A_MINIMUM, OF_MORE
from verify.audit.statements import NEEDS_A_MINIMUM, Examined, Instances
from verify.tolerance import Outcome
from verify.witnesses import autograd
from verify.witnesses.instances import Instances as Found
from verify.witnesses.stacks import Stack

SAMPLES = 2
"""Measurements of the condition."""
ALIKE = 2.0**-20
"""Sides that differ by less, in units of their size, are not moved by another loss."""
MOVED = 0.5
"""What is added elsewhere, in units of the second derivatives that were measured."""


@dataclass(frozen=True)
class Channel:
    """A channel of Batch Normalization with its batch, in float64, on the CPU."""

    y: Tensor
    gamma: float
    beta: float
    eps: float
    g: Tensor
    inputs: tuple[Tensor, Tensor]
    """Two columns of X."""
    bound: float
    """At least the spectral norm of X."""
    span: Tensor
    """Orthonormal, of the directions in which H is known."""
    images: Tensor
    """H times these."""


def span_of(y: Tensor, g: Tensor, inputs: Sequence[Tensor]) -> Tensor:
    """Return an orthonormal basis of the ones, the batch, its gradient and its inputs."""
    vectors = torch.stack([torch.ones_like(y), y - y.mean(), g, *inputs], dim=1)
    sizes = torch.linalg.vector_norm(vectors, dim=0)
    basis: Tensor = torch.linalg.qr(vectors[:, sizes > 0] / sizes[sizes > 0])[0]
    return basis


def examine(claims: Sequence[Statement], channel: Channel) -> Examined:
    """Return the statements with an epsilon that a channel tells something of.

    Args:
        claims: of the ledger.
        channel: with its batch.
    """
    with_epsilon = [
        claim
        for claim in claims
        if isinstance(claim, Claim) and claim.says is not None and claim.reading.has_epsilon
    ]
    chosen = [claim for claim in with_epsilon if claim.result != NEEDS_A_MINIMUM]
    refused = {claim.id: OF_A_MINIMUM for claim in with_epsilon if claim.result == NEEDS_A_MINIMUM}
    found = []
    together = autograd.examine_together(chosen, _twice(channel), _loss, samples=SAMPLES)
    for claim, both in zip(chosen, together, strict=True):
        if _is_told(claim, both):
            sides = both.actual[:1], both.claimed[:1]
            found.append(Instances(claim, *sides, both.ratios[:1], both.outcomes[:1]))
        else:
            refused[claim.id] = OF_MORE
    return Examined(found, refused)


def _is_told(claim: Claim, found: Found) -> bool:
    """Whether both losses give the same."""
    if found.outcomes[0] != found.outcomes[1]:
        return False
    if claim.relation is Relation.EQUAL and found.outcomes[0] is Outcome.HOLDS:
        return True
    sides = np.stack([found.actual, found.claimed])
    size = np.abs(sides).max()
    return bool((np.abs(sides[:, 0] - sides[:, 1]) <= ALIKE * size).all())


def _twice(channel: Channel) -> Stack:
    """Return the channel with its own loss, and with one that differs where nothing is known."""
    y, Q, A = channel.y, channel.span, channel.images
    sigma = (y.var(correction=0) + channel.eps).sqrt()
    z = channel.gamma * (y - y.mean()) / sigma + channel.beta
    size = torch.linalg.matrix_norm(A) + 1 / len(y)
    other = MOVED * torch.stack([torch.zeros_like(size), size])

    def both(value: Tensor | float) -> Tensor:
        one = torch.as_tensor(value, dtype=torch.float64)
        return torch.stack([one, one])

    first, second = channel.inputs
    return Stack(
        y=both(y),
        gamma=both(channel.gamma),
        beta=both(channel.beta),
        eps=both(channel.eps),
        direction=both(first),
        other_direction=both(second),
        bound=both(channel.bound),
        later_normalizations=both(nan),  # a number that no pass tells: what assumes one is vacuous
        arguments=(both(z), both(channel.g), both(Q), both(A), other),
    )


def _loss(at: Tensor, z: Tensor, g: Tensor, Q: Tensor, A: Tensor, other: Tensor) -> Tensor:
    """Return the loss around z; ``other`` is the size of what nothing is known of."""
    d = at - z
    coordinates = Q.T @ d
    known = 2 * (A.T @ d) @ coordinates - coordinates @ (Q.T @ A) @ coordinates
    outside = d @ d - coordinates @ coordinates + (d * d) @ d
    return g @ d + (known + other * outside) / 2
