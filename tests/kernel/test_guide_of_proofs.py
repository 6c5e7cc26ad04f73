"""The numbers in the guide to proofs are today's, as far as they can be counted without Coq."""

import re
from pathlib import Path

from theory.claim import Claim
from theory.santurkar2018 import CLAIMS
from verify.kernel import coq
from verify.kernel.compilation import LIMIT
from verify.kernel.proving import exportable
from verify.kernel.theorems import theorems
from verify.kernel.ties import ties

ROOT = Path(__file__).resolve().parents[2]
GUIDE = " ".join((ROOT / "docs" / "guides" / "proofs.md").read_text(encoding="utf-8").split())


def told(pattern):
    """Return the numbers that the guide says in these words."""
    (found,) = re.findall(pattern, GUIDE)
    return [int(number) for number in found]


def test_as_many_statements_are_exported_as_the_guide_says():
    """Where this fails, `make prove` says how many of them Coq accepts: write both."""
    exported, accepted = told(r"of (\d+) exported statements (\d+) were accepted")
    assert exported == len(exportable(c for c in CLAIMS if isinstance(c, Claim)))
    assert accepted <= exported


def test_as_many_theorems_are_written_by_hand_as_the_guide_says():
    stated = [t for file in coq.LIBRARY.rglob("*.v") for t in theorems(file.read_text())]
    tied = list(ties())
    said = {claim for tie in tied for claim in tie.claims}
    by_hand = r"Of the (\d+) theorems written by hand (\d+) say (\d+) of the papers' statements"
    assert told(by_hand) == [len(stated), len(tied), len(said)]


def test_a_file_may_take_as_long_as_the_guide_says():
    assert f"A file may take {LIMIT:.0f} seconds of processor time" in GUIDE
