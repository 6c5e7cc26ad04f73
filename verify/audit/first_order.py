"""One forward and backward pass, and what every layer is given and gives back in it.

A normalisation layer is measured while the gradient passes, by hooks on its input and output, so
that nothing is kept that the pass itself does not keep.  A hook on a tensor is given the gradient
of the value that the tensor then had, before an activation overwrote it in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from verify.audit import functional, normalizations, units
from verify.audit.errors import AuditError, raised_by
from verify.audit.maps import Gradients, Rows, cosine_of, gradients_of, is_other, rows_of
from verify.audit.maps import overridden as overridden_map
from verify.audit.normalizations import (
    Normalization,
    as_given_back,
    is_normalization,
    overridden,
)
from verify.audit.not_examined import OUTSIDE
from verify.audit.units import Units

Run = Callable[[], Tensor]
"""Runs the model on a batch and returns its loss."""
Modules = Mapping[str, nn.Module]
NOT_CALLED = "not called as a module"
WITHOUT_GRADIENTS = (
    "called without gradients, as by torch.no_grad or by torch.utils.checkpoint with"
    " use_reentrant=True; with use_reentrant=False it is examined"
)
NOTHING_LEARNS = "neither it nor what is before it learns, and no gradient is taken there"
NOT_NEEDED = "the loss does not depend on it"
WITHIN = (
    "its gradient is taken while the loss is computed; its row tells of what it is given alone, and"
    " no statement is examined there"
)


@dataclass
class FirstOrder:
    """What a forward and backward pass tells."""

    loss: float = float("nan")
    units: dict[str, list[Units]] = field(default_factory=dict)
    """Of each normalisation layer, the units of every call that has a gradient to come."""
    calls: dict[str, int] = field(default_factory=dict)
    """How often each normalisation layer ran, in the backward pass too."""
    gradients: dict[str, Gradients] = field(default_factory=dict)
    """Of each linear or convolution layer."""
    normalized_by: dict[str, str] = field(default_factory=dict)
    """The normalisation layer that a map's output goes straight into, by the map's name."""
    others: dict[str, str] = field(default_factory=dict)
    """What is said of layers that compute something else than their class."""
    useless_biases: frozenset[str] = frozenset()
    """The linear and convolution layers whose bias does nothing, or would."""
    functions: dict[str, str] = field(default_factory=dict)
    """The normalisation that is called as a function in a module, by the module's name."""
    called: dict[str, str] = field(default_factory=dict)
    """Why a layer that was called has no gradient, if it has none."""

    def why_not(self, name: str) -> str:
        """Return why a layer has neither units nor gradients."""
        return self.called.get(name, NOT_CALLED)


@dataclass
class _Call:
    normalization: Normalization
    y: Tensor
    running: tuple[Tensor, Tensor] | None
    version: int
    is_again: bool
    """Whether it is begun in the backward pass, which runs checkpointed parts again."""
    g: Tensor | None = None
    units: Units | None = None
    is_within: bool = False
    """Whether a gradient arrives while the loss is computed, as in one with a gradient in it."""
    hook: RemovableHandle = field(init=False)
    """On the gradient in y, by which the call is measured."""


def first_order(run: Run, model: nn.Module, norms: Modules, maps: Modules) -> FirstOrder:
    """Run forward and backward once, and measure.

    Raises:
        AuditError: the loss is no scalar, not finite, or depends on nothing that learns; or what a
            normalisation layer was given is overwritten afterwards.
    """
    names = {module: name or type(module).__name__ for name, module in model.named_modules()}
    seen = _Seen(FirstOrder(calls=dict.fromkeys(norms, 0)), names, maps)
    with hooked(norms, seen.given, seen.gave), hooked(maps, None, seen.mapped):
        with functional.followed(model, seen.function):
            loss = run()
        seen.found.loss = checked(loss)
        seen.made.clear()
        seen.is_last = True
        learning = [p for p in model.parameters() if p.requires_grad]
        made = [weight for weights in seen.weights.values() for weight in weights]
        asked = [*learning, *seen.leaves, *made]
        with raised_by("the backward pass"):
            gradients = torch.autograd.grad(loss, asked, allow_unused=True)
    by_parameter = {id(p): g for p, g in zip(asked, gradients, strict=True)}
    for name, call in seen.calls:
        if call.is_again and call.units is None:  # its gradients are those of the call before
            continue
        if call.is_within:
            seen.found.others[name] = WITHIN
            call.units, call.normalization = None, replace(call.normalization, is_another=True)
        found = call.units or units.measured(call.normalization, call.y, None, None, call.running)
        seen.found.units.setdefault(name, []).append(found)
    for name, rows in seen.rows.items():
        if not rows:
            continue
        own = maps[name].weight
        assert isinstance(own, Tensor)
        weights = seen.weights.get(name) or [own]
        each = [by_parameter.get(id(weight)) for weight in weights]
        of_bias = by_parameter.get(id(maps[name].bias))
        seen.found.gradients[name] = gradients_of(rows, cosine_of(weights[0], _sum(each)), of_bias)
    return seen.found


@dataclass
class _Seen:
    """What the hooks of one pass meet."""

    found: FirstOrder
    names: Mapping[nn.Module, str]
    """Of all modules of the model."""
    maps: Modules
    calls: list[tuple[str, _Call]] = field(default_factory=list)
    leaves: list[Tensor] = field(default_factory=list)
    rows: dict[str, list[Rows]] = field(default_factory=dict)
    made: dict[int, tuple[str, Tensor]] = field(default_factory=dict)
    """Outputs of maps, by identity."""
    weights: dict[str, list[Tensor]] = field(default_factory=dict)
    """Of maps whose weights are made of other parameters, those of each call."""
    is_last: bool = False
    """Whether the backward pass is the last one, of the loss."""

    def function(
        self, module: nn.Module | None, function: str, args: Sequence[Any], named: dict[str, Any]
    ) -> None:
        """Note a normalisation that is no layer, and the weights that a map has made."""
        name = OUTSIDE if module is None else self.names[module]
        if function in functional.NORMALIZATIONS:
            if module is None or not is_normalization(module):
                self.found.functions.setdefault(name, function)
        elif name in self.maps and "weight" not in self.maps[name]._parameters:
            weight = args[1] if len(args) > 1 else named["weight"]
            before = self.weights.setdefault(name, [])
            if weight.requires_grad and all(w.shape == weight.shape for w in before):
                before.append(weight)

    def given(self, name: str, module: nn.Module, y: Tensor) -> Tensor:
        """Give a normalisation layer its input as a tensor that is its own."""
        self.found.calls[name] += 1
        origin = self.made.get(id(y))
        if origin is not None and origin[1] is y:
            self.found.normalized_by[origin[0]] = name
        if not torch.is_grad_enabled():
            self.found.called[name] = WITHOUT_GRADIENTS
            return y
        own = y.view_as(y) if y.requires_grad else y.detach().requires_grad_()
        if own.is_leaf:
            self.leaves.append(own)
        layout, running = normalizations.of(module, y), normalizations.running(module)
        is_again = torch._C._current_graph_task_id() >= 0
        call = _Call(layout, own.detach(), running, own._version, is_again)
        call.hook = own.register_hook(lambda w: self._arrived(name, call, w))
        self.calls.append((name, call))
        return own

    def _arrived(self, name: str, call: _Call, w: Tensor) -> None:
        if self.is_last:
            _finish(name, call, w)
        else:
            call.is_within = True

    def gave(self, name: str, module: nn.Module, _: Tensor, output: Any) -> Tensor | None:
        """Wait for the gradient in a normalisation layer's output, if its units are known."""
        if not torch.is_grad_enabled():
            return None
        call = next(call for other, call in reversed(self.calls) if other == name)
        if not self._is_known(name, module, call, output):
            call.hook.remove()
            self.calls = [(other, one) for other, one in self.calls if one is not call]
            return None
        own = apart(output)
        if own.requires_grad:
            own.register_hook(lambda g: setattr(call, "g", g) if self.is_last else None)
        return own

    def _is_known(self, name: str, module: nn.Module, call: _Call, output: Any) -> bool:
        """Whether a layer's units are known; note one that is another than its class."""
        given, kind, base = call.normalization, type(module).__name__, overridden(module)
        if not isinstance(output, Tensor):
            said = f"{kind} gives back a {type(output).__name__}, not a tensor; it has no row"
            self.found.others[name] = said
            return False
        if call.y._version != call.version:
            self.found.others[name] = f"{kind} writes into what it is given; it has no row"
            return False
        if base is None:
            return True
        if given.is_frozen:
            found = given if given.fits else None
        else:
            found = as_given_back(given, call.y, output)
        if found is not None:
            call.normalization = found
            return True
        self.found.others[name] = _said_of_another(given, base.__name__)
        call.normalization = replace(given, is_another=True)
        return given.fits

    def mapped(self, name: str, module: nn.Module, inputs: Tensor, output: Any) -> Tensor | None:
        """Wait for the gradient in a map's output, if it is what its class makes of its input."""
        base = overridden_map(module)
        if not isinstance(output, Tensor) or (base and is_other(module, inputs, output)):
            self.found.others[name] = _said_of_another_map(module, output, base)
            return None
        own = apart(output)
        self.made[id(own)] = (name, own)
        if own.requires_grad:
            seen = self.rows.setdefault(name, [])
            own.register_hook(lambda g: seen.append(rows_of(module, g)) if self.is_last else None)
        if not torch.is_grad_enabled():
            self.found.called[name] = WITHOUT_GRADIENTS
        else:
            self.found.called[name] = NOT_NEEDED if own.requires_grad else NOTHING_LEARNS
        return own


def apart(output: Tensor) -> Tensor:
    """Return a tensor that what overwrites it in place does not take away from its hooks.

    Of a view PyTorch then makes the history anew.
    """
    return output.clone() if output._is_view() and output.requires_grad else output


def _sum(gradients: Sequence[Tensor | None]) -> Tensor | None:
    some = [gradient for gradient in gradients if gradient is not None]
    return torch.stack(some).sum(0) if some else None


def _said_of_another(given: Normalization, base: str) -> str:
    """Return what is said of a layer that comes from a class and computes something else."""
    if given.fits:
        return (
            f"{given.kind} comes from {base} and its output is another; its row tells of what it is"
            " given alone, and no statement is examined there (python -m verify conform examines"
            f" it as {base})"
        )
    return (
        f"{given.kind} comes from {base}, and what it is given, of shape {given.shape}, has not the"
        f" sizes of one; what it takes together is not known, and it has no row"
    )


def _said_of_another_map(module: nn.Module, output: Any, base: type[nn.Module] | None) -> str:
    kind = type(module).__name__
    if not isinstance(output, Tensor):
        return f"{kind} gives back a {type(output).__name__}, not a tensor; it has no row"
    assert base is not None
    return (
        f"{kind} comes from {base.__name__} and its output is another than the product of its"
        " inputs and its weight; it has no row"
    )


def _finish(name: str, call: _Call, w: Tensor) -> None:
    """Measure a call, whose gradients are known now, and let go of them."""
    if call.y._version != call.version:
        raise AuditError(
            f"what {name} was given is overwritten in place later in the forward pass; write "
            "x = x + ... for x += ... there, so that it can be examined"
        )
    call.units = units.measured(call.normalization, call.y, call.g, w, call.running)
    call.g = None


@contextmanager
def hooked(
    modules: Modules,
    before: Callable[[str, nn.Module, Tensor], Tensor] | None,
    after: Callable[[str, nn.Module, Tensor, Tensor], Tensor | None],
) -> Iterator[None]:
    """Call functions before and after each module runs, with its name and its first input.

    Args:
        modules: by name.
        before: returns what is given to the module instead of its input; None for nothing.
        after: is given the input and the output; returns what is to stand for this, None for it.
    """
    handles = []
    for name, module in modules.items():
        if before is not None:

            def instead(
                module: nn.Module, args: tuple[Any, ...], named: dict[str, Any], name: str = name
            ) -> tuple[tuple[Any, ...], dict[str, Any]]:
                given: dict[Any, Any] = {**dict(enumerate(args)), **named}
                key = _of_first(given)
                given[key] = before(name, module, given[key])
                positional = tuple(given.pop(i) for i in range(len(args)))
                return positional, given

            handles.append(module.register_forward_pre_hook(instead, with_kwargs=True))

        def note(
            module: nn.Module,
            args: tuple[Any, ...],
            named: dict[str, Any],
            output: Any,
            name: str = name,
        ) -> Any:
            given: dict[Any, Any] = {**dict(enumerate(args)), **named}
            return after(name, module, given[_of_first(given)], output)

        handles.append(module.register_forward_hook(note, with_kwargs=True))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _of_first(given: Mapping[Any, Any]) -> Any:
    """Return the place or the name of the first tensor that a module is given."""
    return next(
        (key for key, value in given.items() if isinstance(value, Tensor)), next(iter(given))
    )


def checked(loss: Any) -> float:
    """Return a loss as a number.

    Raises:
        AuditError: it is none that can be differentiated.
    """
    if not isinstance(loss, Tensor) or loss.numel() != 1:
        given = f"of shape {tuple(loss.shape)}" if isinstance(loss, Tensor) else f"{loss!r}"
        raise AuditError(f"the loss is {given}; return one number, such as a mean over the batch")
    if not loss.requires_grad:
        raise AuditError(
            "the loss depends on nothing that has a gradient: no parameter of the model learns, or"
            " it is computed without gradients, or not from the model's outputs"
        )
    if not loss.isfinite():
        raise AuditError(f"the loss is {loss.item()}; audit the model before it diverges")
    return loss.item()
