"""Arrays of given numbers: of another array's library and dtype, and on its device."""

from __future__ import annotations

from typing import Any

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
