"""Options of ``pytest verify``, and the ledger at its end."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from rich.console import Console

from verify import engine, ledger, others, report
from verify.evidence import Writer
from verify.kernel.verdicts import records as checked_by_kernel
from verify.options import Options
from verify.terminal import columns
from verify.wording import plural

OPTIONS = pytest.StashKey[Options]()
WRITER = pytest.StashKey[Writer]()
WIDTH = 180
"""Of a ledger that goes to a file."""
MANY = 10
"""Times what a run needs: so much that is old is worth a word."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    group = parser.getgroup("verify", "examining the statements")
    group.addoption("--profile", default="default", help="smoke, default or deep")
    group.addoption("--backend", default="numpy", help="numpy, torch, cupy or array-api-strict")
    group.addoption(
        "--device",
        default="",
        help="the backend's device, such as cuda; its default device if left out",
    )
    group.addoption("--seed", type=int, default=0, help="where random cases start")
    group.addoption("--evidence", type=Path, default=None, metavar="DIR", help="evidence folder")
    group.addoption(
        "--take-over",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="evidence of another run: what this one would find again is not examined again",
    )
    group.addoption(
        "--claims",
        default="",
        metavar="TARGET",
        help="statements of others: package.module:CLAIMS, path/to/file.py, or an installed name",
    )
    group.addoption(
        "--cache", type=Path, default=None, metavar="DIR", help="folder of trained networks"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Check the options before anything runs.

    A cache that cannot be used is said, and costs time; it is no error of a statement.
    """
    config.addinivalue_line("filterwarnings", "default::verify.complaints.CacheWarning")
    if config.getoption("numprocesses", None) and _examines_statements(config):
        raise pytest.UsageError(
            "-n gives each process some of the statements, but they are examined together, on "
            "every core as it is; leave -n out"
        )
    options = Options(
        **{
            name: config.getoption(name)
            for name in ("profile", "backend", "device", "seed", "evidence", "cache")
        },
        claims=others.resolved(target) if (target := config.getoption("claims")) else "",
        take_over=tuple(config.getoption("take_over")),
    )
    try:
        options.settings()
        claims = engine.statements(options.claims)
        if target:
            from verify import trial

            trial.refuse_unfit(claims, target)
    except (ValueError, RuntimeError) as error:
        raise pytest.UsageError(str(error)) from None
    config.stash[OPTIONS] = options


def _examines_statements(config: pytest.Config) -> bool:
    """Whether the tests of statements are among those that were asked for."""
    of_statements = Path(__file__).with_name("test_claims.py")
    asked = (config.invocation_params.dir / arg.partition("::")[0] for arg in config.args)
    return any(of_statements.is_relative_to(path.resolve()) for path in asked)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of each statement."""
    if "claim" in metafunc.fixturenames:
        claims = engine.statements(metafunc.config.stash[OPTIONS].claims)
        metafunc.parametrize("claim", claims, ids=[claim.id for claim in claims])


def pytest_sessionfinish() -> None:
    """Look for no garbage any more: what is left ends with the process."""
    gc.freeze()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the ledger of what was examined in this run."""
    writer = config.stash.get(WRITER, None)
    if writer is None:
        return
    writer.close()
    records = list(writer.done.values())
    every = engine.statements(config.stash[OPTIONS].claims)
    examined = engine.wholly_examined(every, records)
    unfinished = {record.claim for record in records} - examined
    claims = [claim for claim in every if claim.id in examined or claim.unreadable]
    records += checked_by_kernel(writer.path.parent, [c for c in claims if c.id in examined])
    console = Console(file=terminalreporter._tw._file, width=columns(WIDTH))
    console.print()
    report.show(ledger.ledger(claims, records), console)
    if unfinished:
        are = plural(len(unfinished), "statement is", "statements are")
        console.print(f"{are} unfinished; the same command goes on there")
    console.print(f"evidence: {writer.path}", highlight=False, markup=False, soft_wrap=True)
    if writer.besides > MANY * len(writer.done):
        told = f"{writer.besides:,} records of other code or settings are kept there besides"
        console.print(f"{told}; python -m verify prune removes what no run would find again")
