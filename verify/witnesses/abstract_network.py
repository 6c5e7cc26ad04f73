r"""The generic batch of the abstract witness: of any length, known by inner products.

The batch is :math:`y = \mu 1 + c` with :math:`\langle 1, c\rangle = 0` and
:math:`\langle c, c\rangle = m v`; the loss is known by its 2-jet at the layer's output,
:math:`L(z + d) = \langle g, d\rangle + \langle d, Hd\rangle/2`, which is all that first and
second derivatives see.  With :math:`v = \sigma_0^2` and :math:`\epsilon = \sigma^2 - \sigma_0^2`
every square root that Batch Normalization takes is a symbol.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp

from theory.arithmetic import abstract, sqrt
from theory.arithmetic.abstract import AbstractVector, Space, is_zero, tidy
from verify.subjects.calculus import Calculus
from verify.subjects.network import PrimitiveNetwork
from verify.subjects.unit import Change, GenericCase, changed
from verify.witnesses.certificates import BIASED_DEVIATION, SIGMA
from verify.witnesses.jet import refuse_outside


def abstract_case(has_epsilon: bool) -> GenericCase:
    """Return a batch of symbolic length, any gamma and beta, and eps zero or non-negative."""
    space = Space({frozenset({abstract.ONE, "c"}): sp.Integer(0)})
    deviation = BIASED_DEVIATION if has_epsilon else SIGMA
    space.known[frozenset({"c"})] = space.m * deviation**2
    gamma, beta, mu = sp.symbols("gamma beta mu", real=True)
    return GenericCase(
        y=mu * space.one + space.vector("c"),
        gamma=gamma,
        beta=beta,
        eps=SIGMA**2 - BIASED_DEVIATION**2 if has_epsilon else sp.Integer(0),
        direction=space.vector("u"),
        other_direction=space.vector("v"),
        bound=sp.Symbol("lambda", positive=True),
    )


class AbstractNetwork(PrimitiveNetwork):
    """The network of an abstract case, differentiated by dual numbers."""

    def __init__(self, case: GenericCase):
        calculus = Calculus(sqrt, abstract.gradient, abstract.directional_derivative)
        super().__init__(case, case.y.space.m, self.jet, calculus)

    def jet(self, z: AbstractVector) -> Any:
        """Return the 2-jet of the loss at the layer's output."""
        d = z - self.z
        refuse_outside(d.coefficients.values(), is_zero)
        slope = self.y.space.vector("g").inner(d)
        return sp.Symbol("L", real=True) + slope + d.inner(d.apply_operator()) / 2

    def forward(self, y: AbstractVector) -> AbstractVector:
        """Return the primitive layer's output, tidied."""
        return super().forward(y).map(tidy)


@cache
def generic(has_epsilon: bool, imposed: tuple[Change, ...] = ()) -> AbstractNetwork:
    """Return the network of the generic case, changed as hypotheses want it.

    Statements share what is computed there.
    """
    return AbstractNetwork(changed(abstract_case(has_epsilon), imposed))
