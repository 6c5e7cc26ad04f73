"""What a Coq file states is read from its text, without Coq."""

import pytest

from verify.kernel import coq, evidence
from verify.kernel.compilation import assumptions, library, question, with_question
from verify.kernel.evidence import Check, Outcome
from verify.kernel.theorems import theorems, without_comments

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


def test_a_comment_is_blanked_out_and_every_line_stays_where_it_was():
    text = without_comments(FILE)
    assert "(*" not in text
    assert "nested" not in text
    assert len(text) == len(FILE)


def test_the_hash_of_a_statement_ignores_layout_and_nothing_else():
    [first, _] = theorems(FILE)
    [again, _] = theorems(FILE.replace("\n  n + 0", " n   +  0"))
    [other, _] = theorems(FILE.replace("n + 0 = n", "0 + n = n"))
    assert first.hash == again.hash != other.hash


def test_the_theorems_of_a_file_are_asked_for_their_assumptions():
    assert with_question(FILE).endswith(question(["first", "second"]))
    assert with_question("Lemma step : True.\nProof. exact I. Qed.\n").count("Print") == 0


def test_coq_that_says_nothing_of_assumptions_is_not_taken_for_none():
    assert assumptions("Closed under the global context\n") == ()
    with pytest.raises(ValueError, match="unpack"):
        assumptions("")


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
    assert sorted(files) == sorted(library(coq.LIBRARY))


def test_where_coq_is_missing_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(coq.CoqMissingError, match="apt-get install coq libcoq-coquelicot"):
        coq.find.__wrapped__()
