"""The layer under examination, as functions of arrays."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

from verify.conform.adapters import Adapter, known
from verify.conform.arguments import AS_THEY_ARE, ROLES, Arguments, Function, arguments
from verify.targets import TargetError

FAMILIES = ("batch", "layer", "group", "instance", "rms")


@dataclass(frozen=True)
class Subject:
    """A layer as functions of arrays; only the first is needed.

    gamma and beta have shape ``(channel,)``; eps and momentum are Python floats; the rest are
    arrays of the framework.
    """

    name: str
    layer: Function
    """(x, gamma, beta, eps) -> z"""
    backward: Function | None = None
    """(g, x, gamma, beta, eps) -> dx, dgamma, dbeta"""
    backward_after: Function | None = None
    """The same, where its forward was followed by another on the numbers of a first argument."""
    jvp: Function | None = None
    """(x, gamma, beta, eps, dx, dgamma, dbeta) -> dz"""
    train: Function | None = None
    """(x, gamma, beta, mean, variance, momentum, eps) -> z, mean, variance"""
    evaluate: Function | None = None
    """(x, gamma, beta, mean, variance, eps) -> z"""
    untracked: Function | None = None
    """(x, gamma, beta, eps) -> z, in evaluation where no running statistics are kept"""
    layouts: tuple[str, ...] = ()
    """The axes that it takes, like "NC" and "NCHW"; none: found by trying."""
    fixed_eps: float | None = None
    """The eps of a layer that does not let one choose; NaN: to be found from its outputs."""
    like: str | None = None
    """Whose conventions it promises; None: inferred."""
    is_affine: bool = True
    """Whether gamma and beta are given; without, they are None."""
    has_shift: bool = True
    """Whether beta is used."""
    may_lack_gamma: bool = False
    """Whether gamma may be None where beta is given."""
    eps_is_single: bool = False
    """Whether its interface holds eps as a float32, so that it is given no other."""
    groups: int = 1
    source: Any = None
    """What the layer was made of, where it is not the layer itself."""
    script: str = ""
    """Lines that make ``layer`` in a reproduction; none: an import of the name."""
    call: str = AS_THEY_ARE.call
    """What is imported is called with these arguments of x, gamma, beta and eps."""


def subject(
    target: Any, name: str, adapter: Adapter, family: str = "batch", groups: int = 1
) -> Subject:
    """Return what a target is, as a subject.

    Args:
        target: a Subject, a function, a module or namespace of functions, or a framework's layer.
        name: how the target was named, for the report.
        adapter: the framework's.
        family: one of :data:`FAMILIES`.
        groups: of channels, where a class is to be made with them.

    Raises:
        TargetError: it is none of these.
    """
    if isinstance(target, Subject):
        return target
    if inspect.isclass(target) or _is_a_layer(target, adapter):
        wrap = getattr(adapter, "wrap", None)
        if wrap is None:
            raise TargetError(
                f"{name} is of type {type(target).__name__}, and the adapter {adapter.name!r} "
                "makes no functions of its framework's layers; give a function "
                "layer(x, gamma, beta, eps)"
            )
        return wrap(target, name, family, groups)
    layer = target if inspect.isroutine(target) else _member(target, "layer", "forward")
    if layer is None and callable(target):
        layer = target
    if layer is None:
        raise TargetError(
            f"{name} is of type {type(target).__name__}; expected a function "
            "layer(x, gamma, beta, eps) -> z, a class with torch.nn.BatchNorm2d's arguments, or a "
            "file or namespace with a function forward"
        )
    space = None if inspect.isroutine(target) else target
    backward = _member(space, "backward")
    jvp = _member(space, "jvp")
    taken = _taken(layer, name, family)
    called = layer if taken.call == AS_THEY_ARE.call else taken.of(layer)
    straight, later = _backwards(called, backward) if backward else (None, None)
    return Subject(
        name,
        lambda *inputs: first_of(called(*inputs)),
        backward=straight,
        backward_after=later,
        jvp=_jvp(taken, jvp) if jvp else None,
        train=_member(space, "train"),
        evaluate=_member(space, "evaluate"),
        fixed_eps=None if "eps" in taken else float("nan"),
        has_shift="beta" in taken,
        may_lack_gamma="gamma" in taken.optional and "beta" in taken,
        source=target,
        call=taken.call,
    )


def framework_of(target: Any) -> str:
    """Return the framework whose module a target's module has imported, NumPy where none."""
    names = {name for name in known() if name != "numpy"}
    return next((name for name in _modules_seen_by(target) if name in names), "numpy")


def bare(target: Any) -> Any:
    """Return the function of a partial one, and anything else as it is."""
    return bare(target.func) if isinstance(target, partial) else target


def _modules_seen_by(target: Any) -> list[str]:
    target = bare(target)
    if isinstance(target, Subject):
        return _modules_seen_by(target.layer)
    if isinstance(target, SimpleNamespace):
        return [name for member in vars(target).values() for name in _modules_seen_by(member)]
    home = inspect.getmodule(target) if not isinstance(target, ModuleType) else target
    own = [] if home is None else [home.__name__.partition(".")[0]]
    space = getattr(inspect.unwrap(target) if callable(target) else target, "__globals__", None)
    values = (space if space is not None else vars(home) if home else {}).values()
    modules = [v.__name__ if isinstance(v, ModuleType) else _home_of(v) for v in values]
    bases = [base.__module__ for base in getattr(target, "__mro__", type(target).__mro__)]
    return [name.partition(".")[0] for name in [*own, *bases, *modules]]


def _home_of(value: Any) -> str:
    return str(getattr(value, "__module__", "")) if callable(value) else ""


def _is_a_layer(target: Any, adapter: Adapter) -> bool:
    """Whether a target is an object of the framework's, like a torch.nn.Module."""
    has_functions = isinstance(target, ModuleType) or inspect.isroutine(target)
    recognised = getattr(adapter, "recognises", None)
    return not has_functions and recognised is not None and bool(recognised(target))


def _member(target: Any, *names: str) -> Function | None:
    found = (getattr(target, name, None) for name in names)
    return next((f for f in found if callable(f)), None)


def _taken(layer: Function, name: str, family: str) -> Arguments:
    """Return what a layer takes.

    Raises:
        TargetError: it cannot be told, or there is no gamma, or no beta where the family has one.
    """
    found = arguments(layer)
    if found is None or "x" not in found or "gamma" not in found:
        raise TargetError(
            f"{name} takes {inspect.signature(layer)}; expected x, gamma, beta and eps, by these "
            "names where the order is another"
        )
    if "beta" not in found and family != "rms":
        raise TargetError(
            f"{name} takes {inspect.signature(layer)}, without beta; an RMS normalisation is "
            f"examined by --family rms, a layer of the family {family} takes an argument beta"
        )
    return found


def first_of(output: Any) -> Any:
    """Return z of what a layer returns: memory for its backward or a residual may stand behind."""
    return output[0] if isinstance(output, tuple) else output


def _backwards(layer: Function, backward: Function) -> tuple[Function, Function]:
    """Return (g, x, gamma, beta, eps) -> gradients, straight after its forward and later.

    The second takes others first, with which the layer is called for x before the backward.
    """
    gradients = _gradients(backward)

    def straight(g: Any, *inputs: Any) -> Any:
        return gradients(layer(*inputs), g, *inputs)

    def later(others: Any, g: Any, x: Any, *rest: Any) -> Any:
        value = layer(x, *rest)
        layer(others, *rest)
        return gradients(value, g, x, *rest)

    return straight, later


def _gradients(backward: Function) -> Function:
    """Return (what forward returned, g, x, gamma, beta, eps) -> gradients."""
    if len(inspect.signature(backward).parameters) <= 2:
        return lambda value, g, *_: backward(g, _cache(value))
    taken = arguments(backward, after=1)
    if taken is None:
        raise TargetError(
            f"backward takes {inspect.signature(backward)}; expected (g, cache), where forward "
            "returns (z, cache), or (g, x, gamma, beta, eps), by these names"
        )
    return lambda _, g, *inputs: taken.of(partial(backward, g))(*inputs)


def _jvp(taken: Arguments, jvp: Function) -> Function:
    """Return (x, gamma, beta, eps, dx, dgamma, dbeta) -> dz, for a jvp of what the layer takes."""
    roles = [role for role in ROLES if role in taken]
    names = [*roles, *(f"d{role}" for role in roles if role != "eps")]
    if len(inspect.signature(jvp).parameters) != len(names):
        return jvp
    every = (*ROLES, "dx", "dgamma", "dbeta")

    def tangent(*values: Any) -> Any:
        given = dict(zip(every, values, strict=True))
        return jvp(*(given[name] for name in names))

    return tangent


def _cache(value: Any) -> Any:
    if not isinstance(value, tuple):
        raise TypeError(
            "backward takes (g, cache), but forward returns no pair (z, cache); return one, "
            "or let backward take (g, x, gamma, beta, eps)"
        )
    return value[1]
