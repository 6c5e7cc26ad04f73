"""The ways to differentiate a layer, as compositions of an adapter's vjp and jvp."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from verify.conform.adapters import Adapter, NotOffered
from verify.conform.subject import Subject

Arrays = Mapping[str, Any]
Outputs = dict[str, Any]


@dataclass(frozen=True)
class Mode:
    """A way to differentiate.

    ``compute`` takes the adapter, the subject, arrays by name and eps, and returns outputs by
    name; ``answers`` names the closed form for each output.
    """

    name: str
    compute: Callable[[Adapter, Subject, Arrays, float], Outputs]
    answers: Mapping[str, str]
    order: int


def _layer(subject: Subject, eps: float) -> Callable[..., Any]:
    return lambda x, gamma, beta: subject.layer(x, gamma, beta, eps)


def _at(arrays: Arrays) -> tuple[Any, ...]:
    return arrays["x"], arrays["gamma"], arrays["beta"]


def _along(arrays: Arrays) -> tuple[Any, ...]:
    return arrays["u"], arrays["a"], arrays["b"]


def _forward(_: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    return {"z": subject.layer(*_at(arrays), eps)}


def _gradient(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    slopes = adapter.vjp(_layer(subject, eps), _at(arrays), arrays["g"])
    return dict(zip(("x", "gamma", "beta"), slopes, strict=True))


def _own_gradient(_: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    if subject.backward is None:
        raise NotOffered("no backward was given")
    slopes = subject.backward(arrays["g"], *_at(arrays), eps)
    return dict(zip(("x", "gamma", "beta"), slopes, strict=True))


def _jvp(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    return {"z": adapter.jvp(_layer(subject, eps), _at(arrays), _along(arrays))}


def _own_jvp(_: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    if subject.jvp is None:
        raise NotOffered("no jvp was given")
    return {"z": subject.jvp(*_at(arrays), eps, *_along(arrays))}


def _reverse_over_reverse(
    adapter: Adapter, subject: Subject, arrays: Arrays, eps: float
) -> Outputs:
    layer = _layer(subject, eps)

    def slopes(x: Any, gamma: Any, beta: Any, g: Any) -> Any:
        return adapter.vjp(layer, (x, gamma, beta), g)

    found = adapter.vjp(slopes, (*_at(arrays), arrays["g"]), _along(arrays))
    return {"x": found[0], "gamma": found[1], "g": found[3]}


def _forward_over_reverse(
    adapter: Adapter, subject: Subject, arrays: Arrays, eps: float
) -> Outputs:
    layer, g = _layer(subject, eps), arrays["g"]
    found = adapter.jvp(lambda *inputs: adapter.vjp(layer, inputs, g), _at(arrays), _along(arrays))
    return {"x": found[0], "gamma": found[1]}


def _reverse_over_forward(
    adapter: Adapter, subject: Subject, arrays: Arrays, eps: float
) -> Outputs:
    layer = _layer(subject, eps)

    def moved(x: Any, gamma: Any, beta: Any, *along: Any) -> Any:
        return adapter.jvp(layer, (x, gamma, beta), along)

    found = adapter.vjp(moved, (*_at(arrays), *_along(arrays)), arrays["g"])
    return {"x": found[0], "gamma": found[1], "u": found[3], "a": found[4]}


def _forward_over_forward(
    adapter: Adapter, subject: Subject, arrays: Arrays, eps: float
) -> Outputs:
    layer, along = _layer(subject, eps), _along(arrays)
    second = arrays["w"], arrays["c"], arrays["b"]
    found = adapter.jvp(lambda *inputs: adapter.jvp(layer, inputs, along), _at(arrays), second)
    return {"z": found}


def _third(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    layer, along, g = _layer(subject, eps), _along(arrays), arrays["g"]

    def slopes(*inputs: Any) -> Any:
        return adapter.vjp(layer, inputs, g)

    def bent(*inputs: Any) -> Any:
        return adapter.vjp(slopes, inputs, along)

    found = adapter.vjp(bent, _at(arrays), along)
    return {"x": found[0], "gamma": found[1]}


FORWARD = Mode("forward", _forward, {"z": "z"}, 0)
_SLOPES = {"x": "x", "gamma": "gamma", "beta": "beta"}
_BENT = {"x": "hx", "gamma": "hgamma"}
MODES = (
    FORWARD,
    Mode("gradient", _gradient, _SLOPES, 1),
    Mode("own gradient", _own_gradient, _SLOPES, 1),
    Mode("jvp", _jvp, {"z": "dz"}, 1),
    Mode("own jvp", _own_jvp, {"z": "dz"}, 1),
    Mode("second rr", _reverse_over_reverse, {**_BENT, "g": "dz"}, 2),
    Mode("second fr", _forward_over_reverse, _BENT, 2),
    Mode("second rf", _reverse_over_forward, {**_BENT, "u": "x", "a": "gamma"}, 2),
    Mode("second ff", _forward_over_forward, {"z": "ddz"}, 2),
    Mode("third", _third, {"x": "tx", "gamma": "tgamma"}, 3),
)
"""Names of two letters: the outer mode, then the inner; r is reverse and f is forward."""


def by_name(name: str) -> Mode:
    """Return the mode of that name."""
    return next(mode for mode in MODES if mode.name == name)
