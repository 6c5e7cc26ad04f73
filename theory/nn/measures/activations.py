r"""The activations of parts of a model on a batch, the model left as it was.

Index convention: as in the model, the first axis over the batch; in :func:`by_unit` the first
axis runs over entries of the batch - examples, and rows and columns of maps - and the second over
units or channels, "as is standard convention in BatchNorm for convolutional networks".

Source: Santurkar et al. 2018, App. A.2.1, last paragraph.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy

import torch
from torch import Tensor, nn


def activations(
    model: nn.Module, inputs: Tensor, layers: Mapping[str, nn.Module]
) -> dict[str, Tensor]:
    """Return what parts of a model put out on a batch, by their names.

    A part that is called several times counts with its last call.

    Args:
        model: left as it was, random numbers included; in training mode a batch norm layer uses
            the batch's statistics.
        inputs: the batch that the model is called with.
        layers: parts of the model by name.

    Raises:
        TypeError: the inputs, or what a layer puts out, are no tensor.
        ValueError: a layer is not part of the model, or not called.

    >>> model = nn.Sequential(nn.Identity(), nn.ReLU())
    >>> activations(model, torch.tensor([[-1.0, 2.0]]), {"relu": model[1]})
    {'relu': tensor([[0., 2.]])}
    """
    if not isinstance(inputs, Tensor):
        raise TypeError(f"inputs is a {type(inputs).__name__}; expected a tensor: convert it")
    names = {id(module): name for name, module in model.named_modules()}
    if foreign := [name for name, layer in layers.items() if id(layer) not in names]:
        raise ValueError(f"{', '.join(foreign)}: not part of the model; name parts of the model")
    copy, found = deepcopy(model), dict[str, Tensor]()

    def keep(name: str, module: nn.Module) -> None:
        def hook(_module: nn.Module, _inputs: object, output: object) -> None:
            if not isinstance(output, Tensor):
                raise TypeError(
                    f"{name} puts out a {type(output).__name__}; expected a tensor: name a part of "
                    "the model that puts out one"
                )
            found[name] = output.detach().clone()

        module.register_forward_hook(hook)

    for name, layer in layers.items():
        keep(name, copy.get_submodule(names[id(layer)]))
    devices = [inputs.device] if inputs.is_cuda else []
    with torch.no_grad(), torch.random.fork_rng(devices):
        copy(inputs)
    if unmet := [name for name in layers if name not in found]:
        raise ValueError(f"{', '.join(unmet)}: not called; name layers that the model calls")
    return {name: found[name] for name in layers}


def by_unit(activation: Tensor) -> Tensor:
    """Return activations (batch, unit) or (batch, channel, ...) as a matrix (entry, unit).

    Raises:
        ValueError: there is no second axis.

    >>> tuple(by_unit(torch.zeros(8, 3, 4, 5)).shape)
    (160, 3)
    """
    if activation.ndim < 2:
        raise ValueError(
            f"activation of shape {tuple(activation.shape)}; expected (batch, unit) or (batch, "
            "channel, ...): give an axis of one, e.g. with unsqueeze"
        )
    return activation.movedim(1, -1).flatten(end_dim=-2)
