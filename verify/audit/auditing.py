"""The audit: passes over a model on batches, and the report of what they tell.

What costs little is measured on every batch; second derivatives, condition numbers and what looks
at entries on as many as are asked for.
"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatch
from importlib.metadata import version
from inspect import isclass
from itertools import islice
from math import inf
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.lazy import LazyModuleMixin
from torch.utils._pytree import tree_leaves, tree_map_only

from theory.statement import Statement
from verify.audit import (
    biases,
    gramian,
    map_statements,
    maps,
    normalizations,
    not_examined,
    rows,
    statements,
    unit_hessian,
    words,
)
from verify.audit.adding_up import Tally
from verify.audit.clock import Clock, Tell
from verify.audit.errors import AuditError, raised_by
from verify.audit.first_order import FirstOrder, Run, first_order
from verify.audit.hooks import Modules
from verify.audit.left_out import NOWHERE_MET, left_out
from verify.audit.one_batch import OneBatch
from verify.audit.preserved import preserved
from verify.audit.report import MapRow, Report, StatementRow
from verify.audit.statements import Measurements
from verify.audit.unit_hessian import UnitHessian

MOST_BATCHES = 4
COSTLY = 1
"""Batches that second derivatives and condition numbers are taken of."""
REACHED = " that a gradient reaches"
LOOKED_INTO = 3
"""Layers of each kind whose entries are looked at."""
TRIED = 256
"""Rows of a matrix by which a machine's speed is estimated."""
SPECTRA = 12
"""What three spectra of a matrix take, over the products of its rows and columns."""
Loss = Callable[[Any, Any], Tensor]


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
    costly: int = COSTLY,
    entries: int = LOOKED_INTO,
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
        costly: of how many of these second derivatives and condition numbers are taken; a row
            then has the worst.
        entries: at how many layers of each kind statements are examined that look at entries of
            inputs and weights; some seconds for each.
        tell: is told of the progress.

    Raises:
        AuditError: nothing to run or to examine, a loss that is not one finite number with a
            gradient, or a budget that is no time.

    >>> _ = torch.manual_seed(0)
    >>> model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2))
    >>> batch, labels = torch.randn(32, 3), torch.randint(2, (32,))
    >>> report = audit(model, batch, labels, nn.functional.cross_entropy, entries=0)
    >>> report.normalizations[0].m, report.maps[0].useless_bias, len(report.unexpected)
    (32, True, 0)
    """
    _check_runs(model)
    if not (isinstance(budget, int | float) and budget >= 0):
        raise AuditError(f"budget = {budget!r}; expected seconds, at least 0, or inf for all")
    for name, count in (("most", most), ("costly", costly), ("entries", entries)):
        if not (isinstance(count, int) and count >= 0):
            raise AuditError(f"{name} = {count!r}; expected a whole number, at least 0")
    with torch.inference_mode(False), preserved(model) as rewind, torch.enable_grad(), _eagerly():
        # Within, since a loader may draw, and so may a weight that is made of others.
        runs = list(islice(_runs(model, inputs, targets, loss, batches, closure), most))
        if not runs:
            raise AuditError(
                "there is no batch; give inputs, batches that are not empty, or a closure"
            )
        chosen = _Chosen.of(model, layers)
        work = _Work(chosen, Clock(budget, tell or (lambda *_: None)), entries)
        kept = normalizations.kept_in_evaluation(model)
        model.train()
        work.clock.notes += [*normalizations.thawed(model, kept), *maps.empty(model)]
        alike = [_rewound(run, rewind) for run in runs]
        for number, run in enumerate(alike):
            work.first(run, f"batch {number}, " if len(runs) > 1 else "")
        work.note_others()
        if budget > 0:
            work.note_calls()
            work.plan(min(costly, len(runs)))
            for number, run in enumerate(alike[:costly]):
                if number and work.clock.is_late(f"batch {number}: what costs much"):
                    break
                batch = work.begun(number, run)
                batch.condition()
                batch.second()
    return work.report(model)


def _check_runs(model: nn.Module) -> None:
    """Raise an error for a model whose layers cannot be looked at."""
    if not isinstance(model, nn.Module):
        raise AuditError(f"the model is {model!r}; expected a torch.nn.Module")
    if isinstance(model, torch.jit.ScriptModule):
        raise AuditError(
            f"{type(model).__name__} was made by torch.jit, whose layers are not those of torch.nn;"
            " give the model that it was made of"
        )
    lazy = [name for name, module in model.named_modules() if _is_uninitialized(module)]
    if lazy:
        raise AuditError(
            f"{', '.join(lazy)}: no parameters yet; call the model once on a batch before"
        )
    if any(each.is_meta for each in (*model.parameters(), *model.buffers())):
        raise AuditError(
            "the model is on the device meta, where nothing has a value; make it on a device that"
            " computes, or load its state_dict there"
        )


def _is_uninitialized(module: nn.Module) -> bool:
    return isinstance(module, LazyModuleMixin) and bool(module.has_uninitialized_params())


@contextmanager
def _eagerly() -> Iterator[None]:
    """Run what torch.compile has made as it was before: hooks are no part of a compiled graph."""
    if "torch._dynamo" not in sys.modules:  # which takes seconds to import
        yield
        return
    with torch.compiler.set_stance("force_eager"):
        yield


@dataclass(frozen=True)
class _Chosen:
    """The layers to be examined."""

    model: nn.Module
    named: Modules
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
        return cls(model, named, norms, linear)


@dataclass
class _Work:
    """An audit in progress."""

    chosen: _Chosen
    clock: Clock
    looked_into: int
    found: list[tuple[str, FirstOrder]] = field(default_factory=list)
    """Of each batch, what its units' names begin with and what was found."""
    shapes: dict[str, tuple[int, int]] = field(default_factory=dict)
    costly: list[OneBatch] = field(default_factory=list)
    """The batches of which more was measured."""
    each_product: float = 0.0

    def first(self, run: Run, prefix: str) -> None:
        """Examine a batch by one forward and backward pass."""
        self.clock.say("forward and backward")
        with self.clock.part("normalisation layers, first derivatives"):
            found = first_order(run, self.chosen.model, self.chosen.norms, self.chosen.maps)
            found.useless_biases = biases.useless(run, self.chosen.maps, found)
        self.found.append((prefix, found))
        for name, gradients in found.gradients.items():
            shape = gradients.rows, gramian.columns(self.chosen.maps[name])
            self.shapes.setdefault(name, shape)
        self.clock.notes += [f"{n}: {s}" for n, s in found.others.items() if n not in self.told]

    @property
    def told(self) -> set[str]:
        """The layers that there is a note on."""
        return {note.partition(":")[0] for note in self.clock.notes}

    def note_others(self) -> None:
        """Note what no batch met and what is not examined."""
        met = {name for _, found in self.found for name in (*found.units, *found.gradients)}
        told, (_, first) = self.told, self.found[0]
        for name in (*self.chosen.norms, *self.chosen.maps):
            if name not in met and name not in told:
                self.clock.notes.append(f"{name}: {first.why_not(name)}")
        functions = {name: f for _, found in self.found for name, f in found.functions.items()}
        self.clock.notes += not_examined.notes(self.chosen.named, functions)

    def note_calls(self) -> None:
        """Note the maps of which what costs much tells of one call in several."""
        _, found = self.found[0]
        self.clock.notes += [
            f"{name}: it runs {found.runs[name]} times a pass; condition numbers, a unit's Hessian"
            f" and statements on entries are of the first{REACHED if found.first[name] else ''}"
            for name in found.gradients
            if found.runs[name] > 1
        ]

    def plan(self, batches: int) -> None:
        """Estimate what the rest takes."""
        self.each_product = sum(self.clock.seconds.values()) / len(self.found)
        rate = _products_a_second()
        expected = self.each_product * (2 + len(self.chosen.norms) / 2)
        for name, (count, columns) in self.shapes.items():
            groups = gramian.groups(self.chosen.maps[name])
            expected += groups * (count * columns**2 + SPECTRA * columns**3) / rate
        self.clock.expected = self.clock.elapsed + batches * expected
        self.clock.say("the rest")

    def begun(self, number: int, run: Run) -> OneBatch:
        """Begin with what costs much of a batch."""
        prefix, found = self.found[number]
        batch = OneBatch(
            number=number,
            prefix=prefix,
            run=run,
            found=found,
            norms=self.chosen.norms,
            maps=self.chosen.maps,
            claims=_claims(),
            clock=self.clock,
            looked_into=self.looked_into,
            each_product=self.each_product,
        )
        self.costly.append(batch)
        return batch

    def report(self, model: nn.Module) -> Report:
        """Return the report."""
        self.clock.say("statements")
        with self.clock.part("statements"):
            norms = [self._norm_row(name) for name in self.chosen.norms if self._named(name)]
            linear = [self._map_row(name) for name in self.chosen.maps if name in self.shapes]
            found, others = self._statements()
        some = next(iter((*model.parameters(), *model.buffers())), None)
        return Report(
            model=type(model).__name__,
            parameters=sum(p.numel() for p in model.parameters()),
            dtype="" if some is None else str(some.dtype).removeprefix("torch."),
            device="" if some is None else str(some.device),
            batches=len(self.found),
            costly=[batch.number for batch in self.costly],
            losses=[first.loss for _, first in self.found],
            normalizations=norms,
            maps=linear,
            statements=found,
            left_out=others,
            findings=words.findings(norms, linear, normalizations.kept_in_evaluation(model)),
            notes=self.clock.notes,
            seconds=self.clock.seconds,
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
        curvatures = [b.curvatures[name] for b in self.costly if name in b.curvatures]
        worst = max(curvatures, key=lambda c: c.smoothness, default=None)
        return rows.normalization(name, self._named(name), calls, worst)

    def _map_row(self, name: str) -> MapRow:
        met = [batch for batch in self.costly if name in batch.conditions]
        worst = max(met, key=lambda batch: batch.conditions[name].plain.kappa, default=None)
        return rows.linear(
            name,
            self.chosen.maps[name],
            next(found for _, found in self.found if name in found.gradients),
            None if worst is None else worst.conditions[name],
            ("", "") if worst is None else _said_of(worst, name),
            None if worst is None else _hessian_of(worst, name),
            self.shapes[name],
            None if worst is None else worst.number,
        )

    def _statements(self) -> tuple[list[StatementRow], dict[str, list[str]]]:
        """Return the rows of statements, and by reasons the identifiers of the others.

        What the network's own derivatives tell comes before what is told of a part of it.
        """
        claims, found = _claims(), Tally()
        second = [measured for batch in self.costly for measured in batch.second_orders]
        for parts in (self._of_units(), second):
            found.add_units(claims, parts)
        for batch in self.costly:
            for name, instances in batch.of_maps.items():
                found.add_columns(name, batch.prefix, instances)
        of_entries = [part for batch in self.costly for part in batch.of_entries]
        found.add_entries(of_entries)
        kept = found.rows([*self.chosen.norms, *self.chosen.maps])
        told = {row.statement for row in kept}
        refused = {key: why for *_, one in of_entries for key, why in one.refused.items()}
        nowhere = dict.fromkeys(found.everywhere.keys() - told, NOWHERE_MET)
        return kept, left_out(claims, told, {**refused, **nowhere})

    def _of_units(self) -> list[tuple[str, Measurements]]:
        return [
            (name, statements.measurements(units, prefix))
            for name in self.chosen.norms
            for prefix, units in self._named(name)
            if units.normalization.is_centred and units.normalization.is_told_of
        ]


def _claims() -> Sequence[Statement]:
    from verify.engine import CLAIMS

    return CLAIMS


def _hessian_of(batch: OneBatch, name: str) -> UnitHessian | None:
    if not batch.conditions[name].is_full_rank:
        return UnitHessian(None, None, None, unit_hessian.NOT_FULL_RANK)
    if batch.is_bias_taken_away(name):
        return UnitHessian(None, None, None, unit_hessian.NO_BIAS)
    return batch.hessians.get(name)


def _said_of(batch: OneBatch, name: str) -> tuple[str, str]:
    """Return what Theorem 4 and Proposition 10 say of a layer's inputs."""
    condition = batch.conditions[name]
    by_id = {found.statement.id: found for found in batch.of_maps[name]}
    if condition.plain.kappa == inf:
        theorem = "undecided: the condition number of the inputs is beyond what float64 resolves"
    elif condition.is_full_rank:
        theorem = "; ".join(
            f"{what}: {by_id[key].outcomes[0]}, {by_id[key].ratios[0] ** 0.5:.3g} of the bound"
            for key, what in (("L-thm-4a", "centring"), ("L-thm-4c", "scaling"))
        )
    else:
        theorem = f"does not apply: rank {condition.plain.rank} of {condition.columns}"
        if condition.rows >= condition.columns:
            theorem += ", to rounding"
    if (tenth := by_id.get("L-prop-10")) is None:
        return theorem, f"does not apply: {map_statements.unlike_maps(batch.maps[name])}"
    worst = max((r for r in tenth.ratios.tolist() if r == r), default=0.0)
    is_violated = any(o == "violated" for o in tenth.outcomes)
    return theorem, f"{'violated' if is_violated else 'holds'}, {worst:.3g} of the bound"


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
    if isclass(loss):
        raise AuditError(
            f"loss is the class {loss.__name__}; give what it makes, {loss.__name__}()"
        )
    pairs: Iterable[tuple[Any, Any]] = [(inputs, targets)] if batches is None else batches
    for batch in pairs:
        if not isinstance(batch, Sequence) or len(batch) != 2:
            raise AuditError(
                f"a batch is {_described(batch)}; expected a pair (inputs, targets): write a "
                "function that yields such pairs, or in Python give closure="
            )
        yield _run(model, *batch, loss)


def _described(batch: Any) -> str:
    """Return what a batch is, in a few words.

    >>> _described({"x": 1, "y": 2}), _described([1, 2, 3]), _described(7)
    ('a dict of x, y', 'a list of 3', 'of type int')
    """
    kind = type(batch).__name__
    if isinstance(batch, Mapping):
        return f"a {kind} of {', '.join(map(str, batch))}"
    return f"a {kind} of {len(batch)}" if isinstance(batch, Sequence) else f"of type {kind}"


def _run(model: nn.Module, inputs: Any, targets: Any, loss: Loss) -> Run:
    def run() -> Tensor:
        given = _copied(inputs)
        with raised_by("the model"):
            if isinstance(given, Mapping):
                outputs = model(**given)
            elif isinstance(given, tuple | list):
                outputs = model(*given)
            else:
                outputs = model(given)
        with raised_by("the loss"):
            found = loss(outputs, _copied(targets))
        if isinstance(found, Tensor) and bool(found.isnan().any()):
            _refuse_data(inputs, targets)
        return found

    return run


def _refuse_data(inputs: Any, targets: Any) -> None:
    """Say so where it is the batch that made a loss NaN, and not the model."""
    for name, part in (("inputs", inputs), ("targets", targets)):
        tensors = [each for each in tree_leaves(part) if isinstance(each, Tensor)]
        if any(bool(each.isnan().any()) for each in tensors):
            raise AuditError(f"the batch's {name} have entries that are NaN, and so has the loss")
        for each in tensors:
            if not each.numel():
                shape = tuple(each.shape)
                raise AuditError(f"the batch's {name} are of shape {shape}, and the loss is NaN")


def _copied(batch: Any) -> Any:
    """Return a batch that a model may write into, with another to be given the next time."""
    return tree_map_only(
        Tensor, lambda t: t.detach().clone().requires_grad_(t.requires_grad), batch
    )


def _rewound(run: Run, rewind: Callable[[], None]) -> Run:
    """Return what runs from the same buffers and random numbers at every call."""

    def again() -> Tensor:
        rewind()
        return run()

    return again


def _products_a_second() -> float:
    """Return how many products of two numbers a matrix product takes a second, about."""
    matrix = torch.arange(TRIED**2, dtype=torch.float64).cos().reshape(TRIED, TRIED)
    took = []
    for _ in range(3):  # the first call sets the library up; others may be disturbed
        start = time.perf_counter()
        _ = matrix @ matrix
        took.append(time.perf_counter() - start)
    return TRIED**3 / min(took)
