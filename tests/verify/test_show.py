"""What is shown of a statement without examining it."""

from verify.engine import CLAIMS
from verify.show import file_of


def test_each_statement_of_the_papers_stands_in_one_file_of_theirs():
    places = {
        claim.id: [path for path in file_of(claim) if path.parts[0] == "theory"] for claim in CLAIMS
    }
    assert {name: paths for name, paths in places.items() if len(paths) != 1} == {}
