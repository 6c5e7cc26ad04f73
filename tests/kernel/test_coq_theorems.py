"""What a Coq file states is read from its text, without Coq."""

import pytest

from verify.kernel import coq, evidence
from verify.kernel.compilation import (
    UnprovedError,
    assumptions,
    refuse_axioms,
)
from verify.kernel.evidence import Check, Outcome
from verify.kernel.theorems import sources, theorems, without_comments

FILE = """(* Theorem commented : False.
Proof. (* nested *) *)
Lemma step : True. Proof. exact I. Qed.

Theorem first (n : nat) :
  n + 0 = n.   (* a remark *)
Proof. now rewrite <- plus_n_O. Qed.
Theorem second : 1 = 1.
Proof. reflexivity. Qed.
"""


def test_theorems_are_listed_and_lemmas_and_comments_are_not():
    assert [(t.name, t.statement, t.line) for t in theorems(FILE)] == [
        ("first", "(n : nat) : n + 0 = n", 5),
        ("second", ": 1 = 1", 8),
    ]


def test_a_name_with_a_prime_is_another_name():
    [primed] = theorems("Theorem first' : 1 = 1.\nProof. reflexivity. Qed.\n")
    assert (primed.name, primed.statement) == ("first'", ": 1 = 1")


def test_a_comment_is_blanked_out_and_every_line_stays_where_it_was():
    text = without_comments(FILE)
    assert "(*" not in text
    assert "nested" not in text
    assert len(text) == len(FILE)


IN_A_SECTION = """Section S.
Variable absurd : False.
Theorem lie : 1 = 2.
Proof. case: absurd. Qed.
End S.
"""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (IN_A_SECTION, "line 3: a theorem stands outside of sections"),
        ("Hypothesis classic : False.\n", "line 1: 'Hypothesis' outside of a section is an axiom"),
        ("Context (absurd : False).\n", "'Context' outside of a section"),
        ("Theorem lie : 1 = 2.\nProof. Abort.\nDefinition lie := I.\n", "line 2: 'Abort'"),
        ("Module M. Theorem lie : True. Proof. exact I. Qed. End M.\n", "'Module'"),
        ("Unset  Guard Checking.\n", "'Unset  Guard Checking'"),
        ("#[bypass_check(positivity)] Inductive t := C (f : t -> nat).\n", "'bypass_check'"),
        ('Definition s := "(*".\nAxiom a : False.\nDefinition t := "*)".\n', "line 2: 'Axiom'"),
        ('Load "elsewhere".\n', "'Load'"),
        ("Declare Instance absurd : False.\n", "'Declare'"),
        ("Next Obligation. Admit Obligations.\n", "'Admit'"),
        ("Time Hypothesis classic : False.\n", "'Time' is no word that a sentence may begin with"),
        ("Monomorphic Hypothesis absurd : False.\n", "'Monomorphic' is no word"),
        ("Time Section S.\nTime Variable absurd : False.\n", "line 1: 'Time' is no word"),
        ("Lemma l : True.\nProof.\n- Hypothesis absurd : False.\n", "line 3: 'Hypothesis' outside"),
        ("Lemma l : True.\nProof.\n{ 2: Time Variable absurd : False.\n", "line 3: 'Time' is no"),
        ("Lemma l : True.\nProof.\n1: { Hypothesis absurd : False.\n", "'Hypothesis' outside"),
        ("Lemma l : True.\nProof.\n!: {{1-2, 3: Variable a : False.\n", "'Variable' outside"),
        ("Require Import BatchNorm.Layer.\n", "'Require' is no word"),
        ('#[deprecated(note="]")] Variable absurd : False.\n', "'Variable' outside of a section"),
        ("Let mean : nat := 0.\n", "'Let' outside of a section"),
        ("Example mean : nat := 0.\n", "'Example' is no word"),
        ("Lemma mean : nat.\nProof. exact 0. Defined.\n", "a lemma that is a definition"),
        ("Lemma classic : True.\n", "'classic' is the name of an axiom"),
        ("Section S.\nVariables (n : nat) (classic : False).\nEnd S.\n", "'classic' is the name"),
    ],
    ids=lambda value: value.split(".")[0] if "." in value else "",
)
def test_what_would_make_a_theorem_mean_less_is_refused(text, why):
    with pytest.raises(UnprovedError) as refused:
        refuse_axioms("a.v", text)
    assert why in str(refused.value)


@pytest.mark.parametrize("name", ["Classical_Prop", "folder/FunctionalExtensionality"])
def test_a_file_that_is_called_as_a_library_of_axioms_is_refused(name):
    with pytest.raises(UnprovedError, match="line 1: a library of Coq that has an axiom is called"):
        refuse_axioms(f"{name}.v", "Lemma l : True. Proof. exact I. Qed.\n")


def test_sections_may_assume_and_scopes_may_be_declared():
    refuse_axioms("a.v", "Declare Scope s.\nSection S.\nVariable n : nat.\nEnd S.\n")


def test_the_hash_of_a_statement_ignores_layout_and_nothing_else():
    [first, _] = theorems(FILE)
    [again, _] = theorems(FILE.replace("\n  n + 0", " n   +  0"))
    [other, _] = theorems(FILE.replace("n + 0 = n", "0 + n = n"))
    assert first.hash == again.hash != other.hash


def test_coq_that_says_nothing_of_assumptions_is_not_taken_for_none():
    assert assumptions("Closed under the global context\n") == ()
    with pytest.raises(ValueError, match="unpack"):
        assumptions("")


@pytest.mark.parametrize(
    "line", ["Mine.classic : False", "f is assumed to be guarded.", "absurd : False"]
)
def test_what_only_sounds_like_an_assumption_of_coqs_library_is_unexpected(line):
    resting = assumptions(f"Axioms:\nClassical_Prop.classic : forall P : Prop, P\n{line}\n")
    check = Check("first", "a.v", ": True", "abc", Outcome.CHECKED, resting)
    [unexpected] = check.unexpected
    assert line.startswith(unexpected)


def test_evidence_reads_back_as_it_was_written(tmp_path):
    checks = [
        Check("first", "a.v", ": True", "abc", Outcome.CHECKED, ("classic",), 0.5, "8.16.1"),
        Check("second", "a.v", ": False", "def", Outcome.FAILED, message="line 1: no"),
    ]
    evidence.write(tmp_path, checks)
    assert evidence.read(tmp_path) == checks


def test_the_project_file_lists_every_source_in_an_order_that_compiles():
    lines = (coq.LIBRARY / "_CoqProject").read_text().splitlines()
    files = [line for line in lines if line.endswith(".v")]
    assert sorted(files) == sorted(sources(coq.LIBRARY))


def test_where_coq_is_missing_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(coq.CoqMissingError, match="apt-get install coq libcoq-coquelicot"):
        coq.find.__wrapped__()
