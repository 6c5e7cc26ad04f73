"""The layers, methods, measures and networks that the papers define, as parts for PyTorch.

Layers, for batches ``(batch, unit)`` or ``(batch, channel, height, width)``:

- :func:`theory.nn.normalization.normalization`: any of them by its name
- :mod:`theory.nn.lp_normalization`: by the average l_p norm (paper S, sect. 3.3)
- :mod:`theory.nn.noisy_batch_normalization`: with noise after it (paper S, Algorithm 1)
- :mod:`theory.nn.batch_renormalization`: Batch Renormalization (paper L, eq. 3)
- :mod:`theory.nn.post_activation`: Batch Normalization after the activation (paper L, eq. 2)

Activation checkpointing runs a layer twice.  The second time the moving averages of Batch
Renormalization have moved, and other noise is drawn, so that gradients are not those of the output:
leave these two out of it.  The averages of the other layers move twice, as torch's do.

The rest: the optimiser's part :mod:`theory.nn.bnp` (paper L, Algorithms 2 and 3), what is measured
of a model in :mod:`theory.nn.measures`, and the papers' networks in :mod:`theory.nn.networks`.

Only this package imports torch; nothing else in :mod:`theory` imports it.
"""

from theory.packages import missing

try:
    import torch  # noqa: F401
except ModuleNotFoundError as error:
    raise missing(error, "nn") from error
