r"""Any model held at one of its layers: what the layer is given, and the rest as a loss.

Index convention: as rows, a batch (batch, unit) or (batch, channel, height, width) is a matrix
(m, unit) with m = batch * height * width (:mod:`verify.subjects.snapshots`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.func import functional_call

from theory.nn.measures.activations import by_unit
from verify.subjects.networks import unfolded
from verify.subjects.snapshots import from_rows

Loss = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True, eq=False)
class HeldLayer:
    """One layer of a model on one batch; everything float64, on the CPU."""

    name: str
    layer: nn.Module = field(repr=False)
    y: Tensor
    """What the layer is given, as rows, (m, unit)."""
    z: Tensor
    """What it returns, as rows, (m, unit)."""
    inputs: Tensor | None
    """The matrix X with y = XW', where a linear map or a convolution comes before the layer."""
    shape: torch.Size
    """The shape of the layer's output in the model."""
    whole: Callable[[], Tensor] = field(repr=False)
    """Runs the model and returns its loss."""

    def loss_from(self, z: Tensor) -> Tensor:
        """Return the loss as a function of the layer's output as rows, (m, unit)."""
        output = from_rows(z, self.shape)
        with self.layer.register_forward_hook(lambda *_: output):
            return self.whole()

    def loss_of_unit(self, z: Tensor, unit: int | Tensor) -> Tensor:
        """Return the loss as a function of one unit's output, the other units of the layer held.

        Args:
            z: the unit's output, (m,).
            unit: its number, an int or an integer tensor without axes.
        """
        # A mask rather than an assignment: torch.func.vmap cannot assign at a mapped index.
        chosen = torch.arange(self.z.shape[1]) == unit
        return self.loss_from(torch.where(chosen, z[:, None], self.z))


def held(
    model: nn.Module,
    inputs: Tensor,
    targets: Tensor,
    loss: Loss,
    layers: Mapping[str, nn.Module],
) -> list[HeldLayer]:
    """Return a model held at each of some layers.

    The model is copied, to float64, to the CPU and to training mode, in which Batch Normalization
    uses the batch; it is not changed, nor are its running statistics.

    Args:
        model: a function of one batch, the same at every call.
        inputs: the batch.
        targets: what the loss compares the outputs with.
        loss: ``loss(outputs, targets)``, a scalar.
        layers: some of the model's modules by name, each run once.

    Raises:
        ValueError: a layer is not in the model, is not run once, or has a batch of another form;
            or the model draws at random, or its loss is not finite.
    """
    names = {module: name for name, module in model.named_modules()}
    if missing := [name for name, layer in layers.items() if layer not in names]:
        raise ValueError(f"layers {', '.join(missing)} are not modules of the model; give its own")
    copied = deepcopy(model).to("cpu", torch.float64).requires_grad_(False).train()
    batch, wanted = _converted(inputs), _converted(targets)

    def whole() -> Tensor:
        # What a layer writes into its buffers is forgotten, so that every call is the first.
        buffers = {name: buffer.clone() for name, buffer in copied.named_buffers()}
        return loss(functional_call(copied, buffers, (batch,)), wanted)

    modules = dict(copied.named_modules())
    own = {name: modules[names[layer]] for name, layer in layers.items()}
    seen = _seen(copied, own, whole)
    return [HeldLayer(name, own[name], *seen[name], whole) for name in own]


class _Seen(NamedTuple):
    """What a layer was given and returned, as rows, the inputs of the map before, the shape."""

    y: Tensor
    z: Tensor
    inputs: Tensor | None
    shape: torch.Size


def _seen(
    model: nn.Module, layers: Mapping[str, nn.Module], whole: Callable[[], Tensor]
) -> dict[str, _Seen]:
    """Run the model twice, and return what each layer was given and returned."""
    maps: list[tuple[nn.Module, Tensor, Tensor]] = []
    found: dict[str, list[_Seen]] = {name: [] for name in layers}

    def note_map(module: nn.Module, given: tuple[Tensor, ...], output: Tensor) -> None:
        maps.append((module, given[0], output))

    def note_layer(name: str, given: tuple[Tensor, ...], output: Tensor) -> None:
        y = given[0]
        if y.ndim not in (2, 4):
            raise ValueError(
                f"layer {name} is given a batch of shape {tuple(y.shape)};"
                " expected (batch, unit) or (batch, channel, height, width)"
            )
        before = next((unfolded(m, x) for m, x, made in maps if made is y), None)
        # Copies: what follows may write into these in place.
        kept = None if before is None else before.clone()
        found[name].append(_Seen(by_unit(y).clone(), by_unit(output).clone(), kept, output.shape))

    # One after the other: a map that is itself a layer is noted with what it was given.
    hooks = [
        layer.register_forward_hook(lambda _, *seen, name=name: note_layer(name, *seen))
        for name, layer in layers.items()
    ]
    hooks += [
        module.register_forward_hook(note_map)
        for module in model.modules()
        if isinstance(module, (nn.Linear, nn.Conv2d))
    ]
    try:
        first = whole()
    finally:
        for hook in hooks:
            hook.remove()
    if not first.isfinite():
        raise ValueError(f"the model's loss is {first.item()}; examine it before it diverges")
    if not torch.equal(first, whole()):
        raise ValueError("the model gives two losses for one batch; hold what it draws at random")
    for name, times in found.items():
        if len(times) != 1:
            raise ValueError(f"layer {name} is run {len(times)} times; give layers that run once")
    return {name: times[0] for name, times in found.items()}


def _converted(batch: Tensor) -> Tensor:
    double = batch.double() if batch.is_floating_point() else batch
    return double.detach().cpu()
