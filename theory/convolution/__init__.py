r"""The convolution as a matrix, used without ever being built: products, Gram matrices, moments.

For maps ``h (batch, channel, r, s)`` and an odd kernel k x k, the convolution is
:math:`\hat{\mathcal H}\hat w` with :math:`\hat{\mathcal H} = [e, \mathcal H]` of N r s rows and
k^2 c + 1 columns.  The functions here check their input; the formulas behind them, which
``torch.vmap`` takes, are in :mod:`~theory.convolution.unfolded` (the matrix and its products),
:mod:`~theory.convolution.gramian` and :mod:`~theory.convolution.moments`.

A map of one row, 1 2 3, and a kernel that adds both neighbours to twice each entry:

>>> import numpy as np
>>> from theory import convolution
>>> h = np.array([[[[1.0, 2.0, 3.0]]]])
>>> w = np.array([[[[0.0, 0.0, 0.0], [1.0, 2.0, 1.0], [0.0, 0.0, 0.0]]]])
>>> convolution.apply(h, w, np.zeros(1))
array([[[[4., 8., 8.]]]])

The norm of that output from the Gram matrix, 16 + 64 + 64:

>>> what = convolution.flatten(w, np.zeros(1))
>>> what.T @ convolution.gram(h, 3) @ what
array([[144.]])

Source: Lange, Helfrich and Ye 2022, sect. 4.
"""

from functools import partial, wraps
from typing import Any

from theory.convolution import gramian, moments, unfolded
from theory.convolution.checks import checked
from theory.guard import form_of_symmetric
from theory.scaling import form_in_the_middle


@wraps(gramian.weighted_gram)
def _symmetric_weighted_gram(h: Any, S: Any, kernel: int, **others: Any) -> Any:
    of_maps = partial(gramian.weighted_gram, kernel=kernel, **others)
    form = partial(form_in_the_middle, of_maps, axes=(0, 2, 3), entries=kernel**2)
    return form_of_symmetric("S", form, h, S)


unfold = checked(unfolded.unfold)
apply = checked(unfolded.apply)
apply_transposed = checked(unfolded.apply_transposed)
flatten = checked(unfolded.flatten)
unflatten = checked(unfolded.unflatten)

gram = checked(gramian.gram)
weighted_gram = checked(_symmetric_weighted_gram)

column_sums = checked(moments.column_sums)
column_means = checked(moments.column_means)
column_variances = checked(moments.column_variances)

__all__ = [
    "apply",
    "apply_transposed",
    "column_means",
    "column_sums",
    "column_variances",
    "flatten",
    "gram",
    "unflatten",
    "unfold",
    "weighted_gram",
]
