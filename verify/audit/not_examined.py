"""What a model has that is not examined, in words, with what to do about it.

Layers of ``torch.nn`` that no statement is about; and what normalises, by its name or by a function
that it calls, and is no layer that is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import torch
from torch import nn
from torch.nn.modules.conv import _ConvTransposeNd
from torch.nn.utils.parametrize import ParametrizationList

from verify.audit.normalizations import is_normalization

KINDS = (
    _ConvTransposeNd,
    nn.Bilinear,
    nn.RNNBase,
    nn.RNNCellBase,
    nn.LocalResponseNorm,
    nn.CrossMapLRN2d,
)
"""Layers of torch.nn with weights, or that normalise, and that are none of those examined."""
ALIKE = {
    "batch_norm": "BatchNorm",
    "group_norm": "GroupNorm",
    "instance_norm": "InstanceNorm",
    "layer_norm": "LayerNorm",
    "rms_norm": "RMSNorm",
}
"""The layer of torch.nn that does what a function does."""
SHORT = re.compile(r"(?<![A-Z])(BN|LN|GN|IN)(?=[A-Z][a-z]|[\d_]|$)")
"""A word of a name that is short for a normalisation: of BN2d and AdaIN, but not of BNN."""
EXAMINED = "would be examined"
OUTSIDE = ""
"""In place of a name, of what is called by no module of the model."""
Functions = Mapping[str, str]
"""The normalisation that is called as a function in a module, by the module's name."""


def notes(named: Mapping[str, nn.Module], functions: Functions) -> list[str]:
    """Return notes on what is not examined.

    Args:
        named: the modules that were asked for.
        functions: what the model called.

    >>> notes({"up": nn.ConvTranspose2d(1, 1, 2), "map": nn.Linear(1, 1)}, {})
    ['up: ConvTranspose2d of torch.nn is not examined']
    """
    return [*_of_torch(named), *_calling(named, functions), *_named_so(named, functions)]


def _of_torch(named: Mapping[str, nn.Module]) -> Iterator[str]:
    found: dict[str, list[str]] = {}
    for name, module in named.items():
        if isinstance(module, nn.MultiheadAttention):
            said = "the projection of inputs in MultiheadAttention (in_proj)"
        elif isinstance(module, KINDS):
            kinds = (kind.__name__ for kind in type(module).__mro__ if _is_of_torch(kind))
            said = f"{next(kinds)} of torch.nn"
        elif isinstance(module, torch.jit.ScriptModule):
            if isinstance(named.get(name.rpartition(".")[0]), torch.jit.ScriptModule):
                continue  # a part of what is named
            said = "a module made by torch.jit"
        else:
            continue
        found.setdefault(said, []).append(name)
    for said, names in found.items():
        yield f"{', '.join(names)}: {said} is not examined"


def _calling(named: Mapping[str, nn.Module], functions: Functions) -> Iterator[str]:
    """Yield notes on classes that call a normalisation as a function, once for each."""
    told: set[tuple[str, str]] = set()
    parametrizations = _of_parametrizations(named)
    for name, function in functions.items():
        called, alike = f"torch.nn.functional.{function}", f"{ALIKE[function]} of torch.nn"
        if name == OUTSIDE:
            yield f"{called} is called outside of the model's modules, and is not examined there"
        elif name in named and name not in parametrizations:
            kind = type(named[name]).__name__
            if (kind, function) not in told:
                advice = _advice(named[name], function) or f"{alike} there {EXAMINED}"
                yield f"{name}: {kind} calls {called} itself; {advice}"
            told.add((kind, function))


def _named_so(named: Mapping[str, nn.Module], functions: Functions) -> Iterator[str]:
    """Yield notes on classes that are called as normalisation layers are, once for each."""
    parametrizations = _of_parametrizations(named)
    calling = {named[name] for name in functions if name in named}
    told = {type(module) for module in calling}
    for name, module in named.items():
        kind = type(module)
        below = [other for other in module.modules() if other is not module]
        if (
            not _is_called_so(module)
            or name in parametrizations
            or kind in told
            or any(m in calling or is_normalization(m) or _is_called_so(m) for m in below)
        ):
            continue
        told.add(kind)
        advice = _advice(module) or f"where it normalises, LayerNorm or its like {EXAMINED}"
        yield f"{name}: {kind.__name__} is not a class of torch.nn; {advice}"


def _advice(module: nn.Module, function: str = "") -> str:
    """Return how a class says what it is; nothing where it does more, or takes other axes."""
    kinds = {"": "rms (or =layer)", "rms_norm": "rms", "layer_norm": "layer"}
    if function not in kinds or [*module.children()]:
        return ""
    name, kind = type(module).__name__, kinds[function]
    return (
        f"if it normalises its last axis say so, by --as {name}={kind}, in Python"
        f' {name}.normalizes = "{kind.partition(" ")[0]}"'
    )


def _is_called_so(module: nn.Module) -> bool:
    kind = type(module)
    is_known = is_normalization(module) or _is_of_torch(kind)
    is_called_so = "norm" in kind.__name__.lower() or SHORT.search(kind.__name__)
    return bool(is_called_so) and not is_known


def _is_of_torch(kind: type) -> bool:
    return kind.__module__.startswith("torch.nn.")


def _of_parametrizations(named: Mapping[str, nn.Module]) -> set[str]:
    """Return the names of modules that weights are made by, not activations."""
    lists = (module for module in named.values() if isinstance(module, ParametrizationList))
    within = {module for each in lists for module in each.modules()}
    return {name for name, module in named.items() if module in within}
