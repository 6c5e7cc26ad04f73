r"""Operations on arrays of numbers: vectors have one axis, matrices two.

An inner product is a number without an axis, so that it multiplies arrays of any shape.
"""

from __future__ import annotations

from typing import Any

from theory.language.expression import Operation, Primitive, Sort
from theory.language.operations import SquaredNorm

_N, _V, _M = Sort.NUMBER, Sort.VECTOR, Sort.MATRIX


def _larger(a: Any, b: Any) -> Any:
    """Return the larger number; where one is a ball, a ball around it."""
    a, b = _alike(a, b)
    return a.max(b) if hasattr(a, "abs_upper") else max(a, b)


def _smaller(a: Any, b: Any) -> Any:
    a, b = _alike(a, b)
    return a.min(b) if hasattr(a, "abs_upper") else min(a, b)


def _alike(a: Any, b: Any) -> tuple[Any, Any]:
    """Return two numbers of one arithmetic: exact ones are not compared with balls."""
    return (a, b) if type(a) is type(b) else (a + 0 * b, b + 0 * a)


dot = Operation("dot", lambda u, v: (u * v).sum(), r"\langle {0}, {1}\rangle", takes=(_V, _V))
norm2 = SquaredNorm("norm2", lambda v: (v * v).sum(), r"\|{0}\|^2", takes=(_V,))
root = Primitive("sqrt", lambda subject, x: subject.sqrt(x), r"\sqrt{{{0}}}", takes=(_N,))
norm = Primitive("norm", lambda subject, v: subject.sqrt((v * v).sum()), r"\|{0}\|", takes=(_V,))
absolute = Operation("abs", abs, r"|{0}|", takes=(_N,))
maximum = Operation("max", _larger, r"\max\{{{0}, {1}\}}", takes=(_N, _N))
minimum = Operation("min", _smaller, r"\min\{{{0}, {1}\}}", takes=(_N, _N))
transpose = Operation("transpose", lambda A: A.T, r"{0:atom}^\top", gives=0, takes=(_M,))
entrywise = Operation(
    "entrywise",
    lambda u, v: u * v,
    r"\left({0:atom} \odot {1:atom}\right)",
    gives=0,
    takes=(_V, _V),
)
cubes = Operation("cubes", lambda v: v * v * v, r"{0:atom}^{{\odot 3}}", gives=0, takes=(_V,))
"""The cubes of a vector's entries."""
first = Operation("first", lambda v: v[0], r"{0:atom}_1", takes=(_V,))
second = Operation("second", lambda v: v[1], r"{0:atom}_2", takes=(_V,))
