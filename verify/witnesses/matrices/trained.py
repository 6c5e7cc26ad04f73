"""Statements about matrices at the layers of trained networks, on real data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, relu

from theory.matrix_claim import Kind, MatrixClaim
from verify.data import examination_batch
from verify.record import Record
from verify.settings import STAGES, Settings
from verify.subjects import training
from verify.subjects.matrices import SHAPES, Layer, Maps, Numbers
from verify.subjects.matrix_strata import generic, maps_of
from verify.subjects.networks import NETWORKS, Network
from verify.witnesses.matrices import floats
from verify.witnesses.records import recorded

KINDS = (Kind.LAYER, Kind.MAPS)
IMAGES = {"dense": 256, "convolutional": 16}
"""How many images make the batch: more than a layer has inputs."""


@dataclass(frozen=True, kw_only=True)
class TrainedLayer(Layer):
    """A dense layer of a network, with the rest of the network as its loss."""

    rest: Callable[[Tensor], Tensor]

    def loss(self, A: Any) -> Any:
        """Return the cross-entropy as a function of the layer's output."""
        return self.rest(A)


def examine(claims: Sequence[MatrixClaim], settings: Settings) -> Iterator[Record]:
    """Examine claims at every layer of every network, at the budget's stages."""
    stages, seed, cache = settings.budget.stages, settings.seed, settings.cache
    for alike in floats.of_one_kind(claims):
        subjects = every_subject(alike[0].subject, stages, seed, cache)
        yield from recorded(alike, "trained", floats.examine_together(alike, subjects, seed))


@lru_cache(maxsize=8)
def every_subject(
    kind: Kind, stages: tuple[str, ...], seed: int, cache: Path | None
) -> tuple[Numbers, ...]:
    """Return the subjects of one kind at some stages of training."""
    found: list[Numbers] = []
    for name in NETWORKS:
        images, labels = examination_batch(IMAGES[name], seed)
        for stage in stages:
            network = training.trained(name, stage, seed, cache).requires_grad_(False)
            made = _layers if kind is Kind.LAYER else _maps
            found.extend(made(network, stage, images, labels, seed))
    return tuple(found)


def rebuild(token: str, cache: Path | None) -> tuple[Numbers, ...]:
    """Return the layer, or the maps, that a token names.

    Raises:
        ValueError: the token names neither.
    """
    _, place, seed = [*token.split(":"), "", ""][:3]
    stage = next((s for s in STAGES if f" {s} " in place), None)
    if stage is None or not seed.isdecimal():
        raise ValueError(f"{token!r} names no layer; expected network:NAME STAGE layer N:SEED")
    every = (s for kind in KINDS for s in every_subject(kind, (stage,), int(seed), cache))
    if not (found := tuple(subject for subject in every if subject.token == token)):
        raise ValueError(f"{token!r} names no layer of {', '.join(NETWORKS)}")
    return found


def _layers(
    network: Network, stage: str, images: Tensor, labels: Tensor, seed: int
) -> Iterator[Layer]:
    """Yield the dense layers before a batch norm layer, and the last one."""
    for number in network.layers:
        if isinstance(layer := network.maps[number], torch.nn.Linear):

            def rest(A: Tensor, number: int = number) -> Tensor:
                return network.loss_from(number, network.norm(number)(A), labels)

            inputs = network.input_of(number, images)
            place = f"{network.name} {stage} layer {number}"
            yield subject(inputs, layer.weight, None, rest, 1.0, place, seed)
    last = network.layers[-1]
    inputs = relu(network.norm(last)(network.batch_before(last, images))).flatten(start_dim=1)
    place = f"{network.name} {stage} head"
    head = network.head
    yield subject(
        inputs, head.weight, head.bias, lambda A: cross_entropy(A, labels), 0.0, place, seed
    )


def subject(
    inputs: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    rest: Callable[[Tensor], Tensor],
    couples: float,
    place: str,
    seed: int,
) -> TrainedLayer:
    """Return a dense layer with generic numbers for what the network does not have.

    Args:
        inputs: of the layer, (N, n).
        weight: (p, n).
        bias: (p,), or None where there is none.
        rest: the loss as a function of the layer's output, (N, p).
        couples: 1 where the loss of an example depends on other examples, else 0.
        place: the layer's name.
        seed: of the generic numbers.
    """
    known: dict[str, Any] = {"H": inputs.numpy(), "W": weight.numpy(), "couples": couples}
    known |= dict.fromkeys(("linear", "quadratic", "fourth", "ridge", "centre"), 0.0)
    known |= {} if bias is None else {"b": bias.numpy()}
    every = SHAPES[Kind.LAYER](*inputs.shape, len(weight)).items()
    shapes = {name: shape for name, shape in every if name not in known}
    return TrainedLayer(
        **known,
        **generic(np.random.default_rng(seed), shapes),
        rest=rest,
        stratum=place,
        token=f"network:{place}:{seed}",
    )


def _maps(
    network: Network, stage: str, images: Tensor, labels: Tensor, seed: int
) -> Iterator[Maps]:
    """Yield the inputs and kernels of the convolutions, with a generic loss of their outputs."""
    for number in network.layers:
        if isinstance(layer := network.maps[number], torch.nn.Conv2d):
            found = maps(network.input_of(number, images).numpy(), layer.weight.numpy(), seed)
            place = f"{network.name} {stage} layer {number}"
            yield replace(found, stratum=place, token=f"network:{place}:{seed}")


def maps(h: np.ndarray, w: np.ndarray, seed: int) -> Maps:
    """Return a convolution of given inputs and kernels, with a generic loss for its size."""
    found = maps_of(h, w, np.random.default_rng(seed))
    return replace(found, ridge=found.ridge / h.shape[-1])
