r"""Batch Normalization that is made "noisy": after it, noise that changes at every step.

At every step t, for each unit j and each entry i of its batch,

.. math:: \mu_j \sim U(-n_\mu, n_\mu), \quad \sigma_j \sim U(1, n_\sigma), \qquad
          m_{ij} \sim U(\mu_j - r_\mu, \mu_j + r_\mu), \quad
          s_{ij} \sim \mathcal N(\sigma_j, r_\sigma), \qquad
          a_{ij} \leftarrow s_{ij} a_{ij} + m_{ij} .

Index convention: ``(batch, unit)`` or ``(batch, channel, height, width)``; "we follow the standard
convention of treating the height and width dimensions as part of the batch", so i runs over all
axes but axis 1.

Source: Santurkar et al. 2018, App. A.2.1, Algorithm 1, with n_mu = 0.5, n_sigma = 1.25 and
r_mu = r_sigma = 0.1.  What it leaves open, and how it is read here:

- :math:`\mathcal N(\sigma, r_\sigma)` by its variance or its deviation.  The deviation: r_mu on the
  line above is a length too.  For the other reading pass ``r_sigma=math.sqrt(0.1)``.
- Whether :math:`\mu^t` and :math:`\sigma^t`, printed without j, are one for a layer or for a unit.
  One for a unit: they are drawn in a loop "for each j", and the first version prints the j.
- Whether there is noise in evaluation.  There is none: it comes "at every time step" of training.
- Line 1 and a comment call the constants n_m, n_v, r_m, r_v and the parameters m, v; the lines and
  the text call them n_mu, n_sigma, r_mu, r_sigma and mu, sigma.
"""

from __future__ import annotations

from math import inf

import torch
from torch import Tensor, nn

from theory.nn.layout import check_batch, check_features, number


class ActivationNoise(nn.Module):
    """Lines 6-14 of Algorithm 1: noise on activations, in training mode.

    The generator's state is part of the state dict, so that training that is taken up again meets
    the noise that it would have met.

    Args:
        features: number of units or channels.
        n_mu: largest mean of a unit's noise, in units of the activation.
        n_sigma: largest mean of a unit's factors, at least 1.
        r_mu: half the range of the noise about its mean, in units of the activation.
        r_sigma: standard deviation of the factors.
        generator: what this layer's own is seeded from; None for PyTorch's global one.

    Raises:
        TypeError: one of them is no number.
        ValueError: a negative number, or n_sigma below 1.
    """

    def __init__(
        self,
        features: int,
        *,
        n_mu: float = 0.5,
        n_sigma: float = 1.25,
        r_mu: float = 0.1,
        r_sigma: float = 0.1,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        check_features(features)
        self.features, self.n_mu = features, _from(0, "n_mu", n_mu)
        self.n_sigma = _from(1, "n_sigma", n_sigma)
        self.r_mu, self.r_sigma = _from(0, "r_mu", r_mu), _from(0, "r_sigma", r_sigma)
        self.generator = torch.Generator()
        self.seed(generator)

    def seed(self, generator: torch.Generator | None = None) -> None:
        """Seed this layer's own generator from another; None for PyTorch's global one."""
        self.generator.manual_seed(int(torch.randint(2**62, (), generator=generator)))

    def forward(self, a: Tensor) -> Tensor:
        """Return the activations with noise; in evaluation mode as they are.

        Raises:
            TypeError: not floating.
            ValueError: wrong shape.
        """
        check_batch(a, self.features, type(self).__name__, letter="a")
        if not self.training:
            return a
        one_each = (1, self.features, *(1 for _ in a.shape[2:]))
        mu = self.n_mu * self._symmetric(one_each)
        sigma = 1 + (self.n_sigma - 1) * torch.rand(one_each, generator=self.generator)
        m = mu + self.r_mu * self._symmetric(a.shape)
        s = sigma + self.r_sigma * torch.randn(a.shape, generator=self.generator)
        return s.to(a) * a + m.to(a)

    def _symmetric(self, shape: tuple[int, ...]) -> Tensor:
        """Uniform on [-1, 1]."""
        return 2 * torch.rand(shape, generator=self.generator) - 1

    def get_extra_state(self) -> Tensor:
        """Return the generator's state, for the state dict."""
        return self.generator.get_state()

    def set_extra_state(self, state: Tensor) -> None:
        """Take up the generator's state."""
        self.generator.set_state(state.cpu())

    def extra_repr(self) -> str:
        """Return the constants, for the printed form."""
        return f"n_mu={self.n_mu}, n_sigma={self.n_sigma}, r_mu={self.r_mu}, r_sigma={self.r_sigma}"


def _from(least: int, name: str, value: float) -> float:
    return number(name, value, f"a finite number >= {least}", lambda x: least <= x < inf)


class NoisyBatchNormalization(nn.Module):
    """Algorithm 1: Batch Normalization, then :class:`ActivationNoise` with the paper's constants.

    Args:
        features: number of units or channels.
        rank: 2 for batches ``(batch, unit)``, 4 for maps.
        generator: what the noise's own is seeded from; None for PyTorch's global one.

    Raises:
        ValueError: features or rank is out of its range.
    """

    def __init__(
        self, features: int, rank: int, *, generator: torch.Generator | None = None
    ) -> None:
        super().__init__()
        check_features(features)
        if rank not in (2, 4):
            raise ValueError(f"rank = {rank!r}; expected 2 for (batch, unit), or 4 for maps")
        self.batch_norm = nn.BatchNorm1d(features) if rank == 2 else nn.BatchNorm2d(features)
        self.noise = ActivationNoise(features, generator=generator)

    @property
    def weight(self) -> Tensor:
        """The re-scaling gamma, ``(features,)``."""
        return self.batch_norm.weight

    @property
    def bias(self) -> Tensor:
        """The re-centring beta, ``(features,)``."""
        return self.batch_norm.bias

    @property
    def eps(self) -> float:
        """The epsilon of Batch Normalization."""
        return self.batch_norm.eps

    def forward(self, y: Tensor) -> Tensor:
        """Return the layer's output for a batch; same shape."""
        a: Tensor = self.noise(self.batch_norm(y))
        return a
