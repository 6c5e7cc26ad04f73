"""The report of an examination: one value; in the terminal, as JSON, as Markdown."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from verify.conform.cases import KINDS
from verify.conform.diagnosis import Finding
from verify.conform.judge import DTYPE, INPUTS, STATE, Cell
from verify.conform.modes import MODES
from verify.conform.words import ENDED, FAILURES, GIVEN_UP, HUNG, LIMIT, Word, gravest

SCHEMA = 1
SAID = 4
"""More cases or modes than these are counted."""
CONFORMS, DOES_NOT, COULD_NOT = "conforms", "does not conform", "could not run"
OUTPUT_ALONE = "the output conforms; no derivative was examined"
NOT_ALL = "conforms in what was examined, which is not all that was asked for"
STATUS = {CONFORMS: 0, DOES_NOT: 1, COULD_NOT: 2, OUTPUT_ALONE: 2, NOT_ALL: 2}
"""Exit status of the command."""
COLOURS = {
    Word.RIGHT: "green",
    Word.INACCURATE: "yellow",
    Word.WRONG: "bold red",
    Word.RAISES: "bold red",
    Word.NOT_FINITE: "bold magenta",
    Word.OVERWRITES: "bold red",
    Word.OTHER_CONVENTION: "yellow",
    Word.NOT_OFFERED: "dim",
    Word.NOT_JUDGED: "dim",
}
OF_OUTPUT = frozenset(mode.name for mode in MODES if mode.order == 0) | {"running"}
"""Modes that take no derivative."""
Row = tuple[str, str]
"""Mode and output."""


@dataclass(frozen=True)
class Report:
    """What an examination found."""

    subject: str
    framework: str = ""
    conventions: Mapping[str, str] = field(default_factory=dict)
    cells: tuple[Cell, ...] = ()
    diagnosis: tuple[Finding, ...] = ()
    scripts: Mapping[str, str] = field(default_factory=dict)
    """Paths of scripts that show a failure, by its token."""
    reason: str = ""
    """Why it could not be run."""
    asked: tuple[str, ...] = ()
    """The modes that were asked for by name; none: all, as far as they are offered."""

    @property
    def verdict(self) -> str:
        """One of the words of :data:`STATUS`."""
        is_right_anywhere = any(cell.word is Word.RIGHT for cell in self.cells)
        if self.failures or (is_right_anywhere and self.is_deadly):
            return DOES_NOT
        if not is_right_anywhere or self.reason or self.hung:
            return COULD_NOT
        if self.is_output_alone:
            return OUTPUT_ALONE
        return NOT_ALL if self.left_out else CONFORMS

    @property
    def is_output_alone(self) -> bool:
        """Whether derivatives were wanted, and none was examined."""
        wanted = {cell.mode for cell in self.cells if cell.mode not in OF_OUTPUT}
        return bool({*wanted, *self.asked} - OF_OUTPUT) and not wanted & self._examined

    @property
    def left_out(self) -> tuple[str, ...]:
        """The modes that were asked for by name and not examined, not even as the layer's own."""
        found = self._examined
        return tuple(mode for mode in self.asked if not {mode, f"own {mode}"} & found)

    @property
    def _examined(self) -> set[str]:
        return {cell.mode for cell in self.cells if cell.word is not Word.NOT_OFFERED}

    @property
    def hung(self) -> tuple[Cell, ...]:
        """The cells of which nothing is known, since the layer did not return."""
        return tuple(cell for cell in self.cells if cell.reason.startswith((HUNG, GIVEN_UP)))

    @property
    def why(self) -> str:
        """Why it could not be run, or not at every case; empty where it could."""
        lacking = [cell for cell in self.cells if cell.word is Word.NOT_OFFERED]
        missing = [cell for cell in lacking if cell.mode == "forward"]
        missing = missing or [cell for cell in lacking if cell.is_crash]
        if self.reason or self.verdict == DOES_NOT:
            return self.reason
        if self.verdict == COULD_NOT and self.hung:
            places = _few(dict.fromkeys(cell.stratum for cell in self.hung))
            return f"right where it returned, but {self.hung[0].reason} (at {places})"
        if self.verdict == NOT_ALL:
            return f"{_few(self.left_out)} {'was' if len(self.left_out) == 1 else 'were'} not"
        if not missing:
            return "" if self._examined else "nothing of what was asked for is offered"
        places = _few(dict.fromkeys(cell.stratum for cell in missing))
        where = (
            "it does not run" if self.verdict == COULD_NOT else "where it runs, which it does not"
        )
        if missing[0].mode != "forward":
            where = f"where it runs, which {missing[0].mode} does not"
        return f"{where} at {places} ({missing[0].reason})"

    @property
    def is_deadly(self) -> bool:
        """Whether the layer ended its process in some case."""
        return any(cell.reason.startswith(ENDED) for cell in self.cells)

    @property
    def failures(self) -> tuple[Cell, ...]:
        """The cells whose word says that the layer does not conform."""
        return tuple(cell for cell in self.cells if cell.word in FAILURES)

    @property
    def failing_rows(self) -> list[tuple[Row, Cell]]:
        """Each mode and output whose numbers fail, with its gravest cell."""
        rows = by_row(cell for cell in self.failures if cell.word is not Word.RAISES)
        return [(row, worst(cells)) for row, cells in rows.items()]

    @property
    def crashes(self) -> dict[str, list[str]]:
        """The errors that modes end in at every case, and which modes."""
        modes: dict[str, dict[str, None]] = {}
        for cell in self.failures:
            if cell.word is Word.RAISES:
                modes.setdefault(cell.reason, {})[cell.mode] = None
        return {reason: list(of_it) for reason, of_it in modes.items()}

    def as_json(self) -> dict[str, Any]:
        """Return the report as an object of plain values."""
        return {
            "schema": SCHEMA,
            "subject": self.subject,
            "framework": self.framework,
            "versions": versions(),
            "conventions": dict(self.conventions),
            "verdict": self.verdict,
            "reason": self.why,
            "cells": [_plain(cell) for cell in self.cells],
            "diagnosis": [asdict(finding) for finding in self.diagnosis],
        }


def versions() -> dict[str, str]:
    """Return the versions that the judge's own numbers depend on."""
    packages = ("batchnorm-theory", "numpy", "python-flint")
    return {"python": platform.python_version(), **{name: _version(name) for name in packages}}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _plain(cell: Cell) -> dict[str, Any]:
    return {
        "mode": cell.mode,
        "output": cell.output,
        "dtype": cell.dtype,
        "stratum": cell.stratum,
        "kind": cell.kind,
        "units": cell.units,
        "word": str(cell.word),
        "reason": cell.reason,
        "token": cell.token,
    }


def by_row(cells: Iterable[Cell]) -> dict[Row, list[Cell]]:
    """Return the cells of each mode and output; those of no numbers are rows for all modes."""
    rows: dict[Row, list[Cell]] = {}
    for cell in cells:
        is_number = cell.output not in (INPUTS, DTYPE, STATE)
        rows.setdefault((cell.mode if is_number else "every mode", cell.output), []).append(cell)
    return rows


def worst(cells: Sequence[Cell]) -> Cell:
    """Return the cell that stands for several: the first failure, or else the most units."""
    word = gravest([cell.word for cell in cells])
    same = [cell for cell in cells if cell.word is word]
    return same[0] if word in FAILURES else max(same, key=lambda cell: cell.units or 0.0)


def show(report: Report, console: Console) -> None:
    """Print the report."""
    if report.reason:
        console.print(Text(f"{report.subject}: {report.verdict}: {report.reason}"))
        return
    console.print(Group(*_matrix(report), *_lines(report)), highlight=False)


def _matrix(report: Report) -> Iterable[RenderableType]:
    rows = by_row(report.cells)
    kinds = [kind for kind in KINDS if any(cell.kind == kind for cell in report.cells)]
    dtypes = " and ".join(dict.fromkeys(cell.dtype for cell in report.cells))
    yield Text(f"{report.subject} ({report.framework}), {dtypes}", "bold")
    table = Table()
    table.add_column("mode")
    table.add_column("output")
    for kind in kinds:
        table.add_column(kind, justify="right")
    for (mode, output), cells in rows.items():
        if all(cell.word is Word.NOT_OFFERED for cell in cells):
            continue
        of_kind = [[cell for cell in cells if cell.kind == kind] for kind in kinds]
        table.add_row(mode, output, *(_entry(found) if found else "" for found in of_kind))
    yield table
    yield Text(
        "largest error in units of u times the two-pass algorithm's running error; "
        f"a right layer stays below {_limits(report.cells)}",
        "dim",
    )


def _limits(cells: Iterable[Cell]) -> str:
    """Return the units that a right layer stays below, by the dtypes where they differ."""
    dtypes: dict[float, dict[str, None]] = {}
    for cell in cells:
        dtypes.setdefault(LIMIT[cell.dtype], {})[cell.dtype] = None
    if len(dtypes) == 1:
        return f"{next(iter(dtypes)):g}"
    return ", ".join(f"{limit:g} in {' and '.join(of_it)}" for limit, of_it in dtypes.items())


def _entry(cells: Sequence[Cell]) -> Text:
    cell = worst(cells)
    if cell.word is Word.RIGHT:
        return Text("right" if cell.units is None else number(cell.units), COLOURS[cell.word])
    return Text(str(cell.word), COLOURS[cell.word])


def number(units: float) -> str:
    """Return a number of units in few characters.

    >>> number(0.34), number(31.6), number(220000.0)
    ('0.3', '32', '2e+05')
    """
    if units < 9.95:
        return f"{units:.1f}"
    return f"{units:.0f}" if units < 9999.5 else f"{units:.0e}"


def _lines(report: Report) -> Iterable[RenderableType]:
    for name, value in report.conventions.items():
        yield Text(f"{name}: {value}", "dim")
    yield from not_offered(report)
    yield ""
    for reason, modes in report.crashes.items():
        yield Text.assemble(("raises: ", COLOURS[Word.RAISES]), f"{', '.join(modes)} ({reason})")
    for row, cell in report.failing_rows:
        yield Text.assemble(
            (f"{cell.word}: ", COLOURS[cell.word]), (sentence(row, cell, report.scripts), "")
        )
    for said, rows in findings(report).items():
        yield Text(f"{rows}: {said}")
    colour = "bold green" if report.verdict == CONFORMS else "bold red"
    yield Text(": ".join(filter(None, (report.subject, report.verdict, report.why))), colour)


def not_offered(report: Report) -> Iterable[Text]:
    """Yield a line for each reason why modes are missing, everywhere or at some cases."""
    everywhere: dict[str, dict[str, None]] = {}
    somewhere: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for (mode, _), cells in by_row(report.cells).items():
        missing = [cell for cell in cells if cell.word is Word.NOT_OFFERED]
        if len(missing) == len(cells):
            everywhere.setdefault(cells[0].reason, {})[mode] = None
            continue
        for cell in missing:
            modes, places = somewhere.setdefault(cell.reason, ({}, {}))
            modes[mode], places[cell.stratum] = None, None
    for reason, modes in everywhere.items():
        yield Text(f"not offered: {', '.join(modes)} ({reason})", "dim")
    for reason, (modes, places) in somewhere.items():
        said = Text(f"not examined at {_few(places)}: {_few(modes)} ({reason})")
        said.stylize("bold red" if reason.startswith(ENDED) else "yellow")
        yield said


def _few(words: Iterable[str]) -> str:
    """Return the first words, and how many more there are."""
    listed = list(words)
    more = len(listed) - SAID
    return ", ".join(listed[:SAID]) + (f" and {more} more" if more > 0 else "")


def markdown(report: Report) -> str:
    """Return the report as Markdown.

    A table of words by mode and kind of case, then a line for each failure.
    """
    if report.reason:
        return f"**{report.subject}**: {report.verdict}: {report.reason}"
    rows = by_row(report.cells)
    kinds = [kind for kind in KINDS if any(cell.kind == kind for cell in report.cells)]
    header = ["mode", "output", *kinds]
    table = [header, ["---"] * len(header)]
    for (mode, output), cells in rows.items():
        entries = [[cell for cell in cells if cell.kind == kind] for kind in kinds]
        if any(cell.word is not Word.NOT_OFFERED for cell in cells):
            table.append([mode, output, *(_entry(e).plain if e else "" for e in entries)])
    lines = [f"## {report.subject} ({report.framework}): {report.verdict}", ""]
    lines += [report.why, ""] if report.why else []
    lines += [f"| {' | '.join(line)} |" for line in table]
    lines += ["", *(f"- {name}: {value}" for name, value in report.conventions.items())]
    lines += [f"- {line.plain}" for line in not_offered(report)]
    lines += [f"- **raises**: {', '.join(m)} ({reason})" for reason, m in report.crashes.items()]
    for row, cell in report.failing_rows:
        lines.append(f"- **{cell.word}**: {' '.join(sentence(row, cell).split())}")
    lines += [f"- {rows_}: {said}" for said, rows_ in findings(report).items()]
    return "\n".join(lines)


def findings(report: Report) -> dict[str, str]:
    """Return what is said of each failing output, and of which ones."""
    said: dict[str, list[str]] = {}
    for finding in report.diagnosis:
        guess = f"; a guess: {finding.guess}" if finding.guess else ""
        row = f"{finding.mode} {finding.output}"
        said.setdefault(f"{finding.sentence}{guess}", []).append(row)
    return {sentence: ", ".join(rows) for sentence, rows in said.items()}


def sentence(row: Row, cell: Cell, scripts: Mapping[str, str] = MappingProxyType({})) -> str:
    """Say in a line or two what fails, and how to see it again."""
    mode, output = row
    size = "" if cell.units is None else f", {number(cell.units)} units"
    reason = f" ({cell.reason})" if cell.reason else ""
    lines = [f"{mode}, {output}: {cell.dtype}, {cell.stratum}{size}{reason}"]
    if cell.token:
        path = scripts.get(cell.token)
        lines.append(f"  --reproduce {cell.token!r}" + (f"; python {path}" if path else ""))
    return "\n".join(lines)
