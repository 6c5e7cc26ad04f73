"""Coq rejects what is proved by hand with its statement, or the layer, made wrong."""

import os
import shutil
from subprocess import CompletedProcess

import pytest
from planted_proofs import BUILDS, EDITS, WRONG_LAYERS, accepted

from verify.kernel import coq
from verify.kernel.compilation import LIMIT, Compilation, UnprovedError
from verify.kernel.evidence import Outcome
from verify.kernel.proving import resting
from verify.kernel.theorems import sources, theorems

SOURCES = sources(coq.LIBRARY)
CORES = os.cpu_count() or 1
SLOW = "Theorem slow : True.\nProof. do 1000000000 idtac. exact I. Qed.\n"


def installed():
    try:
        return coq.find()
    except coq.CoqMissingError as error:
        pytest.skip(str(error))


def compiled(sources, folder, limit=LIMIT):
    work = Compilation(installed(), folder, sources, limit)
    return {found.file: found for found in work.run(CORES)}


@pytest.fixture(scope="module")
def builds():
    """A folder where the library is compiled."""
    assert [found.error for found in compiled(SOURCES, BUILDS).values() if found.error] == []
    return BUILDS


def test_every_theorem_written_by_hand_has_a_planted_wrong_statement():
    by_hand = {file: {t.name for t in theorems(text)} for file, text in SOURCES.items()}
    assert {f: set(edits) for f, edits in EDITS.items()} == {f: n for f, n in by_hand.items() if n}
    assert len(set().union(*EDITS.values())) == sum(map(len, EDITS.values()))


@pytest.fixture(scope="module")
def accepted_edits(builds):
    """The theorems whose edited statements Coq accepts."""
    return accepted(coq.find(), builds, SOURCES, EDITS, CORES)


@pytest.mark.parametrize("file", EDITS)
def test_coq_rejects_each_theorem_with_its_statement_edited(accepted_edits, file):
    assert accepted_edits & EDITS[file].keys() == set()


def test_an_edit_that_changes_nothing_is_accepted(builds):
    file, theorem = "lange2022/gradient_descent.v", "rate_is_reduced"
    edits = {file: {theorem: ("kappa_P <= kappa", "kappa_P <= kappa")}}
    assert accepted(coq.find(), builds, SOURCES, edits, 1) == {theorem}


@pytest.mark.parametrize("mistake", WRONG_LAYERS)
def test_a_wrong_definition_of_the_layer_breaks_its_derivative(builds, tmp_path, mistake):
    old, new = WRONG_LAYERS[mistake]
    for right in ("Vectors", "Calculus"):
        for file in builds.glob(f"{right}.*"):
            shutil.copy(file, tmp_path)
    wrong = {f"{name}.v": SOURCES[f"{name}.v"] for name in ("Vectors", "Calculus", "Derivatives")}
    assert SOURCES["Layer.v"].count(old) == 1
    found = compiled(wrong | {"Layer.v": SOURCES["Layer.v"].replace(old, new)}, tmp_path)
    [fact] = [c for c in found["Derivatives.v"].checks if c.theorem == "fact_C_2"]
    assert fact.outcome is not Outcome.CHECKED
    assert found["Calculus.v"].succeeded
    assert not found["Calculus.v"].is_new


CLASSIC = (
    "From Coq Require Import Classical.\nTheorem middle (P : Prop) : P \\/ ~ P.\n"
    "Proof. exact (classic P). Qed.\n"
)
CHOICE = "From Coq Require Import IndefiniteDescription.\n" \
    "Theorem some (P : nat -> Prop) : (exists x, P x) -> {x : nat | P x}.\n" \
    "Proof. exact (constructive_indefinite_description P). Qed.\n"  # fmt: skip


def rested(sources, folder):
    """What the theorems of a library rest on, by their files."""
    work = Compilation(installed(), folder, sources)
    accepted = [check for found in work.run(CORES) for check in found.checks]
    return {check.file: check for check in resting(work, accepted, CORES).values()}


def test_what_a_theorem_rests_on_is_told_and_no_library_of_another_with_it(tmp_path):
    alone = "Theorem one_is_one : 1 = 1.\nProof. reflexivity. Qed.\n"
    needing = "From BatchNorm Require Import a.\nTheorem again : 1 = 1.\n" \
        "Proof. now destruct (middle (1 = 1)). Qed.\n"  # fmt: skip
    found = rested({"a.v": CLASSIC, "b/c.v": alone, "d.v": needing}, tmp_path)
    assert {file: check.assumptions for file, check in found.items()} == {
        "a.v": ("classic",),
        "b/c.v": (),
        "d.v": ("classic",),
    }


def test_an_assumption_that_is_not_allowed_is_a_failure(tmp_path):
    [check] = rested({"a.v": CHOICE}, tmp_path).values()
    assert check.outcome is Outcome.FAILED
    assert check.message == "rests on IndefiniteDescription.constructive_indefinite_description"


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


def test_a_file_that_failed_is_not_compiled_again_either(tmp_path):
    text = "Theorem one_is_two : 1 = 2.\nProof. reflexivity. Qed.\n"
    [first], [second] = (compiled({"a.v": text}, tmp_path).values() for _ in range(2))
    assert (first.is_new, second.is_new) == (True, False)
    assert second.error == first.error != ""
    assert second.checks == first.checks


class Killed(coq.Coq):
    """Stands in for Coq, whose process somebody kills."""

    def compile(self, *_):
        return CompletedProcess([], -9, "", "")


def killed(sources, folder, limit=LIMIT):
    [found] = Compilation(Killed(**vars(installed())), folder, sources, limit).run(1)
    return found


def test_a_proof_that_takes_too_long_is_stopped_and_tried_again_if_it_may_take_longer(tmp_path):
    tried = [compiled({"a.v": SLOW}, tmp_path, 1)["a.v"] for _ in range(2)]
    assert [found.is_new for found in tried] == [True, False]
    assert tried[-1].error == "Coq took more than 1 seconds"
    assert [c.outcome for c in tried[-1].checks] == [Outcome.NOT_REACHED]
    assert killed({"a.v": SLOW}, tmp_path, 2).is_new


def test_a_file_whose_compilation_was_killed_is_compiled_again(tmp_path):
    sources = {"a.v": "Theorem one_is_one : 1 = 1.\nProof. reflexivity. Qed.\n"}
    assert killed(sources, tmp_path).error == "Coq ended with status -9"
    assert compiled(sources, tmp_path)["a.v"].succeeded
