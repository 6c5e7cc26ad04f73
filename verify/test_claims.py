"""The main job: one test for each statement, examined by every witness that can say something."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import pytest
from rich.console import Console

from theory.statement import Statement
from verify import engine, ledger, pool, reach
from verify.conftest import OPTIONS, WRITER
from verify.engine import WITNESSES
from verify.evidence import EvidenceError
from verify.progress import prepare
from verify.record import Record


@pytest.fixture(scope="session")
def examined(request: pytest.FixtureRequest) -> Iterator[pool.Futures]:
    """What the witnesses find of the statements that were selected, as it is found."""
    config, options = request.config, request.config.stash[OPTIONS]
    try:
        config.stash[WRITER] = writer = options.writer()
    except EvidenceError as error:
        pytest.exit(str(error), pytest.ExitCode.USAGE_ERROR)
    wanted = engine.pairs([_claim_of(item) for item in request.session.items], WITNESSES)
    waiting = engine.unknown(wanted, writer)
    if waiting:
        pool.start_importing()
    capture = config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        prepare(waiting, options.settings(), Console())
    with pool.examining(wanted, options.settings(), writer) as futures:
        yield futures


def test_claim(claim: Statement, examined: pool.Futures, pytestconfig: pytest.Config) -> None:
    records = [_found(examined, pair) for pair in engine.pairs([claim], WITNESSES)]
    against = [record for record in records if not ledger.agrees(claim.expected, record)]
    entry = ledger.entry(claim, records)
    target = pytestconfig.stash[OPTIONS].claims
    again = f"reproduce: {checking(target, claim)}"
    assert not against, "\n".join([*map(_told, against), again])
    told = f"{entry.verdict.value}: {ledger.lacks(claim, records)}\n{again}"
    assert entry.verdict is claim.expected, told
    differs = "" if target else reach.differs(entry)
    assert not differs, f"{differs}\n{again}"


def checking(target: str, claim: Statement) -> str:
    """Return the command that examines a statement of a target, or of the papers, now."""
    return shlex.join(["python", "-m", "verify", "check", *filter(None, [target]), claim.id])


def _found(examined: pool.Futures, pair: engine.Pair) -> Record:
    try:
        return examined[pair.name].result()
    except EvidenceError as error:
        pytest.exit(str(error), pytest.ExitCode.INTERNAL_ERROR)


def _told(record: Record) -> str:
    return (
        f"{record.witness} speaks against it: violated {record.violated} of {record.instances}, "
        f"worst {record.worst_token}, counterexample {record.counterexample}"
    )


def _claim_of(item: pytest.Item) -> Statement:
    """The statement that a test is about."""
    assert isinstance(item, pytest.Function)
    found = item.callspec.params["claim"]
    assert isinstance(found, Statement)
    return found
