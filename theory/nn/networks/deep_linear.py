r"""The deep linear network: square linear layers in a row, with normalisation between them.

.. math:: x \mapsto W_k N_{k-1}(W_{k-1} \cdots N_1(W_1 x))

Without normalisation it is a linear map in k factors, :math:`x \mapsto W_k \cdots W_1 x`.  It is
fitted to a linear map: minimise :math:`\sum_b \lVert f(x_b) - A x_b \rVert_2^2` over all its
parameters.

Index convention: a batch is ``(batch, unit)``; layers are numbered 1, ..., k from the input on
(the paper writes :math:`W_1 \cdots W_k x` and so numbers them from the output on).

Source: Santurkar et al. 2018, App. A.1: k = 25, matrices of 10 by 10, Glorot initialisation, no
bias in the formula.  Left open there: whether the last layer's output is normalised too (here it
is not, as the output has to take on the targets' mean and variance; ``nn.Sequential(network,
normalization(...))`` is the other reading), and which of Glorot's two laws is meant (here the
uniform one; the normal one has the same variance).
"""

from __future__ import annotations

from collections import OrderedDict

import torch
from torch import nn
from torch.nn.utils import skip_init

from theory.nn.networks.initialization import glorot
from theory.nn.normalization import normalization as normalization_layer


def deep_linear(
    depth: int = 25,
    width: int = 10,
    *,
    normalization: str = "none",
    generator: torch.Generator | None = None,
) -> nn.Sequential:
    r"""Return a deep linear network, freshly drawn.

    Each entry of a weight is uniform on :math:`\pm\sqrt{6 / (n + n)}`, of variance 1/n, with n the
    width: Glorot and Bengio 2010, eq. (16).  Layers are the network's children, in order, called
    ``layer1``, ``layer2``, ...; each has a child ``linear``, and each but the last a child
    ``normalization``.

    Args:
        depth: number k of linear layers.
        width: number of units of every layer, inputs and outputs included.
        normalization: a name of :data:`theory.nn.normalization.NORMALIZATIONS`.
        generator: where the weights are drawn from; None for PyTorch's global one.

    Raises:
        ValueError: depth or width below 1, or no normalisation is called so.

    Source: Santurkar et al. 2018, App. A.1.

    >>> network = deep_linear(3, 2, generator=torch.Generator().manual_seed(0))
    >>> product = network.layer3.linear.weight @ network.layer2.linear.weight
    >>> product = product @ network.layer1.linear.weight
    >>> x = torch.tensor([[1.0, -2.0]])
    >>> torch.allclose(network(x), x @ product.T)
    True
    """
    if depth < 1 or width < 1:
        raise ValueError(f"depth = {depth} and width = {width}; choose both at least 1")

    def layer(number: int) -> nn.Sequential:
        parts: OrderedDict[str, nn.Module] = OrderedDict()
        parts["linear"] = skip_init(nn.Linear, width, width, bias=False)
        if number < depth:
            parts["normalization"] = normalization_layer(normalization, width, rank=2)
        return nn.Sequential(parts)

    network = nn.Sequential(OrderedDict((f"layer{k}", layer(k)) for k in range(1, depth + 1)))
    glorot(network, generator)
    return network
