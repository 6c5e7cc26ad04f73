"""PyTorch: reverse mode by its tape, forward mode by dual tensors, both nested."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch._functorch import config
from torch.autograd import forward_ad

from verify.conform import modules
from verify.conform.adapters import AdapterError, Arrays, NotOffered, recorded, several
from verify.conform.custom_functions import refuse_another_derivative, refuse_forward_over_forward
from verify.conform.subject import Subject


def adapter(device: str = "") -> Torch:
    """Return PyTorch's adapter for a device: "cpu", "cuda", "cuda:1", "mps"."""
    return Torch(device or "cpu")


_Z = "layer(x, gamma, beta, eps)"
_SLOPES = f"slopes = grad({_Z}, (x, gamma, beta), g, create_graph=True, materialize_grads=True)\n"
_DUAL = "with ad.dual_level(): p = [*map(ad.make_dual, (x, gamma, beta), (u, a, b))]; "
CODE = {
    "forward": f"found = ({_Z},)",
    "gradient": f"found = grad({_Z}, (x, gamma, beta), g, materialize_grads=True)",
    "recorded gradient": f"{_SLOPES}found = slopes",
    "jvp": (
        f"{_DUAL}q = (x, gamma, beta); moved = lambda *r: ad.unpack_dual(layer(*r, eps)).tangent; "
        "apart = [moved(*q[:i], p[i], *q[i + 1 :]) for i in range(3)]; "
        "found = (moved(*p), sum(t for t in apart if t is not None))"
    ),
    "second rr": (
        f"{_SLOPES}again = lambda i, j: grad(slopes[i:j], (x, gamma, beta, g), (u, a, b)[i:j], "
        "retain_graph=True, materialize_grads=True); "
        "apart = [p + q for p, q in zip(again(0, 1), again(1, 3))]; "
        f"fixed = grad({_Z}, (x, gamma, beta), g.detach(), create_graph=True, "
        "materialize_grads=True); "
        "kept = [(t, c) for t, c in zip(fixed, (u, a, b)) if t.requires_grad]; "
        "penalty = grad([t for t, _ in kept], (x, gamma), [c for _, c in kept], "
        "materialize_grads=True)\n"
        "found = [*again(0, 3), *apart[:2], apart[3], *penalty]"
    ),
    "second fr": (
        f"{_DUAL}slopes = grad(layer(*p, eps), p, g, create_graph=True, materialize_grads=True); "
        "found = [ad.unpack_dual(slope).tangent for slope in slopes]"
    ),
    "second rf": (
        f"{_DUAL}found = grad(ad.unpack_dual(layer(*p, eps)).tangent, "
        "(x, gamma, beta, u, a, b), g, materialize_grads=True)"
    ),
    "second ff": (
        "moved = lambda *p: torch.func.jvp(lambda *q: layer(*q, eps), p, (u, a, b))[1]\n"
        "found = (torch.func.jvp(moved, (x, gamma, beta), (w, c, b))[1],)"
    ),
    "third": (
        f"{_SLOPES}bent = grad(slopes, (x, gamma, beta), (u, a, b), create_graph=True, "
        "allow_unused=True); "
        "kept = [(t, c) for t, c in zip(bent, (u, a, b)) if t is not None and t.requires_grad]\n"
        "found = grad([t for t, _ in kept], (x, gamma, beta), [c for _, c in kept], "
        "materialize_grads=True)"
    ),
}
"""Lines of a script that take each mode's outputs from tensors."""
REFUSALS = (
    r"forward AD|functorch|vmap|setup_context",
    r"differentiate twice|double backward|derivative for .* is not implemented",
    r"use_reentrant=True|more than one element of the written-to tensor",
    r"numpy\(\) on Tensor that requires grad|Tensor that doesn't have storage",
)
"""What PyTorch says where it lacks a mode, or where a layer leaves it."""
STORED = {
    "channels last": (
        "lambda t: t.contiguous("
        "memory_format=torch.channels_last if t.ndim == 4 else torch.channels_last_3d)"
    ),
    "non-contiguous": (
        "lambda t: torch.stack([t.permute(*range(t.ndim)[::-1])] * 2, -1)[..., 0]"
        ".permute(*range(t.ndim)[::-1])"
    ),
    "expanded": "lambda t: t[:1].expand(t.shape)",
    "rows of a wider array": "lambda t: torch.cat([t, t[..., :1]], -1)[..., :-1]",
    "every second row": "lambda t: t.repeat_interleave(2, 0)[::2]",
    "transposed": "lambda t: t.mT.contiguous().mT",
    "offset": "lambda t: torch.cat([t.flatten()[:1], t.flatten()])[1:].view(t.shape)",
    "one number": "lambda t: t.flatten()[0].expand(t.shape)",
}
"""Functions of a script that store a tensor's numbers in each way."""


ON_GPU = "the random state of the GPU"
MATMUL = "how exactly float32 is multiplied"
DETERMINISM = "whether all is deterministic", "whether only a warning says so"


class Torch:
    """PyTorch's arrays and derivatives on one device."""

    name = "torch"
    version = torch.__version__
    dtypes = ("float64", "float32", "bfloat16", "float16")
    code = CODE
    stored = STORED
    refusals = REFUSALS

    def __init__(self, device: str):
        self.device = device
        self._is_on_gpu = device.startswith("cuda")
        there = "" if device == "cpu" else f", device={device!r}"
        self.imports = (
            "import torch; from torch.autograd import forward_ad as ad, grad; array = lambda v: "
            f"torch.tensor(v, dtype=torch.{{dtype}}, requires_grad=True{there}); "
            "numpy = lambda t: t.detach().cpu().double().numpy()"
        )
        try:
            torch.zeros(1, device=device)
        except (RuntimeError, AssertionError, NotImplementedError) as error:
            reason = str(error).strip().splitlines()[0]
            raise AdapterError(
                f"PyTorch cannot use the device {device!r} here ({reason}); leave --device out "
                "for the CPU"
            ) from None
        self._level = ""
        self._depth = 0
        """In so many functions that are being differentiated."""

    def array(self, values: np.ndarray, dtype: str) -> torch.Tensor:
        """Return a tensor of its own memory."""
        return torch.tensor(values, dtype=getattr(torch, dtype), device=self.device)

    def numpy(self, array: torch.Tensor) -> np.ndarray:
        """Return the values in float64."""
        return array.detach().to("cpu", torch.float64).numpy().copy()

    def dtype(self, array: torch.Tensor) -> str:
        """Return the dtype without its module."""
        return str(array.dtype).removeprefix("torch.")

    def vjp(self, function: Callable[..., Any], inputs: Arrays, cotangent: Any) -> Arrays:
        """Return gradients that can be differentiated again."""
        if self._level == "vmap":
            return tuple(torch.func.vjp(function, *inputs)[1](cotangent))
        at = [_differentiable(x) for x in inputs]
        value = self._differentiated(function, *at)
        if self._depth:
            refuse_another_derivative(value)
        parts, cotangents = recorded(value, cotangent, self.is_recorded)
        if not parts:
            return tuple(map(torch.zeros_like, at))
        slopes = torch.autograd.grad(parts, at, cotangents, create_graph=True, allow_unused=True)
        return _or_zeros(slopes, at)

    def backward(
        self, function: Callable[..., Any], inputs: Arrays, cotangent: torch.Tensor
    ) -> Arrays:
        """Return the gradients of ``backward()``, which a reentrant checkpoint asks for."""
        at = [x.detach().requires_grad_() for x in inputs]
        value = function(*at)
        if value.requires_grad:
            value.backward(cotangent)
        return _or_zeros([x.grad for x in at], at)

    def vjp_again(
        self, function: Callable[..., Any], inputs: Arrays, cotangents: Arrays
    ) -> list[Arrays]:
        """Return the gradients of several backward passes through one forward pass."""
        at = [x.detach().requires_grad_() for x in inputs]
        value = function(*at)
        if not value.requires_grad:
            return [tuple(map(torch.zeros_like, at))] * len(cotangents)
        slopes = [
            torch.autograd.grad(value, at, g, retain_graph=True, allow_unused=True)
            for g in cotangents
        ]
        return [_or_zeros(each, at) for each in slopes]

    def jvp(self, function: Callable[..., Any], inputs: Arrays, tangents: Arrays) -> Any:
        """Return the tangent of the value.

        Dual tensors pass through reverse mode and through every custom function that has a jvp,
        but do not nest; where a function turns out to ask for a tangent itself, both levels are
        functorch's.
        """
        if self._level == "dual":
            raise _ForwardInForward(function, inputs)
        if self._level == "functorch":
            return torch.func.jvp(function, inputs, tangents)[1]
        try:
            with self._at("dual"), forward_ad.dual_level():
                duals = [forward_ad.make_dual(x, t) for x, t in zip(inputs, tangents, strict=True)]
                found = _each(_tangent, self._differentiated(function, *duals))
                if _has_compiled():
                    with torch.compiler.set_stance("force_eager"):
                        eager = _each(_tangent, self._differentiated(function, *duals))
                    _refuse_dropped(several(found), several(eager))
                return found
        except _ForwardInForward as inner:
            refuse_forward_over_forward(inner.function(*map(_differentiable, inner.inputs)))
            with self._at("functorch"):
                return torch.func.jvp(function, inputs, tangents)[1]

    def compile(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function compiled, so that its gradients can be taken more than once."""
        config.donated_buffer = False
        return torch.compile(function)

    def vmap(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function over a new first axis of its arguments."""

        def mapped(*arguments: Any) -> Any:
            with self._at("vmap"):
                return torch.func.vmap(function)(*arguments)

        return mapped

    def without_gradient(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, called where nothing is recorded."""
        return torch.no_grad()(function)

    def layouts(self) -> dict[str, Callable[[torch.Tensor], torch.Tensor]]:
        """Return ways to store the same values."""
        return {
            "channels last": _channels_last,
            "non-contiguous": _strided,
            "expanded": _expanded,
            "rows of a wider array": _in_wider_rows,
            "every second row": _of_every_second_row,
            "transposed": _transposed,
            "offset": _with_offset,
            "one number": _of_one_number,
        }

    def is_recorded(self, array: torch.Tensor) -> bool:
        """Whether a tensor is kept on a tape."""
        return array.requires_grad

    def add_one(self, array: torch.Tensor) -> torch.Tensor:
        """Return the tensor, changed in place."""
        return array.add_(1)

    def shares(self, one: torch.Tensor, other: torch.Tensor) -> bool:
        """Whether what is written to one tensor may change the other."""
        return one.untyped_storage().data_ptr() == other.untyped_storage().data_ptr()

    def state(self) -> dict[str, Any]:
        """Return what a layer must leave as it was, by what it is called."""
        of_gpu = {ON_GPU: torch.cuda.get_rng_state(self.device)} if self._is_on_gpu else {}
        return of_gpu | {
            "the random state": torch.get_rng_state(),
            "whether gradients are recorded": torch.is_grad_enabled(),
            "the default dtype": torch.get_default_dtype(),
            "the number of threads": torch.get_num_threads(),
            MATMUL: _precision_of_products(),
            **dict(zip(DETERMINISM, _determinism(), strict=True)),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Put it back."""
        torch.set_rng_state(state["the random state"])
        if ON_GPU in state:
            torch.cuda.set_rng_state(state[ON_GPU], self.device)
        torch.set_grad_enabled(state["whether gradients are recorded"])
        torch.set_default_dtype(state["the default dtype"])
        torch.set_num_threads(state["the number of threads"])
        if state[MATMUL]:
            torch.set_float32_matmul_precision(state[MATMUL])
        before = [state[name] for name in DETERMINISM]
        if before != _determinism():  # to set it imports the compiler
            torch.use_deterministic_algorithms(before[0], warn_only=before[1])

    def fill(self, array: torch.Tensor, values: np.ndarray) -> None:
        """Overwrite the tensor's values."""
        with torch.no_grad():
            array.copy_(self.array(values, self.dtype(array)))

    def recognises(self, target: Any) -> bool:
        """Whether a target is a layer of PyTorch's."""
        return isinstance(target, torch.nn.Module)

    def wrap(self, target: Any, name: str, family: str, groups: int = 1) -> Subject:
        """Return a class with the arguments of torch.nn's, or a layer of one, as functions."""
        return modules.wrap(target, name, family, self.device, groups)

    def _differentiated(self, function: Callable[..., Any], *inputs: Any) -> Any:
        """Return a function's value, called as one that is being differentiated."""
        self._depth += 1
        try:
            return function(*inputs)
        finally:
            self._depth -= 1

    @contextmanager
    def _at(self, level: str) -> Iterator[None]:
        before, self._level = self._level, level
        try:
            yield
        finally:
            self._level = before


def _tangent(dual: torch.Tensor) -> torch.Tensor:
    value, tangent = forward_ad.unpack_dual(dual)
    return torch.zeros_like(value) if tangent is None else tangent


def _has_compiled() -> bool:
    """Whether torch.compile has made a graph of anything in this process."""
    dynamo = sys.modules.get("torch._dynamo.utils")
    return dynamo is not None and dynamo.counters["stats"]["unique_graphs"] > 0


def _refuse_dropped(found: Arrays, eager: Arrays) -> None:
    """Refuse tangents that are others where nothing is compiled.

    Raises:
        NotOffered: they are.
    """
    for tangent, expected in zip(found, eager, strict=True):
        size = float(expected.detach().nan_to_num().abs().amax())
        if not torch.allclose(tangent, expected, rtol=0.01, atol=0.01 * size, equal_nan=True):
            raise NotOffered(
                "could not be examined in forward mode, because what torch.compile makes of a "
                "function drops its tangent, x**2's too"
            )


def _determinism() -> list[bool]:
    warns = torch.is_deterministic_algorithms_warn_only_enabled()
    return [torch.are_deterministic_algorithms_enabled(), warns]


def _precision_of_products() -> str:
    """Return PyTorch's word for it; none where backends were told apart, which has no one word."""
    try:
        return torch.get_float32_matmul_precision()
    except RuntimeError:
        return ""


def _or_zeros(slopes: Iterable[torch.Tensor | None], at: Iterable[torch.Tensor]) -> Arrays:
    return tuple(torch.zeros_like(x) if s is None else s for x, s in zip(at, slopes, strict=True))


def _differentiable(x: torch.Tensor) -> torch.Tensor:
    """Return the tensor on a tape; ``detach`` alone would drop a tangent."""
    if x.requires_grad:
        return x
    tangent = forward_ad.unpack_dual(x).tangent if forward_ad._current_level >= 0 else None
    leaf = x.detach().requires_grad_()
    return leaf if tangent is None else forward_ad.make_dual(leaf, tangent)


class _ForwardInForward(Exception):  # noqa: N818
    """A forward derivative asked for inside another, of what and where."""

    def __init__(self, function: Callable[..., Any], inputs: Arrays):
        super().__init__()
        self.function, self.inputs = function, inputs


def _each(function: Callable[[Any], Any], value: Any) -> Any:
    return tuple(map(function, value)) if isinstance(value, tuple) else function(value)


def _channels_last(x: torch.Tensor) -> torch.Tensor:
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    if x.ndim not in formats:
        raise NotOffered(f"channels last is for maps, not for {x.ndim} axes")
    return x.contiguous(memory_format=formats[x.ndim])


def _strided(x: torch.Tensor) -> torch.Tensor:
    """Return every second entry of a larger tensor along each axis, its axes stored reversed."""
    larger = x.new_full([2 * n + 1 for n in reversed(x.shape)], torch.nan)
    view = larger[tuple(slice(1, None, 2) for _ in x.shape)].permute(*reversed(range(x.ndim)))
    return view.copy_(x)


def _in_wider_rows(x: torch.Tensor) -> torch.Tensor:
    """Return the first entries of the rows of a wider tensor."""
    wider = x.new_full((*x.shape[:-1], x.shape[-1] + 3), torch.nan)
    return wider[..., : x.shape[-1]].copy_(x)


def _of_every_second_row(x: torch.Tensor) -> torch.Tensor:
    """Return every second row of a tensor of twice the length."""
    longer = x.new_full((2 * x.shape[0], *x.shape[1:]), torch.nan)
    return longer[::2].copy_(x)


def _transposed(x: torch.Tensor) -> torch.Tensor:
    """Return a dense tensor whose last two axes are stored the other way round."""
    return x.mT.contiguous().mT


def _with_offset(x: torch.Tensor) -> torch.Tensor:
    """Return a contiguous tensor that does not begin where its memory does."""
    return x.new_full((x.numel() + 1,), torch.nan)[1:].view(x.shape).copy_(x)


def _of_one_number(x: torch.Tensor) -> torch.Tensor:
    """Return the first entry for every one, as the cotangent of a sum is stored."""
    return x.flatten()[0].clone().expand(x.shape)


def _expanded(x: torch.Tensor) -> torch.Tensor:
    """Return the tensor with the first row for every row, without memory of their own."""
    return x[:1].clone().expand(x.shape)
