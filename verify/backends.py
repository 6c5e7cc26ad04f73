r"""The array libraries that the float witnesses compute in.

A library is reached through the Python array API standard (array-api-compat), on one of its
devices; values are float64, or complex128 for complex steps.

>>> backend = Backend("array-api-strict", "device1")
>>> backend.to_numpy(backend.softplus(backend.asarray([-800.0, 0.0, 8.0])))
array([0.        , 0.69314718, 8.00033541])
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

from verify.operators import is_complex


class Library(NamedTuple):
    """Where a library is found, and how it names and moves things."""

    package: str
    namespace: str
    """The module that offers the array API standard."""
    install: str
    devices: Callable[[Any], dict[str, Any]]
    """Given the package: what a device is called, and the library's own object for it."""
    to_numpy: Callable[[Any], Any]


def _cuda(count: int, device: Callable[[int], Any]) -> dict[str, Any]:
    devices = {f"cuda:{index}": device(index) for index in range(count)}
    return {**devices, "cuda": device(0)} if devices else {}


def _torch_devices(torch: Any) -> dict[str, Any]:
    on_gpu = _cuda(torch.cuda.device_count(), lambda index: torch.device("cuda", index))
    return {"cpu": torch.device("cpu"), **on_gpu}


def _cupy_devices(cupy: Any) -> dict[str, Any]:
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError:  # CuPy's answer where there is no driver or GPU
        count = 0
    return _cuda(count, cupy.cuda.Device)


def _strict_devices(strict: Any) -> dict[str, Any]:
    info = strict.__array_namespace_info__()
    named = {
        str(device).split("'")[1]: device
        for device in info.devices()
        if "float64" in info.dtypes(device=device)
    }
    return {"cpu": info.default_device(), **named}


def _from_strict(array: Any) -> Any:
    on_cpu = array.__array_namespace__().__array_namespace_info__().default_device()
    return np.asarray(array.to_device(on_cpu))


LIBRARIES = {
    "numpy": Library(
        "numpy", "array_api_compat.numpy", "numpy", lambda numpy: {"cpu": "cpu"}, np.asarray
    ),
    "torch": Library(
        "torch", "array_api_compat.torch", "torch", _torch_devices, lambda x: x.detach().cpu()
    ),
    "cupy": Library(
        "cupy", "array_api_compat.cupy", "cupy-cuda12x", _cupy_devices, lambda x: x.get()
    ),
    "array-api-strict": Library(
        "array_api_strict", "array_api_strict", "array-api-strict", _strict_devices, _from_strict
    ),
}


def installed() -> list[str]:
    """Return the names of the backends whose package is installed."""
    return [name for name, library in LIBRARIES.items() if find_spec(library.package)]


@cache
def devices(name: str) -> dict[str, Any]:
    """Return the float64-capable devices of a backend by their names, its default first.

    Raises:
        ValueError: there is no backend of that name.
        RuntimeError: its package is not installed.
    """
    if name not in LIBRARIES:
        raise ValueError(f"there is no backend {name!r}; choose one of {', '.join(LIBRARIES)}")
    library = LIBRARIES[name]
    if find_spec(library.package) is None:
        raise RuntimeError(
            f"backend {name!r} was asked for, but the package {library.package} is not installed;"
            f" run: pip install {library.install}; available here: {', '.join(installed())}"
        )
    return library.devices(import_module(library.package))


@cache
def _namespace(name: str) -> Any:
    return import_module(LIBRARIES[name].namespace)


@dataclass(frozen=True)
class Backend:
    """An array library on one device.

    Args:
        name: numpy, torch, cupy or array-api-strict.
        device: the device's name, see :func:`devices`; the library's default if empty.

    Raises:
        ValueError: there is no backend of that name.
        RuntimeError: its package is not installed, or the device is not to be had here.
    """

    name: str = "numpy"
    device: str = ""

    def __post_init__(self) -> None:
        found = devices(self.name)
        if not found or (self.device and self.device not in found):
            raise RuntimeError(
                f"device {self.device or 'any'!r} was asked for, but backend"
                f" {self.name!r} has here, with float64: {', '.join(found) or 'none'}"
            )

    @property
    def namespace(self) -> Any:
        """The library's functions, named as the array API standard names them."""
        return _namespace(self.name)

    @property
    def native_device(self) -> Any:
        """The library's own object for the device."""
        found = devices(self.name)
        return found[self.device or next(iter(found))]

    def current(self) -> AbstractContextManager[Any]:
        """Return a context that makes the device current, where the library has such a state."""
        return self.native_device if self.name == "cupy" else nullcontext()

    def asarray(self, values: Any, is_complex: bool = False) -> Any:
        """Return numbers as a float64 (or complex128) array on the device, of the same shape.

        Raises:
            TypeError: they are complex, and a real array was asked for.
        """
        xp, kind = self.namespace, "complex128" if is_complex else "float64"
        if np.iscomplexobj(values) and not is_complex:
            raise TypeError("an imaginary part would be lost: a real array was asked for")
        numbers = np.asarray(values, dtype=kind)
        return xp.asarray(numbers, dtype=getattr(xp, kind), device=self.native_device)

    def to_numpy(self, array: Any) -> np.ndarray:
        """Return an array of the library as a NumPy array of the same shape and dtype."""
        return np.asarray(LIBRARIES[self.name].to_numpy(array))

    def softplus(self, x: Any) -> Any:
        r"""Return :math:`\log(1 + e^x)` entrywise, analytic near the real axis, never overflowing.

        With :math:`x_+` for x where its real part is positive, else 0, it is
        :math:`x_+ + \log(1 + e^{x - 2 x_+})`; each branch continues the other.
        """
        xp = self.namespace
        if not is_complex(x):
            return xp.logaddexp(x, xp.zeros_like(x))
        positive = xp.where(xp.real(x) > 0, x, xp.zeros_like(x))
        return positive + xp.log(1 + xp.exp(x - 2 * positive))
