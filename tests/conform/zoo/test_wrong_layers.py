"""Every planted fault is found, and called by its name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from examining import examined, said, up_to
from wrong_layers import FAULTS, Fault

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "reported.md"
USUAL = ("plain", "eps beside variance", "m = 3")


def test_there_are_more_than_forty_faults_each_of_its_own_name() -> None:
    names = [fault.name for fault in FAULTS]
    assert len(names) == len(set(names)) > 40


@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad")
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_planted_fault_is_found_and_named(fault: Fault) -> None:
    modes = up_to(fault.mode)
    report = examined(fault.layer, fault.name, fault.asked, modes, (*USUAL, *fault.at))
    assert report.verdict == "does not conform"
    found = {(cell.mode, str(cell.word)) for cell in report.failures}
    assert (fault.mode, fault.word) in found
    assert re.search(fault.says, said(report), re.IGNORECASE), said(report)


def test_the_page_of_reported_faults_shows_what_is_checked() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.startswith("| [")]
    shown = [(link, says) for link, _, says in rows]
    assert sorted(shown) == sorted(displayed(fault) for fault in FAULTS if fault.thread)


def displayed(fault: Fault) -> tuple[str, str]:
    """Return the first and the last cell of a reported fault's row."""
    _, repository, _, number = fault.thread.removeprefix("https://github.com/").split("/")
    says = re.sub(r"\(\.\|\n\)\*|\.\*", "…", fault.says)
    return f"[{repository}#{number}]({fault.thread})", f"{fault.mode}, {fault.word}: *{says}*"
