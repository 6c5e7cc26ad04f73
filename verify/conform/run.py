"""A whole examination: which cases and modes, the cells of each, the words of all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from verify.conform import decide
from verify.conform.adapters import Adapter
from verify.conform.cases import KINDS, Case
from verify.conform.conventions import DECLARED, Kept, compared, kept
from verify.conform.decide import DECIDING
from verify.conform.diagnosis import Observation, diagnosed
from verify.conform.examine import Bench, Here, Outcome
from verify.conform.geometry import LAYOUTS
from verify.conform.journal import Journal, of_judge
from verify.conform.judge import DTYPE, INPUTS, STATE, Cell
from verify.conform.modes import MODES
from verify.conform.oracle import PRECISIONS, Convention
from verify.conform.plan import Examination, Options, cells_of, plan, variables
from verify.conform.probe import probe
from verify.conform.process import Facts, Order, Process, StartError, facts
from verify.conform.report import Report, versions
from verify.conform.reproduction import again, lines, script, written
from verify.conform.subject import FAMILIES, Subject
from verify.conform.words import FAILURES, Word


@dataclass(frozen=True)
class Wanted:
    """What the caller asks for; what is empty is left to the subject."""

    like: str = ""
    """Whose conventions; empty: what the subject promises, else inferred."""
    dtypes: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    seed: int = 0
    limit: float = 20.0
    kinds: tuple[str, ...] = ()
    axes: tuple[str, ...] = ()
    """Found by trying where empty."""
    strata: tuple[str, ...] = ()
    """Only the cases of these names."""
    stored: tuple[str, ...] = ()
    """Only the cases whose arrays are stored in these ways."""


Tell = Callable[[str, int, int], None]
"""Takes what is going on, how much is done, and of how much."""


@dataclass(frozen=True)
class Examined:
    """What came of one examination: its cells, and the outputs that fail."""

    cells: tuple[Cell, ...]
    observations: tuple[Observation, ...]


@dataclass(frozen=True)
class Prepared:
    """What was found out before the first case."""

    options: Options
    kept: Kept
    conventions: dict[str, str]
    asked: tuple[str, ...] = ()
    """The modes that were asked for by name."""


def run(
    order: Order, wanted: Wanted, tell: Tell = lambda *_: None, folder: Path | None = None
) -> Report:
    """Return the report on what an order names, examined in a process of its own.

    Args:
        order: what to examine.
        wanted: how.
        tell: is told of the progress.
        folder: where unfinished results are kept, and the failures' scripts written; None: nowhere.
    """
    try:
        check(order.family, wanted, order.groups)
        with Process(order, wanted.limit) as bench:
            about = bench.facts
            prepared = prepare(bench, about, order.family, wanted)
            if folder is None:
                return examine(bench, about, prepared, tell)
            journal = Journal(folder, (order, wanted, about, versions(), of_judge()))
            report = examine(bench, about, prepared, tell, journal)
            rows = {row: cell.token for row, cell in report.failing_rows}
            return replace(report, scripts=written(bench, prepared.options, about, rows, folder))
    except StartError as error:
        return Report(order.target, reason=str(error))


def reproduced(order: Order, wanted: Wanted, token: str) -> Iterator[str]:
    """Yield a cell's numbers beside the exact ones, then its script where there is one.

    Raises:
        StartError: the subject cannot be run.
        ValueError: the token leads nowhere.
    """
    check(order.family, wanted, order.groups)
    with Process(order, wanted.limit) as bench:
        options = prepare(bench, bench.facts, order.family, wanted).options
        one = again(bench, options, token)
        yield from lines(one)
        if one.cell.word in FAILURES and one.cell.mode in bench.facts.code:
            yield ""
            yield _script(bench, options, token)


def _script(bench: Process, options: Options, token: str) -> str:
    try:
        return script(bench, options, bench.facts, token)
    except ValueError as error:
        return f"no script: {error}"


def judge(
    subject: Subject, adapter: Adapter, family: str = "batch", wanted: Wanted | None = None
) -> Report:
    """Return the report on a subject of this process; one that hangs is waited for."""
    bench, about = Here(subject, adapter), facts(subject, adapter)
    try:
        check(family, wanted or Wanted())
        return examine(bench, about, prepare(bench, about, family, wanted or Wanted()))
    except StartError as error:
        return Report(subject.name, reason=str(error))


def listed(option: str, words: str) -> tuple[str, ...]:
    """Return the words between an option's commas.

    Raises:
        StartError: there are commas and no words; an option that is not wanted is left out.

    >>> listed("--dtype", "float32, float64")
    ('float32', 'float64')
    """
    found = tuple(word.strip() for word in words.split(",") if word.strip())
    if words and not found:
        raise StartError(f"{option} {words!r} names nothing; give a name, or leave it out")
    return found


LONGEST = 1e6
"""Seconds that a limit may have."""
OTHERWISE = " (it runs there, unlike the formula; name them in --axes to examine them)"
MORE_GROUPS = ", all channels together; for a layer of two groups of channels type --groups 2"


def check(family: str, wanted: Wanted, groups: int = 1) -> None:
    """Check words that are chosen of a list, and numbers.

    Raises:
        StartError: one is not of the list, or out of range.
    """
    if wanted.seed < 0:
        raise StartError(f"--seed {wanted.seed} is negative; expected 0 or more")
    if groups < 1:
        raise StartError(f"--groups {groups} is none; expected 1 or more")
    if groups > 1 and family != "group":
        raise StartError(
            f"--groups {groups} is for group normalisation, and the family is {family}; add "
            "--family group, or leave --groups out"
        )
    if not 0 < wanted.limit <= LONGEST:
        raise StartError(
            f"--limit {wanted.limit:g} is out of range; expected seconds, above 0 and up to "
            f"{LONGEST:g}"
        )
    choices = [
        ("family", (family,), FAMILIES),
        ("modes", wanted.modes, tuple(mode.name for mode in MODES)),
        ("cases", wanted.kinds, KINDS),
        ("dtype", wanted.dtypes, tuple(PRECISIONS)),
        ("like", (wanted.like,) if wanted.like else (), tuple(DECLARED)),
    ]
    for option, words, known in choices:
        unknown = [word for word in words if word not in known]
        if unknown:
            raise StartError(f"--{option} {unknown[0]!r} is unknown; choose of {', '.join(known)}")
    for axes in wanted.axes:
        if axes not in LAYOUTS[family]:
            known = LAYOUTS[family]
            raise StartError(
                f"--axes {axes!r} is unknown for {family}; choose of {', '.join(known)}"
            )


def prepare(bench: Bench, about: Facts, family: str, wanted: Wanted) -> Prepared:
    """Return what a subject takes and keeps.

    Raises:
        StartError: it cannot be run at all.
    """
    dtypes = wanted.dtypes or tuple(d for d in ("float32", "float64") if d in about.dtypes)
    missing = [dtype for dtype in dtypes if dtype not in about.dtypes]
    if missing or not dtypes:
        raise StartError(
            f"{about.framework} offers no {', '.join(missing) or 'floating-point dtype'} here; "
            f"choose of {', '.join(about.dtypes) or 'another framework'}"
        )
    unknown = [layout for layout in wanted.stored if layout not in about.layouts]
    if unknown:
        raise StartError(
            f"{about.framework} offers no layout {unknown[0]!r} here; choose of "
            f"{', '.join(about.layouts) or 'another framework'}"
        )
    about = replace(about, axes=wanted.axes or about.axes)
    widest = min(dtypes, key=PRECISIONS_BY_WIDTH.index)
    try:
        found = probe(bench, about, family, widest)
    except StartError as error:
        others = [dtype for dtype in dtypes if dtype != widest]
        raise next(_where_it_runs(bench, about, family, others, error), error) from None
    conventions = {"axes": ", ".join(found.axes)}
    if found.otherwise:
        conventions["axes not examined"] = f"{', '.join(found.otherwise)}{OTHERWISE}"
    if family == "group":
        conventions["groups"] = f"{about.groups}{MORE_GROUPS if about.groups == 1 else ''}"
    if found.eps is not None:
        conventions["eps"] = f"{found.eps:g}"
    running = Kept(Convention())
    if about.has_running:
        like = wanted.like or about.like
        running = kept(bench, family, found.axes[0], widest, like, found.eps)
        conventions["running statistics"] = running.words()
    options = Options(
        family,
        dtypes,
        _with_own(wanted.modes, about.own) or tuple(mode.name for mode in MODES),
        found.axes,
        about.layouts,
        wanted.seed,
        about.groups,
        running.convention,
        found.eps,
        about.is_affine,
        about.has_shift,
        wanted.kinds or KINDS,
        wanted.strata,
        wanted.stored,
        about.may_lack_gamma,
        about.eps_is_single,
    )
    if not plan(options):
        raise StartError(
            f"no case is left that is all of {_asked(wanted, options)}; ask for more of them, "
            f"or give --axes that the layer takes (found: {', '.join(found.axes)})"
        )
    return Prepared(options, running, conventions, wanted.modes)


def _where_it_runs(
    bench: Bench, about: Facts, family: str, dtypes: Sequence[str], error: StartError
) -> Iterator[StartError]:
    """Yield the error with the advice to examine in a dtype alone, for each that is taken."""
    for dtype in dtypes:
        with suppress(StartError):
            probe(bench, about, family, dtype)
            why = str(error).partition(", given ")[0]
            yield StartError(f"{why}; it takes {dtype}: give --dtype {dtype}")


def _with_own(modes: tuple[str, ...], own: tuple[str, ...]) -> tuple[str, ...]:
    """Return the modes that were asked for, and those that a layer brings under such a name.

    >>> _with_own(("gradient", "third"), ("own gradient", "own jvp"))
    ('gradient', 'own gradient', 'third')
    """
    both = [name for mode in modes for name in (mode, f"own {mode}") if name in (mode, *own)]
    return tuple(dict.fromkeys(both))


def _asked(wanted: Wanted, options: Options) -> str:
    """Say which cases are asked for, and which there are."""
    every = [one.stratum for one in plan(replace(options, kinds=KINDS, strata=(), stored=()))]
    choices = (
        ("--cases", wanted.kinds, [stratum.kind for stratum in every]),
        ("--layout", wanted.stored, [stratum.stored_as for stratum in every]),
        ("strata", wanted.strata, [stratum.name for stratum in every]),
    )
    said = [f"--dtype {', '.join(wanted.dtypes)}"] if wanted.dtypes else []
    for option, words, known in choices:
        there = ", ".join(filter(None, dict.fromkeys(known))) or "none"
        said += [f"{option} {', '.join(words)} (there are {there})"] if words else []
    return "; ".join(said)


PRECISIONS_BY_WIDTH = ("float64", "float32", "float16", "bfloat16")


def examine(
    bench: Bench,
    about: Facts,
    prepared: Prepared,
    tell: Tell = lambda *_: None,
    journal: Journal | None = None,
) -> Report:
    """Return the report on the subject of a bench, and forget the journal.

    Raises:
        StartError: the subject cannot be started again after it ended its process.
    """
    examinations = plan(prepared.options)
    found: list[Examined] = []
    heard = _Heard(tell, len(examinations))
    for done, examination in enumerate(examinations):
        hear = partial(heard.add, examination.stratum.name, done)
        hear(())
        found.append(_examined(examination, bench, prepared.options, journal, hear))
    cells = [cell for one in found for cell in one.cells]
    sized = decide.decided(decide.crashed(cells), variables(examinations))
    words = list(compared(sized, prepared.kept))
    observed = [seen for one in found for seen in one.observations]
    strata = list({one.stratum.name: one.stratum for one in examinations}.values())
    is_centred = prepared.options.is_centred
    numbers = [cell for cell in words if cell.output not in (INPUTS, DTYPE, STATE)]
    diagnosis = diagnosed(
        _of_wrong(observed, words), is_centred, numbers, strata, prepared.options.convention
    )
    if journal is not None:
        journal.close()
    framework = f"{about.framework} {about.version}"
    return Report(
        about.name,
        framework,
        prepared.conventions,
        tuple(words),
        tuple(diagnosis),
        asked=prepared.asked,
    )


class _Heard:
    """What is known already: how many cells are right, how many fail, and the first of those."""

    def __init__(self, tell: Tell, total: int):
        self._tell, self._total = tell, total
        self._right, self._bad, self._first = 0, 0, ""

    def add(self, stratum: str, done: int, cells: Sequence[Cell]) -> None:
        """Count these as well, and tell."""
        bad = [cell for cell in cells if cell.word in FAILURES]
        self._right += sum(cell.word is Word.RIGHT for cell in cells)
        self._bad += len(bad)
        if bad and not self._first:
            self._first = f"{bad[0].mode} {bad[0].output} at {bad[0].stratum}"
        self._tell(f"{self}; {stratum}", done, self._total)

    def __str__(self) -> str:
        right = f"{self._right} right so far"
        return f"{right}, {self._bad} not, first {self._first}" if self._bad else right


def _examined(
    examination: Examination,
    bench: Bench,
    options: Options,
    journal: Journal | None,
    heard: Callable[[Sequence[Cell]], None],
) -> Examined:
    token = examination.token(options)
    if journal is not None and token in journal.kept:
        result: Examined = journal.kept[token]
        heard(result.cells)
        return result
    case, outcomes, cells = cells_of(examination, bench, options, heard)
    result = Examined(tuple(cells), tuple(_observations(case, outcomes, cells)))
    if journal is not None:
        journal.add(token, result)
    return result


SMALL = 10_000
"""Entries of a case that is kept for the diagnosis."""


def _observations(
    case: Case, outcomes: Sequence[Outcome], cells: Sequence[Cell]
) -> Iterator[Observation]:
    """Yield the outputs that fail, where they are small enough to be looked at."""
    failing = {(cell.mode, cell.output) for cell in cells if cell.word is Word.WRONG}
    for outcome in outcomes:
        for output, values in outcome.outputs.items():
            # What an overwritten input makes of an output says nothing about formulas.
            is_kept = (
                not outcome.overwritten
                and case.place.statistics.size <= SMALL
                and case.dtype in DECIDING
            )
            if (outcome.mode, output) in failing and is_kept:
                yield Observation(case, outcome.mode, output, values)


def _of_wrong(observed: Sequence[Observation], cells: Sequence[Cell]) -> list[Observation]:
    """Return the observations whose cell was decided to be wrong."""
    wrong = {
        (cell.mode, cell.output, cell.stratum, cell.dtype)
        for cell in cells
        if cell.word is Word.WRONG and cell.units is not None
    }
    return [
        seen
        for seen in observed
        if (seen.mode, seen.output, seen.case.stratum.name, seen.case.dtype) in wrong
    ]
