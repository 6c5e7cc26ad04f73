r"""Statements of the papers, examined at layers of a model that really is trained.

At a layer of Batch Normalization: bounds and identities of paper S, for some units, the loss being
the rest of the network as a function of the unit's output.  At a linear map: what paper L says of
the condition of its inputs.  Both as printed and as they are right, so that bound and actual are
seen beside each other; in float64, whatever the model is trained in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import vmap

from theory.claim import Claim
from theory.matrix_claim import MatrixClaim
from theory.statement import Statement
from verify import engine, primitives
from verify.experiments import narrow_jets
from verify.experiments.held_layer import HeldLayer, Loss, held
from verify.record import Record
from verify.witnesses import autograd
from verify.witnesses.matrices import floats, trained
from verify.witnesses.records import record
from verify.witnesses.stacks import Stack

WITNESS = "trained"
OF_BATCH_NORMALIZATION = (
    "S-thm-4.1",
    "S-eq-9",
    "S-thm-4.1/eps",
    "S-eq-9/eps/corrected",
    "S-thm-4.2a",
    "S-thm-4.2a/equality",
    "S-thm-4.2a/eps",
    "S-thm-4.2a/eps/corrected",
    "S-thm-4.2b/ratio",
    "S-thm-4.2b/order",
    "S-thm-4.2b/direct",
    "S-thm-4.2b/direct/eps",
    "S-thm-4.4",
    "S-thm-4.4/not-squared/scaled-mean",
    "S-thm-4.4/corrected",
    "S-thm-4.4/eps/corrected",
    "S-thm-4.4/eps/equality",
    "S-thm-C1/kappa/sharpened",
    "S-fact-C1",
    "S-fact-C1/eps",
    "S-fact-C2-eq-1/eps",
    "S-fact-C2-eq-2/eps",
    "S-eq-41-42",
    "S-eq-41-42/eps",
)
"""Theorems 4.1, 4.2, 4.4 and C.1, Facts C.1 and C.2, the Hessian."""
OF_A_LINEAR_MAP = (
    "L-thm-4a",
    "L-thm-4b",
    "L-thm-4c",
    "L-thm-4c/sqrt-n",
    "L-thm-4c/improves",
    "L-thm-4c/improves/corrected",
    "L-thm-4-remarks/by-as-much",
    "L-thm-4-remarks/by-as-much/both",
    "L-norm-Ghat",
)
"""Theorem 4, its remarks, and the bound on the preconditioned inputs."""
TELLS_LAYERS_APART = 1e-6
"""A layer that differs from Batch Normalization by more, relative to its output, is another."""


def examine(
    model: nn.Module,
    inputs: Tensor,
    targets: Tensor,
    loss: Loss,
    layers: Mapping[str, nn.Module],
    units: int,
    seed: int,
) -> list[dict[str, Any]]:
    """Examine statements at some layers of a model on one batch.

    Args:
        model: a function of one batch; it is copied, and not changed.
        inputs: the batch; a few dozen images do, fewer of a convolutional network.
        targets: what the loss compares the outputs with.
        loss: ``loss(outputs, targets)``, a scalar.
        layers: layers of Batch Normalization and linear maps of the model, by name.
        units: how many units of a layer of Batch Normalization are examined.
        seed: of the units, of directions, and of the measurement of rounding.

    Returns:
        For each layer and statement a dictionary for JSON: layer, claim, instances, and of these
        how many are violated, undecided and vacuous; worst_ratio, the largest ratio of the
        sides, is None where there is none.

    Raises:
        ValueError: a layer is neither, or see :func:`verify.experiments.held_layer.held`.
    """
    if units < 1:
        raise ValueError(f"units = {units}; choose at least 1")
    return [
        _as_json(layer.name, found)
        for layer in held(model, inputs, targets, loss, layers)
        for found in examine_layer(layer, chosen_for(layer), units, seed)
    ]


def chosen_for(layer: HeldLayer) -> list[Statement]:
    """Return the statements that are examined at a layer."""
    is_linear = isinstance(layer.layer, nn.Linear)
    names = OF_A_LINEAR_MAP if is_linear else OF_BATCH_NORMALIZATION
    by_name = {claim.id: claim for claim in engine.CLAIMS}
    return [by_name[name] for name in names]


def examine_layer(
    layer: HeldLayer, claims: Sequence[Statement], units: int, seed: int
) -> Iterator[Record]:
    """Yield what is found of each statement at one layer."""
    if isinstance(layer.layer, nn.Linear):
        map_ = layer.layer
        # No statement that is chosen asks whether the loss couples examples.
        subject = trained.subject(
            layer.y, map_.weight, map_.bias, layer.loss_from, 1.0, layer.name, seed
        )
        for claim in claims:
            assert isinstance(claim, MatrixClaim)
            yield record(claim, WITNESS, floats.examine_all(claim, [subject], seed))
        return
    chosen = _some_units(layer, units, seed)
    stacks = {with_eps: instances_of(layer, chosen, with_eps, seed) for with_eps in (False, True)}
    for claim in claims:
        assert isinstance(claim, Claim)
        stack = stacks[claim.reading.has_epsilon]
        (found,) = autograd.examine_together([claim], stack, narrow_jets.loss, seed, samples=2)
        found.tokens = [f"{layer.name}:{unit}" for unit in chosen.tolist()]
        found.strata = [layer.name] * len(chosen)
        yield record(claim, WITNESS, [found])


def instances_of(layer: HeldLayer, chosen: Tensor, has_epsilon: bool, seed: int) -> Stack:
    """Return some units of a layer of Batch Normalization, run with its epsilon or with none.

    Raises:
        ValueError: the layer is another.
    """
    gamma, beta, eps = _parameters(layer)
    directions = _directions(layer, len(chosen), seed)
    norm = 1.0 if layer.inputs is None else torch.linalg.matrix_norm(layer.inputs, 2).item()

    def each(number: float) -> Tensor:
        return torch.full((len(chosen),), number, dtype=torch.float64)

    gamma, beta, epsilon = gamma[chosen], beta[chosen], each(eps if has_epsilon else 0.0)
    return Stack(
        y=layer.y.T[chosen],
        gamma=gamma,
        beta=beta,
        eps=epsilon,
        direction=directions[0],
        other_direction=directions[1],
        bound=each(norm),
        later_normalizations=each(0.0),  # no statement that is chosen asks
        arguments=narrow_jets.taken(layer, chosen, gamma, beta, epsilon, directions),
    )


def _parameters(layer: HeldLayer) -> tuple[Tensor, Tensor, float]:
    """Return gamma, beta and eps, having seen that the layer is Batch Normalization by these."""
    module, (m, units) = layer.layer, layer.y.shape
    if not layer.y.isfinite().all():
        raise ValueError(f"layer {layer.name} is given what is not finite; examine it earlier")
    gamma = getattr(module, "weight", None)
    beta = getattr(module, "bias", None)
    eps = getattr(module, "eps", None)
    gamma = torch.ones(units, dtype=torch.float64) if gamma is None else gamma
    beta = torch.zeros(units, dtype=torch.float64) if beta is None else beta
    is_one = layer.y.shape == layer.z.shape and gamma.shape == beta.shape == (units,)
    if is_one and isinstance(eps, float):
        number = torch.tensor(eps, dtype=torch.float64)

        def normalized(y: Tensor, gamma: Tensor, beta: Tensor) -> Tensor:
            z: Tensor = primitives.forward(y, m, gamma, beta, number, torch.sqrt)
            return z

        expected = vmap(normalized)(layer.y.T, gamma, beta).T
        if (expected - layer.z).abs().max() <= TELLS_LAYERS_APART * expected.abs().max():
            return gamma, beta, eps
    raise ValueError(
        f"layer {layer.name}, {module}, is no Batch Normalization by the batch's mean and biased"
        " variance with its weight, bias and eps; give layers that are, or nn.Linear"
    )


def _some_units(layer: HeldLayer, units: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randperm(layer.y.shape[1], generator=generator)[:units]


def _directions(layer: HeldLayer, count: int, seed: int) -> Tensor:
    """Return two directions for each unit: inputs of the map before, or generic ones."""
    rng = np.random.default_rng(seed)
    if layer.inputs is not None:
        varying = layer.inputs[:, layer.inputs.amax(dim=0) > layer.inputs.amin(dim=0)].T
        if len(varying):
            return varying[torch.from_numpy(rng.integers(len(varying), size=(2, count)))]
    return torch.from_numpy(rng.normal(size=(2, count, len(layer.y))))


def _as_json(layer: str, found: Record) -> dict[str, Any]:
    names = ("claim", "instances", "violated", "undecided", "vacuous", "worst_ratio")
    return {"layer": layer, **{name: getattr(found, name) for name in names}}
