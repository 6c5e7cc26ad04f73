"""What the page of campaigns says of one."""

from site_cases import PROVED, RESULT

from verify.campaign.finding import of_record
from verify.evidence import Record
from verify.site import campaigns_page


def paged(**found):
    finding = of_record(Record(PROVED, "autograd", 3, **found), 0)
    return campaigns_page.page({"sharp-factor": (RESULT.run, [finding])})


def test_the_worst_instance_is_named_where_there_is_one():
    assert "verify reproduce 1:2:3`" in paged(worst_ratio=0.5, worst_token="1:2:3")
    without = paged()
    assert "0 seeds with a violation." in without
    assert not any(words in without for words in ("reproduce", "Ratios"))
