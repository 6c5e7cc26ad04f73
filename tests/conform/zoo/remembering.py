"""A right class with torch.nn.BatchNorm2d's arguments, in parts that a fault can exchange."""

from __future__ import annotations

import torch
from channels import affine, batch_axes, batch_size, per_channel
from torch import Tensor


class Remembering(torch.nn.BatchNorm2d):
    """Batch normalisation with running statistics, of inputs of any rank from two."""

    def forward(self, x: Tensor) -> Tensor:
        """Normalise by the batch in training, by what is remembered in evaluation."""
        return self.train_on(x) if self.training else self.evaluate(x)

    def train_on(self, x: Tensor) -> Tensor:
        """Normalise by the batch, and remember it."""
        variance, mean = torch.var_mean(x, batch_axes(x), correction=0)
        if self.track_running_stats:
            with torch.no_grad():
                self.remember(x, mean, variance)
        yhat = (x - per_channel(mean, x)) / torch.sqrt(per_channel(variance, x) + self.eps)
        return affine(yhat, self.weight, self.bias)

    def remember(self, x: Tensor, mean: Tensor, variance: Tensor) -> None:
        """Move the running statistics a step towards the batch's mean and unbiased variance."""
        m = batch_size(x)
        self.running_mean.lerp_(mean, self.momentum)
        self.running_var.lerp_(variance * m / max(m - 1, 1), self.momentum)

    def evaluate(self, x: Tensor) -> Tensor:
        """Normalise by the running statistics, by the batch where there are none."""
        if self.running_var is None:
            return self.train_on(x)
        sigma = torch.sqrt(per_channel(self.running_var, x) + self.eps)
        return affine((x - per_channel(self.running_mean, x)) / sigma, self.weight, self.bias)
