"""What the page of campaigns says of one."""

import re

from site_cases import PROVED, RESULT

from verify.campaign.finding import of_record
from verify.record import Record
from verify.site import campaigns_page


def paged(**found):
    finding = of_record(Record(PROVED, "autograd", 3, **found), 0)
    return campaigns_page.page({"sharp-factor": (RESULT.run, [finding])})


def test_the_first_lines_say_what_was_asked_searched_and_found():
    opening, _ = paged(worst_ratio=0.5, vacuous=1).split("### ")
    asked, searched, found = re.findall(r"^\*\*(\w+\.)\*\* (.*)$", opening, re.MULTILINE)
    assert (asked[0], searched[0], found[0]) == ("Asked.", "Searched.", "Found.")
    assert searched[1].endswith(f"From the seeds 0:1, at the profile {RESULT.run.profile}.")
    assert found[1].startswith("None of 2 decided instances violated: <a ")
    assert "; their ratio is 0.5 at most." in found[1]


def test_a_campaign_that_nobody_described_says_what_was_found():
    finding = of_record(Record("theirs", "autograd", 3, violated=2), 0)
    shown = campaigns_page.page({"mine": (RESULT.run, [finding])})
    assert "## mine\n" in shown
    assert "**Asked.**" not in shown
    assert "2 of 3 decided instances violated: " in shown


def test_the_worst_instance_is_named_where_there_is_one():
    assert "verify reproduce 1:2:3`" in paged(worst_ratio=0.5, worst_token="1:2:3")
    without = paged()
    assert not any(words in without for words in ("reproduce", "Ratios"))
