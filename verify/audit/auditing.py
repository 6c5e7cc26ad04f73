"""The audit: passes over a model on batches, and the report of what they tell.

What costs little is measured on every batch; second derivatives and condition numbers on the
first.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from importlib.metadata import version
from itertools import islice
from math import inf
from typing import Any

import torch
from torch import Tensor, nn

from verify.audit import (
    adding_up,
    gramian,
    map_statements,
    maps,
    normalizations,
    rows,
    statements,
    unit_hessian,
    words,
)
from verify.audit.adding_up import Everywhere
from verify.audit.conditioning import Conditioning, conditioning
from verify.audit.errors import AuditError
from verify.audit.first_order import FirstOrder, Modules, Run, first_order, hooked
from verify.audit.preserved import preserved
from verify.audit.report import Curvature, MapRow, Report
from verify.audit.second_order import SecondOrder
from verify.audit.statements import Measurements
from verify.audit.unit_hessian import UnitHessian

MOST_BATCHES = 4
TRIED = 256
"""Rows of a matrix by which a machine's speed is estimated."""
SPECTRA = 12
"""What three spectra of a matrix take, over the products of its rows and columns."""
PRODUCTS = 130
"""Hessian-vector products for all columns of one unit's Hessian, at most."""
Loss = Callable[[Any, Any], Tensor]
Tell = Callable[[str, float, float], None]
"""Is told what is done now, the seconds that are behind, and those that all will take, about."""


def audit(
    model: nn.Module,
    inputs: Any = None,
    targets: Any = None,
    loss: Loss | None = None,
    *,
    batches: Iterable[tuple[Any, Any]] | None = None,
    closure: Callable[[], Tensor] | None = None,
    layers: Sequence[str] = (),
    budget: float = inf,
    most: int = MOST_BATCHES,
    tell: Tell | None = None,
) -> Report:
    """Return what the theorems say of a model's layers, on one batch or several.

    The model is run in training mode, and left as it was: mode, buffers, gradients and random
    state, also when something raises.

    Args:
        model: any module.
        inputs: what the model is called with: a tensor, a tuple of arguments, or a dictionary of
            named ones.
        targets: the loss's second argument.
        loss: from (outputs, targets) to one number.
        batches: instead of inputs and targets, pairs of them.
        closure: instead of all these, a function that runs the model and returns its loss.
        layers: patterns of names, such as ``stage1.*``; none for all layers.
        budget: seconds after which nothing more is begun that costs much; with 0 there are no
            second derivatives and no condition numbers at all.
        most: how many of the batches are used.
        tell: is told of the progress.

    Raises:
        AuditError: nothing to run or to examine, or a loss that is not one finite number with a
            gradient.

    >>> _ = torch.manual_seed(0)
    >>> model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2))
    >>> batch, labels = torch.randn(32, 3), torch.randint(2, (32,))
    >>> report = audit(model, batch, labels, nn.functional.cross_entropy)
    >>> report.normalizations[0].m, report.maps[0].useless_bias, len(report.unexpected)
    (32, True, 0)
    """
    runs = list(islice(_runs(model, inputs, targets, loss, batches, closure), most))
    if not runs:
        raise AuditError("there is no batch; give inputs, batches that are not empty, or a closure")
    chosen = _Chosen.of(model, layers)
    work = _Work(chosen, time.perf_counter(), budget, tell or (lambda *_: None))
    work.notes += normalizations.unknown(model)
    with preserved(model) as rewind, torch.enable_grad():
        model.train()
        for number, run in enumerate(runs):
            rewind()
            work.first(run, f"batch {number}, " if len(runs) > 1 else "")
        if budget > 0:
            rewind()
            work.plan()
            work.condition(runs[0])
            rewind()
            work.second(runs[0])
    return work.report(model)


@dataclass(frozen=True)
class _Chosen:
    """The layers to be examined."""

    model: nn.Module
    norms: Modules
    maps: Modules

    @classmethod
    def of(cls, model: nn.Module, patterns: Sequence[str]) -> _Chosen:
        named = {
            name or type(module).__name__: module
            for name, module in model.named_modules()
            if not patterns or any(fnmatch(name, pattern) for pattern in patterns)
        }
        norms = {n: m for n, m in named.items() if normalizations.is_normalization(m)}
        linear = {n: m for n, m in named.items() if maps.is_map(m)}
        if not norms and not linear:
            among = f" among those called {', '.join(patterns)}" if patterns else ""
            raise AuditError(
                f"no normalisation, linear or convolution layer{among}; expected modules of"
                " torch.nn, such as BatchNorm2d, LayerNorm, Linear or Conv2d"
            )
        return cls(model, norms, linear)


@dataclass
class _Work:
    """An audit in progress."""

    chosen: _Chosen
    started: float
    budget: float
    tell: Tell
    found: list[tuple[str, FirstOrder]] = field(default_factory=list)
    """Of each batch, what its units' names begin with and what was found."""
    shapes: dict[str, tuple[int, int]] = field(default_factory=dict)
    conditions: dict[str, Conditioning] = field(default_factory=dict)
    of_maps: dict[str, list[statements.Instances]] = field(default_factory=dict)
    hessians: dict[str, UnitHessian] = field(default_factory=dict)
    curvatures: dict[str, Curvature] = field(default_factory=dict)
    second_orders: list[tuple[str, Measurements]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    expected: float = 0.0
    each_product: float = 0.0
    """Seconds that a Hessian-vector product takes, about."""

    def first(self, run: Run, prefix: str) -> None:
        """Examine a batch by one forward and backward pass."""
        self._say("forward and backward")
        start = time.perf_counter()
        found = first_order(run, self.chosen.model, self.chosen.norms, self.chosen.maps)
        self.found.append((prefix, found))
        self._took("normalisation layers, first derivatives", start)
        if not self.shapes:
            self.shapes = {
                name: (gradients.rows, gramian.columns(self.chosen.maps[name]))
                for name, gradients in found.gradients.items()
            }
        told = {note.partition(":")[0] for note in self.notes}
        for name in (*self.chosen.norms, *self.chosen.maps):
            if not {name} & {*found.units, *found.gradients, *told}:
                self.notes.append(
                    f"{name}: not called as a module, or the loss does not depend on it"
                )

    def plan(self) -> None:
        """Estimate what the rest takes."""
        self.each_product = sum(self.seconds.values()) / len(self.found)
        rate = _products_a_second()
        self.expected = self._elapsed() + self.each_product * (2 + len(self.chosen.norms) / 2)
        for name, (count, columns) in self.shapes.items():
            groups = gramian.groups(self.chosen.maps[name])
            self.expected += groups * (count * columns**2 + SPECTRA * columns**3) / rate
        self._say("the rest")

    def condition(self, run: Run) -> None:
        """Measure the inputs of every map as they are met."""
        from verify.engine import CLAIMS

        start = time.perf_counter()

        def meet(name: str, module: nn.Module, inputs: Tensor, _: Tensor) -> None:
            if name in self.conditions or name not in self.shapes or self._is_late(name, "inputs"):
                return
            self._say(f"inputs of {name}")
            given = inputs.detach()
            self.conditions[name] = conditioning(module, given)
            found = map_statements.examine(CLAIMS, module, given, self.conditions[name])
            self.of_maps[name] = list(found)

        with torch.no_grad(), hooked(self.chosen.maps, None, meet):
            run()
        self._took("inputs of linear and convolution layers", start)

    def second(self, run: Run) -> None:
        """Take second derivatives, at one unit of each layer."""
        if self._elapsed() > self.budget:
            self.notes.append("second derivatives: the budget was spent")
            return
        start = time.perf_counter()
        self._say("second derivatives")
        wanted = {
            n: m
            for n, m in self.chosen.maps.items()
            if n in self.conditions
            and self.conditions[n].is_full_rank
            and not self._is_bias_taken_away(n)
        }
        try:
            second = SecondOrder(run, self.chosen.norms, wanted)
        except RuntimeError as error:
            self.notes.append(f"second derivatives: {str(error).splitlines()[0]}")
            return
        for name in self.chosen.norms:
            if not self._is_late(name, "curvature"):
                self._say(f"curvature at {name}")
                self._curvature(second, name)
        self._took("second derivatives at normalisation layers", start)
        start = time.perf_counter()
        for name, module in wanted.items():
            if not self._is_late(name, "a unit's Hessian"):
                self._say(f"a unit's Hessian in {name}")
                self._hessian(second, name, module)
        self._took("Hessians of units", start)

    def _is_bias_taken_away(self, name: str) -> bool:
        """Whether a map goes straight into a normalisation that a bias does nothing before."""
        found = self.found[0][1]
        return name in found.normalized_by and rows.is_bias_useless(
            found.gradients.get(name), self.shapes[name][0]
        )

    def _curvature(self, second: SecondOrder, name: str) -> None:
        prefix, found = self.found[0]
        calls = found.units.get(name)
        if not calls or calls[0].normalization.is_frozen:
            return
        units = calls[0]
        number = int(units.products["w", "w"].nan_to_num().argmax())
        if not units.products["w", "w"][number] > 0:
            return
        if (products := second.unit(name, number)) is not None:
            label = prefix + units.normalization.name_of(number)
            self.curvatures[name] = rows.curvature(label, dict(products), units, number)
            if units.normalization.is_centred:
                measured = statements.measurements(units, 0, prefix, number, products)
                self.second_orders.append((name, measured))

    def _hessian(self, second: SecondOrder, name: str, module: nn.Module) -> None:
        condition, sizes = self.conditions[name], self.found[0][1].gradients[name].sizes
        each = len(sizes) // gramian.groups(module)
        own = sizes[condition.group * each : (condition.group + 1) * each]
        unit = condition.group * each + int(own.nan_to_num().argmax())
        left = (self.budget - self._elapsed()) / max(self.each_product, 1e-9)
        most = int(min(PRODUCTS, left)) if left < PRODUCTS else PRODUCTS
        self.hessians[name] = unit_hessian.unit_hessian(second, name, module, condition, unit, most)

    def report(self, model: nn.Module) -> Report:
        """Return the report."""
        self._say("statements")
        start = time.perf_counter()
        norms = [self._norm_row(name) for name in self.chosen.norms if self._named(name)]
        linear = [self._map_row(name) for name in self.chosen.maps if name in self.shapes]
        found = self._statements()
        self._took("statements", start)
        some = next(iter((*model.parameters(), *model.buffers())), None)
        return Report(
            model=type(model).__name__,
            parameters=sum(p.numel() for p in model.parameters()),
            dtype="" if some is None else str(some.dtype).removeprefix("torch."),
            device="" if some is None else str(some.device),
            batches=len(self.found),
            losses=[first.loss for _, first in self.found],
            normalizations=norms,
            maps=linear,
            statements=found,
            findings=words.findings(norms, linear),
            notes=self.notes,
            seconds=self.seconds,
            versions={
                "python": platform.python_version(),
                **{name: version(name) for name in ("torch", "numpy")},
            },
        )

    def _named(self, name: str) -> rows.Named:
        return [
            (prefix + (f"call {i}, " if len(calls) > 1 else ""), units)
            for prefix, first in self.found
            for calls in [first.units.get(name, [])]
            for i, units in enumerate(calls)
        ]

    def _norm_row(self, name: str) -> Any:
        calls = max(first.calls[name] for _, first in self.found)
        return rows.normalization(name, self._named(name), calls, self.curvatures.get(name))

    def _map_row(self, name: str) -> MapRow:
        return rows.linear(
            name,
            self.chosen.maps[name],
            self.found[0][1],
            self.conditions.get(name),
            self._said_of(name),
            self._hessian_of(name),
            self.shapes[name],
        )

    def _hessian_of(self, name: str) -> UnitHessian | None:
        condition = self.conditions.get(name)
        if condition is not None and not condition.is_full_rank:
            return UnitHessian(None, None, None, unit_hessian.NOT_FULL_RANK)
        if condition is not None and self._is_bias_taken_away(name):
            return UnitHessian(None, None, None, unit_hessian.NO_BIAS)
        return self.hessians.get(name)

    def _said_of(self, name: str) -> tuple[str, str]:
        """Return what Theorem 4 and Proposition 10 say of a layer's inputs."""
        condition = self.conditions.get(name)
        if condition is None:
            return "", ""
        by_id = {found.statement.id: found for found in self.of_maps[name]}
        if condition.is_full_rank:
            theorem = "; ".join(
                f"{what}: {by_id[key].outcomes[0]}, {by_id[key].ratios[0] ** 0.5:.3g} of the bound"
                for key, what in (("L-thm-4a", "centring"), ("L-thm-4c", "scaling"))
            )
        else:
            theorem = f"does not apply: rank {condition.plain.rank} of {condition.columns}"
        if (tenth := by_id.get("L-prop-10")) is None:
            return theorem, "does not apply: a kernel of one entry, a stride, or no zeros around"
        worst = max((r for r in tenth.ratios.tolist() if r == r), default=0.0)
        is_violated = any(o == "violated" for o in tenth.outcomes)
        return theorem, f"{'violated' if is_violated else 'holds'}, {worst:.3g} of the bound"

    def _statements(self) -> list[Any]:
        from verify.engine import CLAIMS

        order = [*self.chosen.norms, *self.chosen.maps]
        everywhere: dict[str, Everywhere] = {}
        first = [
            (name, statements.measurements(units, 0, prefix))
            for name in self.chosen.norms
            for prefix, units in self._named(name)
            if units.normalization.is_centred and not units.normalization.is_frozen
        ]
        for parts, is_first in ((first, True), (self.second_orders, False)):
            if not parts:
                continue
            joined = statements.joined([measured for _, measured in parts])
            layers = [name for name, measured in parts for _ in measured.places]
            for found in statements.examine(CLAIMS, joined):
                if is_first or found.statement.id not in everywhere:
                    _add(everywhere, found, layers, joined.places)
        for name, instances in self.of_maps.items():
            for found in instances:
                places = [""] if len(found.outcomes) == 1 else _columns(len(found.outcomes))
                _add(everywhere, found, [name] * len(places), places)
        made = (adding_up.row(found, order) for found in everywhere.values())
        return [row for row in made if row is not None]

    def _is_late(self, name: str, what: str) -> bool:
        if self._elapsed() <= self.budget:
            return False
        self.notes.append(f"{name}: {what} not measured, the budget was spent")
        return True

    def _elapsed(self) -> float:
        return time.perf_counter() - self.started

    def _say(self, what: str) -> None:
        self.tell(what, self._elapsed(), min(max(self.expected, self._elapsed()), self.budget))

    def _took(self, part: str, start: float) -> None:
        self.seconds[part] = self.seconds.get(part, 0.0) + time.perf_counter() - start


def _add(
    everywhere: dict[str, Everywhere],
    found: statements.Instances,
    layers: Sequence[str],
    units: Sequence[str],
) -> None:
    own = everywhere.setdefault(found.statement.id, Everywhere(found.statement))
    own.add(found, layers, units)


def _columns(count: int) -> list[str]:
    return [f"column {i}" for i in range(count)]


def _runs(
    model: nn.Module,
    inputs: Any,
    targets: Any,
    loss: Loss | None,
    batches: Iterable[tuple[Any, Any]] | None,
    closure: Callable[[], Tensor] | None,
) -> Iterator[Run]:
    """Yield what runs the model on each batch."""
    given = [inputs is not None, batches is not None, closure is not None]
    if sum(given) != 1:
        raise AuditError("give one of: inputs with targets and loss; batches with loss; closure")
    if closure is not None:
        yield closure
        return
    if loss is None:
        raise AuditError("give loss, a function of (outputs, targets) that returns one number")
    pairs: Iterable[tuple[Any, Any]] = [(inputs, targets)] if batches is None else batches
    for batch in pairs:
        if not isinstance(batch, Sequence) or len(batch) != 2:
            raise AuditError(
                f"a batch is {type(batch).__name__}; expected a pair (inputs, targets): give "
                "another shape of data by closure="
            )
        yield _run(model, *batch, loss)


def _run(model: nn.Module, inputs: Any, targets: Any, loss: Loss) -> Run:
    def run() -> Tensor:
        if isinstance(inputs, Mapping):
            outputs = model(**inputs)
        elif isinstance(inputs, tuple | list):
            outputs = model(*inputs)
        else:
            outputs = model(inputs)
        return loss(outputs, targets)

    return run


def _products_a_second() -> float:
    """Return how many products of two numbers a matrix product takes a second, about."""
    matrix = torch.arange(TRIED**2, dtype=torch.float64).cos().reshape(TRIED, TRIED)
    took = []
    for _ in range(3):  # the first call sets the library up; others may be disturbed
        start = time.perf_counter()
        _ = matrix @ matrix
        took.append(time.perf_counter() - start)
    return TRIED**3 / min(took)
