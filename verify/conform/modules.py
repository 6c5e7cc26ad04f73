"""A torch.nn.Module with the arguments of torch.nn.BatchNorm2d (or of its family), as functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.func import functional_call

from verify.conform.adapters import NotOffered
from verify.conform.installed import path_to
from verify.conform.subject import Subject, first_of
from verify.targets import TargetError

SCALES = ("weight", "gamma", "scale")
SHIFTS = ("bias", "beta", "shift", "offset")
EPS = ("eps", "epsilon", "variance_epsilon")
OF_FAMILY = {
    "batch": torch.nn.BatchNorm2d,
    "layer": torch.nn.LayerNorm,
    "group": torch.nn.GroupNorm,
    "instance": torch.nn.InstanceNorm2d,
    "rms": torch.nn.RMSNorm,
}
"""Whose arguments the modules of a family take."""
Tensor = torch.Tensor


def wrap(target: Any, name: str, family: str, device: str, groups: int = 1) -> Subject:
    """Return a class, or a layer of one, as a subject.

    A layer's own eps and groups are kept; its width and parameters are those of each case.

    Raises:
        TargetError: it cannot be constructed, has no parameters to set, or other groups of its own.
    """
    layer = None if inspect.isclass(target) else target
    cls = target if layer is None else type(target)
    if not issubclass(cls, torch.nn.Module):
        raise TargetError(f"{name} is a class, but no torch.nn.Module; give a function or a module")
    own_groups = int(getattr(layer, "num_groups", groups))
    if groups not in (1, own_groups):
        raise TargetError(
            f"{name} has num_groups = {own_groups} of its own, not {groups}; leave --groups out, "
            "or name its class"
        )
    made = _Modules(cls, family, device, own_groups)
    is_batch = family == "batch"
    return Subject(
        name,
        made.layer,
        train=made.train if is_batch else None,
        evaluate=made.evaluate if is_batch else None,
        untracked=made.untracked if made.may_be_untracked() else None,
        fixed_eps=_own_eps(layer, cls, family),
        like="torch",
        has_shift=made.has_shift(),
        source=cls,
        script=_script(cls, family, own_groups),
        groups=own_groups,
    )


def _own_eps(layer: Any, cls: type[torch.nn.Module], family: str) -> float | None:
    """Return the eps of a layer; None where one may be chosen, NaN where it is not known."""
    own = (getattr(layer, name, None) for name in EPS)
    known = [float(eps) for eps in own if eps is not None]
    is_chosen = bool(_arguments(cls, family, dict.fromkeys(EPS)))
    return known[0] if known else None if is_chosen else float("nan")


def _script(cls: type[torch.nn.Module], family: str, groups: int) -> str:
    """Return a line that makes ``layer``; ``$channels``, ``$eps``, ``$dtype`` are filled in."""
    offered = {
        **dict.fromkeys(EPS, "$eps"),
        "affine": "True",
        "track_running_stats": "False",
    }
    taken = "".join(f", {name}={value}" for name, value in _arguments(cls, family, offered).items())
    sizes = f"{groups}, $channels" if family == "group" else "$channels"
    return (
        f"{path_to(cls.__module__)}from {cls.__module__} import {cls.__name__}; "
        f"module = {cls.__name__}({sizes}{taken}).to(dtype=torch.$dtype); "
        "called = lambda x, gamma, beta: torch.func.functional_call(module, {k: v.view_as(p) "
        "for (k, p), v in zip(module.named_parameters(), (gamma, beta))}, (x,)); "
        "first = lambda z: z[0] if isinstance(z, tuple) else z; "
        "layer = lambda x, gamma, beta, eps: first(called(x, gamma, beta))"
    )


@dataclass
class _Modules:
    """Modules of one class, made when a width or an eps is first met."""

    cls: type[torch.nn.Module]
    family: str
    device: str
    groups: int
    kept: dict[tuple[Any, ...], torch.nn.Module] = field(default_factory=dict)
    trained: torch.nn.Module | None = None
    """The module of the last step of training."""

    def layer(self, x: Tensor, gamma: Tensor | None, beta: Tensor | None, eps: float) -> Tensor:
        """Return the module's output on the batch's own statistics."""
        width = self._width(x, gamma)
        key = (width, eps, x.dtype, gamma is None)
        if key not in self.kept:
            self.kept[key] = self._made(x, width, eps, affine=gamma is not None, track=False)
        return _called(self.kept[key], x, gamma, beta)

    def train(
        self,
        x: Tensor,
        gamma: Tensor | None,
        beta: Tensor | None,
        mean: Tensor,
        variance: Tensor,
        momentum: float,
        eps: float,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the output of a step of training and the running statistics after it.

        Statistics that a step returned lead on to the next step of the same module.
        """
        affine, module = gamma is not None, self.trained
        if module is None or any(
            module.get_buffer(name) is not value
            for name, value in zip(_statistics(module), (mean, variance), strict=True)
        ):
            width = self._width(x, gamma)
            module = self._made(x, width, eps, affine, track=True, momentum=momentum)
            _used(module.eval(), x)
            module.train()
            for name, value in zip(_statistics(module), (mean, variance), strict=True):
                module.get_buffer(name).copy_(value)
        self.trained = module
        z = _called(module, x, gamma, beta)
        mean, variance = map(module.get_buffer, _statistics(module))
        return z, mean, variance

    def evaluate(
        self,
        x: Tensor,
        gamma: Tensor | None,
        beta: Tensor | None,
        mean: Tensor,
        variance: Tensor,
        eps: float,
    ) -> Tensor:
        """Return the output in evaluation; statistics that move are moved in the arguments."""
        affine = gamma is not None
        module = self._made(x, self._width(x, gamma), eps, affine, track=True)
        _used(module.eval(), x)
        _used(module.train(), x)
        _used(module.eval(), x)
        state = dict(zip(_statistics(module), (mean, variance), strict=True))
        for name, value in state.items():
            module.get_buffer(name).copy_(value.view_as(module.get_buffer(name)))
        # What a layer makes of its statistics it may make anew when they are loaded.
        module.load_state_dict(module.state_dict())
        z = _called(module, x, gamma, beta)
        for name, value in state.items():
            value.copy_(module.get_buffer(name).view_as(value))
        return z

    def untracked(self, x: Tensor, gamma: Tensor | None, beta: Tensor | None, eps: float) -> Tensor:
        """Return the output in evaluation of a module that keeps no statistics: by the batch's."""
        affine = gamma is not None
        module = self._made(x, self._width(x, gamma), eps, affine, track=False)
        return _called(module.eval(), x, gamma, beta)

    def may_be_untracked(self) -> bool:
        """Whether a module can be made that keeps no running statistics."""
        return bool(_arguments(self.cls, self.family, {"track_running_stats": False}))

    def has_shift(self) -> bool:
        """Whether a module has a second parameter."""
        module = self._made(torch.zeros(1, device=self.device), 4 * self.groups, 1e-5, True, False)
        return len(list(module.parameters())) > 1

    def _width(self, x: Tensor, gamma: Tensor | None) -> int:
        if gamma is not None:
            return len(gamma)
        return x.shape[-1] if self.family in ("layer", "rms") else x.shape[1]

    def _made(
        self, x: Tensor, width: int, eps: float, affine: bool, track: bool, momentum: float = 0.1
    ) -> torch.nn.Module:
        sizes = (self.groups, width) if self.family == "group" else (width,)
        offered = {
            **dict.fromkeys(EPS, eps),
            "momentum": momentum,
            "affine": affine,
            "elementwise_affine": affine,
            "track_running_stats": track,
        }
        taken = _arguments(self.cls, self.family, offered)
        try:
            with torch.random.fork_rng(devices=()):  # its parameters may be drawn
                module = self.cls(*sizes, **taken)
        except TypeError as error:
            raise TargetError(
                f"{self.cls.__name__} cannot be made with {sizes} and {', '.join(taken)}: {error}; "
                f"expected the arguments of torch.nn's {self.family} normalisation; for another "
                "one give --family"
            ) from error
        return module.to(self.device, x.dtype)


def _used(module: torch.nn.Module, x: Tensor) -> None:
    """Run a module before it is examined: what it remembers of that run must not matter."""
    with torch.no_grad(), suppress(Exception):
        module(x.clone())


def _arguments(cls: Callable[..., Any], family: str, offered: dict[str, Any]) -> dict[str, Any]:
    """Return those of the arguments that a class takes, or hands on to that of its family."""
    parameters = inspect.signature(cls).parameters
    names = set(parameters)
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        names |= set(inspect.signature(OF_FAMILY[family]).parameters)
    return {name: value for name, value in offered.items() if name in names}


def _called(
    module: torch.nn.Module, x: Tensor, gamma: Tensor | None, beta: Tensor | None
) -> Tensor:
    """Call a module with other parameters, which it keeps: a backward may compute it once more."""
    given = _parameters(module, gamma, beta)
    if torch.compiler.is_compiling() or any("." in name for name in given):
        z: Tensor = first_of(functional_call(module, given, (x,)))
        return z
    own = copy(module)
    own._parameters = {**module._parameters, **given}  # type: ignore[dict-item]
    z = first_of(own(x))
    module.__dict__.update({**vars(own), "_parameters": module._parameters})
    return z


def _parameters(
    module: torch.nn.Module, gamma: Tensor | None, beta: Tensor | None
) -> dict[str, Tensor]:
    """Return gamma and beta under the module's names for them; a missing shift is left out."""
    names = [name for name, _ in module.named_parameters()]
    scale = _first(names, SCALES)
    shift = _first([name for name in names if name != scale], SHIFTS)
    pairs = [(scale, gamma), (shift, beta)]
    given = {name: value for name, value in pairs if name is not None and value is not None}
    return {name: _in_shape_of(module, name, value) for name, value in given.items()}


def _in_shape_of(module: torch.nn.Module, name: str, value: Tensor) -> Tensor:
    """Return one number a channel as the module has them, as in the shape (1, channel, 1, 1)."""
    shape = module.get_parameter(name).shape
    if shape.numel() != value.numel():
        raise TargetError(
            f"{type(module).__name__} has the parameter {name} of shape {tuple(shape)}; expected "
            f"one number for each of {value.numel()} channels"
        )
    # A module's own parameters lie densely; a function's may not.
    return value.contiguous().view(shape)


def _statistics(module: torch.nn.Module) -> tuple[str, str]:
    """Return the names of the running mean and variance."""
    names = [name for name, _ in module.named_buffers()]
    mean = next((name for name in names if "mean" in name), None)
    variance = next((name for name in names if "var" in name), None)
    if mean is None or variance is None:
        raise NotOffered(
            f"{type(module).__name__} has no running statistics among its buffers "
            f"({', '.join(names) or 'none'})"
        )
    return mean, variance


def _first(names: list[str], wanted: tuple[str, ...]) -> str | None:
    by_name = [name for word in wanted for name in names if name == word]
    return next(iter([*by_name, *names[:1]]), None)
