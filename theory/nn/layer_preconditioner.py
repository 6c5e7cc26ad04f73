r"""Batch Normalization Preconditioning of one weight: its running statistics, and its gradients.

.. math:: \mu \leftarrow \rho\mu + (1 - \rho)\mu_H, \qquad
          \sigma^2 \leftarrow \rho\sigma^2 + (1 - \rho)\sigma_H^2

from :math:`\mu = 0`, :math:`\sigma = 1`.  A single row, of which there is no variance, counts with
:math:`\sigma_H^2 = (h - \mu)^2`, :math:`\mu` being the running mean before it, since step 1 comes
before step 2.  All that was met since the last step counts as one batch.

Index convention: ``mean`` and ``variance`` have an entry for each input or channel.

Source: Lange, Helfrich and Ye 2022, Algorithms 2 and 3, steps 1 and 2; for a single row the text
below Algorithm 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import torch
from torch import Tensor, distributed, nn

from theory.nn import batch_statistics
from theory.nn.batch_statistics import BatchStatistics
from theory.nn.preconditionable_layers import Layer
from theory.nn.preconditioned_gradients import Part, q_squared


class LayerPreconditioner:
    """What is known of the inputs of a weight, which several layers may share.

    Args:
        name: of its layers, for messages.
        layers: of one weight, and of one bias or none.
    """

    def __init__(self, name: str, layers: Sequence[Layer]) -> None:
        self.name, self.layers = name, tuple(layers)
        layer = layers[0]
        self.fan_in = layer.weight[0].numel()
        self.groups = getattr(layer, "groups", 1)
        features = layer.in_features if isinstance(layer, nn.Linear) else layer.in_channels
        dtype = torch.promote_types(layer.weight.dtype, torch.float32)
        self.mean = torch.zeros(features, dtype=dtype, device=layer.weight.device)
        self.variance = torch.ones_like(self.mean)
        # One tensor each, and the same ones after each step: torch.compile sees who is who.
        self._none = torch.tensor(0), torch.tensor(0)
        nothing = torch.zeros_like(self.mean), torch.zeros_like(self.mean)
        self._nothing = BatchStatistics(torch.tensor(0), *nothing)
        self.forget()

    def forget(self) -> None:
        """Forget what was met since the last step."""
        # Counts are tensors where they are compiled: a number in Python would be compiled anew
        # with every batch that is added to it.
        self.examples: int | Tensor
        self.rows: int | Tensor
        self.examples, self.rows = self._none
        self.met = self._nothing

    def meet(
        self, layer: Layer, args: tuple[Tensor, ...], named: Mapping[str, Tensor], output: Tensor
    ) -> None:
        """Take in a batch, as a forward hook; its statistics only in training mode."""
        weight, bias = layer.weight, layer.bias
        learns = weight.requires_grad or (bias is not None and bias.requires_grad)
        if not (learns and torch.is_grad_enabled()):
            return
        is_linear = isinstance(layer, nn.Linear)
        rows = output.numel() // output.shape[-1 if is_linear else -3]
        if rows == 0:
            return
        examples = rows if is_linear else rows // prod(output.shape[-2:])
        is_compiling = torch.compiler.is_compiling()
        if is_compiling:
            self.examples, self.rows = self.examples + examples, self.rows + rows
        else:
            self.examples, self.rows = int(self.examples) + examples, int(self.rows) + rows
        if layer.training:
            (inputs,) = (*args, *named.values())
            new = batch_statistics.input_statistics(layer, inputs)
            if not is_compiling and self.met is self._nothing:
                self.met = new
                return
            before = (self.met.mean.to(new.mean), self.met.variance.to(new.mean))
            self.met = batch_statistics.pooled(BatchStatistics(self.met.size, *before), new)

    def batch(self) -> BatchStatistics | None:
        """Return the statistics of what was met; of all processes, if there are several."""
        met = self.met
        if distributed.is_available() and distributed.is_initialized():
            counts = torch.tensor([int(self.examples), int(self.rows)], device=self.mean.device)
            distributed.all_reduce(counts)
            self.examples, self.rows = counts.tolist()
            met = batch_statistics.pooled_over_processes(met)
        if met.size == 0:
            return None
        self._move(met.mean.device, met.mean.dtype)
        return met if met.size > 1 else met._replace(variance=(met.mean - self.mean).square())

    def _move(self, device: torch.device, dtype: torch.dtype) -> None:
        if self.mean.device != device or self.mean.dtype is not dtype:
            self.mean = self.mean.to(device, dtype)
            self.variance = self.variance.to(device, dtype)

    def parts(self) -> list[Part]:
        """Return the gradients that are to be changed; none of a layer that has none.

        A layer that met empty batches alone has gradients of zero, which are left.

        Raises:
            RuntimeError: there is a gradient, but no batch was met since the last step.
        """
        layer = self.layers[0]
        weight, bias = layer.weight, layer.bias
        grad_W, grad_b = weight.grad, None if bias is None else bias.grad
        if grad_W is None and grad_b is None:
            return []
        examples, rows = int(self.examples), int(self.rows)
        if rows == 0:
            if not any(bool(grad.any()) for grad in (grad_W, grad_b) if grad is not None):
                return []
            raise RuntimeError(
                f"{self.name} has a gradient but met no batch since the last step; expected "
                "forward passes with gradients enabled, then one precondition(). Leave a layer "
                "out by layers= if its weight is used without calling it"
            )
        self._move(weight.device, self.mean.dtype)
        q2 = q_squared(self.fan_in, examples, rows)
        whole = Part(self.name, grad_b, grad_W, self.mean, self.variance, q2)
        return whole.groups(self.groups)
