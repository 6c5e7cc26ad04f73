r"""The witness of trained networks: every unit of every layer, at stages of training.

An instance is one unit.  Its batch y is what the network makes of a batch of digits, and its loss
is the rest of the network as a function of this unit's output, all else held: g and H are the
network's own, differentiated through the layers above and the cross-entropy.  A statement that asks
for no more of the loss than its 2-jet is given that (:mod:`verify.subjects.jets`); any other is
given the network.  Where a reading has no epsilon, this layer is run with eps = 0.

A trained network is what it is: what its units meet is checked, and an instance that does not meet
a hypothesis is vacuous.  Hypotheses that no unit meets are imposed on a few units of every layer,
whose loss is the 2-jet of the network's: the unit's batch, parameters, gradient and Hessian are
the network's but for what the hypothesis says of them.  The two directions that some statements
need are inputs of the layer, columns of X in y = XW, so that a derivative along one is that in a
real weight; the bound on the inputs is the spectral norm of X.

A token ``trained:NETWORK:STAGE:SEED:LAYER:UNIT`` rebuilds one instance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from theory.claim import Claim
from verify.data import examination_batch
from verify.grouping import grouped
from verify.record import Record
from verify.settings import STAGES, Settings
from verify.subjects import training
from verify.subjects.jets import Jets, jets
from verify.subjects.jets import loss as jet_loss
from verify.subjects.losses import Loss, quadratic
from verify.subjects.networks import NETWORKS
from verify.subjects.snapshots import EXAMINED_IMAGES, LayerSnapshot, snapshots
from verify.subjects.training import Progress
from verify.subjects.unit import Case, imposed_by
from verify.witnesses import autograd
from verify.witnesses.instances import Instances
from verify.witnesses.jet import needs_only_the_jet
from verify.witnesses.records import recorded
from verify.witnesses.stacks import Stack, StackedLoss, joined
from verify.witnesses.table import MET_BY_UNITS

WITNESS = "trained"

TOGETHER = 50
"""How many units are examined in one vectorised call; more would need more memory."""
FEW = 2
"""So many units of a layer have hypotheses imposed on them."""


def prepare(settings: Settings, progress: Progress | None = None) -> None:
    """Train the networks and take their jets, unless the cache has them.

    What is not prepared, the first examination that needs it does.

    Args:
        settings: the seed of the networks, the stages and the folder of the cache.
        progress: told (description, done, total) after each epoch and after each layer's jets.

    Raises:
        TrainingError: a network does not reach the accuracy that it should.
    """
    seed, cache = settings.seed, settings.cache
    for name in NETWORKS:
        training.trained(name, seed=seed, cache=cache, progress=progress)
    every = list(every_layer(settings.budget.stages, seed, cache))
    for done, layer in enumerate(every, start=1):
        for eps in (0.0, layer.eps):
            jets(layer, eps, cache)
        if progress is not None:
            progress("second derivatives of the networks", done, len(every))


def examine(claims: Sequence[Claim], settings: Settings) -> Iterator[Record]:
    """Examine claims at every unit of every layer of every network, at the budget's stages."""
    found: dict[str, list[Instances]] = {claim.id: [] for claim in claims}
    imposed = [claim for claim in claims if is_imposed(claim)]
    if imposed:
        found |= autograd.examine_all(imposed, list(_few_cases(settings)), settings.seed)
    others = [claim for claim in claims if not is_imposed(claim)]
    for alike in grouped(others, _how_it_looks).values():
        for units in _units(alike[0], settings):
            for claim, instances in zip(alike, examine_together(alike, units), strict=True):
                found[claim.id].append(instances)
    yield from recorded(claims, WITNESS, found)


def is_imposed(claim: Claim) -> bool:
    """Whether a claim has hypotheses that units of networks meet only if they are imposed."""
    return claim.id not in MET_BY_UNITS and bool(imposed_by(claim))


def _few_cases(settings: Settings) -> Iterator[Case]:
    """Yield a few units of every layer as cases, spread over the layer."""
    for layer in every_layer(settings.budget.stages, settings.seed, settings.cache):
        numbers = torch.arange(layer.y.shape[1])
        spread = numbers[:: max(1, len(numbers) // FEW)][:FEW]
        yield from Units(layer, settings.seed, spread, settings.cache).cases()


def _how_it_looks(claim: Claim) -> tuple[bool, bool]:
    """Return what claims have in common that look at the same units in the same way."""
    return needs_only_the_jet(claim), claim.reading.has_epsilon


def _units(claim: Claim, settings: Settings) -> Iterable[tuple[Units, ...]]:
    """Return the units at which a claim is examined, those of one call together."""
    if needs_only_the_jet(claim):
        return units_by_length(settings.budget.stages, settings.seed, settings.cache)
    return ((units,) for units in every_unit(settings))


@dataclass(frozen=True, eq=False)
class Units:
    """Some units of one layer of a network, as instances."""

    layer: LayerSnapshot
    seed: int
    """Of the network, of the images, and of the directions."""
    numbers: Tensor
    """The units, int64 of shape (unit,)."""
    cache: Path | None = None
    """The folder of the cache; None for the user's own."""

    @property
    def stratum(self) -> str:
        """What the instances are called together."""
        return f"{self.layer.network} {self.layer.stage} layer {self.layer.layer}"

    @property
    def tokens(self) -> list[str]:
        """The token of each instance."""
        at = f"{self.layer.network}:{self.layer.stage}:{self.seed}:{self.layer.layer}"
        return [f"trained:{at}:{unit}" for unit in self.numbers.tolist()]

    def stack(self, has_epsilon: bool) -> Stack:
        """Return the instances stacked, with the layer's epsilon or with none."""
        layer, chosen = self.layer, self.numbers
        inputs = _inputs(layer, self.seed)
        return Stack(
            y=layer.y.T[chosen],
            gamma=layer.gamma[chosen],
            beta=layer.beta[chosen],
            eps=torch.full_like(layer.gamma[chosen], layer.eps if has_epsilon else 0.0),
            direction=inputs.direction[chosen],
            other_direction=inputs.other_direction[chosen],
            bound=inputs.bound[chosen],
            later_normalizations=torch.full_like(layer.gamma[chosen], layer.later_normalizations),
            arguments=(chosen,),
        )

    def jets(self, has_epsilon: bool) -> Jets:
        """Return the jets of the instances' losses, with the layer's epsilon or with none."""
        every = jets(self.layer, self.layer.eps if has_epsilon else 0.0, self.cache)
        return Jets(*(tensor[self.numbers] for tensor in every))

    def cases(self) -> Iterator[Case]:
        """Yield the instances one by one, with the layer's epsilon and the jet as a quadratic."""
        stack, jets = self.stack(has_epsilon=True), self.jets(has_epsilon=True)
        every = zip(*(tensor.numpy() for tensor in stack.numbers().values()), strict=True)
        for token, numbers, (z, _, g, H) in zip(
            self.tokens, every, zip(*jets, strict=True), strict=True
        ):
            loss = Loss(quadratic, ((g - H @ z).numpy(), H.numpy()))
            given = dict(zip(stack.names(), numbers, strict=True))
            yield Case(**given, loss=loss, stratum=self.stratum, token=token)


def every_layer(stages: tuple[str, ...], seed: int, cache: Path | None) -> Iterator[LayerSnapshot]:
    """Yield every layer of every network at some stages of its training."""
    for name in NETWORKS:
        for stage in stages:
            yield from layers(name, stage, seed, cache)


def every_unit(settings: Settings) -> Iterator[Units]:
    """Yield all units of every network at the budget's stages, a few at a time."""
    for layer in every_layer(settings.budget.stages, settings.seed, settings.cache):
        for numbers in torch.arange(layer.y.shape[1]).split(TOGETHER):
            yield Units(layer, settings.seed, numbers, settings.cache)


@lru_cache(maxsize=8)
def units_by_length(
    stages: tuple[str, ...], seed: int, cache: Path | None
) -> tuple[tuple[Units, ...], ...]:
    """Return all units of every network at some stages, those of one batch length together."""
    every = (
        Units(layer, seed, torch.arange(layer.y.shape[1]), cache)
        for layer in every_layer(stages, seed, cache)
    )
    return tuple(map(tuple, grouped(every, lambda units: len(units.layer.y)).values()))


def examine_units(claim: Claim, units: Units) -> Instances:
    """Examine a claim at some units of one layer."""
    if is_imposed(claim):
        (found,) = autograd.examine_cases(claim, list(units.cases()), units.seed)
        return found
    (found,) = examine_together([claim], (units,))
    return found


def examine_together(claims: Sequence[Claim], units: tuple[Units, ...]) -> list[Instances]:
    """Examine claims that look alike, with the network that follows or with its jet."""
    examined = examine_jets if needs_only_the_jet(claims[0]) else examine_network
    return examined(claims, units)


def examine_jets(claims: Sequence[Claim], units: tuple[Units, ...]) -> list[Instances]:
    """Examine claims at units of one batch length, given their losses' jets."""
    return _examine(claims, units, _joined(units, claims[0].reading.has_epsilon), jet_loss)


def examine_network(claims: Sequence[Claim], units: tuple[Units, ...]) -> list[Instances]:
    """Examine claims at some units of one layer, given the network that follows."""
    (of_one_layer,) = units
    stack = of_one_layer.stack(claims[0].reading.has_epsilon)
    return _examine(claims, units, stack, of_one_layer.layer.loss_of_unit)


def _examine(
    claims: Sequence[Claim], units: tuple[Units, ...], stack: Stack, loss: StackedLoss
) -> list[Instances]:
    # Two measurements of the condition: the networks are well conditioned, and large.
    together = autograd.examine_together(claims, stack, loss, units[0].seed, samples=2)
    for found in together:
        found.tokens = [token for some in units for token in some.tokens]
        found.strata = [some.stratum for some in units for _ in some.tokens]
    return together


@lru_cache(maxsize=8)
def _joined(units: tuple[Units, ...], has_epsilon: bool) -> Stack:
    """Return the instances of several layers, with their jets, as one stack."""
    return joined([replace(u.stack(has_epsilon), arguments=u.jets(has_epsilon)) for u in units])


def rebuild(token: str, cache: Path | None = None) -> Units:
    """Return the one unit that a token names, for :func:`examine_units`.

    Args:
        token: ``trained:NETWORK:STAGE:SEED:LAYER:UNIT``.
        cache: the folder of trained networks; None for the user's own.

    Raises:
        ValueError: the token names none.
    """
    try:
        kind, name, stage, *numbers = token.split(":")
        seed, layer, unit = map(int, numbers)
        network = training.initialised(name, seed=0)
        exists = layer in network.layers and 0 <= unit < len(network.norm(layer).gamma)
        if kind != "trained" or stage not in STAGES or not 0 <= seed < 2**63 or not exists:
            raise ValueError
    except ValueError:
        raise ValueError(
            f"{token!r} names no unit of a trained network; expected"
            " trained:NETWORK:STAGE:SEED:LAYER:UNIT with a NETWORK of"
            f" {', '.join(NETWORKS)}, a STAGE of {', '.join(STAGES)} and numbers from 0"
        ) from None
    return Units(layers(name, stage, seed, cache)[layer], seed, torch.tensor([unit]), cache)


@lru_cache(maxsize=32)
def layers(name: str, stage: str, seed: int, cache: Path | None) -> tuple[LayerSnapshot, ...]:
    """Return the layers of a network on its batch of digits, from the cache or by training."""
    network = training.trained(name, stage, seed, cache)
    return snapshots(network, stage, *examination_batch(EXAMINED_IMAGES[name], seed))


class _Inputs(NamedTuple):
    """For every unit two of the layer's inputs, as directions, and the norm of them all."""

    direction: Tensor
    other_direction: Tensor
    bound: Tensor


@lru_cache(maxsize=64)
def _inputs(layer: LayerSnapshot, seed: int) -> _Inputs:
    """Draw two inputs that vary over the batch for every unit, from the layer's own place."""
    place = f"{layer.network} {layer.stage} {layer.layer}".encode()
    rng = np.random.default_rng([seed, *place])
    varying = layer.inputs[:, layer.inputs.amax(dim=0) > layer.inputs.amin(dim=0)].T
    units = layer.y.shape[1]
    first, second = (torch.from_numpy(rng.integers(len(varying), size=units)) for _ in range(2))
    norm = torch.linalg.matrix_norm(layer.inputs, 2)
    return _Inputs(varying[first], varying[second], norm.expand(units))
