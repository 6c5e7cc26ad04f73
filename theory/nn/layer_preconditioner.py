r"""Batch Normalization Preconditioning of one weight: its running statistics, and its gradients.

.. math:: \mu \leftarrow \rho\mu + (1 - \rho)\mu_H, \qquad
          \sigma^2 \leftarrow \rho\sigma^2 + (1 - \rho)\sigma_H^2

from :math:`\mu = 0`, :math:`\sigma = 1`.  A single row, of which there is no variance, counts with
:math:`\sigma_H^2 = (h - \mu)^2`, :math:`\mu` being the running mean before it, since step 1 comes
before step 2.  All that was met since the last step counts as one batch.

Index convention: ``mean`` and ``variance`` have an entry for each input or channel.

Source: Lange, Helfrich and Ye 2022, Algorithms 2 and 3, steps 1 and 2; line 242 for a single row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import torch
from torch import Tensor, distributed, nn

from theory import preconditioning
from theory.nn import batch_statistics
from theory.nn.batch_statistics import BatchStatistics
from theory.nn.preconditionable_layers import Layer
from theory.nn.preconditioned_gradients import Constants, preconditioned, q_squared


class LayerPreconditioner:
    """What is known of the inputs of a weight, which several layers may share.

    Args:
        name: of its layers, for messages.
        layers: of one weight, and of one bias or none.
        constants: of the algorithms.
    """

    def __init__(self, name: str, layers: Sequence[Layer], constants: Constants) -> None:
        self.name, self.layers, self.constants = name, tuple(layers), constants
        layer = layers[0]
        features = layer.in_features if isinstance(layer, nn.Linear) else layer.in_channels
        dtype = torch.promote_types(layer.weight.dtype, torch.float32)
        self.mean = torch.zeros(features, dtype=dtype, device=layer.weight.device)
        self.variance = torch.ones_like(self.mean)
        self.forget()

    def forget(self) -> None:
        """Forget what was met since the last step."""
        # Counts are tensors, for torch.compile: a number in Python would be compiled anew with
        # every batch that is added to it.
        self.examples, self.rows = torch.tensor(0), torch.tensor(0)
        self.met = self._nothing()

    def meet(
        self, layer: Layer, args: tuple[Tensor, ...], named: Mapping[str, Tensor], output: Tensor
    ) -> None:
        """Take in a batch, as a forward hook; its statistics only in training mode."""
        bias_learns = layer.bias is not None and layer.bias.requires_grad
        if not (torch.is_grad_enabled() and (layer.weight.requires_grad or bias_learns)):
            return
        is_linear = isinstance(layer, nn.Linear)
        rows = output.numel() // output.shape[-1 if is_linear else -3]
        if rows == 0:
            return
        self.rows = self.rows + rows
        self.examples = self.examples + (rows if is_linear else rows // prod(output.shape[-2:]))
        if layer.training:
            (inputs,) = (*args, *named.values())
            new = batch_statistics.of(layer, inputs)
            before = (self.met.mean.to(new.mean), self.met.variance.to(new.mean))
            self.met = batch_statistics.pooled(BatchStatistics(self.met.size, *before), new)

    def batch(self) -> BatchStatistics | None:
        """Return the statistics of what was met; of all processes, if there are several."""
        met = self.met
        if distributed.is_available() and distributed.is_initialized():
            counts = torch.stack([self.examples, self.rows]).to(self.mean.device)
            distributed.all_reduce(counts)
            self.examples, self.rows = counts.cpu()
            met = batch_statistics.pooled_over_processes(met)
        if met.size != 1:
            return met if met.size > 0 else None
        return met._replace(variance=(met.mean - self.mean.to(met.mean)).square())

    def update(self, batch: BatchStatistics) -> None:
        """Take a batch into the running statistics."""
        rho = self.constants.rho
        mean, variance = self.mean.to(batch.mean), self.variance.to(batch.variance)
        self.mean = preconditioning.running(mean, batch.mean, rho)
        self.variance = preconditioning.running(variance, batch.variance, rho)

    def precondition(self) -> None:
        """Change the gradients in place; a layer without any is left alone.

        Raises:
            RuntimeError: there is a gradient, but no batch was met since the last step.
            ValueError: a variance is zero and eps_1 and eps_2 do not help it.
            OverflowError: a gradient leaves the range of its dtype.
        """
        weight, bias = self.layers[0].weight, self.layers[0].bias
        grad_W, grad_b = weight.grad, None if bias is None else bias.grad
        if grad_W is None and grad_b is None:
            return
        if self.rows == 0:
            raise RuntimeError(
                f"{self.name} has a gradient but met no batch since the last step; expected "
                "forward passes with gradients enabled, then one precondition(). Leave a layer "
                "out by layers= if its weight is used without calling it"
            )
        fan_in = weight[0].numel()
        q2 = q_squared(fan_in, int(self.examples), int(self.rows))
        if grad_W is None:
            assert grad_b is not None
            self._write(grad_b, grad_b / q2)
            return
        new_b, new_W = preconditioned(
            grad_b,
            grad_W,
            self.mean.to(grad_W.device),
            self.variance.to(grad_W.device),
            q2,
            self.constants,
            groups=getattr(self.layers[0], "groups", 1),
        )
        self._write(grad_W, new_W)
        if grad_b is not None and new_b is not None:
            self._write(grad_b, new_b)

    def _nothing(self) -> BatchStatistics:
        mean, variance = torch.zeros_like(self.mean), torch.zeros_like(self.variance)
        return BatchStatistics(torch.tensor(0), mean, variance)

    def _write(self, gradient: Tensor, new: Tensor) -> None:
        gradient.copy_(new)
        if gradient.dtype is torch.float16 and bool((gradient.isinf() & new.isfinite()).any()):
            raise OverflowError(
                f"the preconditioned gradient of {self.name} is {float(new.abs().max()):.3g} at "
                f"most, beyond float16, {torch.finfo(torch.float16).max:.0f}; keep parameters in "
                "float32 and use torch.autocast"
            )
