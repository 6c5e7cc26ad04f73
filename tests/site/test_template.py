"""The template of the guide, examined as the guide says."""

import runpy
from pathlib import Path

from theory.claim import Verdict
from verify.engine import examine, pairs
from verify.ledger import entry
from verify.settings import PROFILES, Settings
from verify.witnesses.table import WITNESSES

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides"


def test_template_is_proved():
    claim = runpy.run_path(str(GUIDE / "template.py"))["CLAIM"]
    quick = [w for w in WITNESSES if w.name in ("abstract", "autograd")]
    settings = Settings(PROFILES["smoke"])
    found = list(examine(pairs([claim], quick), settings))
    assert entry(claim, found).verdict is Verdict.PROVED
