r"""The operations that every statement may use.

A vector is one of batch space: one number for each example, :math:`\langle a, b\rangle = \sum_k
a_k b_k`.
"""

from __future__ import annotations

from theory.arithmetic import inner, mean, norm_squared
from theory.arithmetic import sqrt as square_root
from theory.batchnorm import centre as less_mean
from theory.batchnorm import variance as biased_variance
from theory.language.expression import Operation, Sort

_N, _V = Sort.NUMBER, Sort.VECTOR


class SquaredNorm(Operation):
    """An operation whose value is a sum of squares."""


dot = Operation("dot", inner, r"\langle {0}, {1}\rangle", takes=(_V, _V))
row = Operation("dot", inner, r"{0:atom}^\top {1:atom}", takes=(_V, _V))
"""The inner product, displayed as a row times a column."""
norm2 = SquaredNorm("norm2", norm_squared, r"\|{0}\|^2", takes=(_V,))
norm = Operation("norm", lambda x: square_root(norm_squared(x)), r"\|{0}\|", takes=(_V,))
average = Operation("mean", mean, r"\mu_{{{0}}}", takes=(_V,))
spread = Operation("variance", biased_variance, r"\operatorname{{var}}({0})", takes=(_V,))
"""The biased variance."""
centred = Operation("centre", less_mean, r"\overline{{{0}}}", gives=Sort.VECTOR, takes=(_V,))
"""A vector less its mean."""
sqrt = Operation("sqrt", square_root, r"\sqrt{{{0}}}", takes=(_N,))
absolute = Operation("abs", lambda x: square_root(x * x), r"|{0}|", takes=(_N,))
