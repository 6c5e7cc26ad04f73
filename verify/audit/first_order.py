"""One forward and backward pass, and what every layer is given and gives back in it.

A normalisation layer is measured while the gradient passes, by hooks on its input and output, so
that nothing is kept that the pass itself does not keep.  A hook on a tensor is given the gradient
of the value that the tensor then had, before an activation overwrote it in place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from verify.audit import functional, normalizations, units
from verify.audit.errors import AuditError, raised_by
from verify.audit.hooks import Modules, hooked, is_again
from verify.audit.maps import Gradients, Rows, cosine_of, gradients_of, is_other, rows_of
from verify.audit.maps import overridden as overridden_map
from verify.audit.normalizations import (
    Normalization,
    as_given_back,
    is_normalization,
    overridden,
)
from verify.audit.not_examined import OUTSIDE
from verify.audit.subclasses import hooks_outputs
from verify.audit.units import Units

Run = Callable[[], Tensor]
"""Runs the model on a batch and returns its loss."""
NOT_CALLED = "not called as a module"
WITHOUT_GRADIENTS = (
    "called without gradients, as by torch.no_grad or by torch.utils.checkpoint with"
    " use_reentrant=True; with use_reentrant=False it is examined"
)
NOTHING_LEARNS = "neither it nor what is before it learns, and no gradient is taken there"
REENTRANT = "CheckpointFunctionBackward"
NOT_NEEDED = "the loss does not depend on it"
HOOKED = (
    "a hook changes the output of this {}; its row tells of what it is given alone, and no"
    " statement is examined there"
)
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
    runs: Counter[str] = field(default_factory=Counter)
    """How often each layer ran in the forward pass."""
    first: dict[str, int] = field(default_factory=dict)
    """Of each layer that has units or gradients, the number of the first run that has."""
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
    number: int
    """Of the layer's runs in the forward pass."""
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
    given = {name: module._parameters.get("weight") for name, module in maps.items()}
    seen = _Seen(FirstOrder(calls=dict.fromkeys(norms, 0)), names, given)
    with (
        hooked(norms, seen.given, seen.gave, seen.refused, runs=seen.found.runs),
        hooked(maps, None, seen.mapped, seen.refused, runs=seen.found.runs),
    ):
        with functional.followed(model, seen.function):
            loss = run()
        seen.found.loss = checked(loss)
        seen.made.clear()
        seen.is_last = True
        made = [weight for weights in seen.weights.values() for weight in weights]
        learning = [parameter for parameter in model.parameters() if parameter.requires_grad]
        asked = [*learning, *leaves(loss), *made]
        with raised_by("the backward pass"), _needing_the_graph():
            gradients = torch.autograd.grad(loss, asked, allow_unused=True)
    by_parameter = {id(p): g for p, g in zip(asked, gradients, strict=True)}
    for name, call in seen.calls:
        if call.is_again and call.units is None:  # its gradients are those of the call before
            continue
        if call.is_within:
            seen.found.others[name] = WITHIN
            call.units, call.normalization = None, replace(call.normalization, is_another=True)
        elif call.units is None:
            seen.found.called.setdefault(name, NOT_NEEDED)
            continue
        found = call.units or units.measured(call.normalization, call.y, None, None, call.running)
        seen.found.units.setdefault(name, []).append(found)
        seen.found.first.setdefault(name, call.number)
    for name, rows in seen.rows.items():
        if not rows:
            continue
        seen.found.first[name] = min(rows)
        own = maps[name].weight
        assert isinstance(own, Tensor)
        weights = seen.weights.get(name) or [own]
        each = [by_parameter.get(id(weight)) for weight in weights]
        of_bias = by_parameter.get(id(maps[name].bias))
        cosine = cosine_of(weights[0], _sum(each))
        seen.found.gradients[name] = gradients_of([*rows.values()], cosine, of_bias)
    return seen.found


@dataclass
class _Seen:
    """What the hooks of one pass meet."""

    found: FirstOrder
    names: Mapping[nn.Module, str]
    """Of all modules of the model."""
    own: Mapping[str, Tensor | None]
    """The weights of maps that are parameters, by the map's name."""
    calls: list[tuple[str, _Call]] = field(default_factory=list)
    rows: dict[str, dict[int, Rows]] = field(default_factory=dict)
    """Of maps that a gradient reaches, by the number of the run."""
    made: dict[int, tuple[str, Tensor]] = field(default_factory=dict)
    """Outputs of maps, by identity."""
    weights: dict[str, list[Tensor]] = field(default_factory=dict)
    """Of maps whose weights are others than their parameters, those of each call."""
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
        elif module is not None and name in self.own:
            weight = args[1] if len(args) > 1 else named["weight"]
            known = [w for w in (self.own[name], *self.weights.get(name, ())) if w is not None]
            is_new = all(w is not weight and w.shape == weight.shape for w in known)
            if is_new and weight.requires_grad:
                self.weights.setdefault(name, []).append(weight)

    def given(self, name: str, module: nn.Module, y: Tensor) -> Tensor:
        """Give a normalisation layer its input as a tensor that is its own."""
        self.found.calls[name] += 1
        number = self.found.runs[name]
        origin = self.made.get(id(y))
        if origin is not None and origin[1] is y:
            self.found.normalized_by[origin[0]] = name
        if not torch.is_grad_enabled():
            self.found.called[name] = WITHOUT_GRADIENTS
            return y
        own = of_its_own(y)
        layout, running = normalizations.of(module, y), normalizations.running(module)
        call = _Call(layout, own.detach(), running, own._version, number, is_again())
        call.hook = own.register_hook(lambda w: self._arrived(name, call, w))
        self.calls.append((name, call))
        return own

    def refused(self, name: str, why: str) -> None:
        """Note why a layer cannot be looked at."""
        self.found.called[name] = why

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
        found = as_given_back(given, call.y, output, call.running)
        if found is not None:
            call.normalization = found
            return True
        self.found.others[name] = _said_of_another(given, base.__name__, hooks_outputs(module))
        call.normalization = replace(given, is_another=True)
        return given.fits

    def mapped(self, name: str, module: nn.Module, inputs: Tensor, output: Any) -> Tensor | None:
        """Wait for the gradient in a map's output, if it is what its class makes of its input."""
        base, number = overridden_map(module), self.found.runs[name]
        # A weight that is made at every look may be another at the next one.
        made = self.weights.get(name, [None])[-1] if self.own[name] is None else None
        if not isinstance(output, Tensor) or (base and is_other(module, inputs, output, made)):
            self.found.others[name] = _said_of_another_map(module, output, base)
            return None
        own = apart(output)
        self.made[id(own)] = (name, own)
        if own.requires_grad:
            rows = self.rows.setdefault(name, {})
            own.register_hook(
                lambda g: rows.update({number: rows_of(module, g)} if self.is_last else {})
            )
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


def of_its_own(y: Tensor) -> Tensor:
    """Return what a layer is given as a tensor that has a gradient, and that it may write into."""
    return y.view_as(y) if y.requires_grad else y.detach().requires_grad_().clone()


def leaves(loss: Tensor) -> list[Tensor]:
    """Return the leaves that a loss depends on, those that are no parameters of a model too.

    What is behind a checkpoint with ``use_reentrant=True`` has no gradient of this kind.

    >>> x = torch.ones(2, requires_grad=True)
    >>> [leaf is x for leaf in leaves((x * x).sum())]
    [True]
    """
    waiting: list[Any] = [] if loss.grad_fn is None else [loss.grad_fn]
    met = {*waiting}
    while waiting:
        node = waiting.pop()
        if node.name() == REENTRANT:
            continue
        others = {other for other, _ in node.next_functions if other is not None} - met
        waiting += others
        met |= others
    return [node.variable for node in met if type(node).__name__ == "AccumulateGrad"]


def _sum(gradients: Sequence[Tensor | None]) -> Tensor | None:
    some = [gradient for gradient in gradients if gradient is not None]
    return torch.stack(some).sum(0) if some else None


def _said_of_another(given: Normalization, base: str, is_hooked: bool) -> str:
    """Return what is said of a layer that comes from a class and computes something else."""
    if given.fits and is_hooked:
        return HOOKED.format(given.kind)
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
    if hooks_outputs(module):
        return f"a hook changes the output of this {kind}; it has no row"
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
def _needing_the_graph() -> Iterator[None]:
    """Tell of a loss whose graph somebody's own backward pass has freed."""
    try:
        yield
    except RuntimeError as error:
        if "backward through the graph a second time" not in str(error):
            raise
        raise AuditError(
            "the loss, or a part of it, was differentiated already, which frees its graph: return"
            " it without backward(), and keep no tensor from one pass to the next but detached"
        ) from error


def checked(loss: Any) -> float:
    """Return a loss as a number.

    Raises:
        AuditError: it is none that can be differentiated.
    """
    if not isinstance(loss, Tensor) or loss.numel() != 1:
        given = f"of shape {tuple(loss.shape)}" if isinstance(loss, Tensor) else f"{loss!r}"
        raise AuditError(f"the loss is {given}; return one number, such as a mean over the batch")
    if loss.is_complex():
        raise AuditError(f"the loss is complex, {loss.item()}; return a real number")
    if not loss.requires_grad:
        raise AuditError(
            "the loss depends on nothing that has a gradient: no parameter of the model learns, or"
            " it is computed without gradients, or not from the model's outputs"
        )
    if not loss.isfinite():
        raise AuditError(f"the loss is {loss.item()}; audit the model before it diverges")
    return loss.item()
