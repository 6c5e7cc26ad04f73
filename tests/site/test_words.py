"""What is displayed in words says why: on its page, in the list of entries, and in the terminal."""

from dataclasses import replace

from site_cases import CLAIMS

from verify.ledger import ledger
from verify.show import shown_entry
from verify.site import ledger_page, statement_page
from verify.site.statements import Group

WHY = "Steps are run, and counted."


def test_why_a_side_is_in_words_is_said_wherever_it_is_displayed():
    (claim, other, *_) = CLAIMS
    entries = ledger([replace(claim, in_words=WHY), other], [])
    words, formula = (Group(e.claim.id, (e,)) for e in entries)
    assert f"In words: {WHY}" in statement_page.page(words, lambda entry: {})
    assert "In words" not in statement_page.page(formula, lambda entry: {})
    listed = ledger_page.page(entries).partition("## In words")[2]
    assert f"<li>{WHY} <a" in listed
    assert claim.id in listed
    assert other.id not in listed
    assert f"(in words: {WHY})" in shown_entry(entries[0])
