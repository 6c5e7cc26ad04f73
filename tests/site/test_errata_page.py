"""What an erratum says is right is right as it is displayed."""

import re

import pytest

from theory.language.definitions import domains
from verify.engine import CLAIMS
from verify.ledger import Entry
from verify.site import errata_page
from verify.site.errata_page import PARTS
from verify.site.markup import formula_or_words

ENTRIES = [Entry(claim, (), claim.expected) for claim in CLAIMS]
BY_ID = {entry.claim.id: entry for entry in ENTRIES}
PAGES = errata_page.pages(ENTRIES)
ERRATA = [(f"{part.name}.md", erratum) for part in PARTS for erratum in part.errata]


def said(page, erratum, name):
    """What is said of an erratum under a name."""
    _, _, rest = PAGES[page].partition(f"(erratum-{erratum.name})=")
    found = re.search(rf"^{name}\n: (.*?)\n\n\S", rest, re.MULTILINE | re.DOTALL)
    return found[1]


@pytest.mark.parametrize(("page", "erratum"), ERRATA, ids=lambda part: getattr(part, "name", ""))
def test_what_is_right_has_all_that_it_assumes_and_the_ranges_of_its_letters(page, erratum):
    right = BY_ID[erratum.right[0]].claim
    shown = said(page, erratum, "Right")
    needed = [*(h.statement for h in right.hypotheses), *domains(right.said).values()]
    assert [each for each in needed if each not in shown] == []
    wrong = BY_ID[erratum.entries[0]].claim
    if right.statement == wrong.statement:
        assert re.search(r"The same, where \S.*\.\n", shown)
    else:
        assert right.statement in shown


@pytest.mark.parametrize(("page", "erratum"), ERRATA, ids=lambda part: getattr(part, "name", ""))
def test_what_is_examined_has_all_that_it_assumes(page, erratum):
    wrong = BY_ID[erratum.entries[0]].claim
    needed = [wrong.statement, *(formula_or_words(h.statement) for h in wrong.hypotheses)]
    shown = said(page, erratum, "What is examined")
    assert [each for each in needed if each not in shown] == []
    assert shown.count("*(added here)*") == sum(not h.printed for h in wrong.hypotheses)


@pytest.mark.parametrize(("page", "erratum"), ERRATA, ids=lambda part: getattr(part, "name", ""))
def test_no_two_links_to_what_is_right_have_the_same_words(page, erratum):
    links = re.findall("<a [^>]*>(.*?)</a>", said(page, erratum, "Right"))
    assert len(links) == len(set(links)) == len(erratum.right)


def test_a_range_is_told_where_no_hypothesis_says_it():
    page, erratum = next(pair for pair in ERRATA if pair[1].name == "near-optimal")
    for name in ("What is examined", "Right"):
        assert r"; $\varepsilon > 0$" in said(page, erratum, name)
    page, erratum = next(pair for pair in ERRATA if pair[1].name == "one-constant")
    assert said(page, erratum, "Right").count("$m_4 = ") == 1
