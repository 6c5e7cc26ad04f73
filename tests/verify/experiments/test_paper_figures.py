"""Every figure of the papers that measures something has an experiment, and what was seen there."""

import re
from pathlib import Path

import pytest

from verify import experiments
from verify.experiments.experiment import Observation
from verify.experiments.paper_figures import FIGURES, numbers

SCHEMES = {"S": {"5"}, "L": {"1", "2"}}
LAST = {"S": 14, "L": 9}


@pytest.mark.parametrize("paper", LAST)
def test_every_figure_but_the_schemes_is_there_once(paper):
    found = [f.number for f in FIGURES if f.paper == paper and f.number.isdecimal()]
    expected = {str(n) for n in range(1, LAST[paper] + 1)} - SCHEMES[paper]
    assert sorted(found) == sorted(expected)


def test_every_experiment_is_one_that_can_be_run():
    assert {figure.experiment for figure in FIGURES} == set(experiments.EXPERIMENTS)


def test_every_source_in_the_observations_code_names_a_figure_of_the_table():
    """A figure that an experiment names in its code is one of the table's."""
    known = {(f.paper, f.number) for f in FIGURES}
    for file in Path(experiments.__file__).parent.glob("*/observations.py"):
        for source in re.findall(r'"([SL]-[^"]*Fig\. [^"]*)"', file.read_text(encoding="utf-8")):
            assert {(source[0], n) for n in numbers(source, source[0])} <= known, source


def test_what_was_seen_is_told_by_the_number_and_not_by_its_digits():
    seen = [Observation(f"S-fig, Fig. {n}", "", "", True, "") for n in ("1a", "10", "1, 10")]
    (first,) = [f for f in FIGURES if (f.paper, f.number) == ("S", "1")]
    assert first.seen(seen) == [seen[0], seen[2]]


def test_commands_say_what_the_paper_had():
    commands = {f"{f.paper} {f.number}": f.command for f in FIGURES}
    assert commands["L 6"].endswith("resnet --profile deep --data FOLDER --device cuda")
    assert commands["S 9"].endswith("dln --profile deep")
