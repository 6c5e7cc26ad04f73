"""NumPy: arrays without derivatives; a subject brings its own ``backward`` and ``jvp``."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from verify.conform.adapters import AdapterError, Arrays, NotOffered


def adapter(device: str = "") -> NumPy:
    """Return NumPy's adapter."""
    if device not in ("", "cpu"):
        raise AdapterError(f"NumPy has no device {device!r}; leave --device out")
    return NumPy()


class NumPy:
    """NumPy's arrays."""

    name = "numpy"
    version = np.__version__
    dtypes = ("float64", "float32", "float16")
    imports = (
        "import numpy as np; array = lambda v: np.array(v, dtype=np.{dtype}); "
        "numpy = lambda v: np.asarray(v, dtype=np.float64)"
    )
    code = {
        "forward": (
            "z = layer(x, gamma, beta, eps); found = (z[0] if isinstance(z, tuple) else z,)"
        )
    }

    def array(self, values: np.ndarray, dtype: str) -> np.ndarray:
        """Return a copy of that dtype."""
        return np.array(values, dtype=dtype)

    def numpy(self, array: Any) -> np.ndarray:
        """Return a copy in float64."""
        return np.array(array, dtype=np.float64)

    def dtype(self, array: Any) -> str:
        """Return the dtype's name."""
        return str(np.asarray(array).dtype)

    def vjp(self, function: Callable[..., Any], inputs: Arrays, cotangent: Any) -> Arrays:
        """Refuse."""
        raise NotOffered(
            "NumPy has no derivatives; a function backward is examined as own gradient"
        )

    def jvp(self, function: Callable[..., Any], inputs: Arrays, tangents: Arrays) -> Any:
        """Refuse."""
        raise NotOffered("NumPy has no derivatives; a function jvp is examined as own jvp")

    def layouts(self) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
        """Return ways to store the same values."""
        return {
            "non-contiguous": _strided,
            "expanded": _expanded,
            "rows of a wider array": _in_wider_rows,
            "every second row": _of_every_second_row,
            "transposed": _transposed,
            "offset": _with_offset,
            "one number": _of_one_number,
        }

    def shares(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Whether what is written to one array may change the other."""
        return one.flags.writeable and np.may_share_memory(one, other)

    def state(self) -> dict[str, Any]:
        """Return what a layer must leave as it was, by what it is called."""
        state = np.random.get_state(legacy=False)  # noqa: NPY002  (layers may still draw from it)
        return {
            "what NumPy does on an overflow": np.geterr(),
            "NumPy's random state": pickle.dumps(state),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Put it back."""
        np.seterr(**state["what NumPy does on an overflow"])
        np.random.set_state(pickle.loads(state["NumPy's random state"]))  # noqa: NPY002

    def fill(self, array: np.ndarray, values: np.ndarray) -> None:
        """Overwrite the array's values."""
        array[...] = values


def _strided(x: np.ndarray) -> np.ndarray:
    """Return every second entry of a larger array along each axis, its axes stored reversed."""
    larger = np.full([2 * n + 1 for n in reversed(x.shape)], np.nan, dtype=x.dtype)
    view = larger[tuple(slice(1, None, 2) for _ in x.shape)].T
    view[...] = x
    return view


def _in_wider_rows(x: np.ndarray) -> np.ndarray:
    """Return the first entries of the rows of a wider array."""
    wider = np.full((*x.shape[:-1], x.shape[-1] + 3), np.nan, dtype=x.dtype)
    view = wider[..., : x.shape[-1]]
    view[...] = x
    return view


def _of_every_second_row(x: np.ndarray) -> np.ndarray:
    """Return every second row of an array of twice the length."""
    longer = np.full((2 * x.shape[0], *x.shape[1:]), np.nan, dtype=x.dtype)
    longer[::2] = x
    return longer[::2]


def _transposed(x: np.ndarray) -> np.ndarray:
    """Return a dense array whose last two axes are stored the other way round."""
    return np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2)


def _with_offset(x: np.ndarray) -> np.ndarray:
    """Return a contiguous array that does not begin where its memory does."""
    view = np.full(x.size + 1, np.nan, dtype=x.dtype)[1:].reshape(x.shape)
    view[...] = x
    return view


def _of_one_number(x: np.ndarray) -> np.ndarray:
    """Return the first entry for every one, without memory of their own."""
    return np.broadcast_to(x.flat[0], x.shape)


def _expanded(x: np.ndarray) -> np.ndarray:
    """Return the array with the first row for every row, without memory of their own."""
    return np.broadcast_to(x[:1].copy(), x.shape)
