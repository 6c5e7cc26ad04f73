"""Biases that do nothing, as below a Batch Normalization.

The loss then has no gradient in a bias, although it has one in the outputs.  That alone may be a
matter of where the parameters stand: an output layer that is zero, with as many examples of each
class, has none either.  So a layer that does not go straight into a normalisation that subtracts
each channel's mean is looked at once more, with a number added to each of its channels.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from verify.audit.first_order import FirstOrder, Run
from verify.audit.hooks import Modules, hooked
from verify.audit.maps import Gradients, Rows, channel_axis, gradients_of, rows_of
from verify.tolerance.measured import share_that_is_zero


def useless(run: Run, maps: Modules, found: FirstOrder) -> frozenset[str]:
    """Return the names of the layers whose bias does nothing, or would if they had one.

    Args:
        run: runs the model and returns its loss.
        maps: linear and convolution layers by name.
        found: what a pass told.
    """
    suspected = {name for name, gradients in found.gradients.items() if is_zero(gradients)}
    known = {name for name in suspected if _goes_where_offsets_do_nothing(found, name)}
    left = suspected - known
    elsewhere = _with_offsets(run, {name: maps[name] for name in left}) if left else {}
    return frozenset(known | {n for n in left if n in elsewhere and is_zero(elsewhere[n])})


def is_zero(gradients: Gradients) -> bool:
    """Whether the loss has no gradient in a bias, although it has one in the outputs."""
    if not bool((gradients.sizes > 0).any()) or gradients.rows < 2:
        return False
    return gradients.bias_share <= share_that_is_zero(gradients.roundoff, gradients.rows)


def _goes_where_offsets_do_nothing(found: FirstOrder, name: str) -> bool:
    units = found.units.get(found.normalized_by.get(name, ""), [])
    return bool(units) and all(each.normalization.takes_offsets for each in units)


def _with_offsets(run: Run, maps: Modules) -> Mapping[str, Gradients]:
    """Return what layers' gradients tell where a number is added to each of their channels."""
    outputs: dict[str, list[Tensor]] = {name: [] for name in maps}

    def add(name: str, module: nn.Module, _: Tensor, output: Tensor) -> Tensor:
        axis = channel_axis(module, output)
        others = [i for i in range(output.ndim) if i != axis]
        size = output.detach().float().square().mean(others, keepdim=True).sqrt()
        draw = torch.Generator().manual_seed(0)
        offsets = torch.randn(size.shape, generator=draw, device="cpu").to(size) * (1 + size)
        moved = output + offsets.to(output.dtype)
        outputs[name].append(moved)
        return moved

    with hooked(maps, None, add):
        loss = run()
    each = [(name, moved) for name, some in outputs.items() for moved in some]
    gradients = torch.autograd.grad(loss, [moved for _, moved in each], allow_unused=True)
    found: dict[str, list[Rows]] = {}
    for (name, _), g in zip(each, gradients, strict=True):
        if g is not None:
            found.setdefault(name, []).append(rows_of(maps[name], g))
    return {name: gradients_of(some) for name, some in found.items()}
