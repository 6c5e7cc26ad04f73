r"""Condition numbers of one unit's Hessian, before and after preconditioning.

For a unit of a linear layer with inputs H on a batch of N examples, the loss has in the unit's
bias and weights the Hessian :math:`\hat H^\top S\hat H`, S being the loss's Hessian in the unit's N
outputs.  Preconditioned by P = UD it is :math:`\hat G^\top S\hat G`, and

.. math:: \kappa(A) = \sigma_{\max}/\sigma^*_{\min}, \qquad
          \kappa(D) = \frac{\max(1, \max_j 1/\sigma_j)}{\min(1, \min_j 1/\sigma_j)},

:math:`\sigma^*_{\min}` the smallest singular value that is not zero.  N examples leave no more than
N of them.

Everything is in float64.  Where S is positive semi-definite singular values are those of
:math:`S^{1/2}\hat H`, squared: so :math:`\kappa` is resolved up to about :math:`10^{27}`, else to
:math:`10^{13}`.  What is below counts as zero, by the usual max(rows, columns) times the machine's
epsilon.  A feature that does not vary over the batch has no deviation to divide by; centred, it is
a column of zeros, and P leaves it out.

Index convention: N examples (rows), n inputs, the bias first.

Source: Lange, Helfrich and Ye 2022, Prop. 2, Theorem 3 and sect. 5.1; kappa of a singular matrix
from the end of sect. 1.
"""

from __future__ import annotations

from copy import deepcopy
from math import inf, isfinite
from typing import NamedTuple

import torch
from torch import Tensor, nn

from theory import preconditioning
from theory.guard import check_real, check_symmetric, given
from theory.nn.measures.objective import Loss, in_double


class Conditioning(NamedTuple):
    """Condition numbers; ranks are the numbers of singular values that are not zero."""

    hessian: float
    r""":math:`\kappa(\hat H^\top S\hat H)`"""
    rank: int
    centred: float
    r""":math:`\kappa` with P = U alone."""
    preconditioned: float
    r""":math:`\kappa(\hat G^\top S\hat G)`"""
    preconditioned_rank: int
    scaling: float
    r""":math:`\kappa(D)`"""
    varying: int
    """How many features vary over the batch."""


class Unit(NamedTuple):
    """One unit on one batch."""

    inputs: Tensor
    """H, ``(N, n)``, float64."""
    curvature: Tensor
    """S, ``(N, N)``, float64."""


def conditioning(
    model: nn.Module,
    inputs: Tensor,
    targets: Tensor,
    loss: Loss,
    layer: nn.Linear,
    unit: int = 0,
) -> Conditioning:
    """Return the condition numbers of one unit of a layer, by the batch's own statistics.

    Args:
        model: left as it was; in training mode a batch norm layer uses the batch's statistics.
        inputs: the batch that the model is called with.
        targets: the loss's second argument.
        loss: from (outputs, targets) to a scalar.
        layer: of the model, called once with ``(N, n)``.
        unit: its number.

    Raises:
        ValueError: see :func:`unit_of` and :func:`condition_numbers`.
    """
    return condition_numbers(*unit_of(model, inputs, targets, loss, layer, unit))


def unit_of(
    model: nn.Module,
    inputs: Tensor,
    targets: Tensor,
    loss: Loss,
    layer: nn.Linear,
    unit: int = 0,
) -> Unit:
    """Return what a unit is given, and the loss's Hessian in what it puts out.

    Arguments are those of :func:`conditioning`.

    Raises:
        ValueError: the layer is no linear layer of the model, has no such unit, or is not called
            once with ``(N, n)``.
    """
    names = {id(module): name for name, module in model.named_modules()}
    if id(layer) not in names or not isinstance(layer, nn.Linear):
        raise ValueError(f"{layer} is no nn.Linear of the model; give one of its own")
    if not 0 <= unit < layer.out_features:
        raise ValueError(f"unit {unit} of a layer of {layer.out_features}; choose one from 0")
    copied = deepcopy(model).double().requires_grad_(False)
    met: list[Tensor] = []
    moved: list[Tensor] = []

    def move(module: nn.Module, given: tuple[Tensor, ...], output: Tensor) -> Tensor:
        met.append(given[0].detach())
        moved.append(torch.zeros_like(output[..., unit]).requires_grad_())
        is_unit = torch.arange(output.shape[-1], device=output.device) == unit
        return output + moved[-1][..., None] * is_unit

    copied.get_submodule(names[id(layer)]).register_forward_hook(move)
    with torch.enable_grad(), torch.random.fork_rng([inputs.device] if inputs.is_cuda else []):
        value = loss(copied(in_double(inputs)), in_double(targets))
        if len(met) != 1 or met[0].ndim != 2:
            shapes = ", ".join(str(tuple(h.shape)) for h in met) or "nothing"
            raise ValueError(f"the layer met {shapes}; expected one call with (N, n)")
        (slope,) = torch.autograd.grad(value, moved[0], create_graph=True, materialize_grads=True)
        rows = [_gradient(entry, moved[0]) for entry in slope]
    return Unit(met[0], torch.stack(rows))


def condition_numbers(H: Tensor, S: Tensor) -> Conditioning:
    r"""Return the condition numbers of :math:`\hat H^\top S\hat H` and of what P makes of it.

    Args:
        H: inputs, ``(N, n)``.
        S: symmetric, ``(N, N)``.

    Raises:
        TypeError: no tensors, or not real.
        ValueError: of other shapes, or no examples; not finite, S is not symmetric, or zero, as the
            Hessian then is; a condition number, or a square on the way to it, is beyond the range
            of the dtype.

    >>> H = torch.tensor([[1.0, 0.0], [1.0, 8.0], [3.0, 0.0], [3.0, 8.0]], dtype=torch.float64)
    >>> found = condition_numbers(H, torch.eye(4, dtype=torch.float64))
    >>> found.scaling, round(found.centred, 9), round(found.preconditioned, 9)  # deviations 1, 4
    (4.0, 16.0, 1.0)
    """
    H, S = _checked("H", H, S)
    varying = (H[:1] != H).any(0)
    features = H[:, varying]
    mean, deviation = preconditioning.means(H), preconditioning.standard_deviations(H)
    mean, deviation = mean[varying], deviation[varying]
    least = torch.finfo(deviation.dtype).tiny ** 0.5  # the squares of less lose digits
    if not (deviation.isfinite() & (deviation >= least)).all():
        raise _beyond(H)
    centred = preconditioning.normalized(features, mean, torch.ones_like(deviation))
    normalized = preconditioning.normalized(features, mean, deviation)
    plain, rank = _condition_number(preconditioning.augmented(H), S)
    after, rank_after = _condition_number(normalized, S)
    scales = torch.cat([torch.ones_like(mean.new_empty(1)), 1 / deviation])
    found = Conditioning(
        hessian=plain,
        rank=rank,
        centred=_condition_number(centred, S)[0],
        preconditioned=after,
        preconditioned_rank=rank_after,
        scaling=float(scales.max() / scales.min()),
        varying=int(varying.sum()),
    )
    if not all(map(isfinite, (found.hessian, found.centred, found.preconditioned, found.scaling))):
        raise _beyond(H)
    return found


def _beyond(H: Tensor) -> ValueError:
    return ValueError(
        f"H of shape {tuple(H.shape)} has entries up to {float(H.abs().max()):g}, whose squares or "
        f"whose condition numbers are beyond {H.dtype}; scale the inputs to about 1"
    )


def condition_number(A: Tensor, S: Tensor) -> tuple[float, int]:
    r"""Return :math:`\kappa(A^\top S A)` and the rank, in float64.

    Args:
        A: ``(N, k)``.
        S: symmetric, ``(N, N)``.

    Raises:
        TypeError: no tensors, or not real.
        ValueError: of other shapes or empty; not finite, S is not symmetric, or zero.

    >>> A = torch.tensor([[4.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    >>> condition_number(A, torch.diag(torch.tensor([1.0, 4.0, 2.0])))  # of diag(16, 4)
    (4.0, 2)
    """
    A, S = _checked("A", A, S)
    if A.shape[1] == 0:
        raise ValueError(f"A of shape {tuple(A.shape)} has no columns; expected at least one")
    return _condition_number(A, S)


def _checked(name: str, H: Tensor, S: Tensor) -> tuple[Tensor, Tensor]:
    """Return examples and their curvature in float64, the latter of a size of about one."""
    for called, value in ((name, H), ("S", S)):
        if not isinstance(value, Tensor):
            raise TypeError(f"{called} is a {type(value).__name__}; expected a tensor: convert it")
        check_real(called, value, "a condition number is of real ones here")
    if H.ndim != 2 or S.shape != (len(H), len(H)) or not len(H):
        raise ValueError(
            f"{given(name, H)} and {given('S', S)}; expected (N, n) and (N, N), with N at least 1"
        )
    H, S = H.double(), S.double()
    if not (H.isfinite().all() and S.isfinite().all()) or not S.any():
        raise ValueError(
            f"{given(name, H)} and {given('S', S)} are not finite, or S is zero, and a Hessian "
            "that is zero has no condition number"
        )
    check_symmetric("S", S)
    return H, S / 2.0 ** S.abs().max().log2().floor()  # of which no condition number depends


def _condition_number(A: Tensor, S: Tensor) -> tuple[float, int]:
    values, vectors = torch.linalg.eigh(S)
    least = len(S) * torch.finfo(S.dtype).eps * values.abs().max()
    if bool((values >= -least).all()):
        roots = values.where(values > least, 0.0).sqrt()
        found = torch.linalg.svdvals(roots[:, None] * (vectors.T @ A))
        kappa, rank = _ratio(found, max(A.shape))
        return kappa * kappa, rank  # infinite where a power would be an OverflowError
    product = A.T @ S @ A
    if not product.isfinite().all():
        return inf, A.shape[1]
    return _ratio(torch.linalg.eigvalsh(product).abs(), A.shape[1])


def _ratio(values: Tensor, size: int) -> tuple[float, int]:
    nonzero = values[values > size * torch.finfo(values.dtype).eps * values.max()]
    if not len(nonzero):
        return inf, 0  # all of it was too small
    return float(nonzero.max() / nonzero.min()), len(nonzero)


def _gradient(value: Tensor, x: Tensor) -> Tensor:
    """Return the gradient, zero where the value does not depend on x."""
    if not value.requires_grad:
        return torch.zeros_like(x)
    (found,) = torch.autograd.grad(value, x, retain_graph=True, materialize_grads=True)
    return found
