"""Paddle: reverse mode of its dynamic graph, which nests; forward mode is reverse mode twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import paddle

from verify.conform.adapters import AdapterError, Arrays, NotOffered, recorded

loaded_by = "paddle"


def adapter(device: str = "") -> Paddle:
    """Return Paddle's adapter for a device: "cpu", "gpu", "gpu:1"."""
    return Paddle(device or "cpu")


class Paddle:
    """Paddle's tensors and gradients on one device."""

    name = "paddle"
    version = paddle.__version__
    dtypes = ("float64", "float32", "bfloat16", "float16")
    refusals = (r"\(Unimplemented\)|doesn't have any grad op",)

    def __init__(self, device: str):
        try:
            paddle.set_device(device)
        except (ValueError, RuntimeError) as error:
            reason = str(error).strip().splitlines()[-1]
            raise AdapterError(
                f"Paddle cannot use the device {device!r} here ({reason}); leave --device out for "
                "the CPU"
            ) from None

    def array(self, values: np.ndarray, dtype: str) -> paddle.Tensor:
        """Return a tensor of that dtype, of its own memory."""
        return paddle.to_tensor(np.ascontiguousarray(values), dtype="float64").astype(dtype)

    def numpy(self, array: paddle.Tensor) -> np.ndarray:
        """Return the values in float64."""
        return np.array(array.detach().astype("float64").numpy())

    def dtype(self, array: paddle.Tensor) -> str:
        """Return the dtype without its module."""
        return str(array.dtype).rpartition(".")[2]

    def vjp(self, function: Callable[..., Any], inputs: Arrays, cotangent: Any) -> Arrays:
        """Return gradients that can be differentiated again."""
        at = [_differentiable(x) for x in inputs]
        value = function(*at)
        parts, cotangents = recorded(value, cotangent, self.is_recorded)
        if not parts:
            return tuple(map(paddle.zeros_like, at))
        slopes = paddle.grad(parts, at, cotangents, create_graph=True, allow_unused=True)
        return _or_zeros(slopes, at)

    def backward(
        self, function: Callable[..., Any], inputs: Arrays, cotangent: paddle.Tensor
    ) -> Arrays:
        """Return the gradients of ``backward()``, which a recomputed part asks for."""
        at = [_leaf(x) for x in inputs]
        value = function(*at)
        if not value.stop_gradient:
            value.backward(cotangent)
        return _or_zeros([x.grad for x in at], at)

    def vjp_again(
        self, function: Callable[..., Any], inputs: Arrays, cotangents: Arrays
    ) -> list[Arrays]:
        """Return the gradients of several backward passes through one forward pass."""
        at = [_leaf(x) for x in inputs]
        value = function(*at)
        if value.stop_gradient:
            return [tuple(map(paddle.zeros_like, at))] * len(cotangents)
        slopes = [
            paddle.grad(value, at, g, retain_graph=True, allow_unused=True) for g in cotangents
        ]
        return [_or_zeros(each, at) for each in slopes]

    def jvp(self, function: Callable[..., Any], inputs: Arrays, tangents: Arrays) -> Any:
        """Refuse."""
        raise NotOffered("Paddle's jvp differentiates backward twice, and does not nest")

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function as a static graph."""
        return paddle.jit.to_static(function)

    def without_gradient(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, called where nothing is recorded."""

        def unrecorded(*arguments: Any) -> Any:
            with paddle.no_grad():
                return function(*arguments)

        return unrecorded

    def layouts(self) -> dict[str, Callable[[paddle.Tensor], paddle.Tensor]]:
        """Return ways to store the same values."""
        return {
            "non-contiguous": _strided,
            "expanded": _expanded,
            "rows of a wider array": _in_wider_rows,
            "every second row": _of_every_second_row,
        }

    def is_recorded(self, array: paddle.Tensor) -> bool:
        """Whether a tensor is kept on a tape."""
        return not array.stop_gradient

    def add_one(self, array: paddle.Tensor) -> paddle.Tensor:
        """Return the tensor, changed in place."""
        return array.add_(paddle.ones([], dtype=array.dtype))

    def shares(self, one: paddle.Tensor, other: paddle.Tensor) -> bool:
        """Whether what is written to one tensor may change the other."""
        return one._is_shared_buffer_with(other)

    def state(self) -> dict[str, Any]:
        """Return what a layer must leave as it was, by what it is called."""
        return {
            "the random state": [_RandomState.of(it) for it in paddle.get_rng_state()],
            "whether gradients are recorded": paddle.is_grad_enabled(),
            "the default dtype": paddle.get_default_dtype(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Put it back."""
        paddle.set_rng_state([it.own for it in state["the random state"]])
        paddle.set_grad_enabled(state["whether gradients are recorded"])
        paddle.set_default_dtype(state["the default dtype"])

    def fill(self, array: paddle.Tensor, values: np.ndarray) -> None:
        """Overwrite the tensor's values."""
        with paddle.no_grad():
            paddle.assign(self.array(values, self.dtype(array)), array)


@dataclass(frozen=True)
class _RandomState:
    """A generator's state; Paddle's own is never equal to another."""

    words: tuple[str, ...]
    own: Any = field(compare=False)

    @classmethod
    def of(cls, own: Any) -> _RandomState:
        """Return a state with its numbers, without its place in memory."""
        return cls(tuple(word for word in str(own).split() if not word.startswith("0x")), own)


def _leaf(x: paddle.Tensor) -> paddle.Tensor:
    """Return a tensor of the same memory that gradients are asked in."""
    leaf = x.detach()
    leaf.stop_gradient = False
    return leaf


def _differentiable(x: paddle.Tensor) -> paddle.Tensor:
    """Return the tensor on a tape, as a node of its own: it may be the cotangent as well."""
    return _leaf(x) if x.stop_gradient else paddle.assign(x)


def _or_zeros(slopes: Any, at: list[paddle.Tensor]) -> Arrays:
    return tuple(paddle.zeros_like(x) if s is None else s for x, s in zip(at, slopes, strict=True))


def _strided(x: paddle.Tensor) -> paddle.Tensor:
    """Return every second entry of a larger tensor along each axis, its axes stored reversed."""
    larger = paddle.full([2 * n + 1 for n in reversed(x.shape)], np.nan, dtype=x.dtype)
    view = larger[tuple(slice(1, None, 2) for _ in x.shape)].transpose([*range(x.ndim)][::-1])
    view[...] = x
    return view


def _in_wider_rows(x: paddle.Tensor) -> paddle.Tensor:
    """Return the first entries of the rows of a wider tensor."""
    wider = paddle.full([*x.shape[:-1], x.shape[-1] + 3], np.nan, dtype=x.dtype)
    view = wider[..., : x.shape[-1]]
    view[...] = x
    return view


def _of_every_second_row(x: paddle.Tensor) -> paddle.Tensor:
    """Return every second row of a tensor of twice the length."""
    longer = paddle.full([2 * x.shape[0], *x.shape[1:]], np.nan, dtype=x.dtype)
    view = longer[::2]
    view[...] = x
    return view


def _expanded(x: paddle.Tensor) -> paddle.Tensor:
    """Return the tensor with the first row for every row, without memory of their own."""
    return x[:1].clone().expand(x.shape)
