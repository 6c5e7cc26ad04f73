"""Coq accepts the library, and rejects it with anything in it made wrong."""

import os
from pathlib import Path

import pytest
from planted_proofs import EDITS, WRONG_LAYERS, edited

from theory.claim import Verdict
from theory.santurkar2018 import theorem_4_1
from verify.kernel import coq
from verify.kernel.compilation import Compilation, UnprovedError, library, with_question
from verify.kernel.evidence import Outcome
from verify.kernel.export import exported

ROOT = Path(__file__).parents[2]
BUILDS = ROOT / "build" / "coq"
SOURCES = library(coq.LIBRARY)
PLANTED = {
    f"planted/{theorem}.v": (theorem, edited(SOURCES[file], theorem, *edit))
    for file, edits in EDITS.items()
    for theorem, edit in edits.items()
}
NEEDS_A = "From BatchNorm Require Import a.\n"
PROVED = [c for c in theorem_4_1.CLAIMS if c.expected is Verdict.PROVED and not c.hypotheses]
EXPORTED = {f"exported/{exported(c).name}.v": exported(c).source for c in PROVED}


def compiled(sources, folder=BUILDS):
    try:
        installed = coq.find()
    except coq.CoqMissingError as error:
        pytest.skip(str(error))
    work = Compilation(installed, folder, sources)
    return {found.file: found for found in work.run(os.cpu_count() or 1)}


@pytest.fixture(scope="module")
def found():
    return compiled(SOURCES | {file: text for file, (_, text) in PLANTED.items()} | EXPORTED)


@pytest.mark.parametrize("file", SOURCES)
def test_coq_accepts_each_file_of_the_library(found, file):
    assert found[file].error == ""
    assert all(c.outcome is Outcome.CHECKED for c in found[file].checks), found[file].checks


def test_every_theorem_written_by_hand_has_a_planted_wrong_statement(found):
    ours = {f: e for f, e in found.items() if f in SOURCES and not f.startswith("lange2022/")}
    theorems = {c.theorem for f, e in ours.items() if f in EDITS for c in e.checks}
    assert theorems == {theorem for edits in EDITS.values() for theorem in edits}


@pytest.mark.parametrize("file", PLANTED)
def test_coq_rejects_a_theorem_with_its_statement_edited(found, file):
    theorem, _ = PLANTED[file]
    failed = [c.theorem for c in found[file].checks if c.outcome is Outcome.FAILED]
    assert failed == [theorem], found[file].error


@pytest.mark.parametrize("file", EXPORTED)
def test_coq_accepts_a_statement_exported_from_its_expression(found, file):
    assert found[file].succeeded, found[file].error


@pytest.mark.parametrize("mistake", WRONG_LAYERS)
def test_a_wrong_definition_of_the_layer_breaks_its_derivative(tmp_path, mistake):
    old, new = WRONG_LAYERS[mistake]
    needed = ["Vectors.v", "Calculus.v", "Layer.v", "Derivatives.v"]
    wrong = {file: SOURCES[file] for file in needed}
    assert wrong["Layer.v"].count(old) == 1
    wrong["Layer.v"] = wrong["Layer.v"].replace(old, new)
    found = compiled(wrong, tmp_path)
    [fact] = [c for c in found["Derivatives.v"].checks if c.theorem == "fact_C_2"]
    assert fact.outcome is not Outcome.CHECKED
    assert found["Calculus.v"].succeeded


def test_what_a_theorem_rests_on_is_told(tmp_path):
    text = "Theorem middle (P : Prop) : P \\/ ~ P.\nProof. exact (classic P). Qed.\n"
    [found] = compiled(
        {"a.v": with_question(f"Require Import Classical.\n{text}")}, tmp_path
    ).values()
    assert [c.assumptions for c in found.checks] == [("classic",)]


def test_an_assumption_that_is_not_allowed_is_a_failure(tmp_path):
    text = "Require Import IndefiniteDescription.\n" \
        "Theorem some (P : nat -> Prop) : (exists x, P x) -> {x : nat | P x}.\n" \
        "Proof. exact (constructive_indefinite_description P). Qed.\n"  # fmt: skip
    [found] = compiled({"a.v": with_question(text)}, tmp_path).values()
    [check] = found.checks
    assert check.outcome is Outcome.FAILED
    assert check.message == "rests on constructive_indefinite_description"


def test_an_unproved_theorem_is_refused(tmp_path):
    text = "Theorem false : False.\nProof.\nAdmitted.\n"
    with pytest.raises(UnprovedError, match=r"a\.v, line 3: 'Admitted'"):
        compiled({"a.v": text}, tmp_path)


def test_a_file_is_compiled_again_only_when_it_or_what_it_needs_has_changed(tmp_path):
    first = "Theorem one_is_one : 1 = 1.\nProof. reflexivity. Qed.\n"
    second = (
        "From BatchNorm Require Import a.\nTheorem again : 1 = 1.\nProof. exact one_is_one. Qed.\n"
    )
    other = "Theorem two_is_two : 2 = 2.\nProof. reflexivity. Qed.\n"
    sources = {"a.v": first, "b.v": second, "c.v": other}
    compiled(sources, tmp_path)
    assert not any(f.is_new for f in compiled(sources, tmp_path).values())
    changed = compiled({**sources, "a.v": f"(* A word. *)\n{first}"}, tmp_path)
    assert {file for file, f in changed.items() if f.is_new} == {"a.v", "b.v"}


def test_what_needs_a_file_that_failed_is_not_reached(tmp_path):
    first = "Theorem one_is_two : 1 = 2.\nProof. reflexivity. Qed.\n"
    second = (
        "From BatchNorm Require Import a.\nTheorem same : 1 = 2.\nProof. exact one_is_two. Qed.\n"
    )
    found = compiled({"a.v": first, "b.v": second}, tmp_path)
    assert [c.outcome for f in ("a.v", "b.v") for c in found[f].checks] == [
        Outcome.FAILED,
        Outcome.NOT_REACHED,
    ]
    assert "line 2" in found["a.v"].error


def test_a_proof_that_takes_too_long_is_stopped(tmp_path):
    text = "Theorem slow : True.\nProof. do 1000000000 idtac. exact I. Qed.\n"
    try:
        installed = coq.find()
    except coq.CoqMissingError as error:
        pytest.skip(str(error))
    [found] = Compilation(installed, tmp_path, {"a.v": text}, limit=2).run(1)
    assert found.error == "Coq took more than 2 seconds"
    assert [c.outcome for c in found.checks] == [Outcome.NOT_REACHED]
