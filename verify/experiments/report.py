"""What an experiment found, for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from verify.experiments.evidence import FILE, Result
from verify.experiments.examined import Examined, examined
from verify.experiments.experiment import Experiment, Observation

WORDS = {True: "observed", False: "not observed", None: "cannot tell"}
COLOURS = {True: "green", False: "red", None: "yellow"}


def show(result: Result, folder: Path, console: Console) -> None:
    """Print the observations, the statements that were examined, and the files."""
    console.print(table(result))
    if statements := examined(result.pieces):
        console.print(statements_table(statements))
    console.print(summary(result.observations), highlight=False, markup=False)
    for file in files(result, folder):
        console.print(str(file), highlight=False, markup=False, soft_wrap=True)


def show_list(experiments: Sequence[Experiment], console: Console) -> None:
    """Print the experiments that there are."""
    listed = Table(title="The papers' experiments", title_justify="left", box=SIMPLE)
    for name in ("name", "what", "statements"):
        listed.add_column(name, overflow="fold")
    for experiment in experiments:
        listed.add_row(experiment.name, experiment.title, ", ".join(experiment.rows))
    console.print(listed)


def table(result: Result) -> Table:
    """Return one row for each observation."""
    made = Table(
        title=f"{escape(result.title)}: {described(result)}",
        title_justify="left",
        box=SIMPLE,
        show_lines=True,
    )
    for name in ("where", "the paper observes", "looked at here", "", "found"):
        made.add_column(name, overflow="fold", no_wrap=not name)
    for seen in result.observations:
        told = map(escape, (seen.source, seen.statement, seen.criterion))
        made.add_row(*told, in_words(seen), escape(seen.found))
    return made


def statements_table(statements: Sequence[Examined]) -> Table:
    """Return one row for each statement that was examined along the run."""
    made = Table(title="Statements examined along the run", title_justify="left", box=SIMPLE)
    made.add_column("statement", overflow="fold")
    made.add_column("expected")
    for name in ("instances", "violated", "undecided", "vacuous", "actual/claimed"):
        made.add_column(name, justify="right")
    for one in statements:
        ratio = "" if one.worst_ratio is None else f"{one.worst_ratio:.6g}"
        counts = (one.instances, one.violated, one.undecided, one.vacuous)
        mark = " [red]unexpected[/]" if one.is_unexpected else ""
        made.add_row(one.claim, one.expected.value + mark, *map(str, counts), ratio)
    return made


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
