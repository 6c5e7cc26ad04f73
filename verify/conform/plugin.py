"""The pytest plugin: ``pytest --conform package.module:layer``.

Each mode, output, dtype and kind of case is a test.  A file of known failures holds a line for
each, ``mode | output | dtype | kind: reason``, where ``*`` stands for any; a line that no failure
needs is reported, and fails the run.  Without ``--conform`` the plugin does nothing and imports
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from verify.conform.judge import Cell
    from verify.conform.report import Report

FIELDS = 4
STATUS_OF_NEITHER = 2
"""Of a layer that is neither said to conform nor not to."""
OPTIONS = pytest.StashKey[Any]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("conform", "examination of a normalisation layer")
    group.addoption("--conform", metavar="TARGET", help="package.module:name or file.py:name")
    group.addoption("--conform-family", default="batch", help="batch, layer, group, instance, rms")
    group.addoption("--conform-adapter", default="", help="a framework, or a file; else guessed")
    group.addoption("--conform-like", default="", help="whose conventions; else inferred")
    group.addoption("--conform-modes", default="", help="several are separated by commas")
    group.addoption("--conform-cases", default="", help="kinds of cases, separated by commas")
    group.addoption(
        "--conform-known", type=Path, metavar="FILE", help="known failures and their reasons"
    )


def pytest_ignore_collect(config: pytest.Config) -> bool | None:
    """Collect no files of the folder when a layer is examined and none was named."""
    is_alone = config.option.conform and config.args_source is not config.ArgsSource.ARGS
    return True if is_alone else None


def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    """Examine the layer, and add a test for each of its rows."""
    target = session.config.option.conform
    if not target:
        return
    known = read_known(session.config.option.conform_known)
    try:
        report = _examined(session.config)
    except ModuleNotFoundError as error:
        from theory.packages import missing

        raise pytest.UsageError(missing(error, "conform").msg) from None
    collector = Examined.from_parent(session, name=target, nodeid=target)
    items.extend(collector.tests(report, known))


def _examined(config: pytest.Config) -> Report:
    from verify.conform.process import Order, StartError
    from verify.conform.report import STATUS
    from verify.conform.run import Wanted, listed, run

    option = config.option
    order = Order(option.conform, option.conform_adapter, family=option.conform_family)
    try:
        wanted = Wanted(
            option.conform_like,
            modes=listed("--conform-modes", option.conform_modes),
            kinds=listed("--conform-cases", option.conform_cases),
        )
    except StartError as error:
        raise pytest.UsageError(str(error)) from None
    report = run(order, wanted)
    if STATUS[report.verdict] == STATUS_OF_NEITHER:
        said = ": ".join(filter(None, (option.conform, report.verdict, report.why)))
        raise pytest.UsageError(said)
    return report


@dataclass
class Known:
    """A line of the file of known failures."""

    pattern: tuple[str, ...]
    reason: str
    place: str
    is_used: bool = False

    def covers(self, fields: tuple[str, ...]) -> bool:
        """Whether the line speaks of these mode, output, dtype and kind."""
        pairs = zip(self.pattern, fields, strict=True)
        return all(pattern in ("*", field) for pattern, field in pairs)


def read_known(path: Path | None) -> list[Known]:
    """Return the lines of a file of known failures; empty ones and comments (#) are left out.

    Raises:
        pytest.UsageError: a line has no reason, or not four fields.
    """
    if path is None:
        return []
    if not path.is_file():
        raise pytest.UsageError(f"--conform-known: there is no file {path}")
    found = []
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        fields, _, reason = text.partition(":")
        pattern = tuple(field.strip() for field in fields.split("|"))
        if len(pattern) != FIELDS or not reason.strip():
            raise pytest.UsageError(
                f"{path}:{number}: expected 'mode | output | dtype | kind: reason', got {text!r}"
            )
        found.append(Known(pattern, reason.strip(), f"{path}:{number}"))
    return found


class Examined(pytest.Collector):
    """The layer, as a collector."""

    def collect(self) -> list[pytest.Item]:
        """Return nothing: the tests are known when the layer has been examined."""
        return []

    def tests(self, report: Report, known: list[Known]) -> Iterator[pytest.Item]:
        """Yield a test for each row, and one for each line that may be stale."""
        from verify.conform.words import ENDED, FAILURES, Word

        def fails(cell: Cell) -> bool:
            return cell.word in FAILURES or cell.reason.startswith(ENDED)

        rows: dict[tuple[str, ...], list[Cell]] = {}
        for cell in report.cells:
            if cell.word is not Word.NOT_OFFERED or fails(cell):
                fields = (cell.mode, cell.output, cell.dtype, cell.kind)
                rows.setdefault(fields, []).append(cell)
        for row, cells in rows.items():
            test = Row.from_parent(self, name="-".join(row))
            test.failures = [cell for cell in cells if fails(cell)]
            test.known = next((line for line in known if line.covers(row)), None)
            if test.failures and test.known is not None:
                test.known.is_used = True
            test.diagnosis = [
                f"{f.sentence}; a guess: {f.guess}" if f.guess else f.sentence
                for f in report.diagnosis
                if (f.mode, f.output) == row[:2]
            ]
            yield test
        for line in known:
            if not line.is_used:
                stale = Stale.from_parent(self, name=f"known failure at {line.place}")
                stale.line = line
                yield stale


class NonConformance(Exception):  # noqa: N818
    """What fails, for pytest's report."""


class Row(pytest.Item):
    """One mode, output, dtype and kind of case."""

    failures: list[Cell]
    known: Known | None
    diagnosis: list[str]

    def runtest(self) -> None:
        """Fail where a cell fails; a known failure is expected."""
        if not self.failures:
            return
        if self.known is not None:
            pytest.xfail(self.known.reason)
        lines = [
            f"{cell.word}: {cell.stratum}"
            + ("" if cell.units is None else f", {cell.units:.3g} units")
            + (f" ({cell.reason})" if cell.reason else "")
            + f"; --reproduce {cell.token!r}"
            for cell in self.failures
        ]
        raise NonConformance("\n".join([*lines, *self.diagnosis]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> str:
        """Say what fails, without a traceback through the judge."""
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return where the test stands."""
        return self.path, None, f"{self.parent.name if self.parent else ''}: {self.name}"


class Stale(Row):
    """A line of the file of known failures that no failure needs."""

    line: Known

    def runtest(self) -> None:
        """Fail: the line is to be removed."""
        raise NonConformance(
            f"{self.line.place}: nothing fails that this line excuses "
            f"({' | '.join(self.line.pattern)}); remove it"
        )
