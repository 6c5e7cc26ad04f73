"""The main job: every claim, examined by every witness that can say something of it.

One test a claim and witness; a last one for each claim compares the verdict to the expected one.
"""

from __future__ import annotations

import pytest

from theory.claim import Claim
from verify import engine, ledger
from verify.conftest import OPTIONS, WRITER
from verify.engine import Pair
from verify.evidence import Writer
from verify.witnesses.table import WITNESSES

PAIRS = engine.pairs(engine.CLAIMS, WITNESSES)


@pytest.fixture(scope="session")
def writer(request: pytest.FixtureRequest) -> Writer:
    """Where the evidence goes."""
    config = request.config
    config.stash[WRITER] = config.stash[OPTIONS].writer()
    return config.stash[WRITER]


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_witness(pair: Pair, writer: Writer, request: pytest.FixtureRequest) -> None:
    record = engine.examine_pair(pair, request.config.stash[OPTIONS].settings(), writer)
    assert ledger.agrees(pair.claim.expected, record), (
        f"{pair.witness.name} contradicts the expected verdict '{pair.claim.expected.value}' of "
        f"{pair.claim.id}: violated {record.violated} of {record.instances}, worst "
        f"{record.worst_token}, counterexample {record.counterexample}\n"
        f"reproduce: python -m verify check {pair.claim.id}"
    )


@pytest.mark.parametrize("claim", engine.CLAIMS, ids=lambda claim: f"{claim.id}-verdict")
def test_verdict(claim: Claim, writer: Writer, request: pytest.FixtureRequest) -> None:
    settings = request.config.stash[OPTIONS].settings()
    records = list(engine.examine([claim], WITNESSES, settings, writer))
    assert ledger.judge(claim, records) is claim.expected
