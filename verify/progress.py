"""A progress bar for what takes long before the first examination: training the networks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress as Bar
from rich.progress import TaskID

from verify.engine import Pair
from verify.settings import Settings
from verify.witnesses.table import WITNESSES

NEED_NETWORKS = frozenset(witness.name for witness in WITNESSES if "stages" in witness.reads)


@contextmanager
def progress_bar(console: Console) -> Iterator[Callable[[str, int, int], None]]:
    """Yield what is to be told (description, done, total); one bar a description."""
    with Bar(console=console) as bar:
        tasks: dict[str, TaskID] = {}

        def tell(description: str, done: int, total: int) -> None:
            if description not in tasks:
                tasks[description] = bar.add_task(description, total=total)
            bar.update(tasks[description], completed=done)

        yield tell


def prepare(pairs: Iterable[Pair], settings: Settings, console: Console) -> None:
    """Train the networks and take their jets, with a progress bar, if a pair needs them."""
    if any(pair.witness.name in NEED_NETWORKS for pair in pairs):
        from verify.witnesses import trained  # PyTorch is slow to import

        with progress_bar(console) as progress:
            trained.prepare(settings, progress)
