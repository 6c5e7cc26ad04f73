r"""The rest of a trained network as every unit of a layer sees it, to second order.

With z a unit's output and L the loss as a function of it, all else held,

.. math:: L(z + d) = L(z) + \langle g, d\rangle + \tfrac12\langle d, H d\rangle + O(\|d\|^3)

where g and H are the gradient and the full Hessian of the layers above and the cross-entropy, by
automatic differentiation.  First and second derivatives at z see no more of L than this, so a
statement is examined on the right-hand side instead of on the whole network: computed once for
each unit and kept in the cache, it serves every statement.

Index convention: the first axis of every tensor counts units.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor
from torch.func import grad, jacfwd, jacrev, vmap

from verify import primitives, sources
from verify.subjects.cache import CacheError, folder_of, read_tensors, remembered
from verify.subjects.snapshots import LayerSnapshot


class Jets(NamedTuple):
    """Point, value, gradient and Hessian of each unit's loss."""

    z: Tensor
    """Where they are taken, (unit, m)."""
    value: Tensor
    """(unit,)."""
    g: Tensor
    """(unit, m)."""
    H: Tensor
    """(unit, m, m)."""


def loss(at: Tensor, z: Tensor, value: Tensor, g: Tensor, H: Tensor) -> Tensor:
    """Return one unit's loss at a point, to second order around z."""
    d = at - z
    return value + g @ d + (d @ (H @ d)) / 2


@lru_cache(maxsize=64)
def jets(layer: LayerSnapshot, eps: float, cache: Path | None = None) -> Jets:
    """Return the jets of all units of a layer that is run with eps, from the cache if it has them.

    Args:
        layer: the network, held at this layer.
        eps: what is added to the variance; the network's own, or zero.
        cache: the folder of the cache; None for the user's own.
    """
    file = folder_of(cache) / f"jets-{layer.network}-{layer.stage}-{_digest(layer, eps)}.pt"
    units, m = layer.y.T.shape
    tensors = remembered(file, lambda file: _read(file, units, m), lambda: tuple(taken(layer, eps)))
    return Jets(*tensors)


def taken(layer: LayerSnapshot, eps: float) -> Jets:
    """Return the jets of all units, by automatic differentiation of the network."""
    m, units = layer.y.shape
    number = torch.tensor(eps, dtype=layer.y.dtype)

    def output(y: Tensor, gamma: Tensor, beta: Tensor) -> Tensor:
        z: Tensor = primitives.forward(y, m, gamma, beta, number, torch.sqrt)
        return z

    def jet(z: Tensor, unit: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        def of_unit(z: Tensor) -> Tensor:
            return layer.loss_of_unit(z, unit)

        return of_unit(z), grad(of_unit)(z), _jacobian_mode(m)(grad(of_unit))(z)

    z = vmap(output)(layer.y.T, layer.gamma, layer.beta)
    value, g, H = vmap(jet, chunk_size=_together(m))(z, torch.arange(units))
    return Jets(z, value.detach(), g.detach(), H.detach())


def _jacobian_mode(m: int) -> Callable[..., Callable[[Tensor], Tensor]]:
    """Forward over reverse for the short batches of a dense layer, else reverse: the faster one."""
    mode: Callable[..., Callable[[Tensor], Tensor]] = jacfwd if m < 64 else jacrev
    return mode


def _together(m: int) -> int:
    """How many units to take at once: memory grows with m times the network's activations."""
    return max(1, 320 // m)


def _digest(layer: LayerSnapshot, eps: float) -> str:
    """Return a digest of all that the jets depend on."""
    digest = hashlib.sha256(
        f"{sources.digest(__name__)} {torch.__version__} {layer.layer} {eps}".encode()
    )
    for tensor in (layer.y, layer.z, layer.labels, *layer.model.state_dict().values()):
        digest.update(tensor.contiguous().numpy().tobytes())
    return digest.hexdigest()[:16]


def _read(file: Path, units: int, m: int) -> tuple[Tensor, ...]:
    tensors = read_tensors(file)
    shapes = [(units, m), (units,), (units, m), (units, m, m)]
    if not (
        isinstance(tensors, tuple)
        and all(isinstance(t, Tensor) for t in tensors)
        and [t.shape for t in tensors] == shapes
    ):
        raise CacheError(f"{file} does not hold the jets of {units} units; delete it")
    return tensors
