"""A run that is killed again and again, and what it leaves next to a run that nobody killed.

    python tests/verify/kills.py --kills 100 --pairs 200

A run is ended at random moments, by SIGKILL or SIGTERM, or one of its processes is; then it goes on
in the same folder.  Once it is through, its evidence is compared with that of the first run, and it
begins anew in another folder, until there were as many kills as asked for.  After each of them no
process may be left, and no record may be lost.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from verify import engine, evidence, pool
from verify.engine import Pair
from verify.options import Options
from verify.record import Name

EXACT = ("abstract", "polynomial", "symbolic")
MEASURING = ("autograd", "complex step")
"""Witnesses that share random numbers between the statements that they examine together."""
CHEAP = EXACT + MEASURING
"""Witnesses that take a fraction of a second a statement."""
BY_NEIGHBOURS = {
    "violated", "undecided", "vacuous", "worst_ratio", "worst_token", "strata", "points",
}  # fmt: skip
"""What a witness that measures may find otherwise beside other statements: near the border of
rounding, which instances are left open."""
PATIENCE = 30.0
"""Seconds until what outlives a run counts as an orphan."""
RUN, ONE_PROCESS = "the run", "one of its processes"
WAYS = ((RUN, signal.SIGKILL), (RUN, signal.SIGTERM), (ONE_PROCESS, signal.SIGKILL))
FORK = multiprocessing.get_context("fork")


@dataclass
class Outcome:
    """What the kills did."""

    kills: Counter[str] = field(default_factory=Counter)
    """By what was killed, and how."""
    runs: int = 0
    """How many runs came to their end, and were compared."""
    orphans: int = 0
    lost: int = 0
    differing: set[tuple[str, ...]] = field(default_factory=set)
    """Claim and witness of the records that differ, and the fields in which they do."""

    @property
    def is_well(self) -> bool:
        """Whether every run was as if nobody had killed it."""
        return self.runs > 0 and not (self.orphans or self.lost or self.differing)

    def __str__(self) -> str:
        listed = ", ".join(f"{n} x {how}" for how, n in sorted(self.kills.items()))
        return (
            f"{self.kills.total()} kills ({listed}); {self.runs} runs came to their end; "
            f"{self.orphans} orphans, {self.lost} records lost, {len(self.differing)} other than "
            f"without kills {sorted(self.differing)}"
        )


def cheap_pairs(count: int) -> list[Pair]:
    """Return so many pairs of a few statements."""
    witnesses = [w for w in engine.WITNESSES if w.name in CHEAP]
    claims = [claim for claim in engine.CLAIMS if not claim.unreadable]
    for number in range(1, len(claims)):
        found = engine.pairs(claims[:number], witnesses)
        if len(found) >= count:
            return found[:count]
    raise ValueError(f"there are no {count} such pairs")


def started(pairs: Sequence[Pair], folder: Path) -> Any:
    """Start a run in a process of its own, which has imported everything."""
    process = FORK.Process(target=_examine, args=(pairs, folder))
    process.start()
    return process


def _examine(pairs: Sequence[Pair], folder: Path) -> None:
    options = Options("smoke", evidence=folder)
    writer = options.writer()
    with pool.examining(pairs, options.settings(), writer, _processes) as futures:
        for future in as_completed(futures.values()):
            future.result()
    writer.close()


def _processes() -> Executor:
    """Return processes like a run's own, which need not import everything anew."""
    return pool.Apart(2, partial(ProcessPoolExecutor, 1, FORK, pool._prepare_process))


def children_of(process: int) -> list[int]:
    """Return the processes that a process, or one of its threads, has made and that live."""
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    found = []
    for task in tasks:
        with suppress(OSError):
            found += [int(child) for child in task.read_text().split()]
    return [child for child in found if _is_alive(child)]


def _is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def ended(process: Any, rng: random.Random, way: tuple[str, signal.Signals]) -> list[int]:
    """Kill a run, or one of its processes; return the processes that have to end by that."""
    what, how = way
    children = children_of(process.pid)
    if not process.is_alive() or not children:
        return []
    if what == RUN:
        os.kill(process.pid, how)
        process.join()
        return children
    chosen = rng.choice(children)
    os.kill(chosen, how)
    return [chosen]


def found_in(folder: Path) -> dict[Name, dict[str, Any]]:
    """Return what a folder of evidence says, without how long it took."""
    try:
        lines = evidence.read_all(folder)[1]
    except evidence.NoEvidenceError:
        return {}
    return {line.name: asdict(line.record) | {"seconds": 0.0} for line in lines}


def kill(kills: int, pairs: Sequence[Pair], folder: Path, seed: int = 0) -> Outcome:
    """Kill runs until there were so many kills; compare each that ends with one nobody killed."""
    rng, outcome = random.Random(seed), Outcome()
    begun = time.monotonic()
    expected = _whole(pairs, folder / "whole")
    longest = time.monotonic() - begun
    exit_code = None
    while outcome.kills.total() < kills or exit_code != 0:
        here = folder / str(outcome.runs)
        process = started(pairs, here)
        while process.is_alive() and outcome.kills.total() < kills:
            process.join(rng.uniform(0, longest / 4))
            known, way = found_in(here), rng.choice(WAYS)
            if ending := ended(process, rng, way):
                outcome.kills[f"{way[1].name} of {way[0]}"] += 1
                outcome.orphans += _orphans(ending)
                outcome.lost += len(known.keys() - found_in(here).keys())
        process.join()
        exit_code = process.exitcode
        if exit_code == 0:
            outcome.runs += 1
            outcome.differing |= _differing(expected, found_in(here))
        print(outcome, file=sys.stderr, flush=True)
    return outcome


def _whole(pairs: Sequence[Pair], folder: Path) -> dict[Name, dict[str, Any]]:
    process = started(pairs, folder)
    process.join()
    return found_in(folder)


def _differing(
    expected: dict[Name, dict[str, Any]], found: dict[Name, dict[str, Any]]
) -> set[tuple[str, ...]]:
    """Return the names of the records that differ, each with the fields that do."""
    return {
        (*name, *fields)
        for name in expected.keys() | found.keys()
        if (fields := _fields(name, expected.get(name, {}), found.get(name, {})))
    }


def _fields(record: Name, one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    _, witness = record
    compared = (one | other).keys() - (BY_NEIGHBOURS if witness in MEASURING else set())
    return sorted(name for name in compared if one.get(name) != other.get(name))


def _orphans(processes: Sequence[int]) -> int:
    """Return how many processes outlive what was killed."""
    deadline = time.monotonic() + PATIENCE
    while any(map(_is_alive, processes)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return sum(map(_is_alive, processes))


def main() -> None:
    """Kill, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        outcome = kill(given.kills, cheap_pairs(given.pairs), Path(folder), given.seed)
    print(outcome)
    sys.exit(not outcome.is_well)


if __name__ == "__main__":
    main()
