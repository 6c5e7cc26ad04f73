r"""A dense layer on a batch: the letters and functions of statements about matrices.

Index convention: N examples (rows), n inputs and p outputs.  What is written here shares no
function with :mod:`theory.preconditioning`.
"""

from __future__ import annotations

from operator import attrgetter

from theory.language.expression import Letter, Operation, Primitive, Sort

_N, _V, _M = Sort.NUMBER, Sort.VECTOR, Sort.MATRIX

H = Letter("H", "H", _M, attrgetter("H"))
"""Inputs, (N, n)."""
W = Letter("W", "W", _M, attrgetter("W"))
"""Weights, (p, n)."""
b = Letter("b", "b", _V, attrgetter("b"))
"""Bias, (p,)."""
alpha = Letter("alpha", r"\alpha", _N, attrgetter("step"), r"\alpha > 0")
"""A learning rate."""
q = Letter("q", "q", _N, attrgetter("q"), "q > 0")
N = Letter("N", "N", _N, lambda layer: layer.H.shape[0])
n = Letter("n", "n", _N, lambda layer: layer.H.shape[1])

L = Primitive("L", lambda layer, outputs: layer.loss(outputs), r"\mathcal L({0})", takes=(_M,))
transpose = Operation("transpose", lambda A: A.T, r"{0:atom}^\top", gives=0)
squared_frobenius = Operation("sum of squares", lambda A: (A * A).sum(), r"\|{0}\|^2")
