r"""What the examination needs of a framework: arrays in and out, and derivatives that nest.

A framework is one short module here, ``verify/conform/adapters/<name>.py``, with a function
``adapter(device)`` that returns an :class:`Adapter`; a file of the user's own with such a function
does as well.  Inputs, outputs and tangents are arrays of the framework; a function takes arrays
and returns an array, or a tuple of arrays.  ``vjp`` and ``jvp`` **nest**: a second derivative is
the ``vjp`` of a ``vjp``.

What a framework has besides is found by name: ``compile(function)``; ``vmap(function)`` over a new
first axis of its arguments; ``layouts()``, a dictionary of functions that store the same values
differently; ``without_gradient(function)``, which calls it where nothing is recorded for a
derivative; ``recognises(target)`` and ``wrap(target, name, family, groups)``, which make a
:class:`~verify.conform.subject.Subject` of the framework's own layers; ``fill(array, values)``,
which changes an array in place; ``is_recorded(array)``, whether it is kept on a tape;
``add_one(array)``, in place, seen by the derivative; ``shares(one, other)``, whether two arrays are
one memory; ``backward(function, inputs, cotangent)``, a ``vjp`` as a step of training takes it;
``vjp_again(function, inputs, cotangents)``, the gradients of each cotangent through one forward
pass, all in the memory in which the last leaves them; ``state()``, by its name what a layer must
leave as it was beside its inputs, and ``restore(state)``; ``refusals``, regular expressions of what
it says where it lacks a mode; ``imports``, ``code`` and ``stored``, the lines of a script.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, Protocol

import numpy as np

Arrays = tuple[Any, ...]
"""Arrays of a framework."""


class NotOffered(Exception):  # noqa: N818  (not an error of anybody's)
    """A mode of differentiation that a framework or a layer does not have, and why."""


class Adapter(Protocol):
    """A framework's arrays and derivatives."""

    name: str
    version: str
    dtypes: tuple[str, ...]

    def array(self, values: np.ndarray, dtype: str) -> Any:
        """Return an array of that dtype; the float64 values are exact in it."""
        ...

    def numpy(self, array: Any) -> np.ndarray:
        """Return the values, exactly, in float64."""
        ...

    def dtype(self, array: Any) -> str:
        """Return the dtype's plain name, "float32"."""
        ...

    def vjp(self, function: Callable[..., Any], inputs: Arrays, cotangent: Any) -> Arrays:
        """Return a gradient for each input; zeros for one that the value does not depend on."""
        ...

    def jvp(self, function: Callable[..., Any], inputs: Arrays, tangents: Arrays) -> Any:
        """Return the derivative along the tangents, in the structure of the function's value."""
        ...


def several(value: Any) -> Arrays:
    """Return the parts of a function's value, which may be one array."""
    return tuple(value) if isinstance(value, tuple | list) else (value,)


def recorded(
    value: Any, cotangent: Any, is_recorded: Callable[[Any], bool]
) -> tuple[list[Any], list[Any]]:
    """Return the parts of a value that are kept on a tape, and their cotangents."""
    pairs = zip(several(value), several(cotangent), strict=True)
    kept = [(part, slope) for part, slope in pairs if is_recorded(part)]
    return [part for part, _ in kept], [slope for _, slope in kept]


class AdapterError(Exception):
    """A framework that is not there, and what to do."""


def known() -> list[str]:
    """Return the names of the frameworks that have an adapter here."""
    return sorted(module.name for module in iter_modules([str(Path(__file__).parent)]))


def find(name: str, device: str = "") -> Adapter:
    """Return the adapter of that name, or of a file of the user's.

    Args:
        name: a framework's name, or ``path/to/file.py``, or an importable module.
        device: the framework's name for a device; empty for its default.

    Raises:
        AdapterError: there is no such adapter, or its framework cannot be imported.
    """
    from verify.targets import imported_file

    try:
        if name.endswith(".py"):
            module = imported_file(Path(name))
        else:
            module = importlib.import_module(f"{__name__}.{name}" if name in known() else name)
        return module.adapter(device)
    except ModuleNotFoundError as error:
        if error.name == name and name not in known():
            raise AdapterError(
                f"no adapter {name!r}; choose one of {', '.join(known())}, or give a file with a "
                "function adapter(device)"
            ) from None
        raise AdapterError(
            f"the adapter {name!r} needs {error.name!r}, which is not installed here; "
            f"pip install 'batchnorm-theory[conform-{name}]'"
        ) from None
