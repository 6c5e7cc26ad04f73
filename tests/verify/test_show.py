"""What is shown of a statement without examining it."""

import sys
from types import SimpleNamespace

from verify import show
from verify.engine import CLAIMS
from verify.show import file_of


def test_each_statement_of_the_papers_stands_in_one_file_of_theirs(monkeypatch):
    """Modules without a list of statements, of which there are thousands, are left out."""
    listing = {name: m for name, m in sys.modules.items() if "CLAIMS" in vars(m)}
    monkeypatch.setattr(show, "sys", SimpleNamespace(modules=listing))
    places = {
        claim.id: [path for path in file_of(claim) if path.parts[0] == "theory"] for claim in CLAIMS
    }
    assert {name: paths for name, paths in places.items() if len(paths) != 1} == {}
