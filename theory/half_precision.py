"""Half precision: computed in float32, and rounded once but for operators.

The square of 300 is beyond float16, and a sum of bfloat16 has two digits.  So arrays of 16 bits
are widened before a formula and its results are rounded to their dtype.  An operator among the
arguments is given, and may return, what the caller has: J u is rounded to 16 bits for it, and so is
what it returns.  Below the range of these entries lose digits; beyond it that is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from array_api_compat import array_namespace, is_array_api_obj


def dtype_of(arguments: dict[str, Any]) -> Any:
    """Return the dtype of 16 bits that all arrays have, or None."""
    arrays = [value for value in arguments.values() if is_array_api_obj(value)]
    dtypes = {str(value.dtype) for value in arrays}
    if len(dtypes) != 1:
        return None
    xp, dtype = array_namespace(arrays[0]), arrays[0].dtype
    if not xp.isdtype(dtype, "real floating") or xp.finfo(dtype).bits != 16:
        return None
    return dtype


def widened(arguments: dict[str, Any], dtype: Any) -> dict[str, Any]:
    """Return the arguments in float32, for callers in a dtype of 16 bits."""

    def of(value: Any) -> Any:
        if is_array_api_obj(value):
            return _cast(value, array_namespace(value).float32)
        return Narrow(value, dtype) if callable(value) else value

    return {name: of(value) for name, value in arguments.items()}


def dtype_of_operator(operator: Callable[[Any], Any], dtype: Any) -> Any:
    """Return the dtype that an operator, or what it wraps, computes in for arrays of a dtype."""
    inner = getattr(operator, "__wrapped__", operator)
    return inner.dtype if isinstance(inner, Narrow) else dtype


def narrowed(result: Any, dtype: Any) -> Any:
    """Return an array, or a tuple of them, in a dtype."""
    if isinstance(result, tuple):
        return tuple(narrowed(part, dtype) for part in result)
    return _cast(result, dtype) if is_array_api_obj(result) else result


@dataclass(frozen=True)
class Narrow:
    """An operator in a dtype of 16 bits, for arrays of float32."""

    operator: Callable[[Any], Any]
    dtype: Any

    def __call__(self, w: Any) -> Any:
        """Return what the operator makes of the rounded array, in float32."""
        narrow = _cast(w, self.dtype)
        if _is_infinite(narrow) and not _is_infinite(w):
            raise ValueError(
                f"the operator would be given numbers beyond {self.dtype}, to which its argument "
                "is rounded; expected smaller ones: scale u down, or pass arrays of float32"
            )
        result = self.operator(narrow)
        return _cast(result, w.dtype) if is_array_api_obj(result) else result


def _is_infinite(value: Any) -> bool:
    xp = array_namespace(value)
    return bool(xp.any(xp.isinf(value)))


def _cast(value: Any, dtype: Any) -> Any:
    return array_namespace(value).astype(value, dtype)
