"""A line of ``docs/measured`` says which code found it, and stays until today's has measured."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import ModuleType

import pytest

from verify import json_lines
from verify.conform import examiner, survey
from verify.conform.implementations.implementation import by_function, implementation
from verify.conform.judge import Cell
from verify.conform.report import Report
from verify.conform.words import Word
from verify.sources import sources

LAYERS = "verify.conform.implementations"


def first(x, gamma, beta, eps):
    return x


def second(x, gamma, beta, eps):
    return x


@pytest.fixture
def examined(monkeypatch):
    """A library of two layers, and the names of those that were examined."""
    library = ModuleType(f"{LAYERS}.some")
    both = (implementation(f.__name__, f, distribution="numpy") for f in (first, second))
    layers = by_function(*both)
    library.__dict__.update(ADAPTER="numpy", IMPLEMENTATIONS=layers)
    monkeypatch.setitem(sys.modules, library.__name__, library)
    names = []

    def run(order, wanted, tell):
        names.append(order.target.split(".")[-2])
        return Report(order.target, framework="numpy 2")

    monkeypatch.setattr(survey, "run", run)
    return names


def surveyed(folder):
    survey.main("some", folder, family="", kinds="", seed=0, fresh=False)
    return written(folder)


def written(folder):
    """What a survey wrote, but for the seconds that it took."""
    lines = json_lines.read(folder / "some.jsonl")
    return [{k: v for k, v in line.items() if k != "seconds"} for line in lines]


def test_what_another_examiner_measured_is_measured_again(examined, tmp_path):
    lines = surveyed(tmp_path)
    json_lines.write(tmp_path / "some.jsonl", [{**lines[0], "examiner": "another"}, lines[1]])
    assert surveyed(tmp_path) == lines
    assert examined == ["first", "second", "first"]


def test_a_line_without_an_examiner_is_measured_again(examined, tmp_path):
    lines = surveyed(tmp_path)
    old = [{k: v for k, v in line.items() if k not in ("adapters", "examiner")} for line in lines]
    json_lines.write(tmp_path / "some.jsonl", old)
    assert surveyed(tmp_path) == lines


def test_a_layer_that_cannot_run_here_keeps_what_was_measured_elsewhere(examined, tmp_path):
    lines = surveyed(tmp_path)
    measured = {**lines[0], "examiner": "another", "rows": [{"mode": "forward"}]}
    json_lines.write(tmp_path / "some.jsonl", [measured, lines[1]])
    assert surveyed(tmp_path) == [measured, lines[1]]
    assert examined == ["first", "second", "first"]


def test_a_survey_that_is_stopped_leaves_what_was_not_measured_again(
    examined, tmp_path, monkeypatch
):
    lines = surveyed(tmp_path)
    old = [{**line, "examiner": "another"} for line in lines]
    json_lines.write(tmp_path / "some.jsonl", old)
    whole = survey.run

    def stopped(order, wanted, tell):
        if "second" in order.target:
            raise KeyboardInterrupt
        return whole(order, wanted, tell)

    monkeypatch.setattr(survey, "run", stopped)
    with pytest.raises(KeyboardInterrupt):
        surveyed(tmp_path)
    assert written(tmp_path) == [lines[0], old[1]]


def test_another_device_has_a_file_of_its_own_and_its_makers_name(examined, tmp_path, monkeypatch):
    lines = surveyed(tmp_path)
    monkeypatch.setattr(survey, "_accelerator", lambda adapter, device: f"{device} of {adapter}")
    survey.main("some", tmp_path, family="", kinds="", seed=0, device="gpu", fresh=False)
    there = json_lines.read(tmp_path / "some-gpu.jsonl")
    assert [line["accelerator"] for line in there] == ["gpu of numpy"] * 2
    assert there[0]["device"] == "gpu"
    assert surveyed(tmp_path) == lines


def test_other_frameworks_examine_nothing():
    """What is imported by its name at run time is no import of the examination's."""
    names = {path.stem for path in sources(examiner.EXAMINATION) | sources(f"{LAYERS}.mlx")}
    assert {"oracle", "modes", "mlx", "batchnorm"} <= names
    assert names.isdisjoint({"torch", "jax", "keras", "onnx"})


@pytest.mark.parametrize(
    ("changed", "is_another"),
    [
        ('"""Another docstring."""\nLIMIT = 32\n', False),
        ('"""A docstring."""\n\nLIMIT = 32  # of units\n"""What it is."""\n', False),
        ('"""A docstring."""\nLIMIT = 64\n', True),
    ],
)
@pytest.mark.parametrize("module", [examiner.EXAMINATION, LAYERS, f"{examiner.ADAPTERS}.keras"])
def test_code_makes_another_examiner_and_words_do_not(
    module, changed, is_another, tmp_path, monkeypatch
):
    monkeypatch.setattr(examiner, "sources", lambda name: frozenset({tmp_path / name}))
    for name in (examiner.EXAMINATION, LAYERS, f"{examiner.ADAPTERS}.keras"):
        (tmp_path / name).write_text('"""A docstring."""\nLIMIT = 32\n')
    todays = examiner.examiner.__wrapped__
    before = todays(LAYERS, ("keras",))
    (tmp_path / module).write_text(changed)
    assert (todays(LAYERS, ("keras",)) != before) == is_another


def test_where_a_mode_does_not_run_that_runs_elsewhere_is_kept():
    ran = Cell("vmap", "z", "float32", "m = 2", "plain", Word.RIGHT)
    refused = replace(ran, stratum="m = 7", word=Word.NOT_OFFERED, reason="it raises")
    everywhere = replace(refused, mode="jvp")
    report = Report("layer", framework="numpy 2", cells=(ran, refused, everywhere))
    assert survey.not_run(report) == [
        {"reason": "it raises", "modes": ["vmap"], "inputs": ["m = 7"]}
    ]
