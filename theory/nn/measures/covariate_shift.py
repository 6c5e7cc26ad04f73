r"""Internal covariate shift: how an update of the layers before changes a layer's gradient.

For layers with parameters :math:`W_1, \dots, W_k` in the order in which they are met, on one
batch, with updates :math:`W_j^{(t+1)} = W_j^{(t)} - \eta\,\partial L/\partial W_j`,

.. math:: G_i = \nabla_{W_i} L(W_1^{(t)}, \dots, W_k^{(t)}), \qquad
          G'_i = \nabla_{W_i} L(W_1^{(t+1)}, \dots, W_{i-1}^{(t+1)},
                                W_i^{(t)}, \dots, W_k^{(t)}).

Only the layers before the i-th are updated: not the i-th itself, and none after it.  Both
gradients are of the same batch, and in float64.  A layer's parameters are all that it has, so that
a batch norm layer's scale and shift belong to the layer that they are put with.

Source: Santurkar et al. 2018, Definition 2.1.  The definition speaks of the shift "of activation
i" and takes gradients in the weights :math:`W_i`; so does this.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

import torch
from torch import Tensor, nn

from theory.nn.layout import number
from theory.nn.measures.objective import Loss, Objective


@dataclass(frozen=True)
class CovariateShift:
    """The internal covariate shift of one layer at one step."""

    difference: float
    r""":math:`\lVert G - G' \rVert_2`, the definition; 0 for the first layer.

    Infinite where the update leaves what floats can hold."""
    cosine: float | None
    r""":math:`\langle G, G'\rangle / (\lVert G\rVert \lVert G'\rVert)`, as the figures show it.

    None where a gradient is zero, or the difference infinite."""
    gradient_norm: float
    r""":math:`\lVert G \rVert_2`, against which the difference is large or small."""


def covariate_shift(
    model: nn.Module,
    inputs: Tensor,
    targets: Tensor,
    loss: Loss,
    layers: Mapping[str, nn.Module],
    learning_rate: float,
) -> dict[str, CovariateShift]:
    """Return the internal covariate shift of every layer, by its name.

    One gradient a layer is computed.  Parameters that belong to no layer are not updated.

    Args:
        model: left as it was; in training mode where training is to be measured.
        inputs: the batch of this step.
        targets: the loss's second argument.
        loss: from (outputs, targets) to a scalar.
        layers: parts of the model by name, in the order in which they are met.
        learning_rate: of the update, which is plain gradient descent.

    Raises:
        TypeError: the learning rate is no number.
        ValueError: what :class:`Objective` refuses; no layer; two layers share a parameter; a
            learning rate that is not positive; a gradient at the model's parameters is not finite.

    Source: Santurkar et al. 2018, Definition 2.1, and Fig. 3 for the cosine.

    Two layers of one weight, loss w_2 w_1 at w_1 = 2, w_2 = 3: the step takes w_1 to 2 - 0.1 * 3,
    and the gradient in w_2, which is w_1, changes by 0.3.

    >>> model = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False))
    >>> _ = nn.init.constant_(model[0].weight, 2.0), nn.init.constant_(model[1].weight, 3.0)
    >>> found = covariate_shift(
    ...     model, torch.ones(1, 1), torch.zeros(1), lambda out, _: out.sum(),
    ...     dict(model.named_children()), learning_rate=0.1)
    >>> [round(shift.difference, 6) for shift in found.values()]
    [0.0, 0.3]
    """
    eta = number("learning_rate", learning_rate, "a finite number > 0", lambda x: 0 < x < inf)
    objective = Objective(model, inputs, targets, loss)
    parts = {name: objective.part(layer) for name, layer in layers.items()}
    _check(parts)
    _, gradient = objective.gradient(objective.point)
    updated = objective.point.clone()
    found = {}
    for name, part in parts.items():
        _, after = objective.gradient(updated)
        found[name] = _shift(gradient[part], after[part], name)
        updated[part] -= eta * gradient[part]
    return found


def _check(parts: Mapping[str, Tensor]) -> None:
    if not parts:
        raise ValueError("no layers are given; name the model's layers in order")
    every = torch.cat(list(parts.values()))
    if len(every.unique()) < len(every):
        raise ValueError(f"some of the layers {', '.join(parts)} share a parameter; split them")


def _shift(before: Tensor, after: Tensor, name: str) -> CovariateShift:
    if not bool(before.isfinite().all()):
        raise ValueError(
            f"the gradient in {name} is not finite; choose a smaller learning rate, or look before "
            "training diverges"
        )
    norm = float(torch.linalg.vector_norm(before))
    if not bool(after.isfinite().all()):
        return CovariateShift(inf, None, norm)
    lengths = norm * float(torch.linalg.vector_norm(after))
    return CovariateShift(
        difference=float(torch.linalg.vector_norm(before - after)),
        cosine=float(before @ after) / lengths if lengths > 0 else None,
        gradient_norm=norm,
    )
