r"""The few operations that every formula of this project is written in.

Batch Normalization touches a batch only through inner products: the mean is
:math:`\langle 1, y\rangle / m`, the variance :math:`\langle c, c\rangle / m` with :math:`c` the
centred batch.  A formula made of :func:`inner`, :func:`mean`, :func:`size`, :func:`sqrt` and of
scaling and adding therefore runs unchanged on

- arrays of floats (NumPy, PyTorch, CuPy: the Python array API standard),
- arrays of exact numbers (:mod:`theory.arithmetic.exact`) or of sympy expressions,
- vectors of symbolic length (:mod:`theory.arithmetic.abstract`), where an identity is a proof
  for every batch size.

Index convention: the batch axes are summed over and kept with length one, so that a reduced
quantity broadcasts against the batch it came from.  A scalar added to a vector is broadcast.
"""

from theory.arithmetic.operations import (
    Axes,
    Vector,
    combination,
    inner,
    mean,
    norm_squared,
    products,
    size,
    sqrt,
    summed,
)

__all__ = [
    "Axes",
    "Vector",
    "combination",
    "inner",
    "mean",
    "norm_squared",
    "products",
    "size",
    "sqrt",
    "summed",
]
