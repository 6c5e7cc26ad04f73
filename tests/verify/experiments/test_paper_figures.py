"""Every figure of the papers that measures something has an experiment, and what was seen there."""

import re
from pathlib import Path

import pytest

from verify import experiments
from verify.experiments.experiment import Observation
from verify.experiments.paper_figures import FIGURES, numbers


@pytest.mark.parametrize(("paper", "last", "schemes"), [("S", 14, {5}), ("L", 9, {1, 2})])
def test_every_figure_but_the_schemes_is_there_once_and_is_one_that_is_run(paper, last, schemes):
    found = [int(f.number) for f in FIGURES if f.paper == paper and f.number.isdecimal()]
    assert sorted(found) == sorted(set(range(1, last + 1)) - schemes)
    assert {figure.experiment for figure in FIGURES} == set(experiments.EXPERIMENTS)


def test_every_source_in_the_observations_code_names_a_figure_of_the_table():
    known = {(f.paper, f.number) for f in FIGURES}
    for file in Path(experiments.__file__).parent.glob("*/observations.py"):
        for source in re.findall(r'"([SL]-[^"]*Fig\. [^"]*)"', file.read_text(encoding="utf-8")):
            assert {(source[0], n) for n in numbers(source, source[0])} <= known, source


def test_what_was_seen_is_told_by_the_number_and_commands_say_what_the_paper_had():
    seen = [Observation(f"S-fig, Fig. {n}", "", "", True, "") for n in ("1a", "10", "1, 10")]
    named = {f"{f.paper} {f.number}": f for f in FIGURES}
    assert named["S 1"].seen(seen) == [seen[0], seen[2]]
    assert named["L 6"].command.endswith("resnet --profile deep --data FOLDER --device cuda")
    assert named["S 9"].command.endswith("dln --profile deep")
