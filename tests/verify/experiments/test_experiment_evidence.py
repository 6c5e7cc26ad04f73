"""What is kept of an experiment, and the list of experiments."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from toy_experiment import EXPERIMENT, SETTING, WITHOUT_FIGURES

from verify import experiments
from verify.evidence import EvidenceError
from verify.experiments import evidence, run


@pytest.fixture
def folder(tmp_path):
    run.run(WITHOUT_FIGURES, SETTING, evidence.folder_of(tmp_path, "toy"))
    return evidence.folder_of(tmp_path, "toy")


def test_numbers_are_as_they_come_back_from_a_file():
    numbers = {1: (np.float64(2.5), True), "b": {"c": [None, "x", float("-inf"), float("nan")]}}
    assert evidence.as_json(numbers) == {"1": [2.5, True], "b": {"c": [None, "x", None, None]}}


@pytest.mark.parametrize("wrong", [torch.ones(2), np.int64(1), {1, 2}])
def test_what_is_not_json_is_named_with_its_place(wrong):
    with pytest.raises(TypeError, match=r"numbers\['a'\]\[1\]\['b'\] is of type "):
        evidence.as_json({"a": [0, {"b": wrong}]})


def test_results_come_back_by_name_and_name_no_folder(tmp_path, folder):
    found = evidence.read(folder)
    assert found.run.profile == "smoke"
    assert str(tmp_path) not in (folder / evidence.FILE).read_text()
    evidence.write(evidence.folder_of(tmp_path, "a"), replace(found, name="a"))
    assert evidence.read_all(tmp_path) == [replace(found, name="a"), found]
    assert evidence.read_all(tmp_path / "nothing") == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda found: "[]", "schema 1"),
        (lambda found: "{", ""),
        (lambda found: json.dumps({**found, "schema": 2}), "schema 1"),
        (lambda found: json.dumps({k: v for k, v in found.items() if k != "pieces"}), "`pieces`"),
        (lambda found: json.dumps({**found, "more": 1}), "more"),
        (lambda found: json.dumps({**found, "run": {}}), ""),
    ],
)
def test_a_damaged_result_is_named(folder, change, says):
    file = folder / evidence.FILE
    file.write_text(change(json.loads(file.read_text())))
    with pytest.raises(EvidenceError, match=rf"numbers\.json is damaged .*{says}.*again") as named:
        evidence.read(folder)
    assert str(file) in str(named.value)


def test_a_result_that_cannot_be_read_is_named_with_what_to_do(folder):
    (folder / evidence.FILE).unlink()
    (folder / evidence.FILE).mkdir()
    with pytest.raises(EvidenceError, match=r"cannot be read \(Is a directory\); name another"):
        evidence.read(folder)


@pytest.mark.parametrize(
    "write",
    [
        lambda file: run.checkpoints_of(WITHOUT_FIGURES, SETTING, file),
        lambda file: evidence.write(file, evidence.read(file.parent)),
        lambda file: run.view(EXPERIMENT, evidence.read(file.parent), file),
    ],
    ids=["checkpoints", "numbers", "figures"],
)
def test_a_folder_that_cannot_be_written_is_named(folder, write):
    (folder / "file").touch()
    with pytest.raises(EvidenceError, match=r"cannot be kept in .*file.*name another folder"):
        write(folder / "file")


def test_a_run_on_a_gpu_names_it(monkeypatch):
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: f"the GPU {device}")
    assert run.describe(replace(SETTING, device="cuda:0")).gpu == "the GPU cuda:0"
    assert run.describe(SETTING).gpu.startswith("not run")


# The list of experiments


def test_an_experiment_whose_module_is_not_there_is_not_listed(monkeypatch):
    monkeypatch.setitem(experiments.EXPERIMENTS, "ghost", "no_such_module")
    assert "ghost" not in experiments.names()
    with pytest.raises(experiments.UnknownExperimentError, match="'ghost'; choose one of"):
        experiments.find("ghost")
