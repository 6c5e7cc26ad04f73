"""What an experiment found, for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from verify.experiments.evidence import FILE, Result
from verify.experiments.examined import COUNTS, Examined, examined
from verify.experiments.experiment import Experiment, Observation
from verify.report import titled

WORDS = {True: "observed", False: "not observed", None: "cannot tell"}
COLOURS = {True: "green", False: "red", None: "yellow"}
WIDE = 120
"""Where a terminal is narrower, its tables have no place for all their columns."""
RATIO = "ratio"


def show(result: Result, folder: Path, console: Console) -> None:
    """Print the observations, the statements that were examined, and the files."""
    console.print(table(result, console.width))
    if statements := examined(result.pieces):
        console.print(statements_table(statements, console.width))
    console.print(summary(result.observations), highlight=False, markup=False)
    for file in files(result, folder):
        console.print(str(file), highlight=False, markup=False, soft_wrap=True)


def show_list(experiments: Sequence[Experiment], console: Console) -> None:
    """Print the experiments that there are."""
    listed = titled("The papers' experiments", "name", "what", "statements")
    for experiment in experiments:
        listed.add_row(experiment.name, experiment.title, ", ".join(experiment.rows))
    console.print(listed)


def table(result: Result, width: int = WIDE) -> Table:
    """Return one row for each observation; in a narrow terminal its place is below it."""
    made = titled(f"{escape(result.title)}: {described(result)}")
    made.show_lines = True
    is_narrow = width < WIDE
    names = ("the paper observes", "looked at here", "found")
    for name in names if is_narrow else ("where", *names[:2], "", names[2]):
        made.add_column(name, overflow="fold", no_wrap=not name)
    for seen in result.observations:
        source, statement, criterion, found = map(
            escape, (seen.source, seen.statement, seen.criterion, seen.found)
        )
        if is_narrow:
            made.add_row(f"{statement}\n[dim]{source}[/]", criterion, f"{in_words(seen)}\n{found}")
        else:
            made.add_row(source, statement, criterion, in_words(seen), found)
    return made


def statements_table(statements: Sequence[Examined], width: int = WIDE) -> Table:
    """Return one row for each statement that was examined along the run.

    Args:
        statements: they, with what was found.
        width: of the terminal; in a narrow one numbers stand with their names.
    """
    is_narrow = width < WIDE
    made = titled("Statements examined along the run")
    longest = max((len(one.claim) for one in statements), default=0)
    if is_narrow:
        longest = min(longest, width // 2)
    made.add_column("statement", overflow="fold", width=longest)
    made.add_column("expected", overflow="fold")
    if is_narrow:
        made.add_column("found", overflow="fold")
    else:
        for name in (*COUNTS, RATIO):
            made.add_column(name, justify="right", no_wrap=True)
    for one in statements:
        mark = " [red]unexpected[/]" if one.is_unexpected else ""
        numbers = _numbers(one)
        named = "; ".join(f"{name}: {said}" for name, said in numbers.items() if said)
        made.add_row(
            one.claim,
            one.expected.value + mark,
            *([named] if is_narrow else numbers.values()),
        )
    return made


def _numbers(one: Examined) -> dict[str, str]:
    counts = (one.instances, one.violated, one.undecided, one.vacuous)
    ratio = "" if one.worst_ratio is None else f"{one.worst_ratio:.6g}"
    return {**dict(zip(COUNTS, map(str, counts), strict=True)), RATIO: ratio}


def described(result: Result) -> str:
    """Return how a result was made, in a few words."""
    count = len(result.seeds)
    return f"{result.profile}, {count} seed{'s' * (count > 1)}, {result.data}, {result.run.device}"


def in_words(seen: Observation) -> str:
    """Return whether an observation appeared, coloured."""
    return f"[{COLOURS[seen.appeared]}]{WORDS[seen.appeared]}[/]"


def summary(observations: Sequence[Observation]) -> str:
    """Return how often each word was said, in one line."""
    counts = Counter(seen.appeared for seen in observations)
    return ", ".join(f"{counts[key]} {word}" for key, word in WORDS.items() if counts[key])


def files(result: Result, folder: Path) -> list[Path]:
    """Return the files of a result: the numbers, then the figures."""
    drawn = [folder / f"{p.name}.{kind}" for p in result.pictures for kind in ("svg", "png")]
    return [folder / FILE, *drawn]
