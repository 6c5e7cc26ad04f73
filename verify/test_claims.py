"""The main job: every claim, examined by every witness that can say something of it.

One test a claim and witness; a last one for each claim compares the verdict to the expected one.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future

import pytest
from rich.console import Console

from theory.statement import Statement
from verify import engine, ledger, pool
from verify.conftest import OPTIONS, WRITER
from verify.engine import Pair
from verify.evidence import EvidenceError, Record
from verify.pool import name_of
from verify.progress import prepare
from verify.witnesses.table import WITNESSES

PAIRS = engine.pairs(engine.CLAIMS, WITNESSES)
Examined = dict[pool.Name, Future[Record]]


@pytest.fixture(scope="session")
def examined(request: pytest.FixtureRequest) -> Iterator[Examined]:
    """What the witnesses find of the claims that were selected, as it is found."""
    config, options = request.config, request.config.stash[OPTIONS]
    try:
        config.stash[WRITER] = options.writer()
    except EvidenceError as error:
        pytest.exit(str(error), pytest.ExitCode.USAGE_ERROR)
    wanted = [pair for item in request.session.items for pair in _pairs_of(item)]
    once = {name_of(pair): pair for pair in wanted}.values()
    capture = config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        prepare(once, options.settings(), Console())
    with pool.examining(once, options.settings(), config.stash[WRITER]) as futures:
        yield futures


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_witness(pair: Pair, examined: Examined) -> None:
    record = examined[name_of(pair)].result()
    assert ledger.agrees(pair.claim.expected, record), (
        f"{pair.witness.name} contradicts the expected verdict '{pair.claim.expected.value}' of "
        f"{pair.claim.id}: violated {record.violated} of {record.instances}, worst "
        f"{record.worst_token}, counterexample {record.counterexample}\n"
        f"reproduce: python -m verify check {pair.claim.id}"
    )


@pytest.mark.parametrize("claim", engine.CLAIMS, ids=lambda claim: f"{claim.id}-verdict")
def test_verdict(claim: Statement, examined: Examined) -> None:
    records = [examined[name_of(pair)].result() for pair in engine.pairs([claim], WITNESSES)]
    assert ledger.judge(claim, records) is claim.expected


def _pairs_of(item: pytest.Item) -> list[Pair]:
    """The pairs that a test needs."""
    chosen = list(item.callspec.params.values()) if isinstance(item, pytest.Function) else []
    pairs = [value for value in chosen if isinstance(value, Pair)]
    claims = [value for value in chosen if isinstance(value, Statement)]
    return pairs + engine.pairs(claims, WITNESSES)
