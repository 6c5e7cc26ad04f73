"""What is shown of a statement without examining it."""

from collections import Counter

from verify.engine import CLAIMS
from verify.site.sources import of_papers


def test_each_statement_of_the_papers_stands_in_one_file_of_theirs():
    assert Counter(claim.id for _, claim in of_papers()) == Counter(claim.id for claim in CLAIMS)
