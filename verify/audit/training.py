"""An audit over a training: every so many steps, and a page of curves.

One step's audit is the first derivatives alone, unless more is asked for: as much as two or three
passes of training.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from msgspec import Struct
from torch import Tensor, nn

from verify.audit.auditing import Loss, audit
from verify.audit.drawings import Drawings
from verify.audit.page import document, figure, figures
from verify.audit.report import NormalizationRow, Report, Spread, saved

CURVES: dict[str, tuple[str, Callable[[NormalizationRow], float | None]]] = {
    "γ/σ": ("The Lipschitz factor, of the worst unit", lambda row: _worst(row.lipschitz)),
    "kept": (
        "What the layer leaves of its gradient, in the median unit",
        lambda row: row.left_of_gradient.median,
    ),
    "mean/sd": (
        "The size of the mean in deviations, of the worst unit",
        lambda row: _worst(row.mean_over_deviation),
    ),
    "v/ε": ("The variance over epsilon, the least", lambda row: _worst(row.variance_over_eps)),
    "drift": (
        "How far the running mean is off, in units of sigma, of the worst unit",
        lambda row: _worst(row.drift_of_mean),
    ),
    "dead": ("Units that no gradient reaches", lambda row: float(row.dead)),
    "smoothness": (
        "The effective smoothness along the gradient",
        lambda row: None if row.curvature is None else row.curvature.smoothness,
    ),
}
"""What is drawn against the steps, by its label: what it is, and where it stands in a row."""


class Moment(Struct, frozen=True):
    """The audit of one step."""

    step: int
    report: Report


class History(Struct, frozen=True):
    """The audits of a training."""

    moments: list[Moment]
    schema: int = 1

    def save(self, path: str | Path) -> Path:
        """Write the curves: a page for ``.html``, JSON for ``.json``.

        Raises:
            ValueError: neither, or nothing was audited.
        """
        if not self.moments:
            raise ValueError("nothing was audited yet; call step() at least once")
        return saved(Path(path), self, _page)

    def curve(self, layer: str, label: str) -> list[tuple[int, float]]:
        """Return a number of a layer's row against the steps.

        Args:
            layer: its name.
            label: of :data:`CURVES`.
        """
        _, value = CURVES[label]
        return [
            (moment.step, number)
            for moment in self.moments
            for row in moment.report.normalizations
            if row.layer == layer and (number := value(row)) is not None
        ]


class Auditor:
    """Audits a model every so many steps of its training.

    Args:
        model: that is trained; left as it was at every audit.
        every: how many steps from one audit to the next; the first step is audited.
        loss: from (outputs, targets) to one number, where steps are given batches.
        options: of :func:`verify.audit.audit`, such as ``layers``.  Unless there is a ``budget``,
            second derivatives and condition numbers are left out.

    >>> import torch
    >>> _ = torch.manual_seed(0)
    >>> model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Linear(3, 2))
    >>> auditor = Auditor(model, every=2, loss=nn.functional.cross_entropy)
    >>> for _ in range(3):
    ...     _ = auditor.step(torch.randn(8, 2), torch.randint(2, (8,)))
    >>> [moment.step for moment in auditor.history.moments]
    [0, 2]
    """

    def __init__(
        self, model: nn.Module, every: int = 100, loss: Loss | None = None, **options: Any
    ) -> None:
        if every < 1:
            raise ValueError(f"every = {every}; expected at least 1")
        self.model, self.every, self.loss = model, every, loss
        self.options = {"budget": 0.0, **options}
        self.history = History([])
        self.steps = 0

    def step(
        self, inputs: Any = None, targets: Any = None, closure: Callable[[], Tensor] | None = None
    ) -> Report | None:
        """Count a step, and audit if it is time.

        Args:
            inputs: the step's batch.
            targets: what its loss compares the outputs with.
            closure: instead of both, runs the model and returns its loss.

        Returns:
            The report, None if this step is not audited.

        Raises:
            AuditError: see :func:`verify.audit.audit`.
        """
        step, self.steps = self.steps, self.steps + 1
        if step % self.every:
            return None
        loss = self.loss if closure is None else None
        report = audit(self.model, inputs, targets, loss, closure=closure, **self.options)
        self.history.moments.append(Moment(step, report))
        return report

    def save(self, path: str | Path) -> Path:
        """Write the curves, see :meth:`History.save`."""
        return self.history.save(path)


def _page(history: History) -> str:
    drawings, last = Drawings(), history.moments[-1].report
    steps = [moment.step for moment in history.moments]
    body = [
        f"<h1>{escape(last.model)} over its training</h1>",
        f'<p class="where">{len(steps)} audits, from step {steps[0]} to {steps[-1]};'
        f" {last.parameters:,} parameters</p>",
    ]
    losses = [(m.step, m.report.losses[0]) for m in history.moments]
    body.append(figures(figure(drawings.over_steps("loss", "loss", {"loss": losses}), "Loss.")))
    rows = (row for moment in history.moments for row in moment.report.normalizations)
    names = [*dict.fromkeys(row.layer for row in rows)]  # one step may run others than the next
    for label, (meaning, _) in CURVES.items():
        curves = {name: history.curve(name, label) for name in names}
        groups = [names[i : i + TOGETHER] for i in range(0, len(names), TOGETHER)]
        drawn = [
            drawings.over_steps(label, label, {name: curves[name] for name in group})
            for group in groups
        ]
        if any(drawn):
            body.append(f"<h2>{escape(label)}</h2><p>{escape(meaning)}.</p>")
            body.append(figures(*(figure(picture, "") for picture in drawn)))
    findings = "".join(
        f"<li><b>step {m.step}</b> {escape(f.layer)}: {escape(f.sentence)}</li>"
        for m in history.moments
        for f in m.report.findings[:3]
        if f.is_grave
    )
    body.append(f"<h2>What stood out</h2><ul>{findings or '<li>Nothing.</li>'}</ul>")
    return document(f"{last.model} over its training", body)


TOGETHER = 6
"""Layers in one figure: as many as there are colours."""


def _worst(spread: Spread | None) -> float | None:
    return None if spread is None else spread.worst
