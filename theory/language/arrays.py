r"""Operations on arrays of numbers: vectors have one axis, matrices two.

An inner product is a number without an axis, so that it multiplies arrays of any shape.
"""

from __future__ import annotations

from theory.arithmetic import sqrt
from theory.arithmetic.operations import larger, smaller
from theory.arithmetic.spectra import eigenvalues, squared_condition_number, squared_singular_values
from theory.language.expression import EntryByEntry, Operation, Sort
from theory.language.operations import SquaredNorm

_N, _V, _M = Sort.NUMBER, Sort.VECTOR, Sort.MATRIX

dot = EntryByEntry("dot", lambda u, v: (u * v).sum(), r"\langle {0}, {1}\rangle", takes=(_V, _V))
norm2 = SquaredNorm("norm2", lambda v: (v * v).sum(), r"\|{0}\|^2", takes=(_V,))
norm = Operation("norm", lambda v: sqrt((v * v).sum()), r"\|{0}\|", takes=(_V,))
absolute = Operation("abs", abs, r"|{0}|", takes=(_N,))
maximum = Operation("max", larger, r"\max\{{{0}, {1}\}}", takes=(_N, _N))
minimum = Operation("min", smaller, r"\min\{{{0}, {1}\}}", takes=(_N, _N))
transpose = Operation("transpose", lambda A: A.T, r"{0:atom}^\top", gives=0, takes=(_M,))
entrywise = EntryByEntry(
    "entrywise",
    lambda u, v: u * v,
    r"\left({0:atom} \odot {1:atom}\right)",
    gives=0,
    takes=(_V, _V),
)
cubes = Operation("cubes", lambda v: v * v * v, r"{0:atom}^{{\odot 3}}", gives=0, takes=(_V,))
"""The cubes of a vector's entries."""
column = Operation("column", lambda A: A[:, 0], r"{0:atom}_{{\cdot 1}}", gives=_V, takes=(_M,))
"""A matrix's first column."""
first = Operation("first", lambda v: v[0], r"{0:atom}_1", takes=(_V,))
second = Operation("second", lambda v: v[1], r"{0:atom}_2", takes=(_V,))

kappa2 = Operation(
    "squared condition number", squared_condition_number, r"\kappa({0})^2", takes=(_M,)
)
r"""The largest singular value over the smallest that is not zero, squared."""
smallest_square = Operation(
    "smallest eigenvalue of the Gram matrix",
    lambda F: squared_singular_values(F)[0],
    r"\lambda_{{\min}}({0:atom}^\top {0:atom})",
    takes=(_M,),
)
"""Of a matrix with more columns than rows it is zero."""
smallest = Operation(
    "smallest eigenvalue", lambda A: eigenvalues(A)[0], r"\lambda_{{\min}}({0})", takes=(_M,)
)
largest = Operation(
    "largest eigenvalue", lambda A: eigenvalues(A)[-1], r"\lambda_{{\max}}({0})", takes=(_M,)
)
