r"""The layers of a model that can be preconditioned, those of one weight together.

A weight that several layers share meets the batches of them all, so it has one preconditioner, if
they share the bias too or have none.  Where a weight or a bias is used in another way besides there
is no formula for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter

Layer = nn.Linear | nn.Conv2d


def preconditionable(
    model: nn.Module, layers: Iterable[nn.Module] | None = None
) -> dict[str, list[Layer]]:
    """Return the layers of each weight, by their names in the model.

    Args:
        model: whose layers they are.
        layers: modules of the model; None for all linear and 2-dimensional convolution layers.

    Raises:
        TypeError: no module, no list of modules, or a layer of another kind or not of real floats.
        ValueError: there is none; one is no part of the model, has no weight of its own or one
            without entries; a weight or bias is shared where there is no formula for it.

    >>> a, b = nn.Linear(3, 3), nn.Linear(3, 3)
    >>> b.weight, b.bias = a.weight, a.bias
    >>> list(preconditionable(nn.Sequential(a, nn.ReLU(), b, nn.Linear(3, 1))))
    ['0 and 2', '3']
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"model is a {type(model).__name__}; expected a torch.nn.Module")
    if not (layers is None or isinstance(layers, Iterable)):
        raise TypeError(f"layers is a {type(layers).__name__}; expected a list of modules of model")
    names = {module: name for name, module in model.named_modules()}
    if layers is None:
        layers = [module for module in names if isinstance(module, (nn.Linear, nn.Conv2d))]
    chosen = {_name(layer, names): _checked(layer, _name(layer, names)) for layer in layers}
    if not chosen:
        raise ValueError("no layer to precondition; expected nn.Linear or nn.Conv2d in the model")
    alike: dict[Tensor, list[str]] = {}
    for name, layer in chosen.items():
        alike.setdefault(layer.weight, []).append(name)
    _check_sharing(names, chosen, list(alike.values()))
    return {" and ".join(some): [chosen[name] for name in some] for some in alike.values()}


def left_out(model: nn.Module) -> list[str]:
    """Return the layers with a matrix of weights that Algorithms 2 and 3 have no formula for.

    >>> left_out(nn.Sequential(nn.Linear(3, 3), nn.LayerNorm(3), nn.Conv1d(3, 3, 1)))
    ['2 (Conv1d)']
    """
    return [
        f"{name or 'the model'} ({type(module).__name__})"
        for name, module in model.named_modules()
        if not isinstance(module, (nn.Linear, nn.Conv2d))
        and any(_is_matrix(parameter) for parameter in module.parameters(recurse=False))
    ]


def _is_matrix(parameter: Tensor) -> bool:
    return not isinstance(parameter, UninitializedParameter) and parameter.ndim > 1


def _name(layer: nn.Module, names: Mapping[nn.Module, str]) -> str:
    if not isinstance(layer, nn.Module):
        raise TypeError(f"layers holds a {type(layer).__name__}; expected modules of the model")
    if layer not in names:
        raise ValueError(f"{layer} is no part of the model; give modules of the model")
    return names[layer] or type(layer).__name__


def _checked(layer: nn.Module, name: str) -> Layer:
    if not isinstance(layer, (nn.Linear, nn.Conv2d)):
        raise TypeError(
            f"{name} is a {type(layer).__name__}; expected nn.Linear or nn.Conv2d: leave it out"
        )
    weight = layer._parameters.get("weight")
    if weight is None or isinstance(weight, UninitializedParameter):
        raise ValueError(
            f"{name} has no weight of its own: one that is parametrized is to be left out by "
            "layers=, a lazy one to be initialised by a first batch"
        )
    if not weight.is_floating_point():
        raise TypeError(f"the weight of {name} is {weight.dtype}; expected floating point")
    if weight.numel() == 0:
        raise ValueError(
            f"the weight of {name} has shape {tuple(weight.shape)}; expected inputs and outputs:"
            " leave it out by layers="
        )
    return layer


def _check_sharing(
    names: Mapping[nn.Module, str], chosen: Mapping[str, Layer], alike: list[list[str]]
) -> None:
    """Whoever has a parameter of a chosen layer has the same weight and the same bias."""
    for some in alike:
        members = [chosen[name] for name in some]
        ours = {id(parameter) for layer in members for parameter in layer.parameters(recurse=False)}
        owners = [
            module
            for module in names
            if any(id(parameter) in ours for parameter in module.parameters(recurse=False))
        ]
        if set(owners) != set(members) or len({layer.bias for layer in members}) > 1:
            raise ValueError(
                f"{' and '.join(names[owner] for owner in owners)} share a weight or a bias, but "
                "not both, or not all of them are to be preconditioned, for which there is no "
                "formula; leave them out by layers=, or share weight and bias among them"
            )
