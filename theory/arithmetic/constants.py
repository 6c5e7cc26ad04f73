"""Arrays of given numbers: of another array's library and dtype, and on its device."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device


def numbers(values: Any, like: Any) -> Any:
    """Return numbers, in lists for axes, as an array.

    >>> import numpy as np
    >>> numbers([[1, 2]], np.zeros(3))
    array([[1., 2.]])
    """
    return array_namespace(like).asarray(values, dtype=like.dtype, device=device(like))


def identity(size: int, like: Any) -> Any:
    """Return the identity matrix.

    >>> import numpy as np
    >>> identity(2, np.zeros(3))
    array([[1., 0.],
           [0., 1.]])
    """
    return array_namespace(like).eye(size, dtype=like.dtype, device=device(like))


def zeros(shape: tuple[int, ...], like: Any) -> Any:
    """Return zeros to be written to, of an array's library, dtype and device.

    Under ``torch.vmap`` they are as many as the array is.  Exact numbers have a zero of their own,
    as a whole number divided by another would be a float.
    """
    if hasattr(like, "new_zeros"):  # PyTorch
        return like.new_zeros(shape)
    if like.dtype == object:
        return np.full(shape, 0 * like.flat[0], dtype=object)
    return array_namespace(like).zeros(shape, dtype=like.dtype, device=device(like))
