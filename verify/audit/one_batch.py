"""What one batch tells beyond its first derivatives, which costs more.

Condition numbers of what layers are given, second derivatives, and statements that look at entries
of inputs and weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from theory.statement import Statement
from verify.audit import (
    along_inputs,
    entries,
    gramian,
    map_statements,
    rows,
    statements,
    unit_hessian,
)
from verify.audit.along_inputs import Channel
from verify.audit.clock import Clock
from verify.audit.conditioning import Conditioning, conditioning
from verify.audit.first_order import FirstOrder, Run
from verify.audit.hooks import Modules, hooked
from verify.audit.report import Curvature
from verify.audit.second_order import SecondOrder, second_order
from verify.audit.statements import Examined, Instances, Measurements
from verify.audit.unit_hessian import UnitHessian

PRODUCTS = 130
"""Hessian-vector products for all columns of one unit's Hessian, at most."""
LONGEST = 2**13
"""Entries of a channel whose batch is kept."""
ALIKE = 2.0**-8
"""Losses of one function that differ by no more, relatively, differ by rounding."""
NO_PART = "entries: fewer than two inputs vary, or one nearly is made of others"
TRIED = 16
"""Inputs of a channel that are looked at for two that vary."""
T = TypeVar("T")


@dataclass
class OneBatch:
    """A batch, and what was measured of it."""

    number: int
    prefix: str
    """Of the units' names, where there are several batches."""
    run: Run
    found: FirstOrder
    norms: Modules
    maps: Modules
    claims: Sequence[Statement]
    clock: Clock
    looked_into: int
    """Layers of each kind whose entries are looked at."""
    each_product: float = 0.0
    """Seconds that a Hessian-vector product takes, about."""
    is_as_before: bool = True
    """Whether a second pass gave the same loss."""
    conditions: dict[str, Conditioning] = field(default_factory=dict)
    curvatures: dict[str, Curvature] = field(default_factory=dict)
    hessians: dict[str, UnitHessian] = field(default_factory=dict)
    of_maps: dict[str, list[Instances]] = field(default_factory=dict)
    second_orders: list[tuple[str, Measurements]] = field(default_factory=list)
    of_entries: list[tuple[str, str, Examined]] = field(default_factory=list)
    """Layer, place, and what was examined there."""
    _kept: dict[str, Tensor] = field(default_factory=dict)
    """What layers are given whose entries are looked at."""

    def condition(self) -> None:
        """Measure the inputs of every map as they are met."""
        looked_into = {*self._layers(), *self._channels().values()}

        def meet(name: str, module: nn.Module, inputs: Tensor, _: Tensor) -> None:
            if name in self.conditions or name not in self.found.gradients:
                return
            if self.clock.is_late(f"{name}: inputs"):
                return
            self.clock.say(f"inputs of {name}")
            given = inputs.detach()
            if not (given.abs().amax().double().square() * given.numel()).isfinite():
                self.clock.notes.append(f"{name}: its inputs are not finite, or their squares")
                return
            self.conditions[name] = conditioning(module, given)
            found = map_statements.examine(self.claims, module, given, self.conditions[name])
            self.of_maps[name] = list(found)
            if name in looked_into:
                self._kept[name] = given.clone()  # what comes after may write into it

        with (
            self.clock.part("inputs of linear and convolution layers"),
            hooked(self.maps, None, meet, only=self.found.first),
        ):
            try:
                with torch.no_grad():
                    loss = self.run()
            except RuntimeError:  # a gradient is taken while the loss is computed
                loss = self.run()
        again, first = loss.item(), self.found.loss
        self.is_as_before = abs(again - first) <= ALIKE * max(abs(again), abs(first))
        if not self.is_as_before:
            self.clock.notes.append(
                f"second derivatives: two passes over a batch give the losses {first:.6g} and"
                f" {again:.6g}; let them be one function of the parameters"
            )

    def second(self) -> None:
        """Take second derivatives at one unit of each layer, and look into some layers."""
        second = None
        if not self.is_as_before:
            self._kept.clear()
            return
        if self.clock.left < 0:
            self.clock.notes.append("second derivatives: the budget was spent")
        else:
            second = self._second()
        with self.clock.part("statements on entries of inputs and weights"):
            self._look_into(second)
        self._kept.clear()

    def _second(self) -> SecondOrder | None:
        wanted = {
            name: module
            for name, module in self.maps.items()
            if name in self.conditions
            and self.conditions[name].is_full_rank
            and not self.is_bias_taken_away(name)
        }
        looked_into = {name: self.maps[name] for name in self._layers()}
        with self.clock.part("second derivatives at normalisation layers"):
            self.clock.say("second derivatives")
            try:
                second = second_order(
                    self.run, self.norms, {**wanted, **looked_into}, self.found.first
                )
            except RuntimeError as error:
                self.clock.notes.append(f"second derivatives: {str(error).splitlines()[0]}")
                return None
            for name in self.norms:
                if not self.clock.is_late(f"{name}: curvature"):
                    self.clock.say(f"curvature at {name}")
                    self._curvature(second, name)
        with self.clock.part("Hessians of units"):
            for name, module in wanted.items():
                if not self.clock.is_late(f"{name}: a unit's Hessian"):
                    self.clock.say(f"a unit's Hessian in {name}")
                    self._hessian(second, name, module)
        return second

    def is_bias_taken_away(self, name: str) -> bool:
        """Whether a map goes straight into a normalisation that a bias does nothing before."""
        return name in self.found.normalized_by and name in self.found.useless_biases

    def _curvature(self, second: SecondOrder, name: str) -> None:
        if (number := self._steepest(name)) is None:
            return
        units = self.found.units[name][0]
        if (products := second.unit(name, number)) is not None:
            label = self.prefix + units.normalization.name_of(number)
            found = rows.curvature(label, dict(products), units, number)
            if found is None:
                return
            self.curvatures[name] = found
            if units.normalization.is_centred:
                measured = statements.measurements(units, self.prefix, number, products)
                self.second_orders.append((name, measured))

    def _steepest(self, name: str) -> int | None:
        """Return the unit with the largest gradient, None if there is none to look at."""
        calls = self.found.units.get(name)
        if not calls or not calls[0].normalization.is_told_of:
            return None
        sizes = calls[0].products["w", "w"].nan_to_num()
        number = int(sizes.argmax())
        return number if sizes[number] > 0 else None

    def _hessian(self, second: SecondOrder, name: str, module: nn.Module) -> None:
        condition, sizes = self.conditions[name], self.found.gradients[name].sizes
        each = len(sizes) // gramian.groups(module)
        own = sizes[condition.group * each : (condition.group + 1) * each]
        unit = condition.group * each + int(own.nan_to_num().argmax())
        left = self.clock.left / max(self.each_product, 1e-9)
        most = int(min(PRODUCTS, left))
        self.hessians[name] = unit_hessian.unit_hessian(second, name, module, condition, unit, most)

    def _layers(self) -> list[str]:
        return _spaced(self.found.gradients, self.looked_into)

    def _channels(self) -> dict[str, str]:
        """Return channels' layers whose entries are looked at, with the maps below them."""
        below = {norm: name for name, norm in self.found.normalized_by.items()}
        fit = [
            name
            for name, calls in self.found.units.items()
            if below.get(name) in self.found.gradients
            and self.found.runs[name] == self.found.runs[below[name]] == 1
            and calls[0].normalization.by_batch
            and calls[0].m <= LONGEST
            and self.found.gradients[below[name]].rows == calls[0].m
            and self._steepest(name) is not None
        ]
        return {name: below[name] for name in _spaced(fit, self.looked_into)}

    def _look_into(self, second: SecondOrder | None) -> None:
        """Examine statements that look at entries, at some layers of each kind."""
        for name in self._layers():
            if name in self._kept and not self.clock.is_late(f"{name}: entries"):
                self.clock.say(f"entries of {name}")
                part = self._part(second, name)
                if part is None:
                    self.clock.notes.append(f"{name}: {NO_PART}")
                    continue
                with _made_on_cpu():
                    examined = entries.examine(self.claims, part)
                self.of_entries.append((name, self.prefix + part.place, examined))
        fit = [n for n in self._kept if entries.is_fit(self.maps[n], self._kept[n])]
        for name in _spaced(fit, self.looked_into):
            if not self.clock.is_late(f"{name}: entries of its maps"):
                self.clock.say(f"maps of {name}")
                of_maps = entries.of_maps(self.maps[name], self._kept[name])
                with _made_on_cpu():
                    examined = entries.examine(self.claims, of_maps)
                self.of_entries.append((name, self.prefix + of_maps.place, examined))
        if second is None:
            return
        for name, below in self._channels().items():
            if below in self._kept and not self.clock.is_late(f"{name}: entries"):
                self.clock.say(f"inputs of a channel of {name}")
                self._channel(second, name, below)

    def _part(self, second: SecondOrder | None, name: str) -> entries.Part | None:
        module, group = self.maps[name], self.conditions[name].group
        gradient = None if second is None else second.gradient(name)
        if second is None or gradient is None:
            return entries.of_layer(module, self._kept[name], group, None, None)

        def product(unit: int, vector: Tensor) -> Tensor:
            return unit_hessian.products_of(second, name, module, unit)(vector)

        return entries.of_layer(module, self._kept[name], group, gradient, product)

    def _channel(self, second: SecondOrder, name: str, below: str) -> None:
        """Examine statements along the inputs of a channel."""
        number = self._steepest(name)
        assert number is not None
        units, module = self.found.units[name][0], self.maps[below]
        weight = module.weight
        assert isinstance(weight, Tensor)
        group = number * gramian.groups(module) // len(weight)
        chosen = _varying(name, module, self._kept[below], group)
        if len(chosen) < 2:
            self.clock.notes.append(f"{name}: fewer than two inputs of {below} vary")
            return
        y, g = second.batch(name, number)
        first, other = chosen.values()
        span = along_inputs.span_of(y, g, (first, other))
        beta = units.normalization.bias
        channel = Channel(
            y=y.cpu(),
            gamma=units.gamma[number].item(),
            beta=0.0 if beta is None else beta[number].item(),
            eps=units.normalization.eps,
            g=g.cpu(),
            inputs=(first.cpu(), other.cpu()),
            bound=self.conditions[below].plain.largest ** 0.5,
            span=span.cpu(),
            images=second.after(name, number, span).cpu(),
        )
        place = f"{units.normalization.name_of(number)}, inputs {' and '.join(map(str, chosen))}"
        with _made_on_cpu():
            examined = along_inputs.examine(self.claims, channel)
        self.of_entries.append((name, self.prefix + place, examined))


def _made_on_cpu() -> AbstractContextManager[object]:
    """Let what is made be made on the CPU; asked for where it is so, it would slow every call."""
    is_so = torch.get_default_device().type == "cpu"
    return nullcontext() if is_so else torch.device("cpu")


def _varying(name: str, module: nn.Module, inputs: Tensor, group: int) -> dict[int, Tensor]:
    """Return two columns of a layer's inputs that vary, by their numbers, drawn from its name."""
    columns = gramian.columns(module) - 1
    order = np.random.default_rng([*name.encode()]).permutation(columns)
    found: dict[int, Tensor] = {}
    for number in order[:TRIED].tolist():
        column = gramian.column(module, inputs, group, number)
        if column.amax() > column.amin():
            found[number] = column
        if len(found) == 2:
            break
    return found


def _spaced(names: Iterable[T], most: int) -> list[T]:
    """Return some of a list at equal distances.

    >>> _spaced("abcdef", 3)
    ['a', 'c', 'f']
    """
    every = list(names)
    return [every[place] for place in gramian.spaced(len(every), most).tolist()]
