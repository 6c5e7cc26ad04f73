"""What Coq checked counts as long as nothing it depends on was edited."""

import json
from dataclasses import replace

import pytest

from theory import lange2022, santurkar2018
from theory.language.expression import equal, number
from theory.statement import Verdict
from verify import engine, ledger
from verify.evidence import SCHEMA, EvidenceError
from verify.kernel import evidence, verdicts
from verify.kernel.coq import LIBRARY
from verify.kernel.evidence import Check, Outcome
from verify.kernel.export import exported
from verify.kernel.theorems import digest_with_needed, sources, theorems
from verify.kernel.ties import digest, outdated, theorem_of, ties
from verify.record import Record
from verify.results import Counterexample, Proof
from verify.show import shown_entry
from verify.site import findings

CLAIMS = {claim.id: claim for claim in (*santurkar2018.CLAIMS, *lange2022.CLAIMS)}
TEXTS = sources(LIBRARY)
BOUND, TABLE = CLAIMS["S-thm-4.1/eps"], {claim: tie for tie in ties() for claim in tie.claims}
STRATA = {name: {"instances": 40} for name in ("one", "two", "three", "four", "five")}
MEASURED = Record("L-thm-4a", "autograd", instances=200, strata=STRATA)


def of_claim(claim):
    found = exported(claim)
    [theorem] = theorems(found.source)
    return Check(
        theorem.name,
        found.file,
        theorem.statement,
        theorem.hash,
        Outcome.CHECKED,
        ("classic",),
        claim=claim.id,
        needs=digest_with_needed(found.source, TEXTS),
    )


def by_hand(identifier):
    tie = TABLE[identifier]
    theorem = theorem_of(tie, TEXTS)
    return Check(
        tie.theorem,
        tie.file,
        theorem.statement,
        theorem.hash,
        Outcome.CHECKED,
        needs=digest_with_needed(TEXTS[tie.file], TEXTS),
    )


def found(folder, *checks):
    evidence.write(folder, checks)
    return {record.claim: record for record in verdicts.records(folder, CLAIMS.values())}


def entry(identifier, *records):
    return ledger.entry(CLAIMS[identifier], records)


def test_without_evidence_nothing_is_said(tmp_path):
    assert found(tmp_path) == {}


def test_an_exported_statement_is_proved_by_the_kernel(tmp_path):
    record = found(tmp_path, of_claim(BOUND))[BOUND.id]
    proved = entry(BOUND.id, record)
    assert (proved.verdict, proved.scope, proved.by) == (Verdict.PROVED, "every m", "kernel")
    assert proved.theorem.name == "S_thm_4_1__eps"
    assert proved.theorem.assumptions == ("classic",)


def test_a_theorem_by_hand_proves_the_statement_that_it_is_tied_to(tmp_path):
    record = found(tmp_path, by_hand("L-thm-4a"))["L-thm-4a"]
    proved = entry("L-thm-4a", record, MEASURED)
    assert (proved.verdict, proved.scope, proved.by) == (Verdict.PROVED, "every size", "kernel")


def test_a_theorem_that_says_several_statements_proves_the_one_that_is_asked_for(tmp_path):
    one, another, *_ = next(tie.claims for tie in ties() if len(tie.claims) > 1)
    evidence.write(tmp_path, [by_hand(one), of_claim(BOUND)])
    [record] = verdicts.records(tmp_path, CLAIMS.values(), {another})
    assert record.claim == another


def test_what_is_supported_without_coq_may_be_proved_with_it(tmp_path):
    record = found(tmp_path, by_hand("L-thm-4a"))["L-thm-4a"]
    assert CLAIMS["L-thm-4a"].expected is Verdict.SUPPORTED
    assert entry("L-thm-4a", MEASURED).is_as_expected
    assert entry("L-thm-4a", record, MEASURED).is_as_expected
    by_inner_products = Record("L-thm-4a", "abstract", proof=Proof(({"N": None, "n": 2},)))
    assert entry("L-thm-4a", by_inner_products).is_unexpected


def test_a_counterexample_to_what_the_kernel_proved_leaves_all_undecided(tmp_path):
    record = found(tmp_path, of_claim(BOUND))[BOUND.id]
    counterexample = Record(
        BOUND.id, "exact", counterexample=Counterexample({"m": 3}, {}, "1", "0")
    )
    assert entry(BOUND.id, record, counterexample).verdict is Verdict.UNDECIDED


def test_a_refutation_that_was_checked_is_no_proof(tmp_path):
    record = found(tmp_path, by_hand("L-prop-10"))["L-prop-10"]
    assert record.proof is None
    assert "Coq's kernel refutes it" in entry("L-prop-10", record).lacks
    refuted = entry(
        "L-prop-10",
        record,
        Record("L-prop-10", "exact", counterexample=Counterexample({"N": 1}, {}, "1", "0")),
    )
    assert refuted.verdict is Verdict.REFUTED
    assert refuted.theorem.name == "proposition_10_refuted"


@pytest.mark.parametrize(
    "change",
    [
        {"statement_hash": "another"},
        {"needs": "another"},
        {"outcome": Outcome.FAILED},
        {"outcome": Outcome.NOT_REACHED},
    ],
    ids=str,
)
@pytest.mark.parametrize("check", [of_claim(BOUND), by_hand("L-thm-4a")], ids=["S", "L"])
def test_what_was_edited_since_does_not_count(tmp_path, check, change):
    assert found(tmp_path, replace(check, **change)) == {}


def test_a_later_run_of_some_statements_keeps_what_was_found_of_others(tmp_path):
    found(tmp_path, of_claim(BOUND))
    kept = found(tmp_path, by_hand("L-thm-4a"))
    assert kept.keys() == {BOUND.id, *TABLE["L-thm-4a"].claims}


def test_what_a_killed_run_left_half_written_breaks_no_reader(tmp_path):
    path = evidence.write(tmp_path, [of_claim(BOUND), of_claim(CLAIMS["S-thm-4.1"])])
    whole = path.read_text()
    path.write_text(whole[:-20])
    assert evidence.read(tmp_path) == [of_claim(BOUND)]
    path.write_text(f"{{{whole}")
    with pytest.raises(EvidenceError, match="line 1 is damaged"):
        evidence.read(tmp_path)


def test_a_file_needs_what_its_imports_need():
    text = "From BatchNorm Require Import b.\n"
    library = {"b.v": "From BatchNorm.deep Require Import c.\n", "deep/c.v": "1", "d.v": "1"}
    digest = digest_with_needed(text, library)
    assert digest != digest_with_needed(text, library | {"deep/c.v": "2"})
    assert digest == digest_with_needed(text, library | {"d.v": "2"})


def test_an_edit_of_its_own_file_leaves_a_theorem_unchecked():
    library = {"a.v": "Theorem a : True.\nProof. exact I. Qed.\n"}
    edited = library["a.v"].replace("exact I", "auto")
    assert digest_with_needed(library["a.v"], library) != digest_with_needed(edited, library)


@pytest.mark.parametrize(
    ("claim", "file", "old", "new"),
    [
        (
            "S-thm-4.1-supp",
            "santurkar2018/theorem_4_1.v",
            "Definition theorem_4_1_supplement : Prop := forall",
            "Definition theorem_4_1_supplement : Prop := False /\\ forall",
        ),
        ("L-thm-4c/tight", "lange2022/theorem_4_tight.v", "all_copies_of_one :=", None),
        ("L-thm-4a", "ConditionNumber.v", "& K = s / t]", "& K = t / s]"),
        ("L-thm-4a", "Preconditioning.v", "Variables (R : rcfType)", "Variables (R : realType)"),
        (
            "L-thm-4a",
            "lange2022/theorem_4_centring.v",
            "Local Open Scope ring_scope.",
            'Local Open Scope ring_scope.\nLocal Notation "a <= b" := (a < b).',
        ),
    ],
    ids=["its own definition", "a hypothesis", "the library", "a section", "a notation"],
)
def test_a_tie_is_compared_again_when_its_words_mean_something_else(claim, file, old, new):
    tie = TABLE[claim]
    assert old in TEXTS[file]
    edited = TEXTS | {file: TEXTS[file].replace(old, new or f"{old} False /\\")}
    said = [CLAIMS[identifier] for identifier in tie.claims]
    assert digest(tie, TEXTS, said) == tie.compared != digest(tie, edited, said)


def test_an_edit_of_a_proof_asks_for_no_comparison():
    tie = TABLE["L-thm-4a"]
    edited = (
        TEXTS[tie.file].replace("Qed.", "(* A remark. *) Qed.").replace("by rewrite", "rewrite")
    )
    said = [CLAIMS[identifier] for identifier in tie.claims]
    assert edited != TEXTS[tie.file]
    assert digest(tie, TEXTS | {tie.file: edited}, said) == tie.compared


def test_what_a_theorem_assumes_besides_makes_it_no_proof(tmp_path):
    claim = CLAIMS["S-eq-10/corrected"]
    record = found(tmp_path, of_claim(claim))[claim.id]
    assert record.proof is None
    assert record.theorem.besides == ("norm2 u",)
    by_inner_products = Record(claim.id, "abstract", proof=Proof(({"m": None},)))
    proved = entry(claim.id, record, by_inner_products)
    assert (proved.verdict, proved.by) == (Verdict.PROVED, "abstract")
    assert "assumes besides the statement that norm2 u is not zero" in shown_entry(proved)
    page = findings.theorem(proved)
    assert "It assumes besides the statement that `norm2 u` is not zero." in page


def test_a_refutation_is_shown_with_what_it_denies(tmp_path):
    record = found(tmp_path, by_hand("S-thm-4.4"))["S-thm-4.4"]
    assert record.theorem.statement.endswith("~ theorem_4_4_printed (S power)")
    [printed, _] = record.theorem.definitions
    assert printed.startswith("Definition theorem_4_4_printed (power : nat) : Prop := forall")
    assert "0 < lambda" in printed
    assert printed in shown_entry(entry("S-thm-4.4", record)).replace("\n      ", " ")


def test_a_theorem_proves_or_refutes_by_its_tie_whatever_is_expected(tmp_path):
    record = found(tmp_path, by_hand("L-prop-10"))["L-prop-10"]
    hoped = replace(CLAIMS["L-prop-10"], expected=Verdict.PROVED)
    assert ledger.entry(hoped, [record]).verdict is not Verdict.PROVED


def test_every_tie_was_compared_as_both_texts_are_today():
    assert outdated(CLAIMS) == []


def test_an_edited_statement_is_to_be_compared_again_and_one_that_is_gone_is_named():
    edited = replace(CLAIMS["L-thm-4a"], says=equal(number(1), 2))
    [told] = outdated({**CLAIMS, "L-thm-4a": edited})
    assert told.startswith("lange2022/theorem_4_centring.v, theorem_4a: compare it with L-thm-4a")
    [told] = outdated({name: claim for name, claim in CLAIMS.items() if name != "L-thm-4a"})
    assert told == "lange2022/theorem_4_centring.v, theorem_4a: there is no L-thm-4a any more"


def test_a_statement_that_is_refuted_is_tied_to_a_refutation_alone():
    for identifier, tie in TABLE.items():
        is_refuted = CLAIMS[identifier].expected is Verdict.REFUTED
        assert tie.refutes == tie.theorem.endswith("_refuted") == is_refuted, identifier


def test_terminal_page_and_json_show_the_theorem(tmp_path):
    proved = entry(BOUND.id, found(tmp_path, of_claim(BOUND))[BOUND.id])
    shown = shown_entry(proved)
    assert "proved, every m, by Coq's kernel" in shown
    assert "Theorem S_thm_4_1__eps (m : nat)" in shown
    page = findings.theorem(proved)
    assert "build/coq/exported/S_thm_4_1__eps.v" in page
    assert "`classic`" in page
    assert "python -m verify prove S-thm-4.1/eps" in page
    assert json.loads(json.dumps(ledger.as_json(proved)))["by"] == "kernel"


def test_the_ledger_reads_what_the_kernel_found(tmp_path):
    run = {"profile": "smoke", "seed": 0, "backend": "numpy", "device": "", "threads": 1}
    line = {"kind": "run", "schema": SCHEMA, "commit": "", "versions": {}, **run}
    (tmp_path / "evidence.jsonl").write_text(json.dumps(line) + "\n")
    evidence.write(tmp_path, [of_claim(BOUND)])
    assert [(r.claim, r.witness) for r in engine.known(tmp_path).records] == [(BOUND.id, "kernel")]
